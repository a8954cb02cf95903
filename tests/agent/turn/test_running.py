"""The journal of a running turn when writes are interrupted or fail."""

import asyncio
from collections.abc import Sequence

from hob.agent.turn.run_state import Record, Unsaved
from hob.core.events.timeline import TimelineEvent
from hob.core.ids import TurnId
from hob.core.models import ModelRequest
from hob.core.steps import Noted, Step
from hob.store.turns.journal import StoredJournal
from hob.testing.channel import message
from hob.testing.memory_store import memory_store
from tests.turns import make_turn

ONE, TWO = Noted("one"), Noted("two")


class Unheard(StoredJournal):
    """A journal whose first write is durable, although its caller never learns that."""

    def __init__(self, inner: StoredJournal) -> None:
        self.__dict__.update(inner.__dict__)
        self.written = asyncio.Event()

    async def append(
        self,
        turn: TurnId,
        steps: Sequence[Step],
        events: Sequence[TimelineEvent] = (),
        request: ModelRequest | None = None,
    ) -> None:
        await super().append(turn, steps, events, request)
        if not self.written.is_set():
            self.written.set()
            await asyncio.Event().wait()


async def test_result_added_during_a_write_survives_a_cancellation() -> None:
    async with memory_store() as store:
        turn = await make_turn(store, message("hi"))
        journal = Unheard(store.journal)
        record = Record(journal, turn, ())
        record.add(ONE)
        async with asyncio.TaskGroup() as group:
            writing = group.create_task(record.flush())
            await journal.written.wait()
            record.add(TWO)
            writing.cancel()
        await record.resync()
        assert record.steps == [ONE, TWO]
        assert record.pending() == ((TWO,), ())
        await record.flush()
        assert list(await store.journal.load_steps(turn.id)) == [ONE, TWO]


async def test_unwritten_steps_are_resumed_unless_written_after_all() -> None:
    async with memory_store() as store:
        turn = await make_turn(store, message("hi"))
        unsaved = Unsaved(1, (TWO,), ())
        behind, written = Record(store.journal, turn, (ONE,)), Record(store.journal, turn, (ONE, TWO))
        behind.resume(unsaved)
        written.resume(unsaved)
        assert behind.pending() == ((TWO,), ())
        assert written.pending() == ((), ())
