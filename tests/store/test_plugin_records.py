"""Records of features without their own tables are covered by backups, erasure and retention."""

from pathlib import Path

import pytest

from hob.core.clock import SystemClock
from hob.core.errors import InvalidRequest
from hob.core.ids import SessionKey
from hob.store.backup.backup import restore
from hob.store.erasure.copies import Copies
from hob.store.erasure.erasure import ErasurePerson
from hob.store.plugin_records import LONGEST, PluginRecord, PluginRecords
from hob.store.settings import StoreSettings
from hob.store.store import Store, open_store
from hob.testing.channel import message
from hob.testing.clock import ManualClock
from tests.samples import finish_of
from tests.turns import SESSION, make_turn

SETTINGS = StoreSettings()
CLOCK = SystemClock()
SECRET = "xyzzy-the-secret-word"


async def keys(records: PluginRecords) -> list[str]:
    return [record.key for record in await records.list()]


def spilled(home: Path) -> list[str]:
    return [path.name for path in home.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]


async def test_records_of_one_feature_are_replaced_listed_and_dropped(tmp_path: Path) -> None:
    async with open_store(tmp_path, SETTINGS, CLOCK) as store:
        tea, dice = store.records_of("tea"), store.records_of("dice")
        for key, value in (("a:1", "green"), ("a:2", "black"), ("b", "mint"), ("a:1", "white")):
            await tea.put(PluginRecord(key, value))
        await dice.put(PluginRecord("a:1", "six"))
        found = await tea.find("a:1")
        assert found is not None
        assert (found.value, found.at > 0) == ("white", True)
        assert await tea.find("a:") is None
        assert [record.value for record in await tea.list("a:")] == ["white", "black"]
        assert (await tea.drop("b"), await tea.drop("b")) == (True, False)
        assert await keys(tea) == ["a:1", "a:2"]
        with pytest.raises(InvalidRequest, match="a record needs a key"):
            await tea.put(PluginRecord("k", "x" * (LONGEST + 1)))


async def kept(store: Store) -> PluginRecords:
    turn = await make_turn(store, message("hi"))
    await store.journal.finish(finish_of(turn, "ho"))
    await store.outbox.picked_up(turn.id, ["memory"])
    records = store.records_of("tea")
    await records.put(PluginRecord("turn", f"{SECRET} 1", turn=turn.id))
    await records.put(PluginRecord("session", f"{SECRET} 2", session=SESSION))
    await records.put(PluginRecord("other", "stays", session=SessionKey("cli:local:other")))
    return records


async def test_erasing_a_session_erases_its_records_also_in_a_restored_backup(tmp_path: Path) -> None:
    home, backup = tmp_path / "home", tmp_path / "backup.db"
    async with open_store(home, SETTINGS, CLOCK) as store:
        records = await kept(store)
        await store.backup(backup)
        assert await keys(records) == ["other", "session", "turn"]
        await store.erasure.erase_session(SESSION, "asked to")
        assert await keys(records) == ["other"]
        assert spilled(home) == []
    restore(home, backup)
    async with open_store(home, SETTINGS, CLOCK) as store:
        assert await keys(store.records_of("tea")) == ["other"]
    assert [name for name in spilled(home) if "before-restore" not in name] == []


async def test_erasing_a_person_erases_records_by_id_and_address(tmp_path: Path) -> None:
    async with open_store(tmp_path, SETTINGS, CLOCK) as store:
        records = store.records_of("tea")
        for person in ("p_ann", "telegram:bot:7", "p_bob"):
            await records.put(PluginRecord(person, SECRET if person != "p_bob" else "stays", person=person))
        whose = ErasurePerson(("telegram:bot:7",), ("telegram:7",), "p_ann")
        await store.erasure.erase_person(whose, "asked to", None, Copies((), ()))
        assert await keys(records) == ["p_bob"]
        assert spilled(tmp_path) == []


async def test_expired_records_are_not_found_and_deleted(tmp_path: Path) -> None:
    clock = ManualClock()
    async with open_store(tmp_path, SETTINGS, clock) as store:
        records = store.records_of("tea")
        now = clock.now().timestamp()
        await records.put(PluginRecord("soon", SECRET, expires=now + 60))
        await records.put(PluginRecord("stays", "mint"))
        assert await store.retention.drop_expired_records(now) == 0
        await clock.advance(61)
        assert await keys(records) == ["stays"]
        assert await store.retention.drop_expired_records(clock.now().timestamp()) == 1
