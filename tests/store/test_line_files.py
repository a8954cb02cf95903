"""Files of JSON lines that earlier releases kept beside the database become rows, once."""

import asyncio
import json
import signal
import sys
from pathlib import Path

from hob.core.clock import SystemClock
from hob.core.ids import SessionKey, TurnId
from hob.core.undo import Kept, Undone, UndoNote
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


async def test_undoings_of_an_earlier_release_are_known(tmp_path: Path) -> None:
    done = {"restored": ["/w/a"], "unchanged": [], "kept": [["/w/b", "it was changed since"]]}
    write_lines(
        tmp_path / "tools/undone.jsonl",
        {"v": 1, "turn": "t_1", "by": "m_1", "planned": ["/w/a"]},
        {"v": 1, "turn": "t_2", "by": "m_2", "planned": ["/w/c"]},
        {"v": 1, "turn": "t_1", "by": "m_1", "done": done},
        {"v": 1, "turn": "t_9", "by": "m_9", "done": done},
    )
    async with open_store(tmp_path, StoreSettings(), SystemClock()) as store:
        outcome = Undone(("/w/a",), (), (Kept("/w/b", "it was changed since"),))
        assert await store.undo_log.find("m_1") == UndoNote(TurnId("t_1"), "m_1", ("/w/a",), outcome)
        assert await store.undo_log.half_done() == (UndoNote(TurnId("t_2"), "m_2", ("/w/c",)),)
        assert await store.undo_log.undone([TurnId("t_1"), TurnId("t_2")]) == {"t_1"}
        assert await store.undo_log.find("m_9") is None


KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from hob.core.clock import SystemClock
from hob.store import line_files
from hob.store.settings import StoreSettings
from hob.store.store import open_store

async def main():
    line_files._move_aside = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
    async with open_store(Path(sys.argv[1]), StoreSettings(), SystemClock()):
        pass

asyncio.run(main())
"""


async def test_a_kill_before_the_files_are_moved_imports_them_once(tmp_path: Path) -> None:
    groups(tmp_path)
    for _ in range(2):
        process = await asyncio.create_subprocess_exec(sys.executable, "-c", KILLED, tmp_path)
        assert await process.wait() == -signal.SIGKILL
    assert (tmp_path / "tools/groups.jsonl").exists()
    async with open_store(tmp_path, StoreSettings(), SystemClock()) as store:
        rows = await store._readers.read(lambda c: c.execute("SELECT count(*) FROM open_groups").fetchall())
        assert rows == [(3,)]
    assert not (tmp_path / "tools/groups.jsonl").exists()


async def test_an_opened_group_is_open_after_a_restart(tmp_path: Path) -> None:
    for group in ("web", "mail", "web"):
        async with open_store(tmp_path, StoreSettings(), SystemClock()) as store:
            await store.open_groups.open(HERE, group)
    async with open_store(tmp_path, StoreSettings(), SystemClock()) as store:
        assert opened(store) == (("web", "mail"), ())
