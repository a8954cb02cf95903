"""The service as a launchd user agent, with its property list."""

import os
import plistlib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hob.app.logs.service_log import NAME
from hob.app.service.plan import ServicePlan
from hob.app.service.service_manager import ServiceState, read_text
from hob.app.service.steps import KeepFile, Remove, Run, Step, WriteFile, run_program
from hob.core.translation.language import translatable

LABEL = "local.hob"
_WRAPPER_SCRIPT = """\
set -a; test -r "$0" && . "$0"; set +a
hob= asked=
trap 'test -n "$hob" && kill -TERM $hob || asked=TERM' TERM INT
trap 'test -n "$hob" && kill -HUP $hob || asked=HUP' HUP
exec 3<&0; "$@" <&3 & hob=$!
test -z "$asked" || kill -$asked $hob
while :; do wait $hob; status=$?; kill -0 $hob 2>/dev/null || break; done
test $status -ne 2 || exit 0
exit $status
"""
"""launchd has no environment files, and restarts unless the status is 0. The shell reads ours, forwards signals, and
exits with 0 if Hob exited with 2, since restarting does not fix invalid settings.
"""


def plist_text(plan: ServicePlan) -> str:
    """Return the agent of a logged-in user (`man 5 launchd.plist`).

    It restarts ten seconds after a failure, but not for invalid settings.
    """
    log = str(plan.home / "logs" / NAME)
    table = {
        "Label": LABEL,
        "ProgramArguments": ["/bin/sh", "-c", _WRAPPER_SCRIPT, str(plan.environment_file), *plan.program],
        "EnvironmentVariables": {"HOB_HOME": str(plan.home), "PATH": plan.path},
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ThrottleInterval": 10,
        "ExitTimeOut": round(plan.stop_seconds),
        "StandardOutPath": log,
        "StandardErrorPath": log,
        "Umask": 0o077,
        "HardResourceLimits": {"Core": 0},
    }
    return plistlib.dumps(table, sort_keys=False).decode()


def home_of(text: str) -> str:
    """Return the home of Hob's own agent, or an empty text."""
    return str(_table(text).get("EnvironmentVariables", {}).get("HOB_HOME", ""))


def program_of(text: str) -> str:
    """Return the program that Hob's own agent starts, or an empty text."""
    return str(next(iter(_table(text).get("ProgramArguments", [])[4:5]), ""))


def same_but_path(one: str, other: str) -> bool:
    """Return whether two agents differ at most in their PATH."""
    return _without_path(one) == _without_path(other)


def _without_path(text: str) -> dict[str, Any]:
    table = _table(text)
    table.get("EnvironmentVariables", {}).pop("PATH", None)
    return table


def _table(text: str) -> dict[str, Any]:
    try:
        table = plistlib.loads(text.encode())
    except (ValueError, plistlib.InvalidFileException):
        return {}
    return table if isinstance(table, dict) and table.get("Label") == LABEL else {}


class Launchd:
    """Implements `ServiceManager` by calling `launchctl` (`man launchctl`)."""

    name = "launchd"

    def __init__(self, environ: Mapping[str, str], home: Path) -> None:
        self._environ = environ
        self._log = home / "logs" / NAME
        self.file = Path(environ.get("HOME") or Path.home()) / "Library" / "LaunchAgents" / f"{LABEL}.plist"
        self._domain = f"gui/{os.getuid()}"
        self._target = f"{self._domain}/{LABEL}"

    def obstacle(self) -> str:
        said = run_program(self._environ, "launchctl", "print", self._domain)
        if said.status == 0:
            return ""
        return translatable(
            "launchd does not answer for this user ({reason}); log in at the machine itself and try again",
            reason=said.complaint,
        )

    def text(self, plan: ServicePlan) -> str:
        return plist_text(plan)

    def install(self, plan: ServicePlan) -> Sequence[Step]:
        return tuple(self._install(plan))

    def _install(self, plan: ServicePlan) -> Iterator[Step]:
        there, text = read_text(self.file), self.text(plan)
        loaded = run_program(self._environ, "launchctl", "print", self._target).status == 0
        if there and not home_of(there):
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
        return home_of(read_text(self.file))

    def program(self) -> str:
        return program_of(read_text(self.file))

    def is_current(self, plan: ServicePlan) -> bool:
        return same_but_path(read_text(self.file), self.text(plan))
