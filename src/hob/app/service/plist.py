"""The property list for launchd (`man 5 launchd.plist`)."""

import plistlib
from typing import Any

from hob.app.logs.service_log import NAME
from hob.app.service.plan import ServicePlan

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
    """Return the agent of a logged-in user. It restarts ten seconds after a failure, but not for invalid settings."""
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
