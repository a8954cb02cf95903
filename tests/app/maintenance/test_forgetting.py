"""A person is forgotten: what they said, what came of it, what is remembered of them; what is left is named."""

import json
import re
from pathlib import Path

import apsw
import pytest

from hob.cli.data.erase import _show, _show_left
from hob.core.errors import InvalidRequest, NotFound
from hob.core.ids import SessionKey
from hob.core.memory import WorkingNote
from hob.core.trust.labels import OWNER_LABEL
from hob.store.erasure.erasure import ErasurePerson
from hob.testing.model import calls
from tests.app.visiting import ANNA, EVE, ME, Visited, visited

CANARY = "canary-3e7a"


def leaks(home: Path) -> list[str]:
    """Files of the home that hold the canary."""
    found = (path for path in (home / "state").rglob("*") if path.is_file())
    return [path.name for path in found if CANARY.encode() in path.read_bytes()]


async def talked(hob: Visited) -> None:
    """Anna and Eve wrote, and I wrote of Anna."""
    await hob.knows()
    await hob.answer(f"{CANARY} says Anna", ANNA)
    await hob.answer("remember Anna", ME)
    note = WorkingNote(f"write to Anna about {CANARY}", OWNER_LABEL)
    await hob.app.store.working_notes.put(SessionKey("person:owner"), note)
    await hob.answer("my own words", ME)


SCRIPT = (
    f"Dear Anna, {CANARY}",
    calls(
        ("remember", json.dumps({"text": f"Anna likes {CANARY}"})),
        ("remember", json.dumps({"text": "Joanna is somebody else"})),
    ),
    "Done.",
)


async def test_no_file_contains_words_or_memories_of_an_erased_person(tmp_path: Path) -> None:
    async with visited(tmp_path, *SCRIPT) as hob:
        await talked(hob)
        seen = await hob.app.operations.erase("anna", preview=True)
        assert (seen["messages"], seen["turns"], seen["name"]) == (1, 1, "Anna")
        assert (len(seen["memories"]), len(seen["notes"])) == (1, 1)
        assert leaks(tmp_path)  # a preview changes nothing
        done = await hob.app.operations.erase("anna", preview=False)
        assert done["erased"] > 3
        assert sum(done["left"]["mentions"].values()) >= 1
        assert done["left"]["events"] > 0
        assert "anna" not in [person.id for person in hob.app.api.people.people]
        details = [row.detail for row in await hob.app.store.audit.latest(200)]
        assert not [detail for detail in details if detail and (f"telegram:{ANNA}" in detail or '"anna"' in detail)]
        assert (await hob.app.store.audit.verify()).problems == ()
        assert len((await hob.app.store.person_data.of(ErasurePerson((), ()), re.compile("Joanna"))).memories) == 1
        assert "my own words" in hob.seen
        with pytest.raises(NotFound):
            await hob.app.operations.erase("anna", preview=False)
        again = await hob.app.operations.erase(f"telegram:{ANNA}", preview=False)  # by address, it does no harm
        assert again["erased"] == 0


