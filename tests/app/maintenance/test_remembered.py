"""What Hob remembers travels in its backups and comes back with them, but for what was erased since."""

import json
import re
from pathlib import Path

import apsw
import pytest

from hob.app.maintenance.backup_files import CARRIED, restore_backup
from hob.core.clock import SystemClock
from hob.core.errors import InvalidRequest
from hob.core.ids import SessionKey
from hob.core.labels import OWNER_LABEL
from hob.store.settings import StoreSettings
from hob.store.store import open_store
from hob.testing.model import calls
from hob.tools.memory.working_memory import WorkingNote
from tests.app.visiting import ME, visited

ANYTHING = re.compile("")


def to_remember(*texts: str) -> tuple[object, ...]:
    return tuple(line for text in texts for line in (calls(("remember", json.dumps({"text": text}))), "Done."))


async def test_memories_and_notes_come_back_as_they_were_but_for_what_was_erased_since(tmp_path: Path) -> None:
    file = tmp_path / "copy.db"
    async with visited(tmp_path, *to_remember("Anna likes tea", "the car is red", "a later thought")) as hob:  # type: ignore[arg-type]
        await hob.knows()
        home, tool_runtime = hob.app.home, hob.app.operations._hands
        for _ in range(2):
            await hob.answer("remember it", ME)
            await hob.clock.advance(60)
        for key, text in (("a", "write to Anna"), ("b", "paint the car")):
            await tool_runtime.notes.put(SessionKey(key), WorkingNote(text, OWNER_LABEL, turn=key))
        await hob.app.operations.backup(file)
        await hob.app.operations.erase("anna", preview=False)
        await hob.answer("remember it", ME)
        assert (await tool_runtime.naming(ANYTHING))[0] == ("the car is red", "a later thought")
    kept, aside = restore_backup(home, file)
    assert kept is not None
    assert aside is not None
    assert "a later thought" in (aside / "tools/memories.jsonl").read_text()
    assert "Anna" not in "".join(path.read_text() for path in (home / "tools").rglob("*.json*"))
    async with visited(tmp_path) as hob:
        assert await hob.app.operations._hands.naming(ANYTHING) == (("the car is red",), ("paint the car",))
        tables = apsw.Connection(str(home / "hob.db")).execute("SELECT name FROM sqlite_schema").fetchall()
        assert ("backup_files",) not in tables


async def backup_of(home: Path, file: Path, carried: tuple[str, ...] = CARRIED) -> None:
    async with open_store(home, StoreSettings(), SystemClock()) as store:
        await store.backup(file, carried=carried)


async def test_a_backup_without_memories_leaves_those_there_are(tmp_path: Path) -> None:
    home, file = tmp_path / "home", tmp_path / "copy.db"
    await backup_of(home, file, ())
    (home / "tools").mkdir()
    (home / "tools/memories.jsonl").write_text("mine\n")
    assert restore_backup(home, file)[1] is None
    assert (home / "tools/memories.jsonl").read_text() == "mine\n"


@pytest.mark.parametrize("name", ["../outside", "tools/../../outside", "/tmp/outside", "tools/notes/../../x.json", "a"])
async def test_a_backup_with_a_file_of_somebody_elses_making_is_refused_whole(tmp_path: Path, name: str) -> None:
    home, file = tmp_path / "home", tmp_path / "copy.db"
    await backup_of(home, file)
    apsw.Connection(str(file)).execute("INSERT INTO backup_files VALUES (?, ?)", (name, b"x"))
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(InvalidRequest, match="no backup of Hob holds"):
        restore_backup(home, file)
    assert sorted(tmp_path.rglob("*")) == before
