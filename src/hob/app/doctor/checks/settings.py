"""The settings: whether they can be read, and what they lead to."""

from collections.abc import Iterator

from hob.app.doctor.check import Check, Found, critical, info, warn
from hob.app.doctor.house import House
from hob.app.startable import command_problem, start_objection
from hob.channels.webhooks.settings import WebhooksOut
from hob.core.clock import SystemClock
from hob.core.errors import NotConfigured
from hob.gateway.tokens import TokenFile
from hob.gateway.webhooks.settings import Webhooks
from hob.workspace import BootstrapFiles, WorkspaceSettings
from hob.workspace.acceptance import FILE, AcceptedFiles


def _invalid(house: House) -> Iterator[Found]:
    for problem in house.wrong_settings:
        where = " ".join(str(part) for part in (problem.place, problem.key) if part)
        hint = f"did you mean {problem.hint}? " if problem.hint else ""
        yield critical(problem.reason, f"{hint}Hob does not start until it is put right; see `hob config check`", where)


def _warnings(house: House) -> Iterator[Found]:
    for problem in house.config.warnings:
        where = " ".join(str(part) for part in (problem.place, problem.key) if part)
        yield warn(problem.reason, "see `hob config check`", where)


def _secrets(house: House) -> Iterator[Found]:
    for name, secret in house.config.secrets():
        try:
            secret.reveal()
        except NotConfigured as error:
            reason = str(error).removeprefix(f"{name}: ")
            yield warn(reason, "put the secret there, or let the setting lead elsewhere: `hob config set`", name)


def _webhooks(house: House) -> Iterator[Found]:
    unreadable = {each.where for each in _secrets(house)}  # which a check of its own tells
    for section, entries in (("webhooks", house.config[Webhooks]), ("webhooks_out", house.config[WebhooksOut])):
        for name, each in entries.items():
            where = f"{section}.{name}"
            if (problem := each.problem()) and not any(path.startswith(f"{where}.") for path in unreadable):
                yield warn(f"nothing comes by this webhook: {problem}", f"`hob secrets set {where}.secret`", where)


def _start(house: House) -> Iterator[Found]:
    objection = start_objection(house.config)
    if objection is not None:
        yield critical(str(objection), "Hob does not start until it is put right; see `hob config check`")


def _folders(house: House) -> Iterator[Found]:
    if (problem := command_problem(house.config)) is not None:
        yield warn(problem.reason, "see `hob config check`", f"{problem.place or ''} {problem.key}".strip())


def _tokens(house: House) -> Iterator[Found]:
    try:
        TokenFile(house.need_home(), SystemClock()).tokens()
    except NotConfigured as error:
        yield warn(str(error), "until then no token is good but your own")


def _workspace(house: House) -> Iterator[Found]:
    path = house.config[WorkspaceSettings].path.expanduser()
    advice = "make it a folder that you may write, or set workspace.path to another one"
    if path.exists() and not path.is_dir():
        yield warn("the workspace is no folder", advice, str(path))
    elif not house.may_write(path):
        yield warn("the workspace cannot be written", advice, str(path))


def _identity(house: House) -> Iterator[Found]:
    accepted = AcceptedFiles(house.need_home() / FILE)
    if not accepted.known:  # the first start accepts what it finds
        return
    for file in BootstrapFiles(house.config[WorkspaceSettings].path, accepted).load():
        if file.problem:
            yield warn(f"this identity file {file.problem}", "put it right, then `hob accept`", file.name)
        elif not file.label.trusted:
            advice = f"read it, then `hob accept {file.name}`"
            yield warn("this identity file was changed: Hob reads it and does not obey it", advice, file.name)


def _no_settings(house: House) -> Iterator[Found]:
    if not house.home.exists():
        yield info("there is no home yet", "`hob onboard` makes one, and so does the first start", str(house.home))


SETTINGS: tuple[Check, ...] = (
    Check("home.missing", "Is there a home?", _no_settings),
    Check("settings.invalid", "Can the settings be read?", _invalid),
    Check("settings.warning", "Do all settings count?", _warnings),
    Check("settings.secret", "Can every secret be read?", _secrets, slow=True),
    Check("settings.webhooks", "Can every webhook be used?", _webhooks),
    Check("settings.start", "Would Hob start with them?", _start),
    Check("sandbox.folders", "Can commands be given their folders?", _folders),
    Check("tokens.unreadable", "Can the tokens that were given out be read?", _tokens),
    Check("workspace.unusable", "Can the workspace be used?", _workspace),
    Check("identity.unaccepted", "Are the identity files accepted?", _identity),
)
