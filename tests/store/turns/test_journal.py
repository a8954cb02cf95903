"""The journal of a turn."""

from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial

import apsw
import pytest

from hob.core.errors import NotFound, StoreError
from hob.core.ids import CallId, InboundId, TurnId
from hob.core.messages import Quoted
from hob.core.states import TaskState, TurnState
from hob.core.steps import Noted, Steered, Step, ToolIntended
from hob.core.tools import Restart, ToolCall
from hob.store.database.state_moves import IllegalMove
from hob.store.messages.inbox import InboxLimits
from hob.store.store import Store
from hob.testing.channel import message
from hob.testing.memory_store import memory_store
from tests.samples import ASKED, event_of, finish_of
from tests.turns import SESSION, make_turn, put_message


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    async with memory_store() as opened:
        yield opened


async def test_steps_round_trip_in_order(store: Store) -> None:
    turn = await make_turn(store, message("hello"))
    steps: list[Step] = [
        ASKED,
        ToolIntended(ToolCall(CallId("c"), "clock", "{}"), Restart.AGAIN, "rule"),
        Noted("ä\0\n"),
    ]
    await store.journal.append(turn.id, steps[:1])
    await store.journal.append(turn.id, steps[1:])
    assert list(await store.journal.load_steps(turn.id)) == steps
    row = await store.turns.find(turn.id)
    assert row is not None
    assert row.position == 3


async def test_event_of_a_step_is_written_with_it_and_gets_the_session(store: Store) -> None:
    inbound = message("hello")
    turn = await make_turn(store, inbound)
    await store.journal.append(turn.id, [ASKED], [event_of(inbound)])
    assert (await store.timeline.latest(1))[0].session == SESSION


async def test_journal_of_an_ended_or_unknown_turn_refuses_steps(store: Store) -> None:
    turn = await make_turn(store, message("hello"))
    await store.journal.finish(finish_of(turn, "hi"))
    with pytest.raises(IllegalMove):
        await store.journal.append(turn.id, [ASKED])
    with pytest.raises(NotFound):
        await store.journal.append(TurnId("t_unknown"), [ASKED])
    assert len(await store.journal.load_steps(turn.id)) == 2


async def test_finishing_writes_everything_in_one_commit(store: Store) -> None:
    inbound = message("hello")
    turn = await make_turn(store, inbound)
    before = store.commits
    await store.journal.finish(finish_of(turn, "hi"))
    assert store.commits == before + 1
    assert [entry.text for entry in (await store.transcript.load_view(SESSION, 10)).entries] == ["hello", "hi"]
    assert [row.outbound.text for row in await store.outbox.next("memory", "", 1e12)] == ["hi"]
    (task,) = await store.tasks.find()
    assert task.state is TaskState.DONE
    assert len(await store.journal.load_steps(turn.id)) == 2


async def test_second_finish_changes_nothing(store: Store) -> None:
    turn = await make_turn(store, message("hello"))
    await store.journal.finish(finish_of(turn, "hi"))
    await store.journal.finish(finish_of(turn, "again", state=TurnState.FAILED))
    row = await store.turns.find(turn.id)
    assert row is not None
    assert (row.state, row.reply) == (TurnState.DONE, "hi")
    assert (await store.transcript.load_view(SESSION, 10)).total == 2


async def test_finish_requires_a_final_state(store: Store) -> None:
    turn = await make_turn(store, message("hello"))
    with pytest.raises(IllegalMove):
        await store.journal.finish(finish_of(turn, "hi", state=TurnState.PARKED))
    assert (await store.transcript.load_view(SESSION, 10)).total == 0


async def test_steering_takes_waiting_messages_up_to_the_first_command(store: Store) -> None:
    turn = await make_turn(store, message("first"))
    second, third = message("second"), message("third")
    await put_message(store, second)
    command = message("/new")
    await store.inbox.accept(command, session=SESSION, limits=InboxLimits(), command=True, event=event_of(command))
    await put_message(store, third)
    joined = await store.journal.steer(turn.id, [second.id, command.id, third.id])
    assert [inbound.text for inbound in joined] == ["second"]
    assert [waiting.inbound.text for waiting in await store.inbox.waiting(SESSION)] == ["/new", "third"]
    assert [step.text for step in await store.journal.load_steps(turn.id) if isinstance(step, Steered)] == ["second"]


async def test_steering_message_is_in_the_steps_and_not_among_the_first_messages(store: Store) -> None:
    turn = await make_turn(store, message("first"))
    second = replace(message("second"), quoted=(Quoted("piped"),))
    await put_message(store, second)
    await store.journal.steer(turn.id, [second.id])
    await store.turns.release(turn.id)
    resumed = await store.turns.start(turn.id)
    assert [inbound.text for inbound in resumed.inbounds] == ["first"]
    (step,) = await store.journal.load_steps(turn.id)
    assert isinstance(step, Steered)
    assert step.quoted == (Quoted("piped"),)


async def test_steering_with_nothing_waiting_writes_nothing(store: Store) -> None:
    turn = await make_turn(store, message("first"))
    assert await store.journal.steer(turn.id, [InboundId("m_gone")]) == ()
    assert await store.journal.load_steps(turn.id) == ()


async def test_steering_takes_only_offered_messages_in_order(store: Store) -> None:
    turn = await make_turn(store, message("first"))
    waiting = [message(str(n)) for n in range(4)]
    for inbound in waiting:
        await put_message(store, inbound)
    joined = await store.journal.steer(turn.id, [waiting[n].id for n in (0, 1, 3)])
    assert [inbound.text for inbound in joined] == ["0", "1"]
    assert [row.inbound.text for row in await store.inbox.waiting(SESSION)] == ["2", "3"]


async def test_journal_cannot_be_changed(store: Store) -> None:
    turn = await make_turn(store, message("hello"))
    await store.journal.append(turn.id, [ASKED])
    for sql in ("UPDATE steps SET kind = 'x'", "DELETE FROM steps"):
        with pytest.raises(StoreError, match="append-only"):
            await store._writer.write(partial(run, sql))


def run(sql: str, connection: apsw.Connection) -> None:
    connection.execute(sql)
