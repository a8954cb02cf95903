"""What Hob remembers travels in its backups and comes back with them, but for what was erased since."""

import json
import re
from pathlib import Path

import apsw
import pytest

from hob.core.clock import SystemClock
from hob.core.ids import SessionKey, digest
from hob.core.memory import Scope, WorkingNote
from hob.core.trust.labels import OWNER_LABEL
from hob.store.backup.backup import restore
from hob.store.database.migration import APPLICATION_ID, migrations
from hob.store.erasure.copies import Copies
from hob.store.erasure.erasure import ErasurePerson
from hob.store.settings import StoreSettings
from hob.store.store import Store, open_store
from hob.testing.channel import message
from hob.testing.model import calls
from tests.app.visiting import ME, visited
from tests.turns import SESSION, put_message


async def remembered(store: Store) -> tuple[tuple[str, ...], tuple[str, ...]]:
    found = await store.person_data.of(ErasurePerson((), ()), re.compile(""))
    return found.memories, found.notes


async def erase(store: Store, names: str) -> int:
    return await store.erasure.erase_person(ErasurePerson((), ()), "asked to", None, Copies(), re.compile(names))


def to_remember(*texts: str) -> tuple[object, ...]:
    return tuple(line for text in texts for line in (calls(("remember", json.dumps({"text": text}))), "Done."))


async def test_restored_memories_and_notes_lack_only_what_was_erased_since(tmp_path: Path) -> None:
    file = tmp_path / "copy.db"
    async with visited(tmp_path, *to_remember("Anna likes tea", "the car is red", "a later thought")) as hob:  # type: ignore[arg-type]
        await hob.knows()
        home, store = hob.app.home, hob.app.store
        for _ in range(2):
            await hob.answer("remember it", ME)
            await hob.clock.advance(60)
        for key, text in (("a", "write to Anna"), ("b", "paint the car")):
            await store.working_notes.put(SessionKey(key), WorkingNote(text, OWNER_LABEL, turn=key))
        await hob.app.operations.backup(file)
        await hob.app.operations.erase("anna", preview=False)
        await hob.answer("remember it", ME)
        assert (await remembered(store))[0] == ("the car is red", "a later thought")
    kept = restore(home, file)
    assert kept is not None
    async with visited(tmp_path) as hob:
        assert await remembered(hob.app.store) == (("the car is red",), ("paint the car",))


def memory(text: str, turn: str) -> str:
    label = {"origin": "owner", "trust": "trusted"}
    line = {"v": 1, "session": "owner", "text": text, "source": f"local:main, {turn}", "at": 5.25, "label": label}
    return f"{json.dumps(line)}\n"


def note(text: str, turn: str) -> str:
    return json.dumps({"v": 1, "text": text, "origin": "owner", "trust": "trusted", "turn": turn, "at": 7.5})


def file_of_note(folder: Path) -> Path:
    return folder / "notes" / f"{digest(SESSION)}.json"


async def old_home(home: Path) -> None:
    """As an earlier release left it."""
    async with open_store(home, StoreSettings(), SystemClock()) as store:
        await put_message(store, message("hi"))
    file_of_note(home / "tools").parent.mkdir(parents=True)
    (home / "tools/memories.jsonl").write_text(memory("one", "t_1") + memory("two", "t_2") + '{"v":1,"sess')
    file_of_note(home / "tools").write_text(note("aim", "t_3"))
    (home / "tools/notes" / f"{digest('gone:session')}.json").write_text(note("of no session", "t_4"))


async def test_memories_and_notes_of_an_earlier_release_are_imported(tmp_path: Path) -> None:
    await old_home(tmp_path)
    (tmp_path / "tools/forgotten.jsonl").write_text('{"turn": "t_2", "at": 5.25}\n')
    for _ in range(2):
        async with open_store(tmp_path, StoreSettings(), SystemClock()) as store:
            assert await remembered(store) == (("one",), ("aim",))
            (found,) = await store.items.of(Scope("owner")).select()
            assert (found.session, found.turn, found.at, found.label) == ("local:main", "t_1", 5.25, OWNER_LABEL)
            known = await store.working_notes.load(SESSION)
            assert known == WorkingNote("aim", OWNER_LABEL, 7.5, "t_3")
    assert not [*(tmp_path / "tools").glob("memories*"), *(tmp_path / "tools/notes").iterdir()]


