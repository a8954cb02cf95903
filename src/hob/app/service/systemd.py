"""The service as a systemd user unit."""

import os
import pwd
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from hob.app.service import unit
from hob.app.service.plan import MARK, ServicePlan
from hob.app.service.service_manager import ServiceState, config_folder, read_text
from hob.app.service.steps import KeepFile, Remove, Run, Step, WriteFile, run_program
from hob.core.translation.language import translatable

UNIT = "hob.service"
_USER = ("systemctl", "--user")
_SHOWN = "ActiveState,SubState,Result,MainPID,NRestarts,UnitFileState,ActiveEnterTimestamp"


class Systemd:
    """Implements `ServiceManager` by calling `systemctl --user`, `loginctl` and `journalctl`."""

    name = "systemd"

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self.file = config_folder(environ) / "systemd" / "user" / UNIT

    def obstacle(self) -> str:
        said = run_program(self._environ, *_USER, "show-environment")
        if said.status == 0:
            return ""
        if said.status == 127:
            return translatable("{reason}; start `hob serve` with what starts programs here", reason=said.complaint)
        return translatable(
            "systemd does not answer for this user ({reason}); log in as this user itself, by ssh or at the "
            "machine, not by su or sudo; in a container start `hob serve` by the container's own means",
            reason=said.complaint,
        )

    def text(self, plan: ServicePlan) -> str:
        return unit.unit_text(plan, self._version)

    def install(self, plan: ServicePlan) -> Sequence[Step]:
        return tuple(self._install(plan))

    def _install(self, plan: ServicePlan) -> Iterator[Step]:
        there = read_text(self.file)
        if there and MARK not in there:
            yield KeepFile(self.file)
        yield WriteFile(self.file, self.text(plan))
        yield Run((*_USER, "daemon-reload"))
        if self._lingers() is False:
            yield Run(
                ("loginctl", "enable-linger", self._user),
                translatable(
                    "it stops when you log out; `sudo loginctl enable-linger {user}` lets it run on", user=self._user
                ),
            )
        yield Run((*_USER, "enable", UNIT))
        yield Run((*_USER, "start", UNIT))

    def uninstall(self) -> Sequence[Step]:
        if not self.file.exists():
            return ()
        stop = Run((*_USER, "disable", "--now", UNIT))
        clean = Run((*_USER, "reset-failed", UNIT))
        return (stop, clean, Remove(self.file), Run((*_USER, "daemon-reload")))

    def restart(self) -> Sequence[Step]:
        return (Run((*_USER, "daemon-reload")), Run((*_USER, "restart", UNIT)))

    def logs(self, lines: int, *, follow: bool) -> Sequence[str]:
        return ("journalctl", "--user", f"--unit={UNIT}", f"--lines={lines}", *(("--follow",) if follow else ()))

    def state(self) -> ServiceState:
        said = run_program(self._environ, *_USER, "show", UNIT, f"--property={_SHOWN}")
        seen = dict(line.split("=", 1) for line in said.out.splitlines() if "=" in line)
        active, result = seen.get("ActiveState", "unknown"), seen.get("Result", "")
        reason = result if active == "failed" or result not in ("", "success") else seen.get("SubState", "")
        return ServiceState(
            installed=self.file.exists(),
            enabled=seen.get("UnitFileState", "") == "enabled",
            running=active in ("active", "reloading"),
            detail=f"{active} ({reason})" if reason else active,
            pid=_number(seen.get("MainPID", "")),
            restarts=_number(seen.get("NRestarts", "")),
            since=seen.get("ActiveEnterTimestamp", ""),
            lingers=self._lingers(),
        )

    def home(self) -> str:
        return unit.home_in(read_text(self.file))

    def program(self) -> str:
        return unit.program_in(read_text(self.file))

    def is_current(self, plan: ServicePlan) -> bool:
        return unit.same_but_path(read_text(self.file), self.text(plan))

    @cached_property
    def _version(self) -> int:
        found = re.match(r"systemd (\d+)", run_program(self._environ, "systemctl", "--version").out)
        return int(found[1]) if found else 0

    @property
    def _user(self) -> str:
        return pwd.getpwuid(os.getuid()).pw_name

    def _lingers(self) -> bool | None:
        said = run_program(self._environ, "loginctl", "show-user", self._user, "--property=Linger", "--value")
        return {"yes": True, "no": False}.get(said.out.strip()) if said.status == 0 else None


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 12 else 0
