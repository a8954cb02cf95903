"""The connection between call analysis and shell analysis."""

from hob.guard.policy.call_analysis import CommandReading, ReadCommand
from hob.guard.policy.places import Places
from hob.guard.shell.analysis import analyse
from hob.guard.shell.verdict import judge_command


def command_reader(places: Places) -> ReadCommand:
    """Return a function that analyses commands as they would run on this machine."""

    def read(command: str, directory: str) -> CommandReading:
        analysis = analyse(command)
        found = judge_command(analysis, cwd=directory, workspace=places.workspace, home=places.home)
        return CommandReading(
            found, analysis.lines(), analysis.executables, analysis.scripts, analysis.targets, analysis.sets_variables
        )

    return read
