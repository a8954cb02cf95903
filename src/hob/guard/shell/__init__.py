"""Reading shell commands: what would run, and what of it must be asked about or refused.

It is no boundary: the sandbox is. It keeps the owner from being asked about plain work, and shows what is asked about.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # names are loaded when first used: most turns run no command
    from hob.guard.shell.analysis import analyse as analyse
    from hob.guard.shell.commands import Analysis as Analysis
    from hob.guard.shell.commands import Command as Command
    from hob.guard.shell.findings import Finding as Finding
    from hob.guard.shell.findings import Severity as Severity
    from hob.guard.shell.findings import severity as severity
    from hob.guard.shell.judging import judge_command as judge_command

_HOMES = {
    "Analysis": "commands",
    "Command": "commands",
    "Finding": "findings",
    "Severity": "findings",
    "analyse": "analysis",
    "judge_command": "judging",
    "severity": "findings",
}
__all__ = ["Analysis", "Command", "Finding", "Severity", "analyse", "judge_command", "severity"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
