"""Reading shell commands: what would run, and what of it must be asked about or refused.

It is no boundary: the sandbox is. It keeps the owner from being asked about plain work, and shows what is asked about.
"""

from hob.guard.shell.analysis import analyse as analyse
from hob.guard.shell.commands import Analysis as Analysis
from hob.guard.shell.commands import Command as Command
from hob.guard.shell.findings import Finding as Finding
from hob.guard.shell.findings import Severity as Severity
from hob.guard.shell.findings import severity as severity
from hob.guard.shell.judging import judge_command as judge_command

__all__ = ["Analysis", "Command", "Finding", "Severity", "analyse", "judge_command", "severity"]
