"""JSON-lines files of earlier releases become rows, once."""

import asyncio
import json
import signal
import sys
from dataclasses import replace
from pathlib import Path

from hob.core.clock import SystemClock
from hob.core.ids import CallId, SessionKey, TurnId
from hob.core.undo import CommandRun, FileChange, FileVersion, SkippedFile, SnapshotSpan, UndoOutcome, UndoRecord
from hob.store.settings import StoreSettings
from hob.store.store import Store, open_store

HERE, THERE = SessionKey("local:here"), SessionKey("local:there")


def write_lines(file: Path, *lines: object, end: str = "\n") -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(json.dumps(line) for line in lines) + end)


def groups(home: Path) -> None:
    lines = [{"session": key, "group": name} for key, name in ((HERE, "web"), (THERE, "mail"), (HERE, "files"))]
    write_lines(home / "tools/groups.jsonl", *lines, {"session": 1}, end='\n{"session": "cut')


def opened(store: Store) -> tuple[tuple[str, ...], ...]:
    return store.open_groups.opened(HERE), store.open_groups.opened(THERE)


async def test_lines_become_rows_and_the_file_is_moved_aside(tmp_path: Path) -> None:
    groups(tmp_path)
    for _ in range(2):
        async with open_store(tmp_path, StoreSettings(), SystemClock()) as store:
            assert opened(store) == (("web", "files"), ("mail",))
    assert [path.name for path in (tmp_path / "tools").rglob("*.jsonl")] == ["groups.jsonl"]
    assert (tmp_path / "tools/imported/groups.jsonl").exists()


async def test_undo_log_of_an_earlier_release_is_imported(tmp_path: Path) -> None:
    done = {"restored": ["/w/a"], "unchanged": [], "kept": [["/w/b", "it was changed since"]]}
    write_lines(
        tmp_path / "tools/undone.jsonl",
        {"v": 1, "turn": "t_1", "by": "m_1", "planned": ["/w/a"]},
        {"v": 1, "turn": "t_2", "by": "m_2", "planned": ["/w/c"]},
        {"v": 1, "turn": "t_1", "by": "m_1", "done": done},
        {"v": 1, "turn": "t_9", "by": "m_9", "done": done},
    )
    async with open_store(tmp_path, StoreSettings(), SystemClock()) as store:
        outcome = UndoOutcome(("/w/a",), (), (SkippedFile("/w/b", "it was changed since"),))
        assert await store.undo_log.find("m_1") == UndoRecord(TurnId("t_1"), "m_1", ("/w/a",), outcome)
        assert await store.undo_log.half_done() == (UndoRecord(TurnId("t_2"), "m_2", ("/w/c",)),)
        assert await store.undo_log.find("m_9") is None


async def test_tainted_turns_of_an_earlier_release_are_imported(tmp_path: Path) -> None:
    write_lines(tmp_path / "tools/foreign.jsonl", *({"turn": turn} for turn in ("t_1", "t_2", "t_1")))
    async with open_store(tmp_path, StoreSettings(), SystemClock()) as store:
        assert [turn async for turn in store.tainted_writes.turns()] == ["t_2", "t_1"]


async def test_changes_and_commands_of_an_earlier_release_are_imported(tmp_path: Path) -> None:
    old, new = {"hash": "a" * 64, "mode": 420, "blob": "a" * 64}, {"hash": "b" * 64, "mode": 420, "blob": None}
    change = {
        "v": 1,
        "id": "1",
        "turn": "t_1",
        "call": "c",
        "path": "/w/a",
        "before": old,
        "after": new,
        "made": ["/w"],
    }
    write_lines(
        tmp_path / "tools/changes.jsonl", change, {"v": 9}, {**change, "at": 7, "before": None}, end='\n{"v":1,"i'
    )
    begun = {"v": 1, "what": "begun", "turn": "t_1", "call": "c", "session": HERE, "command": "make", "process": "p_1"}
    write_lines(
        tmp_path / "tools/commands.jsonl",
        {**begun, "end": "", "trees": {"/w": "s_1"}},
        {**begun, "end": "", "call": "c_2", "process": "", "trees": {"/w": "s_1"}},
        {"v": 1, "what": "changed", "turn": "t_1", "tree": "/w", "states": ["s_1", "s_2"], "at": 5},
        {"v": 1, "what": "ended", "turn": "t_1", "call": "c", "how": "exit status 0"},
    )
    async with open_store(tmp_path, StoreSettings(), SystemClock()) as store:
        turn, call = TurnId("t_1"), CallId("c")
        first = FileChange("1", turn, call, "/w/a", FileVersion(**old), FileVersion(**new), ("/w",))  # type: ignore[arg-type]
        assert await store.file_changes.of(turn) == (first, replace(first, before=None, at=7))
        assert await store.command_log.spans(turn) == (SnapshotSpan(turn, Path("/w"), "s_1", "s_2", 5),)
        known = CommandRun(turn, call, HERE, "make", "p_1", "exit status 0")
        assert await store.command_log.find("p_1", HERE) == known
        runs = replace(known, call=CallId("c_2"), process="", end="")
        assert await store.command_log.running() == ((runs, {Path("/w"): "s_2"}),)


KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from hob.core.clock import SystemClock
from hob.store.backup import line_files
from hob.store.settings import StoreSettings
from hob.store.store import open_store

async def main():
    line_files._move_aside = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
    async with open_store(Path(sys.argv[1]), StoreSettings(), SystemClock()):
        pass

asyncio.run(main())
"""


async def test_kill_before_the_files_are_moved_imports_them_once(tmp_path: Path) -> None:
    groups(tmp_path)
    for _ in range(2):
        process = await asyncio.create_subprocess_exec(sys.executable, "-c", KILLED, tmp_path)
        assert await process.wait() == -signal.SIGKILL
    assert (tmp_path / "tools/groups.jsonl").exists()
    async with open_store(tmp_path, StoreSettings(), SystemClock()) as store:
        rows = await store._readers.read(lambda c: c.execute("SELECT count(*) FROM open_groups").fetchall())
        assert rows == [(3,)]
    assert not (tmp_path / "tools/groups.jsonl").exists()


async def test_opened_group_is_open_after_a_restart(tmp_path: Path) -> None:
    for group in ("web", "mail", "web"):
        async with open_store(tmp_path, StoreSettings(), SystemClock()) as store:
            await store.open_groups.open(HERE, group)
    async with open_store(tmp_path, StoreSettings(), SystemClock()) as store:
        assert opened(store) == (("web", "mail"), ())
