"""Which turns were undone is known by the last that was done."""

from pathlib import Path

from hob.core.clock import SystemClock
from hob.core.ids import TurnId
from hob.core.undo import Undone, UndoNote, undo_of
from hob.store.backup.backup import restore
from hob.store.settings import StoreSettings
from hob.store.store import Store, open_store
from hob.testing.channel import message
from hob.testing.memory_store import memory_store
from hob.testing.turns import make_turn
from tests.samples import ASKED, finish_of

DONE = Undone(("/w/a",))
SECRET = "xyzzy-the-secret-path"


async def undo(store: Store, turn: TurnId, by: str, outcome: Undone = DONE) -> None:
    note = UndoNote(turn, by, outcome.restored)
    await store.undo_log.begin(note)
    await store.undo_log.end(note, outcome)


async def test_a_turn_whose_undoing_was_undone_is_not_undone() -> None:
    one, other = TurnId("t_1"), TurnId("t_2")
    async with memory_store() as store:
        await undo(store, one, "a")
        await undo(store, other, "b")
        assert await store.undo_log.undone([one, other, TurnId("t_3")]) == {one, other}
        await undo(store, undo_of(one), "c")
        assert await store.undo_log.undone([one, other]) == {other}
        await undo(store, one, "d")
        assert await store.undo_log.undone([one, other]) == {one, other}


async def test_what_was_undone_of_an_erased_turn_is_forgotten_also_by_a_restore(tmp_path: Path) -> None:
    home, inbound = tmp_path / "home", message("do it")
    async with open_store(home, StoreSettings(), SystemClock()) as store:
        turn = await make_turn(store, inbound)
        await store.journal.append(turn.id, [ASKED])
        await store.journal.finish(finish_of(turn, "done"))
        await store.outbox.picked_up(turn.id, ["memory"])
        await undo(store, turn.id, "a", Undone((SECRET,)))
        await undo(store, undo_of(turn.id), "b", Undone((SECRET,)))
        await store.backup(tmp_path / "copy.db")
        await store.erasure.erase_trace(inbound.trace, "asked to")
        assert [await store.undo_log.find(by) for by in "ab"] == [None, None]
    restore(home, tmp_path / "copy.db")
    async with open_store(home, StoreSettings(), SystemClock()) as store:
        assert [await store.undo_log.find(by) for by in "ab"] == [None, None]
    (aside,) = home.glob("hob.db.before-restore-*")
    assert not any(SECRET.encode() in file.read_bytes() for file in home.iterdir() if file.is_file() and file != aside)
