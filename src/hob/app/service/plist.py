"""The property list for launchd (`man 5 launchd.plist`)."""

import plistlib
from typing import Any

from hob.app.service.plan import Plan

LABEL = "local.hob"
_WITH_ENVIRONMENT = 'set -a; test -r "$0" && . "$0"; set +a; exec "$@"'
"""launchd knows no files of variables: a shell reads ours, and is replaced by Hob."""


def plist_text(plan: Plan) -> str:
    """The agent of a logged-in user. It is started again when it fails, at most every ten seconds."""
    log = str(plan.home / "logs" / "service.log")
    table = {
        "Label": LABEL,
        "ProgramArguments": ["/bin/sh", "-c", _WITH_ENVIRONMENT, str(plan.environment_file), *plan.program],
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
    """The home that an agent of ours is for, or nothing."""
    return str(_table(text).get("EnvironmentVariables", {}).get("HOB_HOME", ""))


def program_of(text: str) -> str:
    """The program that an agent of ours starts, or nothing."""
    return str(next(iter(_table(text).get("ProgramArguments", [])[4:5]), ""))


def same_but_path(one: str, other: str) -> bool:
    """Whether two agents differ in nothing but the folders of programs."""
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
