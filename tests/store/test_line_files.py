"""Files of JSON lines that earlier releases kept beside the database become rows, once."""

import asyncio
import json
import signal
import sys
from pathlib import Path

from hob.core.clock import SystemClock
from hob.core.ids import SessionKey
from hob.store import Store, StoreSettings, open_store

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


KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from hob.core.clock import SystemClock
from hob.store import StoreSettings, line_files, open_store

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
