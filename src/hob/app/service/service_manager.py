"""The port for service managers: what systemd and launchd are asked to do."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from hob.app.service.plan import ServicePlan
from hob.app.service.steps import Step
from hob.core.values import dataclass


@dataclass(frozen=True, slots=True)
class ServiceState:
    """How the service is. `lingers` is whether it runs while its user is logged out; None where that is not known."""

    installed: bool
    enabled: bool = False
    running: bool = False
    detail: str = ""
    pid: int = 0
    restarts: int = 0
    since: str = ""
    lingers: bool | None = None


class ServiceManager(Protocol):
    """systemd, or launchd. Only `state` asks it anything; the others say what is to be done."""

    name: str
    file: Path

    def obstacle(self) -> str:
        """Why it cannot be used from here, with what to do; nothing where it can."""

    def text(self, plan: ServicePlan) -> str:
        """What the service's file says."""

    def install(self, plan: ServicePlan) -> Sequence[Step]:
        """Write the file and start the service, now and with the machine. Again it changes nothing."""

    def uninstall(self) -> Sequence[Step]:
        """Stop it and remove its file."""

    def restart(self) -> Sequence[Step]:
        """Stop it gently and start it, or only start it."""

    def logs(self, lines: int, *, follow: bool) -> Sequence[str]:
        """The program that shows what it wrote."""

    def state(self) -> ServiceState:
        """How it is now."""

    def home(self) -> str:
        """Which home the installed service is for; nothing where there is none of ours."""

    def program(self) -> str:
        """Which program the installed service starts."""

    def is_current(self, plan: ServicePlan) -> bool:
        """Whether the installed file is what would be written now, the folders of programs apart."""


def read_text(path: Path) -> str:
    """The file's text, or nothing where it cannot be read."""
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""


def config_folder(environ: Mapping[str, str]) -> Path:
    """Where programs of this user keep their settings (XDG base directories)."""
    chosen = environ.get("XDG_CONFIG_HOME", "")
    return Path(chosen) if chosen.startswith("/") else Path(environ.get("HOME") or Path.home()) / ".config"
