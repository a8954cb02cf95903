"""Backups, restores, exports."""

import asyncio
import json
import shutil
import signal
import stat
import sys
from pathlib import Path
from typing import Any

import apsw
import pytest

from hob.core.clock import SystemClock
from hob.core.errors import InvalidRequest, NotFound, StoreDamaged, StoreError, StoreFull, StoreTooNew
from hob.core.ids import CallId, SessionKey
from hob.core.models import TranscriptEntry
from hob.core.tools import ToolCall
from hob.core.trust.labels import HOB_LABEL
from hob.core.turns import Summary
from hob.store.backup.backup import restore
from hob.store.database.database import NAME
from hob.store.settings import StoreSettings
from hob.store.store import Store, open_store
from hob.testing.channel import message
from tests.samples import event_of, finish_of
from tests.turns import SESSION, make_turn, put_message

SETTINGS = StoreSettings()
CLOCK = SystemClock()


KILLED = """
import os, signal, sys
from pathlib import Path
from hob.store.backup.backup import restore

def die(event, arguments):
    if event == "os.rename" and str(arguments[0]).endswith(".restoring"):
        os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(die)
restore(*map(Path, sys.argv[1:]))
"""
"""A restore that is killed before the restored database gets its name."""

FULL = """
import resource, sys
from pathlib import Path
from hob.store.backup.backup import restore

def fill(event, arguments):
    if event == "open" and "/tea/" in str(arguments[0]):
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

sys.addaudithook(fill)
restore(*map(Path, sys.argv[1:]))
"""
"""A restore that finds no room for a file that the backup carries."""


async def talk(store: Store, *texts: str, session: SessionKey = SESSION) -> None:
    for text in texts:
        turn = await make_turn(store, message(text), session=session)
        await store.journal.finish(finish_of(turn, text.upper()))


async def waiting(store: Store) -> list[str]:
    return [row.inbound.text for row in await store.inbox.waiting(SESSION)]


async def test_backup_is_one_private_file_with_everything_in_it(tmp_path: Path) -> None:
    home, file = tmp_path / "home", tmp_path / "deep" / "copy.db"
    async with open_store(home, SETTINGS, CLOCK) as store:
        await talk(store, "hello")
        blob = await store.blobs.put(b"picture", "image/png")
        await store.backup(file)
    assert [path.name for path in file.parent.iterdir()] == ["copy.db"]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    shutil.rmtree(home)
    file.chmod(0o644)
    assert restore(home, file) is None
    assert stat.S_IMODE((home / NAME).stat().st_mode) == 0o600
    async with open_store(home, SETTINGS, CLOCK) as store:
        assert (await store.transcript.load_view(SESSION, 9)).total == 2
        assert await store.blobs.load(blob) == b"picture"


async def test_backup_is_made_while_others_write(tmp_path: Path) -> None:
    async with open_store(tmp_path / "home", SETTINGS, CLOCK) as store:
        await talk(store, "hello")
        async with asyncio.TaskGroup() as group:
            group.create_task(store.backup(tmp_path / "copy.db"))
            for n in range(15):
                group.create_task(put_message(store, message(f"number {n}")))
    connection = apsw.Connection(str(tmp_path / "copy.db"))
    assert connection.execute("PRAGMA integrity_check").get == "ok"
    (inbox, tasks, dedup) = connection.execute(
        "SELECT (SELECT count(*) FROM inbox), (SELECT count(*) FROM tasks), (SELECT count(*) FROM dedup)"
    ).get
    assert inbox == tasks == dedup


async def test_backup_replaces_a_file_only_with_force(tmp_path: Path) -> None:
    file = tmp_path / "copy.db"
    file.write_text("precious")
    async with open_store(tmp_path / "home", SETTINGS, CLOCK) as store:
        with pytest.raises(InvalidRequest):
            await store.backup(file)
        assert file.read_text() == "precious"
        await store.backup(file, force=True)
    assert file.read_bytes().startswith(b"SQLite format 3")


