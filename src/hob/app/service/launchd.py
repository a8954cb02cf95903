"""The service as a launchd user agent."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from hob.app.logs.service_log import NAME
from hob.app.service import plist
from hob.app.service.plan import ServicePlan
from hob.app.service.service_manager import ServiceState, read_text
from hob.app.service.steps import KeepFile, Remove, Run, Step, WriteFile, run_program
from hob.core.translation.language import translatable


class Launchd:
    """Implements `ServiceManager` by calling `launchctl` (`man launchctl`)."""

    name = "launchd"

    def __init__(self, environ: Mapping[str, str], home: Path) -> None:
        self._environ = environ
        self._log = home / "logs" / NAME
        self.file = Path(environ.get("HOME") or Path.home()) / "Library" / "LaunchAgents" / f"{plist.LABEL}.plist"
        self._domain = f"gui/{os.getuid()}"
        self._target = f"{self._domain}/{plist.LABEL}"

    def obstacle(self) -> str:
        said = run_program(self._environ, "launchctl", "print", self._domain)
        if said.status == 0:
            return ""
        return translatable(
            "launchd does not answer for this user ({reason}); log in at the machine itself and try again",
            reason=said.complaint,
        )

    def text(self, plan: ServicePlan) -> str:
        return plist.plist_text(plan)

    def install(self, plan: ServicePlan) -> Sequence[Step]:
        return tuple(self._install(plan))

    def _install(self, plan: ServicePlan) -> Iterator[Step]:
        there, text = read_text(self.file), self.text(plan)
        loaded = run_program(self._environ, "launchctl", "print", self._target).status == 0
        if there and not plist.home_of(there):
            yield KeepFile(self.file)
        yield WriteFile(self.file, text)
        if loaded and there != text:
            yield Run(("launchctl", "bootout", self._target))
        yield Run(("launchctl", "enable", self._target))
        if not loaded or there != text:
            yield Run(("launchctl", "bootstrap", self._domain, str(self.file)))
        yield Run(("launchctl", "kickstart", self._target))

    def uninstall(self) -> Sequence[Step]:
        if not self.file.exists():
            return ()
        return (Run(("launchctl", "bootout", self._target), translatable("it was not loaded")), Remove(self.file))

    def restart(self) -> Sequence[Step]:
        return (Run(("launchctl", "kickstart", "-k", self._target)),)

    def logs(self, lines: int, *, follow: bool) -> Sequence[str]:
        return ("tail", "-n", str(lines), *(("-f",) if follow else ()), str(self._log))

    def state(self) -> ServiceState:
        said = run_program(self._environ, "launchctl", "print", self._target)
        seen = dict(re.findall(r"^\s*(state|pid|runs|last exit code) = (.*)$", said.out, re.MULTILINE))
        state, code = seen.get("state", "not loaded"), seen.get("last exit code", "")
        ended = f" (last exit status {code})" if code and code.strip("0") and code != "(never exited)" else ""
        return ServiceState(
            installed=self.file.exists(),
            enabled=said.status == 0,
            running=state == "running",
            detail=f"{state}{ended}",
            pid=int(seen.get("pid", "0")),
            restarts=max(0, int(seen.get("runs", "1")) - 1),
        )

    def home(self) -> str:
        return plist.home_of(read_text(self.file))

    def program(self) -> str:
        return plist.program_of(read_text(self.file))

    def is_current(self, plan: ServicePlan) -> bool:
        return plist.same_but_path(read_text(self.file), self.text(plan))