async def test_copies_of_the_database_are_listed_and_erased_or_deleted(tmp_path: Path) -> None:
    async with visited(tmp_path, *SCRIPT) as hob:
        await talked(hob)
        home = hob.app.home
        whole = [home / "hob.db.before-restore-20260101T000000Z", home / "backups" / "before-upgrade-9-x.db"]
        for file in whole:
            await hob.app.store.backup(file)
        older, damaged = home / "backups" / "before-upgrade-1-x.db", home / "hob.db.damaged-20260101T000000Z"
        await hob.app.store.backup(older)
        connection = apsw.Connection(str(older))
        connection.execute("PRAGMA user_version = 1")
        connection.close()
        damaged.write_text(f"torn, but {CANARY} can still be read")
        (home / "hob.db.damaged-20260101T000000Z-wal").write_text(CANARY)
        memories = home / "remembered.before-restore-20260101T000000Z"
        memories.mkdir()
        (memories / "memories.jsonl").write_text(CANARY)
        seen = await hob.app.operations.erase("anna", preview=True)
        assert seen["copies"] == {
            "erased": [str(file) for file in whole],
            "deleted": [str(memories), str(damaged), str(older)],
        }
        assert set(map(str, whole)).isdisjoint(seen["left"]["backups"])
        await hob.app.operations.erase("anna", preview=False)
        assert not older.exists()
        assert not memories.exists()
        kept = [home / "hob.db", home / "hob.db-wal", *whole]
        sides = [home / f"hob.db{side}" for side in ("", "-wal", "-shm")]
        assert sorted(home.glob("hob.db*")) == sorted([whole[0], *sides])
        for file in kept:
            assert f"{CANARY} says Anna".encode() not in file.read_bytes()
        for file in whole:
            connection = apsw.Connection(str(file))
            texts = [row[0] for row in connection.execute("SELECT text FROM content WHERE text IS NOT NULL")]
            connection.close()
            assert "my own words" in texts


async def test_unknown_sender_is_erased_by_address_and_the_owner_never(tmp_path: Path) -> None:
    async with visited(tmp_path, HOB_ADMISSION_DM_POLICY="open") as hob:
        await hob.knows()
        await hob.answer(f"{CANARY} says Eve", EVE)
        assert (await hob.app.operations.erase(f"Telegram:{EVE}", preview=False))["messages"] == 1
        assert leaks(tmp_path) == []
        for me in ("owner", f"telegram:{ME}"):
            with pytest.raises(InvalidRequest, match="this is you"):
                await hob.app.operations.erase(me, preview=False)
        for nobody in ("bob", "telegram:777", ""):
            with pytest.raises(NotFound):
                await hob.app.operations.erase(nobody, preview=True)


async def test_audit_log_keeps_what_it_says_of_a_longer_address_than_the_erased_one(tmp_path: Path) -> None:
    async with visited(tmp_path) as hob:
        await hob.knows()
        await hob.app.api.people.link(f"telegram:{ANNA}3", "bob", "Bob")
        await hob.app.operations.erase("anna", preview=False)
        details = [row.detail for row in await hob.app.store.audit.latest(9)]
    assert json.dumps({"target": f"telegram:{ANNA}3 is bob"}) in details
    assert json.dumps({"target": f"telegram:{ANNA} is anna"}) not in details


async def test_sessions_named_after_the_erased_person_are_reported(tmp_path: Path) -> None:
    async with visited(tmp_path, "hi", "hi") as hob:
        await hob.knows()
        for key in ("api:@anna/x", "api:joanna"):
            await hob.app.store.sessions.change(SessionKey(key), model="x")
        done = await hob.app.operations.erase("anna", preview=False)
        assert "api:@anna/x" in done["left"]["sessions"]
        assert "api:joanna" not in done["left"]["sessions"]


@pytest.mark.parametrize(
    ("count", "told"), [(0, "none of their messages is left"), (1, "1 message in 1 conversation, with 1 answer\n")]
)
def test_erased_counts_are_reported_in_plain_words(count: int, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    seen = {"person": "anna", "name": "", "addresses": ["telegram:1"], "memories": ["x"] * count, "notes": []}
    copies = {"erased": ["/whole"], "deleted": ["/torn"]}
    _show({**seen, "copies": copies, "messages": count, "conversations": count, "turns": count})
    _show_left({"events": count, "mentions": {"a": 1, "b": 2}, "sessions": ["api:anna"], "backups": ["/b"]})
    said = capsys.readouterr().out
    assert told in said
    assert "()" not in said
    assert "1 message of others in a names them" in said
    assert "2 messages of others in b name them" in said
    assert "    api:anna\n" in said
    assert not re.search(r"\b1 \w+s\b", said)
