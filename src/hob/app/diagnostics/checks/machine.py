"""Checks of the machine: disk space, clock, ports, versions, sandbox."""

import os
import re
import socket
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

import hob
from hob.app.daemon.command_check import credential_problems
from hob.app.diagnostics.check import Check, CheckResult, critical, info, warn
from hob.app.diagnostics.context import CheckSkipped, DiagnosticContext
from hob.app.diagnostics.server_clock import server_time
from hob.app.service.steps import run_program
from hob.core.errors import ModelError, NotConfigured
from hob.core.libraries import install_command
from hob.core.translation.language import translatable
from hob.gateway.http.sockets import bind_tcp
from hob.gateway.settings import GatewaySettings
from hob.store.database.database import NAME
from hob.tools.sandbox.backends.detection import try_backend
from hob.tools.sandbox.network.hosts import HostRules
from hob.tools.sandbox.settings import SandboxSettings
from hob.workspace.settings import WorkspaceSettings

_LITTLE, _LOW = 100_000_000, 1_000_000_000
_FEW_FILES = 1_000
_DAY = 86_400.0
_MINUTES = 300.0
_REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+)(?:\[[^]]*\])?\s*(?:>=\s*([\d.]+))?")


def _space(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
    seen = set()
    for what, path in _places(diagnostics):
        place = next(folder for folder in (path, *path.absolute().parents) if folder.exists())
        if (device := place.stat().st_dev) in seen:
            continue
        seen.add(device)
        disk = os.statvfs(place)
        free = disk.f_bavail * disk.f_frsize
        if free < _LITTLE:
            yield critical(
                translatable("{what} has {free:.0f} MB left: soon nothing can be accepted", what=what, free=free / 1e6),
                _MAKE_ROOM,
                str(place),
            )
        elif free < _LOW:
            yield warn(
                translatable("{what} has {free:.0f} MB left", what=what, free=free / 1e6), _MAKE_ROOM, str(place)
            )
        if disk.f_files and disk.f_favail < _FEW_FILES:
            yield warn(
                translatable("{what} can take {files} more files only", what=what, files=disk.f_favail),
                "delete what is not needed",
                str(place),
            )


_MAKE_ROOM = translatable("make room; `hob status` says how large the database is")


def _places(diagnostics: DiagnosticContext) -> Iterator[tuple[str, Path]]:
    yield translatable("the home's disk"), diagnostics.home
    yield translatable("the disk for temporary files"), Path(tempfile.gettempdir())
    try:
        yield translatable("the workspace's disk"), diagnostics.config[WorkspaceSettings].path.expanduser()
    except CheckSkipped:
        return


def _clock(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
    newest = Path(hob.__file__).stat().st_mtime
    for name in (NAME, f"{NAME}-wal"):
        if (file := diagnostics.home / name).exists():
            newest = max(newest, file.stat().st_mtime)
    if diagnostics.now < newest - _DAY:
        last = datetime.fromtimestamp(newest, UTC).date()
        yield critical(
            translatable(
                "the clock says {date}, and files were written on {last}",
                date=diagnostics.clock.now().date(),
                last=last,
            ),
            "set the clock: servers' certificates look invalid, and waits come out wrong",
        )
    if diagnostics.find_program("timedatectl"):
        said = run_program(diagnostics.environ, "timedatectl", "show", "--property=NTPSynchronized", "--value")
        if said.status == 0 and said.out.strip() == "no":
            yield info("the clock is not set by the network", "`timedatectl set-ntp true`, unless the clock is right")


def _other_clock(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
    diagnostics.need_network()
    there = server_time(_usual_server(diagnostics))
    if there is None:
        raise CheckSkipped("no time server answered")
    wrong = diagnostics.now - there
    if abs(wrong) < _MINUTES:
        return
    told = datetime.fromtimestamp(there, UTC)
    title = translatable(
        "the clock is ahead: it is {there:%Y-%m-%d %H:%M} UTC for the model's server"
        if wrong > 0
        else "the clock is behind: it is {there:%Y-%m-%d %H:%M} UTC for the model's server",
        there=told,
    )
    advice = "set the clock, by `timedatectl set-ntp true` for example: certificates and tokens end at wrong times"
    yield (critical if abs(wrong) > _DAY else warn)(title, advice)


def _usual_server(diagnostics: DiagnosticContext) -> str:
    try:
        usual = diagnostics.choice.default()
        return diagnostics.choice.connect(usual.provider).base_url if usual is not None else ""
    except ModelError:
        return ""


def _port(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
    settings = diagnostics.config[GatewaySettings]
    if diagnostics.owner is not None and diagnostics.owner.daemon:
        address = urlsplit(str((diagnostics.daemon or {}).get("address") or ""))
        if address.hostname and address.port and not _is_listening(address.hostname, address.port):
            yield warn("Hob runs and does not listen there", "start it again: `hob service restart`", address.netloc)
        return
    if settings.port <= 0:
        return
    where = f"{settings.host}:{settings.port}"
    try:
        bind_tcp(settings.host, settings.port).close()
    except NotConfigured as error:
        reason = getattr(error.__cause__, "strerror", "") or str(error).partition(";")[0]
        yield critical(
            translatable("the daemon could not start: {reason}", reason=reason),
            "end that program, or `hob config set gateway.port N`",
            where,
        )


def _is_listening(host: str, port: int) -> bool:
    place = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - compared, not bound
    try:
        with socket.create_connection((place, port), timeout=2):
            return True
    except OSError:
        return False


def _running_version(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
    version = diagnostics.status().get("version", hob.__version__)
    if version != hob.__version__:
        yield warn(
            translatable("Hob {version} is running, and this is Hob {here}", version=version, here=hob.__version__),
            "start it again: `hob service restart`, or stop and start `hob serve`",
        )


def _second_hob(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
    found, own = diagnostics.find_program("hob"), Path(sys.executable).with_name("hob")
    if found is not None and own.exists() and found.resolve() != own.resolve():
        yield info(
            translatable("`hob` starts another one than this ({own})", own=own),
            "take one of the two out of the PATH",
            str(found),
        )


def _libraries(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
    try:
        requirements = metadata.requires("hob") or []
    except metadata.PackageNotFoundError:
        raise CheckSkipped("Hob is not installed as a package") from None
    for requirement in requirements:
        needed = _REQUIREMENT.match(requirement)
        if needed is None or "extra ==" in requirement:
            continue
        name, minimum = needed[1], needed[2] or "0"
        try:
            there = metadata.version(name)
        except metadata.PackageNotFoundError:
            yield critical("a library is not installed", "install Hob again: `hob upgrade` says how", name)
            continue
        if _version_numbers(there) < _version_numbers(minimum):
            yield critical(
                translatable("version {there} is older than {minimum}", there=there, minimum=minimum),
                "install Hob again: `hob upgrade` says how",
                name,
            )


def _version_numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version.partition("+")[0])[:3])


def _sandbox(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
    settings = diagnostics.config[SandboxSettings]
    name = settings.backend
    if name == "plain":
        yield warn("commands run without a sandbox", "`hob config set sandbox.backend auto`", "sandbox.backend = plain")
        return
    try:
        found = try_backend(name, diagnostics.environ.get("PATH", ""), settings.image)
    except NotConfigured as error:
        yield warn("commands cannot be confined here, so Hob runs none", str(error))
        return
    if found.advice:
        yield info(translatable("commands are confined by {reason}", reason=found.reason), found.advice)


def _credentials(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
    settings = diagnostics.config[SandboxSettings]
    if settings.credentials and find_spec("cryptography") is None:
        yield warn(
            "sandbox.credentials is set, and the library for it is missing",
            translatable("`{command}` installs it", command=install_command("cryptography")),
        )
    for name, credential in settings.credentials.items():
        where = f"sandbox.credentials.{name}"
        if not credential.host or credential.value is None:
            yield warn("a credential needs a host and a value", "set both", where)
        elif {"main", "subagents"} & {*credential.agents} and not HostRules(settings.hosts).allow(credential.host):
            advice = translatable("add {host} to sandbox.hosts", host=credential.host)
            yield warn("commands may not reach the host of this credential, so none has it", advice, where)
    for problem in credential_problems(diagnostics.config):
        yield warn(problem.reason, "set another secret: `hob secrets set`, or change the reference", problem.key)


def _git(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
    if diagnostics.find_program("git") is None:
        yield info("git is not installed: the workspace keeps no history", "install git")


MACHINE: tuple[Check, ...] = (
    Check("disk.space", "Is there room?", _space),
    Check("clock.wrong", "Is the clock right?", _clock),
    Check("clock.other", "Do others have the same time?", _other_clock, slow=True),
    Check("gateway.port", "Is the API's port free?", _port),
    Check("versions.running", "Is it this Hob that runs?", _running_version),
    Check("versions.second", "Is there another Hob?", _second_hob),
    Check("versions.libraries", "Are the libraries new enough?", _libraries),
    Check("sandbox.backend", "Can commands be confined?", _sandbox, slow=True),
    Check("sandbox.credentials", "Can commands use their credentials?", _credentials),
    Check("programs.git", "Is git there?", _git),
)
