"""The outbox: order, states, crashes."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from hob.core.clock import SystemClock
from hob.core.errors import NotFound
from hob.core.events.timeline import EventKind
from hob.core.ids import OutboxId
from hob.core.messages import Address, Attachment, Button, Outbound, OutboundAction
from hob.core.states import OutboxState
from hob.store.database.state_moves import IllegalMove
from hob.store.messages.outbox import OutboxRow
from hob.store.settings import StoreSettings
from hob.store.store import Store, open_store
from hob.testing.channel import message
from hob.testing.clock import ManualClock
from hob.testing.memory_store import memory_store
from tests.samples import chunk_of, event_of, finish_of, outbound_to
from tests.turns import make_turn

EVER = 1e12


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    async with memory_store() as opened:
        yield opened


def outbound(id: str, chat: str = "chat", thread: str = "") -> Outbound:
    return replace(outbound_to(message(""), id, f"text of {id}"), to=Address("memory", chat, thread=thread))


async def next_ids(store: Store, now: float = EVER) -> list[str]:
    return [row.outbound.id for row in await store.outbox.next("memory", "", now)]


async def find(store: Store, id: str) -> OutboxRow:
    row = await store.outbox.find(OutboxId(id))
    assert row is not None
    return row


async def test_pending_rows_round_trip(store: Store) -> None:
    turn = await make_turn(store, message("hello"))
    pending = replace(chunk_of(turn, "hi", 2), previews=False)
    await store.outbox.enqueue([pending])
    (row,) = await store.outbox.next("memory", "", EVER)
    assert (row.outbound, row.state, row.attempts) == (pending, OutboxState.READY, 0)


async def test_message_with_attachments_round_trips_and_is_erased_with_them(tmp_path: Path) -> None:
    async with open_store(tmp_path, StoreSettings(), SystemClock()) as store:
        blob = await store.blobs.put(b"a secret picture", "image/png")
        rich = replace(
            outbound("o1"), action=OutboundAction.EDIT, about="m7", attachments=(Attachment("image/png", "a", blob),),
            buttons=(Button("Tea", "tea"),), poll=("a", "b"), spelled=True,
        )  # fmt: skip
        turn = await make_turn(store, message("write to them"))
        await store.journal.finish(finish_of(turn, "done"))
        await store.outbox.picked_up(turn.id, ["memory"])
        await store.outbox.enqueue([replace(rich, turn=turn.id)])
        assert (await find(store, "o1")).outbound == replace(rich, turn=turn.id)
        await store.outbox.sending(OutboxId("o1"))
        await store.outbox.sent(OutboxId("o1"), "m8")
        await store.erasure.erase_trace(turn.trace, "asked to")
        left = (await find(store, "o1")).outbound
        assert (left.text, left.attachments, left.about) == ("", (), "")
        with pytest.raises(NotFound):
            await store.blobs.load(blob)


async def test_reply_counts_as_fetched_once_its_turn_has_ended(store: Store) -> None:
    inbound = message("hello")
    turn = await make_turn(store, inbound)
    await store.outbox.enqueue([replace(outbound("o1"), turn=turn.id)])
    await store.outbox.handed_over(inbound.id, ["memory"])
    assert (await find(store, "o1")).state is OutboxState.READY
    await store.journal.finish(finish_of(turn, "done"))
    await store.outbox.handed_over(inbound.id, ["memory"])
    assert (await find(store, "o1")).state is OutboxState.SENT


async def test_same_message_queued_twice_is_sent_once(store: Store) -> None:
    await store.outbox.enqueue([outbound("a"), outbound("a")])
    await store.outbox.enqueue([outbound("a")])
    assert (await store.outbox.counts()).open == 1


async def test_chat_receives_its_chunks_in_order(store: Store) -> None:
    await store.outbox.enqueue([outbound("a"), outbound("b"), outbound("x", "other"), outbound("t", thread="t")])
    assert await next_ids(store) == ["a", "x", "t"]
    await store.outbox.sending(OutboxId("a"))
    assert await next_ids(store) == ["x", "t"]
    await store.outbox.sent(OutboxId("a"), "receipt")
    assert await next_ids(store) == ["b", "x", "t"]
    assert (await find(store, "a")).receipt == "receipt"


async def test_failing_chunk_blocks_only_its_chat_until_due(store: Store) -> None:
    await store.outbox.enqueue([outbound("a"), outbound("b"), outbound("x", "other")])
    await store.outbox.sending(OutboxId("a"))
    await store.outbox.failed(OutboxId("a"), "no net", EVER + 100)
    assert await next_ids(store) == ["x"]
    assert await next_ids(store, EVER + 100) == ["a", "x"]
    row = await find(store, "a")
    assert (row.attempts, row.reason) == (1, "no net")


async def test_next_due_time_considers_only_the_first_row_of_a_chat(store: Store) -> None:
    assert await store.outbox.next_due("memory", "") is None
    await store.outbox.enqueue([outbound("a"), outbound("b")])
    await store.outbox.sending(OutboxId("a"))
    assert await store.outbox.next_due("memory", "") is None
    await store.outbox.failed(OutboxId("a"), "no net", EVER + 100)
    assert await store.outbox.next_due("memory", "") == EVER + 100


async def test_dead_chunk_lets_the_next_one_pass_and_can_be_revived(store: Store) -> None:
    await store.outbox.enqueue([outbound("a"), outbound("b")])
    await store.outbox.sending(OutboxId("a"))
    await store.outbox.failed(OutboxId("a"), "blocked", None)
    assert await next_ids(store) == ["b"]
    assert [row.outbound.id for row in await store.outbox.stuck()] == ["a"]
    assert [await store.outbox.revive(OutboxId("a")) for _ in range(2)] == [True, False]
    assert await next_ids(store) == ["a"]
    assert (await find(store, "a")).attempts == 0


async def test_row_being_sent_at_a_crash_is_found_and_counted_when_repeated(tmp_path: Path) -> None:
    async with open_store(tmp_path, StoreSettings(), SystemClock()) as store:
        await store.outbox.enqueue([outbound("a"), outbound("b", "other")])
        for id in ("a", "b"):
            await store.outbox.sending(OutboxId(id))
        await store.abandon()
    async with open_store(tmp_path, StoreSettings(), SystemClock()) as store:
        assert [row.outbound.id for row in await store.outbox.unfinished_sends()] == ["a", "b"]
        await store.outbox.again(OutboxId("a"))
        await store.outbox.park(OutboxId("b"), "never twice")
        assert await next_ids(store) == ["a"]
        assert (await find(store, "a")).repeats == 1
        counts = await store.outbox.counts()
        assert (counts.open, counts.parked, counts.dead) == (1, 1, 0)


async def test_illegal_moves_are_refused(store: Store) -> None:
    await store.outbox.enqueue([outbound("a")])
    for attempt in (store.outbox.sent(OutboxId("a")), store.outbox.park(OutboxId("a"), "why")):
        with pytest.raises(IllegalMove):
            await attempt
    with pytest.raises(NotFound):
        await store.outbox.sending(OutboxId("unknown"))
    assert (await find(store, "a")).state is OutboxState.READY


async def test_receipt_and_its_event_are_committed_together(store: Store) -> None:
    inbound = message("hello")
    await store.outbox.enqueue([outbound("a")])
    await store.outbox.sending(OutboxId("a"))
    before = store.commits
    await store.outbox.sent(OutboxId("a"), "r", event_of(inbound, EventKind.DELIVERY))
    assert store.commits == before + 1
    assert [event.kind for event in await store.timeline.trace(inbound.trace)] == [EventKind.DELIVERY]


async def test_age_of_the_oldest_open_row_is_known() -> None:
    clock = ManualClock()
    async with memory_store(clock) as store:
        assert (await store.outbox.counts()).oldest_age == 0
        await store.outbox.enqueue([outbound("a")])
        await clock.advance(90)
        assert (await store.outbox.counts()).oldest_age == pytest.approx(90)
