"""What the model may do: files, shell and more, each tool made from a typed function and kept within its bounds."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # names are loaded when first used: a settings class must not load the tools
    from hob.tools.changes import Change as Change
    from hob.tools.changes import Changes as Changes
    from hob.tools.changes import ChangesInMemory as ChangesInMemory
    from hob.tools.changes import FileChanges as FileChanges
    from hob.tools.declaring import Output as Output
    from hob.tools.declaring import Tools as Tools
    from hob.tools.declaring import tool as tool
    from hob.tools.default_set import Picked as Picked
    from hob.tools.default_set import default_tools as default_tools
    from hob.tools.files import FileTools as FileTools
    from hob.tools.grepping import find_ripgrep as find_ripgrep
    from hob.tools.groups import Group as Group
    from hob.tools.groups import Groups as Groups
    from hob.tools.groups import OpenGroups as OpenGroups
    from hob.tools.memories import FileMemories as FileMemories
    from hob.tools.paths import Place as Place
    from hob.tools.paths import Root as Root
    from hob.tools.paths import Roots as Roots
    from hob.tools.remembering import Remembering as Remembering
    from hob.tools.schemas import Bounds as Bounds
    from hob.tools.talking import Talking as Talking
    from hob.tools.undo import Undo as Undo
    from hob.tools.working_memory import FileWorkingMemory as FileWorkingMemory
    from hob.tools.working_memory import WorkingMemory as WorkingMemory
    from hob.tools.working_memory import WorkingNote as WorkingNote

_HOMES = {
    name: f"hob.tools.{module}"
    for module, names in {
        "changes": ("Change", "Changes", "ChangesInMemory", "FileChanges"),
        "declaring": ("Output", "Tools", "tool"),
        "default_set": ("Picked", "default_tools"),
        "files": ("FileTools",),
        "grepping": ("find_ripgrep",),
        "groups": ("Group", "Groups", "OpenGroups"),
        "memories": ("FileMemories",),
        "paths": ("Place", "Root", "Roots"),
        "remembering": ("Remembering",),
        "schemas": ("Bounds",),
        "talking": ("Talking",),
        "undo": ("Undo",),
        "working_memory": ("FileWorkingMemory", "WorkingMemory", "WorkingNote"),
    }.items()
    for name in names
}
__all__ = [
    "Bounds",
    "Change",
    "Changes",
    "ChangesInMemory",
    "FileChanges",
    "FileMemories",
    "FileTools",
    "FileWorkingMemory",
    "Group",
    "Groups",
    "OpenGroups",
    "Output",
    "Picked",
    "Place",
    "Remembering",
    "Root",
    "Roots",
    "Talking",
    "Tools",
    "Undo",
    "WorkingMemory",
    "WorkingNote",
    "default_tools",
    "find_ripgrep",
    "tool",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