async def test_backup_that_fails_leaves_no_file(tmp_path: Path) -> None:
    (tmp_path / "wall").write_text("")
    async with open_store(tmp_path / "home", SETTINGS, CLOCK) as store:
        with pytest.raises(StoreError):
            await store.backup(tmp_path / "wall" / "copy.db")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home", "wall"]


async def saved(home: Path, file: Path) -> None:
    async with open_store(home, SETTINGS, CLOCK) as store:
        await put_message(store, message("before"))
        await store.backup(file)
        await put_message(store, message("after"))


async def test_backup_without_enough_room_is_not_started(tmp_path: Path) -> None:
    home, file = tmp_path / "home", tmp_path / "copies" / "copy.db"
    async with open_store(home, SETTINGS, CLOCK) as store:
        await talk(store, "hello")
        large = home / "blobs" / "large"
        large.parent.mkdir(exist_ok=True)
        with large.open("wb") as blob:
            blob.truncate(shutil.disk_usage(tmp_path).free)  # holes, which take no room until they are copied
        with pytest.raises(StoreFull, match="was not begun"):
            await store.backup(file)
        assert list(file.parent.iterdir()) == []
        large.unlink()
        await store.backup(file)
    assert file.exists()


async def test_restore_keeps_the_former_database(tmp_path: Path) -> None:
    home, file = tmp_path / "home", tmp_path / "copy.db"
    await saved(home, file)
    kept = restore(home, file)
    assert kept is not None
    async with open_store(home, SETTINGS, CLOCK) as store:
        assert await waiting(store) == ["before"]
    restore(home, kept)
    async with open_store(home, SETTINGS, CLOCK) as store:
        assert await waiting(store) == ["before", "after"]


async def test_restore_after_a_crash_keeps_rows_that_only_the_log_held(tmp_path: Path) -> None:
    home, file = tmp_path / "home", tmp_path / "copy.db"
    await saved(home, file)
    async with open_store(home, SETTINGS, CLOCK) as store:
        await put_message(store, message("in the log"))
        for side in ("", "-wal"):
            shutil.copy(home / f"{NAME}{side}", tmp_path / f"{NAME}{side}")
    for side in ("", "-wal"):
        shutil.copy(tmp_path / f"{NAME}{side}", home / f"{NAME}{side}")
    kept = restore(home, file)
    assert kept is not None
    restore(home, kept)
    async with open_store(home, SETTINGS, CLOCK) as store:
        assert await waiting(store) == ["before", "after", "in the log"]


async def test_killed_restore_leaves_no_copy_and_no_second_name_of_the_database(tmp_path: Path) -> None:
    # SQLite must not open one file by two names; an erasure did, since the second looks like a former database
    home, file = tmp_path / "home", tmp_path / "copy.db"
    await saved(home, file)
    killed = await asyncio.create_subprocess_exec(sys.executable, "-c", KILLED, str(home), str(file))
    assert await killed.wait() == -signal.SIGKILL
    assert (home / NAME).stat().st_nlink == 2
    async with open_store(home, SETTINGS, CLOCK) as store:
        assert await waiting(store) == ["before", "after"]
        assert (home / NAME).stat().st_nlink == 1
        assert sorted(path.name for path in home.glob(f"{NAME}.*")) == []


async def test_restore_works_with_a_damaged_database_in_place(tmp_path: Path) -> None:
    home, file = tmp_path / "home", tmp_path / "copy.db"
    await saved(home, file)
    (home / NAME).write_bytes(b"garbage" * 5000)
    kept = restore(home, file)
    assert kept is not None
    assert kept.read_bytes().startswith(b"garbage")
    async with open_store(home, SETTINGS, CLOCK) as store:
        assert await waiting(store) == ["before"]


def not_a_database(file: Path) -> None:
    file.write_bytes(b"x" * 9000)


