"""The tools that every session is shown, and the groups it can open: few, and described in few words.

All of it stands in every request, so each word is paid for with every message;
`tests/tools/registry/test_default_set.py` holds the size.
"""

from collections.abc import Mapping, Sequence

from hob.core.errors import ToolFailed
from hob.core.ports.tools import CallContext, Toolset
from hob.core.tools import ToolCall, ToolResult, ToolSpec
from hob.tools.registry.groups import Group, Groups, OpenGroups

SHOWN = (
    *("read", "write", "edit", "exec", "recall"),
    *("remember", "grep", "glob", "apply_patch", "process", "ask_user"),
)
"""Besides `load_tools`. A small model is told of the first few only."""

GROUPS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "files": ("folder trees, real paths", ("list_dir", "resolve_path")),
    "web": ("search, read pages", ("web_search", "web_fetch")),
    "media": ("pictures, speech, PDF pages", ("image", "tts", "pdf")),
    "canvas": ("pages shown to the user", ("canvas",)),
    "messages": ("write, edit, react in chats", ("message",)),
    "notes": (
        "work, memory, facts, goals",
        (
            "update_working_memory",
            "report_progress",
            "memory_search",
            "memory_get",
            "facts",
            "correct_fact",
            "get_goals",
            "create_goal",
            "update_goal",
        ),
    ),
}


class SelectedTools:
    """Implements `Toolset`: those tools of others that are named, in the order of the names."""

    def __init__(self, toolsets: Sequence[Toolset], names: Sequence[str]) -> None:
        self._toolsets = {spec.name: toolset for toolset in toolsets for spec in toolset.specs()}
        specs = {spec.name: spec for toolset in toolsets for spec in toolset.specs()}
        self._specs = tuple(specs[name] for name in names if name in specs)
        self._names = {spec.name for spec in self._specs}

    def specs(self) -> tuple[ToolSpec, ...]:
        """The named tools that there are."""
        return self._specs

    async def call(self, call: ToolCall, context: CallContext) -> ToolResult:
        """Make the call. Raises ToolFailed, ToolRefused."""
        if call.name not in self._names:
            raise ToolFailed(f"there is no tool {call.name}")
        return await self._toolsets[call.name].call(call, context)


def default_tools(
    toolsets: Sequence[Toolset], more: Mapping[str, Group] | None = None, opened: OpenGroups | None = None
) -> Groups:
    """Hob's own tools out of these toolsets: a few shown, the others in groups, beside `more` groups.

    What is in none of these toolsets is not missed: where there is no sandbox, there is no `exec`.
    """
    groups = {name: Group(line, SelectedTools(toolsets, tools)) for name, (line, tools) in GROUPS.items()}
    there = {name: group for name, group in groups.items() if group.toolset.specs()}
    return Groups(SelectedTools(toolsets, SHOWN), {**there, **(more or {})}, opened)
