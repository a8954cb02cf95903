"""What is erased is gone from what the tools keep beside the database, too."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from hob.core.ids import SessionKey, TraceId
from hob.store.erasure.erasure import Erasure
from hob.testing.model import calls
from tests.gateway.conftest import Machine, machine

CANARY = "canary-5b1f"


@asynccontextmanager
async def busy(top: Path) -> AsyncIterator[tuple[Machine, str]]:
    """Hob after a turn that remembered, noted, and replaced a file that held a secret; and that turn's trace."""
    old = top / "workspace/old.md"
    old.parent.mkdir()
    old.write_text(f"{CANARY} in the file")
    script = (
        calls(
            ("remember", json.dumps({"text": f"{CANARY} remembered"})),
            ("update_working_memory", json.dumps({"content": f"{CANARY} noted"})),
            ("write", json.dumps({"path": str(old), "content": "new"})),
        ),
        "done",
        "another answer",
    )
    async with machine(top / "home", *script, HOB_WORKSPACE_PATH=str(old.parent)) as hob:
        trace = await told(hob, f"{CANARY} said")
        assert {path.parts[0] for path in leaks(top / "home")} >= {"hob.db-wal", "blobs"}
        yield hob, trace


def leaks(home: Path) -> list[Path]:
    """The files of the home that hold the canary."""
    found = (path for path in home.rglob("*") if path.is_file())
    return [path.relative_to(home) for path in found if CANARY.encode() in path.read_bytes()]


def erasure(hob: Machine) -> Erasure:
    """As Hob erases: what the tools keep goes too."""
    return hob.app.store.erasure.with_participants([hob.app.services.tool_runtime.erase])


async def told(hob: Machine, text: str) -> str:
    view = (await hob.tcp.post("/chat", json={"message": text, "wait": 20})).json()
    assert view["reply"] is not None, view
    return str(view["trace_id"])


async def test_erasing_a_message_erases_its_memories_note_and_old_files(tmp_path: Path) -> None:
    async with busy(tmp_path) as (hob, trace):
        await told(hob, "hi")
        await erasure(hob).erase_trace(TraceId(trace), "asked")
        assert leaks(tmp_path / "home") == []
        assert await erasure(hob).erase_trace(TraceId(trace), "asked") == 0


async def test_erasing_a_session_erases_what_it_remembered_and_noted(tmp_path: Path) -> None:
    async with busy(tmp_path) as (hob, _):
        await erasure(hob).erase_session(SessionKey("api:main"), "asked")
        assert leaks(tmp_path / "home") == []


async def test_changes_of_another_turn_stay(tmp_path: Path) -> None:
    async with busy(tmp_path) as (hob, _):
        trace = await told(hob, "hi")
        await erasure(hob).erase_trace(TraceId(trace), "asked")
        done = (await hob.tcp.post("/undo", json={"session": "api:main"})).json()
        assert done["restored"] == [str(tmp_path / "workspace/old.md")]
        assert CANARY in (tmp_path / "workspace/old.md").read_text()
