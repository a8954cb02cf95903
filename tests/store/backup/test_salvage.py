"""The readable part of a damaged database becomes a backup."""

import sqlite3
from pathlib import Path

import pytest

from hob.core.clock import SystemClock
from hob.core.errors import StoreDamaged
from hob.core.events.timeline import EventKind
from hob.store.backup.backup import restore
from hob.store.backup.salvage import salvage
from hob.store.settings import StoreSettings
from hob.store.store import open_store
from hob.testing.channel import message
from tests.turns import SESSION, put_message


async def filled(home: Path, count: int) -> Path:
    async with open_store(home, StoreSettings(), SystemClock()) as store:
        for n in range(count):
            await put_message(store, message(f"number {n} " * 120))
    return home / "hob.db"


def spoil(file: Path, text: bytes) -> None:
    """Overwrite the page that contains this text with garbage."""
    data = bytearray(file.read_bytes())
    start = data.index(text) // 4096 * 4096
    data[start : start + 4096] = b"\xa5" * 4096
    file.write_bytes(data)


def lose_timeline(file: Path) -> None:
    """Overwrite the first page of the timeline with garbage."""
    connection = sqlite3.connect(file)
    ((page,),) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'timeline'")
    connection.close()
    data = bytearray(file.read_bytes())
    data[4096 * (page - 1) : 4096 * page] = b"\xa5" * 4096
    file.write_bytes(data)


async def test_data_outside_the_torn_page_is_salvaged_and_can_be_restored(tmp_path: Path) -> None:
    file = await filled(tmp_path / "home", 20)
    spoil(file, b"number 10 ")
    goal = tmp_path / "salvaged.db"
    assert salvage(file, goal, 1.0) > 100
    restore(tmp_path / "new", goal)
    async with open_store(tmp_path / "new", StoreSettings(), SystemClock()) as store:
        texts = {waiting.inbound.text.split()[1] for waiting in await store.inbox.waiting(SESSION)}
        assert 15 <= len(texts) < 20
        assert {"0", "19"} <= texts
        await store.settings.change({"and": "on"})


async def test_torn_root_page_loses_only_its_table(tmp_path: Path) -> None:
    file = await filled(tmp_path / "home", 20)
    lose_timeline(file)
    salvage(file, tmp_path / "salvaged.db", 1.0)
    connection = sqlite3.connect(tmp_path / "salvaged.db")
    assert connection.execute("SELECT count(*) FROM inbox").fetchone() == (20,)
    assert connection.execute("SELECT count(*) FROM timeline").fetchone() == (0,)
    connection.close()


async def test_followers_see_every_event_after_lost_ones(tmp_path: Path) -> None:
    async with open_store(tmp_path / "home", StoreSettings(), SystemClock()) as store:
        for n in range(20):
            await put_message(store, message(f"number {n}"))
        await store.followers.begin("reader", at_end=True)
    lose_timeline(tmp_path / "home" / "hob.db")
    salvage(tmp_path / "home" / "hob.db", tmp_path / "salvaged.db", 1.0)
    restore(tmp_path / "new", tmp_path / "salvaged.db")
    async with open_store(tmp_path / "new", StoreSettings(), SystemClock()) as store:
        await put_message(store, message("after"))
        place = await store.followers.begin("reader", at_end=True)
        events = (await store.timeline.follow(place, 100, kinds=(EventKind.INBOUND,))).events
        assert len(events) == 1


async def test_file_that_is_no_database_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "hob.db").write_bytes(b"this is no database" * 1000)
    with pytest.raises(StoreDamaged):
        salvage(tmp_path / "hob.db", tmp_path / "salvaged.db", 1.0)
    assert [file.name for file in tmp_path.iterdir()] == ["hob.db"]