def torn(file: Path) -> None:
    with file.open("r+b") as handle:
        handle.seek(4096 * 5)
        handle.write(b"\xa5" * 4096 * 10)


def foreign(file: Path) -> None:
    file.unlink()
    connection = apsw.Connection(str(file))
    connection.execute("CREATE TABLE other (id)")
    connection.close()


def newer(file: Path) -> None:
    connection = apsw.Connection(str(file))
    connection.execute("PRAGMA user_version = 999")
    connection.close()


@pytest.mark.parametrize(
    ("spoil", "error"),
    [
        (not_a_database, StoreDamaged), (torn, StoreDamaged), (foreign, InvalidRequest), (newer, StoreTooNew),
        (Path.unlink, NotFound),
    ],
)  # fmt: skip
async def test_bad_backup_is_refused_and_nothing_changes(tmp_path: Path, spoil: Any, error: type[Exception]) -> None:
    home, file = tmp_path / "home", tmp_path / "copy.db"
    await saved(home, file)
    spoil(file)
    with pytest.raises(error):
        restore(home, file)
    assert [path.name for path in home.iterdir()] == [NAME]
    async with open_store(home, SETTINGS, CLOCK) as store:
        assert await waiting(store) == ["before", "after"]


async def test_restore_does_not_touch_a_database_in_use(tmp_path: Path) -> None:
    home, file = tmp_path / "home", tmp_path / "copy.db"
    await saved(home, file)
    async with open_store(home, SETTINGS, CLOCK) as store:
        await put_message(store, message("open"))
        with pytest.raises(StoreError, match="in use"):
            restore(home, file)
        assert await waiting(store) == ["before", "after", "open"]


async def lines(store: Store, session: SessionKey | None = None) -> list[dict[str, Any]]:
    exported = store.export_all() if session is None else store.export_session(session)
    return [json.loads(line) async for line in exported]


async def test_export_begins_with_metadata_and_contains_everything(tmp_path: Path) -> None:
    async with open_store(tmp_path, SETTINGS, CLOCK) as store:
        await talk(store, "Hällo\nthere", "second")
        turn = await make_turn(store, message("third"))
        calls = (ToolCall(CallId("c"), "clock", "{}"),)
        finish = finish_of(turn, "")
        entry = TranscriptEntry(0, "assistant", "", HOB_LABEL, turn.id, 3.0, calls=calls)
        object.__setattr__(finish, "entries", (entry,))
        await store.journal.finish(finish)
        await store.transcript.summarise(SESSION, Summary(2, "so far", HOB_LABEL), event_of(message("")))
        await store.transcript.hide_last_turn(SESSION)
        await store.sessions.change(SESSION, permission="read-only", autonomy="supervised")
        head, summary, *entries = await lines(store, SESSION)
    assert (head["type"], head["version"], head["session"], head["title"]) == ("hob-export", 1, SESSION, "Hällo")
    assert (head["permission"], head["autonomy"]) == ("read-only", "supervised")
    assert (summary["type"], summary["upto"], summary["text"]) == ("summary", 2, "so far")
    assert [entry["n"] for entry in entries] == [1, 2, 3, 4, 5]
    assert entries[0]["text"] == "Hällo\nthere"
    assert entries[0]["label"] == {"origin": "owner", "trust": "trusted"}
    assert entries[4]["calls"] == [{"id": "c", "name": "clock", "arguments": "{}"}]
    assert entries[4]["hidden"]


async def test_long_session_is_exported_in_order(tmp_path: Path) -> None:
    async with open_store(tmp_path, SETTINGS, CLOCK) as store:
        turn = await make_turn(store, message("hello"))
        finish = finish_of(turn, "hi")
        many = tuple(TranscriptEntry(0, "user", str(n), HOB_LABEL, turn.id, 0.0) for n in range(450))
        object.__setattr__(finish, "entries", many)
        await store.journal.finish(finish)
        assert [line["text"] for line in (await lines(store, SESSION))[1:]] == [str(n) for n in range(450)]


