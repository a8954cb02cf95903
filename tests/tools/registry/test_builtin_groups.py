"""The always-shown tools are few and short, and lead to the others."""

import json
from pathlib import Path

import pytest

from hob.agent.prompt.specs import READ_BACK
from hob.app.subsystems import TOOL_GROUPS
from hob.core.errors import ToolFailed
from hob.core.ports.tools import Toolset
from hob.memory.facts.editor import FactEditor
from hob.memory.service import MemoryService
from hob.store.memory.goals import StoredGoals
from hob.store.memory.memories import StoredMemories
from hob.store.memory.working_notes import StoredWorkingNotes
from hob.tools.exec.commands import CommandTools
from hob.tools.memory.knowledge import KnowledgeTools
from hob.tools.memory.remember import MemoryTools
from hob.tools.messages.conversation import ConversationTools
from hob.tools.registry.builtin_groups import BUILTIN_GROUPS
from hob.tools.registry.declaration import Tools
from hob.tools.registry.groups import LOAD, MAX_SHOWN, Groups, SelectedTools, grouped
from tests.tools.calling import made, text_of
from tests.tools.keeping import file_tools
from tests.turns import NoticeRecorder


def toolsets(top: Path) -> list[Toolset]:
    commands = object.__new__(CommandTools)  # declared without a sandbox: it is not called here
    memories, notes = object.__new__(StoredMemories), object.__new__(StoredWorkingNotes)
    remembering = MemoryTools(memories, object.__new__(MemoryService), notes)
    shell = Tools(commands.exec, commands.process)
    knowing = KnowledgeTools(object.__new__(FactEditor), object.__new__(StoredGoals))
    return [
        shell,
        file_tools(top).toolset,
        remembering.toolset,
        knowing.toolset,
        ConversationTools(NoticeRecorder()).toolset,
    ]


def builtin(top: Path) -> Groups:
    return grouped(BUILTIN_GROUPS, toolsets(top))


def test_twelve_tools_are_shown_in_their_order(tmp_path: Path) -> None:
    names = [spec.name for spec in builtin(tmp_path).specs()]
    assert names == [
        *("read", "write", "edit", "exec", "recall", "remember", "grep", "glob"),
        *("apply_patch", "process", "ask_user", LOAD),
    ]
    assert len(names) <= MAX_SHOWN


def test_every_tool_is_shown_or_grouped(tmp_path: Path) -> None:
    tools = builtin(tmp_path)
    shown = {spec.name for spec in tools.specs()} - {LOAD}
    assert set(tools.grouped()) | shown == {spec.name for each in toolsets(tmp_path) for spec in each.specs()}


def test_shown_tools_stay_within_their_byte_limit(tmp_path: Path) -> None:
    size = 0
    for spec in builtin(tmp_path).specs():
        told = {"name": spec.name, "description": spec.description, "parameters": spec.schema}
        size += len(json.dumps({"type": "function", "function": told}, separators=(",", ":")).encode()) + 1
    assert size <= 4_000  # bytes in OpenAI's format


async def test_absent_toolsets_are_left_out(tmp_path: Path) -> None:
    tools = grouped(BUILTIN_GROUPS, [file_tools(tmp_path).toolset])
    there = [spec.name for spec in tools.specs()]
    assert there == ["read", "write", "edit", "grep", "glob", "apply_patch", LOAD]
    assert "notes" not in tools.specs()[-1].description
    (tmp_path / "ws/a").write_text("one\n")
    assert await text_of(tools, "read", path="a") == "1\tone"


async def test_only_selected_tools_can_be_called(tmp_path: Path) -> None:
    picked = SelectedTools(toolsets(tmp_path), ["glob", "nothing"])
    assert [spec.name for spec in picked.specs()] == ["glob"]
    with pytest.raises(ToolFailed, match="no tool"):
        await made(picked, "list_dir")


def test_every_argument_has_a_role() -> None:
    for spec in (spec for group in TOOL_GROUPS for spec in group.tools if spec.name != READ_BACK):
        roles = [each.roles for each in spec.variants.values()] if spec.variants else [spec.roles]
        assert None not in roles, spec.name
        known = {name for each in roles if each is not None for name in each.known()}
        # a script may send data anywhere, so it always needs approval
        unknown = {"script"} if spec.name == "browser" else set()
        assert set(spec.schema["properties"]) == known | unknown, spec.name
