"""The log of changes and undos is kept as long as necessary, and no longer."""

from pathlib import Path

import pytest

from hob.core.clock import SystemClock
from hob.core.errors import NotFound
from hob.core.ids import CallId, TurnId
from hob.core.undo import CommandRun, FileChange, FileVersion, SnapshotSpan, UndoOutcome, UndoRecord, undo_turn_id
from hob.store.backup.backup import restore
from hob.store.settings import StoreSettings
from hob.store.store import Store, open_store
from hob.testing.channel import message
from hob.testing.clock import ManualClock
from hob.testing.memory_store import memory_store
from tests.samples import ASKED, finish_of
from tests.turns import SESSION, make_turn

DONE = UndoOutcome(("/w/a",))
SECRET = "xyzzy-the-secret-path"
PLACE = Path("/w")


async def ended(store: Store) -> TurnId:
    turn = await make_turn(store, message("do it"))
    await store.journal.append(turn.id, [ASKED])
    await store.journal.finish(finish_of(turn, "done"))
    await store.outbox.picked_up(turn.id, ["memory"])
    return turn.id


async def undo(store: Store, turn: TurnId, by: str, outcome: UndoOutcome = DONE) -> None:
    note = UndoRecord(turn, by, outcome.restored)
    await store.undo_log.begin(note)
    await store.undo_log.end(note, outcome)


async def change(store: Store, turn: TurnId, at: float = 0.0) -> str:
    """Replace a file with the same bytes each time, and run a command that changes one; return the blob."""
    blob = await store.blobs.put(f"{SECRET} was here".encode(), "text/plain")
    old, new = FileVersion(blob, 0o644, blob), FileVersion("f" * 64, 0o644)
    await store.file_changes.add([FileChange("1", turn, CallId("c"), f"/w/{SECRET}", old, new, at=int(at * 1e9))])
    begun = CommandRun(turn, CallId("c"), SESSION, f"echo {SECRET}")
    await store.command_log.begin(begun, {PLACE: "s_1"})
    await store.command_log.change(SnapshotSpan(turn, PLACE, "s_1", "s_2", int(at * 1e9)))
    await store.command_log.end(turn, CallId("c"), "exit status 0")
    return blob


async def test_newest_changing_turn_that_is_not_undone_comes_first() -> None:
    async with memory_store() as store:
        one, other, _ = [await ended(store) for _ in range(3)]
        assert await store.undo_log.newest(SESSION) is None
        for turn in (one, other):
            await change(store, turn)
        assert await store.undo_log.newest(SESSION) == other
        await undo(store, other, "a")
        assert await store.undo_log.newest(SESSION) == one
        await undo(store, undo_turn_id(other), "b")
        assert await store.undo_log.newest(SESSION) == other
        await undo(store, other, "c")
        assert await store.undo_log.newest(SESSION) == one
        assert [await store.undo_log.changed(turn) for turn in (one, undo_turn_id(one))] == [True, False]


async def test_running_commands_are_listed_with_their_latest_snapshots() -> None:
    async with memory_store() as store:
        one = CommandRun(TurnId("t_1"), CallId("c_1"), SESSION, "make", "p_1")
        other = CommandRun(TurnId("t_2"), CallId("c_2"), SESSION, "ls")
        await store.command_log.begin(one, {PLACE: "s_1", Path("/x"): "s_9"})
        await store.command_log.begin(other, {PLACE: "s_1"})
        await store.command_log.change(SnapshotSpan(other.turn, PLACE, "s_1", "s_2", 5))
        await store.command_log.end(other.turn, other.call, "exit status 0")
        assert await store.command_log.running() == ((one, {PLACE: "s_2", Path("/x"): "s_9"}),)
        assert await store.command_log.find("p_1", SESSION) == one
        assert await store.command_log.find("", SESSION) is None


async def test_last_changing_turns_are_listed() -> None:
    async with memory_store() as store:
        for n in range(450):
            await store.command_log.change(SnapshotSpan(TurnId(f"t_{n // 3}"), PLACE, f"s_{n}", f"s_{n + 1}", n))
        found = await store.command_log.newest(2)
        assert {span.turn for span in found} == {"t_149", "t_148"}
        assert len(found) == 6
        assert len(await store.command_log.newest(1_000)) == 450


async def test_changes_of_an_erased_turn_are_erased_also_by_a_restore(tmp_path: Path) -> None:
    home, inbound = tmp_path / "home", message("do it")
    async with open_store(home, StoreSettings(), SystemClock()) as store:
        turn = await make_turn(store, inbound)
        await store.journal.append(turn.id, [ASKED])
        await store.journal.finish(finish_of(turn, "done"))
        await store.outbox.picked_up(turn.id, ["memory"])
        await change(store, turn.id)
        await undo(store, turn.id, "a", UndoOutcome((SECRET,)))
        await undo(store, undo_turn_id(turn.id), "b", UndoOutcome((SECRET,)))
        await store.backup(tmp_path / "copy.db")
        await store.erasure.erase_trace(inbound.trace, "asked to")
        assert [await store.undo_log.find(by) for by in "ab"] == [None, None]
    assert not any(SECRET.encode() in file.read_bytes() for file in home.rglob("*") if file.is_file())
    restore(home, tmp_path / "copy.db")
    async with open_store(home, StoreSettings(), SystemClock()) as store:
        assert not await store.undo_log.changed(turn.id)
        assert [await store.undo_log.find(by) for by in "ab"] == [None, None]
    (aside,) = home.glob("hob.db.before-restore-*")
    files = (file for file in home.rglob("*") if file.is_file() and file != aside)
    assert not any(SECRET.encode() in file.read_bytes() for file in files)


async def test_bytes_replaced_by_two_turns_stay_when_one_is_erased(tmp_path: Path) -> None:
    async with open_store(tmp_path, StoreSettings(), SystemClock()) as store:
        inbound = message("do it")
        turn = await make_turn(store, inbound)
        await store.journal.append(turn.id, [ASKED])
        await store.journal.finish(finish_of(turn, "done"))
        await store.outbox.picked_up(turn.id, ["memory"])
        other = await ended(store)
        for each in (turn.id, other):
            blob = await change(store, each)
        await store.erasure.erase_trace(inbound.trace, "asked to")
        assert await store.blobs.load(blob)  # type: ignore[arg-type]
        assert [await store.undo_log.changed(each) for each in (turn.id, other)] == [False, True]


async def test_changes_of_old_turns_expire_but_not_while_their_commands_run() -> None:
    clock = ManualClock()
    async with memory_store(clock) as store:
        old, runs = [await ended(store) for _ in range(2)]
        now = clock.now().timestamp()
        blob = await change(store, old, now)
        await undo(store, old, "a")
        await store.command_log.change(SnapshotSpan(runs, PLACE, "s_1", "s_2", int(now * 1e9)))
        await store.command_log.begin(CommandRun(runs, CallId("c"), SESSION, "sleep 9", "p_1"), {PLACE: "s_2"})
        await clock.advance(1000)
        young = await ended(store)
        await store.command_log.change(SnapshotSpan(young, PLACE, "s_3", "s_4", int(clock.now().timestamp() * 1e9)))
        assert await store.retention.drop_undo(now + 500, clock.now().timestamp()) == 1
        assert [await store.undo_log.changed(turn) for turn in (old, runs, young)] == [False, True, True]
        assert await store.undo_log.find("a") is None
        with pytest.raises(NotFound):
            await store.blobs.load(blob)  # type: ignore[arg-type]
        assert await store.retention.drop_undo(now + 500, clock.now().timestamp()) == 0
