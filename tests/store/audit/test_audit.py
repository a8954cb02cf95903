"""The audit log: tampering is detected, and erasure breaks nothing."""

import asyncio
import shutil
from pathlib import Path

import apsw
import pytest

from hob.core.clock import SystemClock
from hob.core.ids import TraceId
from hob.store.audit.audit import HEAD_FILE, AuditEntry, read_head
from hob.store.settings import StoreSettings
from hob.store.store import Store, open_store
from hob.testing.channel import message

CLOCK = SystemClock()
SETTINGS = StoreSettings()


def entry(number: int, *, trace: str = "") -> AuditEntry:
    return AuditEntry("decision", "exec", "deny", "hard.disk", "owner", trace=trace, detail=f"command {number}")


async def write(home: Path, count: int, start: int = 1) -> None:
    async with open_store(home, SETTINGS, CLOCK) as store:
        for number in range(start, start + count):
            await store.audit.add(entry(number))


async def problems(home: Path) -> str:
    async with open_store(home, SETTINGS, CLOCK) as store:
        return "; ".join((await store.audit.verify()).problems)


def renumber(old: int, new: int) -> str:
    return f"UPDATE audit SET seq = {new} WHERE seq = {old}"  # noqa: S608 - two numbers


def tamper(home: Path, *statements: str) -> None:
    connection = apsw.Connection(str(home / "hob.db"))
    for statement in ("DROP TRIGGER audit_keeps", "DROP TRIGGER audit_stays", *statements):
        connection.execute(statement)
    connection.close()


async def test_entries_come_back_as_they_were_written(tmp_path: Path) -> None:
    async with open_store(tmp_path, SETTINGS, CLOCK) as store:
        await store.audit.add(entry(1), AuditEntry("rate", "mail", "cooled_down", sender="stranger", at=3.0))
        first, second = await store.audit.latest(10)
        assert (first.seq, first.entry.detail, first.entry.rule) == (1, "command 1", "hard.disk")
        assert (second.seq, second.entry.at, second.entry.outcome) == (2, 3.0, "cooled_down")
        assert [row.seq for row in await store.audit.latest(10, "rate")] == [2]
        assert [row.seq for row in await store.audit.latest(1)] == [2]
        assert [row.seq for row in await store.audit.latest(10, before=2)] == [1]
        for text in ("COMMAND 1", "hard.disk", "deny"):
            assert [row.seq for row in await store.audit.latest(10, text=text)] == [1]


async def test_untouched_log_is_intact_after_any_number_of_starts(tmp_path: Path) -> None:
    assert await problems(tmp_path) == ""
    for _ in range(3):
        await write(tmp_path, 3)
    async with open_store(tmp_path, SETTINGS, CLOCK) as store:
        checked = await store.audit.verify()
    assert (checked.whole, checked.head.count, checked.breaks) == (True, 9, ())
    assert read_head(tmp_path / HEAD_FILE) == checked.head


async def test_concurrent_writers_make_one_chain(tmp_path: Path) -> None:
    async with open_store(tmp_path, SETTINGS, CLOCK) as store:
        await asyncio.gather(*(store.audit.add(entry(number), entry(number)) for number in range(50)))
        checked = await store.audit.verify()
    assert (checked.problems, checked.head.count, checked.breaks) == ((), 100, ())


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("UPDATE audit SET outcome = 'allow' WHERE seq = 3", "entry 3 was changed"),
        ("UPDATE audit SET at = at - 1 WHERE seq = 3", "entry 3 was changed"),
        ("UPDATE audit SET sealed = zeroblob(32) WHERE seq = 3", "entry 3 was changed; entry 3: its detail was"),
        ("UPDATE content SET text = 'ls' WHERE text = 'command 3'", "entry 3: its detail was changed"),
        ("UPDATE content SET text = NULL WHERE text = 'command 3'", "entry 3: its detail is gone"),
        ("DELETE FROM audit WHERE seq = 3", "entry 3 is missing"),
        ("DELETE FROM audit WHERE seq < 3", "entries 1 to 2 are missing"),
        ("DELETE FROM audit WHERE seq > 3", "the last 2 of 5 entries are missing"),
        ("DELETE FROM audit", "the last 5 of 5 entries are missing"),
        ("UPDATE audit SET seq = 9 WHERE seq = 3", "entry 3 is missing"),
    ],
)
async def test_changed_entry_is_detected(tmp_path: Path, statement: str, told: str) -> None:
    await write(tmp_path, 5)
    tamper(tmp_path, "PRAGMA foreign_keys = OFF", statement)
    assert told in await problems(tmp_path)


