"""What the model may do: files, shell and more, each tool made from a typed function and kept within its bounds."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # names are loaded when first used: a settings class must not load the tools
    from hob.tools.changes import Change as Change
    from hob.tools.changes import Changes as Changes
    from hob.tools.changes import ChangesInMemory as ChangesInMemory
    from hob.tools.changes import FileChanges as FileChanges
    from hob.tools.command_log import CommandLog as CommandLog
    from hob.tools.commands import open_commands as open_commands
    from hob.tools.declaring import Output as Output
    from hob.tools.declaring import Tools as Tools
    from hob.tools.declaring import tool as tool
    from hob.tools.files import FileTools as FileTools
    from hob.tools.grepping import find_ripgrep as find_ripgrep
    from hob.tools.groups import Group as Group
    from hob.tools.groups import Groups as Groups
    from hob.tools.groups import OpenGroups as OpenGroups
    from hob.tools.paths import Place as Place
    from hob.tools.paths import Root as Root
    from hob.tools.paths import Roots as Roots
    from hob.tools.schemas import Bounds as Bounds
    from hob.tools.turn_undo import TurnUndo as TurnUndo
    from hob.tools.undo import Undo as Undo
    from hob.tools.undo import Undone as Undone

_HOMES = {
    name: f"hob.tools.{module}"
    for module, names in {
        "changes": ("Change", "Changes", "ChangesInMemory", "FileChanges"),
        "command_log": ("CommandLog",),
        "commands": ("open_commands",),
        "declaring": ("Output", "Tools", "tool"),
        "files": ("FileTools",),
        "grepping": ("find_ripgrep",),
        "groups": ("Group", "Groups", "OpenGroups"),
        "paths": ("Place", "Root", "Roots"),
        "schemas": ("Bounds",),
        "turn_undo": ("TurnUndo",),
        "undo": ("Undo", "Undone"),
    }.items()
    for name in names
}
__all__ = [
    "Bounds",
    "Change",
    "Changes",
    "ChangesInMemory",
    "CommandLog",
    "FileChanges",
    "FileTools",
    "Group",
    "Groups",
    "OpenGroups",
    "Output",
    "Place",
    "Root",
    "Roots",
    "Tools",
    "TurnUndo",
    "Undo",
    "Undone",
    "find_ripgrep",
    "open_commands",
    "tool",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
