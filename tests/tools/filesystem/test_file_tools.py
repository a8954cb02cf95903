"""The file tools as a whole: contract, size, speed."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from hob.core.ports.tools import Toolset
from hob.core.tools import Effect, Restart, Tier
from hob.testing.toolset_check import check_toolset
from hob.tools.filesystem.files import FileTools
from tests.tools.keeping import file_tools

EXAMPLES = {
    "read": {"path": "a.txt"},
    "write": {"path": "b.txt", "content": "x"},
    "edit": {"path": "a.txt", "old_text": "one", "new_text": "1"},
    "apply_patch": {"patch": "*** Begin Patch\n*** Add File: c.txt\n+x\n*** End Patch"},
    "list_dir": {},
    "glob": {"pattern": "*"},
    "grep": {"pattern": "x"},
    "resolve_path": {"path": "a.txt"},
}


async def test_file_tools_fulfil_the_toolset_contract(tmp_path: Path) -> None:
    @asynccontextmanager
    async def opened() -> AsyncIterator[Toolset]:
        files = file_tools(tmp_path)
        (tmp_path / "ws/a.txt").write_text("one\n")
        yield files.toolset

    await check_toolset(opened, EXAMPLES)


def test_changing_tools_declare_it_and_are_not_retried(files: FileTools) -> None:
    specs = {spec.name: spec for spec in files.toolset.specs()}
    assert list(specs) == list(EXAMPLES)
    for name, spec in specs.items():
        writes = name in {"write", "edit", "apply_patch"}
        assert spec.tier is (Tier.WRITE if writes else Tier.READ)
        assert (Effect.WRITES in spec.effects) == writes
        assert spec.restart is (Restart.NEVER if writes else Restart.AGAIN)
        assert spec.parallel != writes


def test_tool_specs_take_little_prompt_space(files: FileTools) -> None:
    text = json.dumps([[spec.name, spec.description, spec.schema] for spec in files.toolset.specs()])
    assert len(text) < 8_000