async def test_removed_entry_is_detected_even_if_later_ones_are_renumbered(tmp_path: Path) -> None:
    await write(tmp_path, 5)
    tamper(
        tmp_path,
        "DELETE FROM audit WHERE seq = 2",
        *(renumber(number, number - 1) for number in (3, 4, 5)),
    )
    assert "entry 2 was changed" in await problems(tmp_path)


async def test_swapped_entries_are_detected(tmp_path: Path) -> None:
    await write(tmp_path, 5)
    moves = ((2, 9), (3, 2), (9, 3))
    tamper(tmp_path, *(renumber(old, new) for old, new in moves))
    found = await problems(tmp_path)
    assert "entry 2 was changed" in found
    assert "entry 3 was changed" in found


async def test_rewritten_log_does_not_match_the_stored_head(tmp_path: Path) -> None:
    await write(tmp_path, 3)
    await write(tmp_path / "other", 4)
    shutil.copy(tmp_path / "other" / "hob.db", tmp_path / "hob.db")
    assert "entry 3 is not the one that was written" in await problems(tmp_path)


async def test_log_without_its_head_is_not_called_intact(tmp_path: Path) -> None:
    await write(tmp_path, 3)
    (tmp_path / HEAD_FILE).unlink()
    assert "the head is missing" in await problems(tmp_path)


@pytest.mark.parametrize(("statement", "left"), [("DELETE FROM audit", 0), ("DELETE FROM audit WHERE seq > 2", 2)])
async def test_loss_stays_visible_in_the_continued_log(tmp_path: Path, statement: str, left: int) -> None:
    await write(tmp_path, 5)
    tamper(tmp_path, statement)
    await write(tmp_path, 1, 6)
    async with open_store(tmp_path, SETTINGS, CLOCK) as store:
        checked = await store.audit.verify()
        told = (await store.audit.latest(2))[0]
    assert (checked.problems, checked.breaks, checked.head.count) == ((), (left + 1,), left + 2)
    assert told.entry.detail.startswith("the head named 5 entries")


async def test_head_left_behind_by_a_crash_is_no_fault(tmp_path: Path) -> None:
    await write(tmp_path, 2)
    old = (tmp_path / HEAD_FILE).read_bytes()
    await write(tmp_path, 2)
    (tmp_path / HEAD_FILE).write_bytes(old)
    assert await problems(tmp_path) == ""
    await write(tmp_path, 1)
    async with open_store(tmp_path, SETTINGS, CLOCK) as store:
        assert (await store.audit.verify()).breaks == ()


async def test_erasure_removes_the_detail_and_keeps_the_chain_intact(tmp_path: Path) -> None:
    inbound = message("hello")
    async with open_store(tmp_path, SETTINGS, CLOCK) as store:
        await store.audit.add(entry(1, trace=inbound.trace), entry(2))
        await erase(store, inbound.trace)
        checked = await store.audit.verify()
        first, second = await store.audit.latest(10)
    assert (checked.problems, checked.erased) == ((), 1)
    assert (first.detail, second.detail) == (None, "command 2")
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and b"command 1" in path.read_bytes()]


async def erase(store: Store, trace: str) -> None:
    assert await store.erasure.erase_trace(TraceId(trace), "asked to") >= 1


async def test_database_itself_refuses_a_change(tmp_path: Path) -> None:
    await write(tmp_path, 1)
    connection = apsw.Connection(str(tmp_path / "hob.db"))
    with pytest.raises(apsw.ConstraintError):
        connection.execute("UPDATE audit SET outcome = 'allow'")
    with pytest.raises(apsw.ConstraintError):
        connection.execute("DELETE FROM audit")
    connection.close()
