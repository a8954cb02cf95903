"""The machine: room, clock, ports, versions, what confines commands."""

import os
import re
import socket
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

import hob
from hob.app.doctor.check import Check, Found, critical, info, warn
from hob.app.doctor.house import House, NotLooked
from hob.app.doctor.server_clock import date_of
from hob.app.service.steps import ask
from hob.core.errors import ModelError, NotConfigured
from hob.gateway.settings import GatewaySettings
from hob.gateway.sockets import bind_tcp
from hob.store.database import NAME
from hob.tools.sandbox import Surroundings, find_backend
from hob.tools.sandbox.settings import SandboxSettings
from hob.workspace import WorkspaceSettings

_LITTLE, _LOW = 100_000_000, 1_000_000_000
_FEW_FILES = 1_000
_DAY = 86_400.0
_MINUTES = 300.0
_REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+)(?:\[[^]]*\])?\s*(?:>=\s*([\d.]+))?")


def _space(house: House) -> Iterator[Found]:
    seen = set()
    for what, path in _places(house):
        place = next(folder for folder in (path, *path.absolute().parents) if folder.exists())
        if (device := place.stat().st_dev) in seen:
            continue
        seen.add(device)
        disk = os.statvfs(place)
        free = disk.f_bavail * disk.f_frsize
        if free < _LITTLE:
            yield critical(
                f"{what} has {free / 1e6:.0f} MB left: soon nothing is accepted any more", _MAKE_ROOM, str(place)
            )
        elif free < _LOW:
            yield warn(f"{what} has {free / 1e6:.0f} MB left", _MAKE_ROOM, str(place))
        if disk.f_files and disk.f_favail < _FEW_FILES:
            yield warn(f"{what} can take {disk.f_favail} more files only", "delete what is not needed", str(place))


_MAKE_ROOM = "make room; `hob status` says how large the database is"


def _places(house: House) -> Iterator[tuple[str, Path]]:
    yield "the home's disk", house.home
    yield "the disk for temporary files", Path(tempfile.gettempdir())
    try:
        yield "the workspace's disk", house.config[WorkspaceSettings].path.expanduser()
    except NotLooked:
        return


def _clock(house: House) -> Iterator[Found]:
    newest = Path(hob.__file__).stat().st_mtime
    for name in (NAME, f"{NAME}-wal"):
        if (file := house.home / name).exists():
            newest = max(newest, file.stat().st_mtime)
    if house.now < newest - _DAY:
        last = datetime.fromtimestamp(newest, UTC).date()
        yield critical(
            f"the clock says {house.clock.now().date()}, and files were written on {last}",
            "set the clock: servers' certificates look invalid, and waits come out wrong",
        )
    if house.find_program("timedatectl"):
        said = ask(house.environ, "timedatectl", "show", "--property=NTPSynchronized", "--value")
        if said.status == 0 and said.out.strip() == "no":
            yield info("nobody sets the clock by the network", "`timedatectl set-ntp true`, unless it is right anyway")


def _other_clock(house: House) -> Iterator[Found]:
    house.need_network()
    there = date_of(_usual_server(house))
    if there is None:
        raise NotLooked("no server tells the time")
    wrong = house.now - there
    if abs(wrong) < _MINUTES:
        return
    told = datetime.fromtimestamp(there, UTC)
    title = f"the clock is {'ahead' if wrong > 0 else 'behind'}: it is {told:%Y-%m-%d %H:%M} UTC for the model's server"
    advice = "set the clock, by `timedatectl set-ntp true` for example: certificates and tokens end at wrong times"
    yield (critical if abs(wrong) > _DAY else warn)(title, advice)


def _usual_server(house: House) -> str:
    try:
        usual = house.choice.default()
        return house.choice.connect(usual.provider).base_url if usual is not None else ""
    except ModelError:
        return ""


def _port(house: House) -> Iterator[Found]:
    settings = house.config[GatewaySettings]
    if settings.port <= 0:
        return
    where = f"{settings.host}:{settings.port}"
    if house.owner is not None and house.owner.daemon:
        if not _answers(settings.host, settings.port):
            yield warn("Hob runs and does not listen there", "start it again: `hob service restart`", where)
        return
    try:
        bind_tcp(settings.host, settings.port).close()
    except NotConfigured as error:
        reason = str(error).partition(";")[0]
        yield critical(
            f"the daemon could not start: {reason}", "end that program, or `hob config set gateway.port N`", where
        )


def _answers(host: str, port: int) -> bool:
    place = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - compared, not bound
    try:
        with socket.create_connection((place, port), timeout=2):
            return True
    except OSError:
        return False


def _running_version(house: House) -> Iterator[Found]:
    version = house.status().get("version", hob.__version__)
    if version != hob.__version__:
        yield warn(
            f"Hob {version} is running, and this is Hob {hob.__version__}",
            "start it again: `hob service restart`, or stop and start `hob serve`",
        )


def _second_hob(house: House) -> Iterator[Found]:
    found, own = house.find_program("hob"), Path(sys.executable).with_name("hob")
    if found is not None and own.exists() and found.resolve() != own.resolve():
        yield info(f"`hob` starts another one than this ({own})", "take one of the two out of the PATH", str(found))


def _libraries(house: House) -> Iterator[Found]:
    try:
        requirements = metadata.requires("hob") or []
    except metadata.PackageNotFoundError:
        raise NotLooked("Hob is not installed as a package") from None
    for requirement in requirements:
        needed = _REQUIREMENT.match(requirement)
        if needed is None or "extra ==" in requirement:
            continue
        name, least = needed[1], needed[2] or "0"
        try:
            there = metadata.version(name)
        except metadata.PackageNotFoundError:
            yield critical("a library is not installed", "install Hob again: `hob upgrade` says how", name)
            continue
        if _numbers(there) < _numbers(least):
            yield critical(f"version {there} is older than {least}", "install Hob again: `hob upgrade` says how", name)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version.partition("+")[0])[:3])


def _sandbox(house: House) -> Iterator[Found]:
    name = house.config[SandboxSettings].backend
    if name == "plain":
        yield warn("commands run without a sandbox", "`hob config set sandbox.backend auto`", "sandbox.backend = plain")
        return
    with tempfile.TemporaryDirectory(prefix="hob") as folder:
        try:
            found = find_backend(name, Surroundings(Path(folder), Path(folder)), house.environ.get("PATH", ""))
        except NotConfigured as error:
            yield warn("commands cannot be confined here, so Hob runs none", str(error))
            return
    if found.advice:
        yield info(f"commands are confined by {found.reason}", found.advice)


def _git(house: House) -> Iterator[Found]:
    if house.find_program("git") is None:
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
    Check("programs.git", "Is git there?", _git),
)