async def test_export_of_everything_is_grouped_by_session(tmp_path: Path) -> None:
    async with open_store(tmp_path, SETTINGS, CLOCK) as store:
        for key in ("one", "two"):
            await talk(store, key, session=SessionKey(key))
        exported = await lines(store)
        assert [line["type"] for line in exported] == ["hob-export", "entry", "entry"] * 2
        with pytest.raises(NotFound):
            await lines(store, SessionKey("unknown"))


async def test_backup_carries_declared_files_and_a_restore_replaces_none(tmp_path: Path) -> None:
    home, file = tmp_path / "home", tmp_path / "copy.db"
    (home / "tea").mkdir(parents=True)
    (home / "tea" / "pots").write_text("two")
    (home / "plugins.json").write_text("{}")
    (home / "tea" / "elsewhere").symlink_to("/etc/hostname")
    async with open_store(home, SETTINGS, CLOCK, carried=("tea", "plugins.json", "absent")) as store:
        await store.backup(file)
    shutil.rmtree(home)
    home.mkdir()
    (home / "plugins.json").write_text("newer")
    restore(home, file)
    assert (home / "tea" / "pots").read_text() == "two"
    assert stat.S_IMODE((home / "tea" / "pots").stat().st_mode) == 0o600
    assert (home / "plugins.json").read_text() == "newer"
    assert not (home / "tea" / "elsewhere").exists()
    connection = apsw.Connection(str(home / NAME))
    assert not connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'carried_files'").fetchall()
    connection.close()


async def test_restore_that_cannot_write_a_file_leaves_no_half_of_it(tmp_path: Path) -> None:
    home, file = tmp_path / "home", tmp_path / "copy.db"
    (home / "tea").mkdir(parents=True)
    (home / "tea" / "pots").write_text("two " * 5_000)
    async with open_store(home, SETTINGS, CLOCK, carried=("tea",)) as store:
        await store.backup(file)
    shutil.rmtree(home)
    full = await asyncio.create_subprocess_exec(
        sys.executable, "-c", FULL, str(home), str(file), stderr=asyncio.subprocess.PIPE
    )
    assert b"File too large" in (await full.communicate())[1]
    assert not (home / "tea" / "pots").exists()
    restore(home, file)
    assert (home / "tea" / "pots").read_text() == "two " * 5_000


async def test_backup_carries_files_by_a_pattern_and_a_folder_in_a_folder(tmp_path: Path) -> None:
    home, file = tmp_path / "home", tmp_path / "copy.db"
    (home / "mcp" / "data" / "tea").mkdir(parents=True)
    (home / "mcp" / "installed").mkdir()
    for name in ("mcp/tea.json", "mcp/data/tea/graph", "mcp/installed/package"):
        (home / name).write_text(name)
    async with open_store(home, SETTINGS, CLOCK, carried=("mcp/*.json", "mcp/data")) as store:
        await store.backup(file)
    restore(tmp_path / "other", file)
    found = {path.relative_to(tmp_path / "other").as_posix() for path in (tmp_path / "other").rglob("*")}
    assert {"mcp/tea.json", "mcp/data/tea/graph"} <= found
    assert "mcp/installed" not in found


async def test_backup_with_a_file_outside_of_the_home_is_refused(tmp_path: Path) -> None:
    home, file = tmp_path / "home", tmp_path / "copy.db"
    home.mkdir()
    (home / "tea").write_text("two")
    async with open_store(home, SETTINGS, CLOCK, carried=("tea",)) as store:
        await store.backup(file)
    connection = apsw.Connection(str(file))
    connection.execute("UPDATE carried_files SET name = '../outside'").fetchall()
    connection.close()
    with pytest.raises(StoreDamaged, match="outside of the home"):
        restore(tmp_path / "other", file)
    assert not (tmp_path / "outside").exists()