async def test_erased_memory_is_removed_from_files_of_an_earlier_release(tmp_path: Path) -> None:
    await old_home(tmp_path)
    async with open_store(tmp_path, StoreSettings(), SystemClock()) as store:
        assert await erase(store, "two|aim") == 2
        assert await remembered(store) == (("one",), ())
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and b'"aim"' in path.read_bytes()]


async def old_backup(home: Path, file: Path, *more: tuple[str, str]) -> None:
    """As an earlier release wrote it: memories and notes travel as files."""
    async with open_store(home, StoreSettings(), SystemClock()) as store:
        await put_message(store, message("hi"))
        await store.backup(file)
    connection = apsw.Connection(str(file))
    connection.execute("CREATE TABLE backup_files (name TEXT PRIMARY KEY, data BLOB NOT NULL) STRICT")
    lines = memory("from the backup", "t_8") + memory("erased since", "t_9")
    noted = file_of_note(Path("tools")).as_posix()
    for name, text in (("tools/memories.jsonl", lines), (noted, note("noted", "t_7")), *more):
        connection.execute("INSERT INTO backup_files VALUES (?, ?)", (name, text.encode()))
    connection.close()


async def test_backup_of_an_earlier_release_replaces_the_memories(tmp_path: Path) -> None:
    home, file = tmp_path / "home", tmp_path / "copy.db"
    await old_backup(home, file)
    (home / "tools").mkdir()
    (home / "tools/memories.jsonl").write_text(memory("mine", "t_5"))
    (home / "tools/forgotten.jsonl").write_text('{"turn": "t_9", "at": 5.25}\n')
    for _ in range(2):
        restore(home, file)
        async with open_store(home, StoreSettings(), SystemClock()) as store:
            assert await remembered(store) == (("from the backup",), ("noted",))
            tables = await store._readers.read(lambda c: c.execute("SELECT name FROM sqlite_schema").fetchall())
            assert ("backup_files",) not in tables
    assert (home / "tools/imported/memories.jsonl").exists()


async def test_backup_without_memories_restores_those_moved_aside(tmp_path: Path) -> None:
    home, file = tmp_path / "home", tmp_path / "copy.db"
    await old_home(home)
    async with open_store(home, StoreSettings(), SystemClock()):
        pass
    connection = apsw.Connection(str(file))
    for migration in migrations()[:8]:  # as an upgrade kept it
        connection.execute(migration.read_text())
    connection.execute("INSERT INTO sessions (key, chat, created, updated) VALUES (?, '', 0, 0)", (SESSION,))
    connection.execute(f"PRAGMA user_version = 8; PRAGMA application_id = {APPLICATION_ID}")
    connection.close()
    restore(home, file)
    async with open_store(home, StoreSettings(), SystemClock()) as store:
        assert await remembered(store) == (("one", "two"), ("aim",))


async def test_erased_memory_does_not_come_back_from_a_backup_of_an_earlier_release(tmp_path: Path) -> None:
    home, file = tmp_path / "home", tmp_path / "copy.db"
    await old_backup(home, file)
    restore(home, file)
    async with open_store(home, StoreSettings(), SystemClock()) as store:
        await erase(store, "erased since|noted")
    restore(home, file)
    async with open_store(home, StoreSettings(), SystemClock()) as store:
        assert await remembered(store) == (("from the backup",), ())


@pytest.mark.parametrize("name", ["../outside", "tools/../../outside", "/tmp/outside", "tools/notes/../../x.json", "a"])
async def test_foreign_file_in_a_backup_is_not_written(tmp_path: Path, name: str) -> None:
    home, file = tmp_path / "home", tmp_path / "copy.db"
    await old_backup(home, file, (name, "x"))
    before = {path.name for path in tmp_path.rglob("*")}
    restore(home, file)
    assert {path.name for path in tmp_path.rglob("*") if "before-restore" not in path.name} <= before
