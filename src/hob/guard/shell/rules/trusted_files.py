"""What a command may write that later turns or other programs obey: told for its effect, as file tools declare it."""

from collections.abc import Iterator

from hob.core.tools import Effect
from hob.guard.policy.places import is_obeyed_name, names_obeyed
from hob.guard.shell.command_context import Scene
from hob.guard.shell.findings import ShellFinding
from hob.guard.shell.names import HARMLESS

_READING = (
    HARMLESS | {"git", "less", "awk", "rg", "ag", "fd", "find", "jq", "cd", "rm", "pytest", "mypy", "flake8", "pylint"}
) - {"touch", "pandoc", "iconv"}
_PERSISTS = frozenset({Effect.PERSISTS})


def obeyed(scene: Scene) -> Iterator[ShellFinding]:
    """Names in arguments, in redirections and in code that stands in the command."""
    command = scene.command
    named = [each.target for each in command.redirections if each.operator[:1] == ">"]
    if command.name not in _READING:
        named += [arg.partition("=")[2] if "=" in arg else arg for arg in scene.args]
    paths = (scene.resolve(each) for each in named if each)
    if any(is_obeyed_name(path) for path in paths if not path.startswith("/tmp/")) or any(  # noqa: S108 - it vanishes
        names_obeyed(code.text) for code in command.runs.code
    ):
        yield scene.tell("obeyed", "what it names is taken for instruction later", _PERSISTS)
