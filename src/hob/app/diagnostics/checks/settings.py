"""Checks of the settings: readable and usable."""

import os
from collections.abc import Iterator

from hob.app.daemon.command_check import command_problem
from hob.app.daemon.preflight import start_problem
from hob.app.diagnostics.check import Check, CheckResult, critical, info, warn
from hob.app.diagnostics.context import DiagnosticContext
from hob.channels.webhooks.settings import WebhooksOut
from hob.core.clock import SystemClock
from hob.core.errors import NotConfigured
from hob.core.translation.language import translatable
from hob.gateway.auth.tokens import TokenFile
from hob.gateway.webhooks.settings import Webhooks
from hob.workspace.acceptance import FILE, AcceptedFiles
from hob.workspace.bootstrap import BootstrapFiles
from hob.workspace.settings import WorkspaceSettings


def _invalid(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
    for problem in diagnostics.wrong_settings:
        where = " ".join(str(part) for part in (problem.place, problem.key) if part)
        hint = translatable("did you mean {hint}? ", hint=problem.hint) if problem.hint else ""
        yield critical(
            problem.reason,
            translatable("{hint}Hob does not start until it is fixed; see `hob config check`", hint=hint),
            where,
        )


def _warnings(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
    for problem in diagnostics.config.warnings:
        where = " ".join(str(part) for part in (problem.place, problem.key) if part)
        yield warn(problem.reason, "see `hob config check`", where)


def _secrets(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
    for name, secret in diagnostics.config.secrets():
        try:
            secret.reveal()
        except NotConfigured as error:
            reason = str(error).removeprefix(f"{name}: ")
            yield warn(reason, "put the secret there, or change the reference: `hob config set`", name)


def _webhooks(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
    unreadable = {each.where for each in _secrets(diagnostics)}  # reported by a check of its own
    for section, entries in (
        ("webhooks", diagnostics.config[Webhooks]),
        ("webhooks_out", diagnostics.config[WebhooksOut]),
    ):
        for name, each in entries.items():
            where = f"{section}.{name}"
            if (problem := each.problem()) and not any(path.startswith(f"{where}.") for path in unreadable):
                yield warn(
                    translatable("nothing comes by this webhook: {problem}", problem=problem),
                    translatable("`hob secrets set {where}.secret`", where=where),
                    where,
                )


def _start(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
    objection = start_problem(diagnostics.config)
    if objection is not None:
        yield critical(str(objection), "Hob does not start until it is fixed; see `hob config check`")


def _folders(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
    if (problem := command_problem(diagnostics.config)) is not None:
        yield warn(problem.reason, "see `hob config check`", f"{problem.place or ''} {problem.key}".strip())


def _tokens(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
    try:
        TokenFile(diagnostics.need_home(), SystemClock()).tokens()
    except NotConfigured as error:
        yield warn(str(error), "until then only your own token is valid")


def _workspace(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
    """Report a missing workspace only after its identity files were accepted; the work folder, after a snapshot."""
    settings = diagnostics.config[WorkspaceSettings]
    path, work = settings.path.expanduser(), settings.work.expanduser()
    advice = "make it a folder that you may write, or set workspace.path to another one"
    if os.path.lexists(path) and not path.is_dir():
        yield warn("the workspace is not a folder", advice, str(path))
    elif not diagnostics.may_write(path):
        yield warn("the workspace cannot be written", advice, str(path))
    elif not path.exists() and AcceptedFiles(diagnostics.home / FILE).any:
        lost = translatable(
            "its identity files, notes and skills are missing, and the next start makes new ones from templates"
        )
        yield critical(
            translatable("the workspace is gone: {lost}", lost=lost),
            "put it back, or set workspace.path to where it is",
            str(path),
        )
    elif not work.exists() and any((diagnostics.home / "tools" / "snapshots" / "trees").glob("*")):
        yield warn("the folder where tools work is gone", "put it back, or set workspace.work_repo", str(work))


def _identity(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
    accepted = AcceptedFiles(diagnostics.need_home() / FILE)
    if not accepted.known:  # the first start accepts what it finds
        return
    for file in BootstrapFiles(diagnostics.config[WorkspaceSettings].path, accepted).load():
        if file.problem:
            yield warn(
                translatable("this identity file {problem}", problem=file.problem),
                "fix it, then `hob accept`",
                file.name,
            )
        elif not file.label.trusted:
            advice = translatable("read it, then `hob accept {name}`", name=file.name)
            yield warn("this identity file was changed: Hob reads it and does not trust it", advice, file.name)


def _no_settings(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
    if not diagnostics.home.exists():
        yield info(
            "there is no home yet", "`hob onboard` makes one, and so does the first start", str(diagnostics.home)
        )


SETTINGS: tuple[Check, ...] = (
    Check("home.missing", "Is there a home?", _no_settings),
    Check("settings.invalid", "Can the settings be read?", _invalid),
    Check("settings.warning", "Do all settings count?", _warnings),
    Check("settings.secret", "Can every secret be read?", _secrets, slow=True),
    Check("settings.webhooks", "Can every webhook be used?", _webhooks),
    Check("settings.start", "Can Hob start with these settings?", _start),
    Check("sandbox.folders", "Can commands be given their folders?", _folders),
    Check("tokens.unreadable", "Can the tokens that were given out be read?", _tokens),
    Check("workspace.unusable", "Can the workspace be used?", _workspace),
    Check("identity.unaccepted", "Are the identity files accepted?", _identity),
)
