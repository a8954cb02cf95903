"""The port for service managers, implemented by systemd and launchd."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from hob.app.service.plan import ServicePlan
from hob.app.service.steps import Step
from hob.core.values import dataclass


@dataclass(frozen=True, slots=True)
class ServiceState:
    """The state of the service. `lingers`: whether it runs while its user is logged out; None if unknown."""

    installed: bool
    enabled: bool = False
    running: bool = False
    detail: str = ""
    pid: int = 0
    restarts: int = 0
    since: str = ""
    lingers: bool | None = None


class ServiceManager(Protocol):
    """A service manager. Only `obstacle` and `state` call it; the others return steps or read files."""

    name: str
    file: Path

    def obstacle(self) -> str:
        """Return why it cannot be used from here and what to do, or an empty text."""

    def text(self, plan: ServicePlan) -> str:
        """Return the text of the service's file."""

    def install(self, plan: ServicePlan) -> Sequence[Step]:
        """Return the steps that write the file and start the service, now and at boot. They can be repeated."""

    def uninstall(self) -> Sequence[Step]:
        """Return the steps that stop it and remove its file."""

    def restart(self) -> Sequence[Step]:
        """Return the steps that restart it gently, or start it."""

    def logs(self, lines: int, *, follow: bool) -> Sequence[str]:
        """Return the command that shows its log."""

    def state(self) -> ServiceState:
        """Return its current state."""

    def home(self) -> str:
        """Return the home of the installed service, empty if Hob did not install one."""

    def program(self) -> str:
        """Return the program that the installed service starts."""

    def is_current(self, plan: ServicePlan) -> bool:
        """Return whether the installed file equals the one that would be written now, apart from PATH."""


def read_text(path: Path) -> str:
    """Return the file's text, empty if it cannot be read."""
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""


def config_folder(environ: Mapping[str, str]) -> Path:
    """Return the user's folder for program settings (XDG base directories)."""
    chosen = environ.get("XDG_CONFIG_HOME", "")
    return Path(chosen) if chosen.startswith("/") else Path(environ.get("HOME") or Path.home()) / ".config"
