"""The inbox: messages are accepted once, completely, in order and within limits."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from hob.core.clock import SystemClock
from hob.core.errors import Busy, BusyScope, InvalidRequest
from hob.core.events.timeline import EventKind
from hob.core.ids import InboundId, SessionKey
from hob.core.messages import Address, Inbound
from hob.core.ports.accept import Accepted
from hob.core.states import TaskState, TurnState
from hob.store.messages.inbox import InboxLimits
from hob.store.settings import StoreSettings
from hob.store.store import Store, open_store
from hob.testing.channel import message
from hob.testing.clock import ManualClock
from hob.testing.memory_store import memory_store
from tests.samples import ASKED, event_of, finish_of, outbound_to
from tests.turns import SESSION, make_turn, put_message


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    async with memory_store() as opened:
        yield opened


async def accept(
    store: Store, inbound: Inbound, limits: InboxLimits | None = None, session: SessionKey = SESSION
) -> Accepted:
    return await store.inbox.accept(inbound, session=session, limits=limits or InboxLimits(), event=event_of(inbound))


async def test_accepted_message_is_visible_to_readers_at_once(store: Store) -> None:
    inbound = message("hello")
    accepted = await accept(store, inbound)
    assert accepted == Accepted(inbound.id, inbound.trace, SESSION, queued=True)
    assert [waiting.inbound for waiting in await store.inbox.waiting(SESSION)] == [inbound]
    events = await store.timeline.trace(inbound.trace)
    assert [(event.kind, event.text) for event in events] == [("inbound", "hello"), ("session", "hello")]
    (task,) = await store.tasks.find()
    assert (task.state, task.title, task.session) == (TaskState.PENDING, "hello", SESSION)


async def test_concurrent_messages_with_one_key_are_accepted_once(store: Store) -> None:
    answers = await asyncio.gather(*(accept(store, message(f"try {n}", key="same")) for n in range(20)))
    assert len({(answer.id, answer.trace) for answer in answers}) == 1
    assert sum(not answer.duplicate for answer in answers) == 1
    assert len(await store.inbox.waiting(SESSION)) == 1


async def test_same_key_is_known_after_a_restart(tmp_path: Path) -> None:
    first = message("hello", key="same")
    async with open_store(tmp_path, StoreSettings(), SystemClock()) as store:
        await accept(store, first)
    async with open_store(tmp_path, StoreSettings(), SystemClock()) as store:
        again = await accept(store, message("hello", key="same"))
        assert (again.id, again.trace, again.duplicate) == (first.id, first.trace, True)
        assert await store.inbox.find_key("memory", "", "same") == again


async def test_key_is_unique_per_channel_and_account(store: Store) -> None:
    first = message("hello", key="1")
    other = replace(message("hello", key="1"), origin=Address("memory", "chat", account="second"))
    joined = replace(message("hello", key="\0" + "1"), origin=Address("memory", "chat"))
    assert not any([(await accept(store, each)).duplicate for each in (first, other, joined)])


async def test_duplicate_never_raises_busy(store: Store) -> None:
    inbound = message("hello", key="same")
    await accept(store, inbound, InboxLimits(session_queue=1))
    assert (await accept(store, message("hello", key="same"), InboxLimits(session_queue=1))).duplicate


@pytest.mark.parametrize(
    ("limits", "scope"),
    [
        (InboxLimits(session_queue=3), BusyScope.LANE),
        (InboxLimits(sender=3), BusyScope.SENDER),
        (InboxLimits(total=3), BusyScope.TOTAL),
    ],
)
async def test_messages_beyond_a_limit_are_refused_and_not_stored(
    store: Store, limits: InboxLimits, scope: BusyScope
) -> None:
    for n in range(3):
        await accept(store, message(f"number {n}"), limits)
    refused = message("one more", key="refused")
    with pytest.raises(Busy) as busy:
        await accept(store, refused, limits)
    assert busy.value.scope is scope
    assert busy.value.retry_after > 0
    assert await store.inbox.find_key("memory", "", "refused") is None
    assert await store.timeline.trace(refused.trace) == ()
    assert refused.id not in [task.inbound for task in await store.tasks.find()]


async def test_refused_message_is_accepted_when_there_is_room(store: Store) -> None:
    first, second = message("first"), message("second", key="second")
    await accept(store, first)
    with pytest.raises(Busy):
        await accept(store, second, InboxLimits(session_queue=1))
    await store.inbox.claim(SESSION, [first.id])
    assert not (await accept(store, second, InboxLimits(session_queue=1))).duplicate


async def test_self_made_messages_are_limited_per_hour() -> None:
    clock = ManualClock()
    limits = InboxLimits(self_made_per_hour=2)
    async with memory_store(clock) as store:
        for n in range(2):
            await accept(store, replace(message(f"number {n}"), hops=1), limits)
        await clock.advance(600)
        with pytest.raises(Busy) as busy:
            await accept(store, replace(message("three"), hops=1), limits)
        assert (busy.value.scope, busy.value.retry_after) == (BusyScope.SELF, 3000)
        await accept(store, message("a person's"), limits)
        await clock.advance(3000)
        await accept(store, replace(message("later"), hops=1), limits)


async def test_message_goes_to_the_session_it_names_or_its_chat_was_switched_to(store: Store) -> None:
    chosen = SessionKey("chosen")
    await store.sessions.switch(message("").origin.key(), chosen)
    assert (await accept(store, message("plain"))).session == chosen
    named = replace(message("named"), session=SessionKey("named"))
    assert (await accept(store, named)).session == "named"
    assert (await accept(store, replace(message("elsewhere"), origin=Address("memory", "other")))).session == SESSION


async def test_claiming_makes_one_running_turn_of_several_messages(store: Store) -> None:
    turn = await make_turn(store, message("one"), message("two"))
    assert [inbound.text for inbound in turn.inbounds] == ["one", "two"]
    row = await store.turns.find(turn.id)
    assert row is not None
    assert (row.state, row.trace) == (TurnState.RUNNING, turn.inbounds[0].trace)
    assert await store.inbox.waiting(SESSION) == ()
    assert {task.state for task in await store.tasks.find()} == {TaskState.RUNNING}


async def test_message_that_does_not_wait_cannot_be_claimed(store: Store) -> None:
    inbound = message("hello")
    await make_turn(store, inbound)
    with pytest.raises(InvalidRequest):
        await store.inbox.claim(SESSION, [inbound.id])
    with pytest.raises(InvalidRequest):
        await store.inbox.claim(SESSION, [InboundId("m_unknown")])
    assert (await store.turns.counts()).running == 1


async def test_merged_message_shares_its_turns_outcome(store: Store) -> None:
    first, second = message("one"), message("two")
    turn = await make_turn(store, first, second)
    await store.journal.append(turn.id, [ASKED])
    await store.journal.finish(finish_of(turn, "both"))
    results = [await store.results.find(inbound.id) for inbound in (first, second)]
    assert [result and (result.state, result.reply, result.merged_into) for result in results] == [
        ("done", "both", None),
        ("done", "both", first.id),
    ]


async def test_result_contains_cost_and_whether_it_was_fetched(store: Store) -> None:
    inbound = message("hello")
    turn = await make_turn(store, inbound)
    await store.journal.append(turn.id, [ASKED])
    await store.journal.finish(finish_of(turn, "hi", cost=200))
    result = await store.results.find(inbound.id)
    assert result is not None
    assert (result.settled, result.cost, result.usage.output, result.picked_up) == (True, 200, 10, False)
    await store.outbox.picked_up(turn.id, {"memory"})
    fetched = await store.results.find(inbound.id)
    assert fetched is not None
    assert fetched.picked_up


async def test_result_of_a_waiting_message_is_not_settled(store: Store) -> None:
    inbound = message("hello")
    await put_message(store, inbound)
    result = await store.results.find(inbound.id)
    assert result is not None
    assert (result.state, result.settled, result.turn) == ("waiting", False, None)
    assert await store.results.find(InboundId("m_unknown")) is None


async def test_command_answered_on_arrival_gets_the_same_answer_again(store: Store) -> None:
    inbound = message("/status", key="same")
    for expected_duplicate in (False, True):
        answered = await store.inbox.answered(
            replace(inbound, trace=inbound.trace),
            session=SESSION,
            answer="all is well",
            event=event_of(inbound),
            reply_event=event_of(inbound, EventKind.COMMAND),
        )
        assert (answered.answer, answered.duplicate) == ("all is well", expected_duplicate)
    assert (await accept(store, message("/status", key="same"))).answer == "all is well"
    result = await store.results.find(inbound.id)
    assert result is not None
    assert (result.state, result.reply) == ("done", "all is well")
    (task,) = await store.tasks.find()
    assert task.state is TaskState.DONE


async def test_queued_command_is_settled_once(store: Store) -> None:
    inbound = message("/new")
    await store.inbox.accept(inbound, session=SESSION, limits=InboxLimits(), command=True, event=event_of(inbound))
    (waiting,) = await store.inbox.waiting(SESSION)
    assert waiting.command
    for n in range(2):
        await store.inbox.settle_command(waiting, f"answer {n}", [outbound_to(inbound, f"o{n}")], [])
    result = await store.results.find(inbound.id)
    assert result is not None
    assert result.reply == "answer 0"
    assert len(await store.outbox.next("memory", "", 1e12)) == 1


async def test_cancelled_waiting_messages_end_with_their_reason(store: Store) -> None:
    kept, dropped = message("kept"), message("dropped")
    await put_message(store, kept)
    await put_message(store, dropped)
    assert await store.inbox.cancel_waiting(SESSION, "stopped", only={dropped.id}) == (dropped.id,)
    result = await store.results.find(dropped.id)
    assert result is not None
    assert (result.state, result.reason, result.settled) == ("cancelled", "stopped", True)
    assert [waiting.inbound.id for waiting in await store.inbox.waiting(SESSION)] == [kept.id]
    assert await store.inbox.cancel_waiting(SESSION, "all") == (kept.id,)


async def test_busy_sessions_are_ordered_by_waiting_time(store: Store) -> None:
    for session in ("b", "a", "b"):
        await put_message(store, message("hello"), SessionKey(session))
    assert await store.inbox.busy_sessions() == ("b", "a")
    counts = await store.inbox.counts()
    assert (counts.waiting, counts.sessions) == (3, 2)


async def test_invalid_unicode_is_replaced_in_text_and_refused_in_names(store: Store) -> None:
    inbound = message("a lone \ud800 surrogate")
    await accept(store, inbound)
    (waiting,) = await store.inbox.waiting(SESSION)
    assert waiting.inbound.text == "a lone ? surrogate"
    with pytest.raises(InvalidRequest):
        await accept(store, replace(message("hello"), origin=Address("memory", "\ud800")))
