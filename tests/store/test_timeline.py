"""Events are immutable; spending adds up."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import apsw
import pytest

from hob.core.errors import ModelFault, StoreError
from hob.core.events.timeline import EventKind, TimelineEvent
from hob.core.ids import BlobId, SessionKey, SpanId, TurnId, new_event_id, new_trace_id
from hob.core.messages import MediaType
from hob.core.models import Usage
from hob.core.steps import ModelAsked, ModelFailed, ModelReplied
from hob.core.trust.labels import Label, Origin, Trust
from hob.store.store import Store
from hob.store.timeline import Followed, TimelineFilter
from hob.testing.channel import message
from hob.testing.clock import ManualClock
from hob.testing.memory_store import memory_store
from tests.samples import event_of, finish_of
from tests.turns import SESSION, make_turn


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    async with memory_store() as opened:
        yield opened


def full_event() -> TimelineEvent:
    return replace(
        event_of(message("hello")),
        parent=SpanId("p" * 16), kind=EventKind.MODEL, name="model-a", status="cut_stream", type=MediaType.IMAGE,
        session=SESSION, turn=TurnId("t"), sender_name="Ä", classification="creative", authorized=False,
        media=BlobId("b"), seconds=1.5, usage=Usage(5, 4, 3, 2, 1), cost=7,
    )  # fmt: skip


async def test_event_round_trips(store: Store) -> None:
    event = full_event()
    await store.timeline.add([event])
    assert await store.timeline.trace(event.trace) == (event,)


async def test_events_are_ordered_by_commit_not_by_clock(store: Store) -> None:
    events = [replace(full_event(), at=at, name=str(at)) for at in (5.0, 1.0, 3.0)]
    for event in events:
        await store.timeline.add([event])
    assert await store.timeline.latest(10) == tuple(events)
    assert await store.timeline.latest(2, SESSION) == tuple(events[1:])
    assert await store.timeline.latest(2, SessionKey("other")) == ()


async def test_follower_continues_from_its_cursor(store: Store) -> None:
    events = [replace(full_event(), id=new_event_id()) for _ in range(5)]
    await store.timeline.add(events)
    first = await store.timeline.follow(0, 3)
    rest = await store.timeline.follow(first.upto, 3)
    assert [event for _, event in (*first.events, *rest.events)] == events
    assert await store.timeline.follow(rest.upto, 3) == Followed((), rest.upto)
    assert rest.upto == await store.timeline.newest()


async def test_follower_of_some_events_skips_the_others(store: Store) -> None:
    mine, other = SessionKey("api:mine"), SessionKey("api:other")
    kinds = [EventKind.TOOL, EventKind.MODEL, EventKind.TOOL]
    await store.timeline.add([replace(full_event(), id=new_event_id(), session=mine, kind=kind) for kind in kinds])
    await store.timeline.add([replace(full_event(), id=new_event_id(), session=other) for _ in range(4)])
    found = await store.timeline.follow(0, 10, sessions=[mine], kinds=["tool"])
    assert [(place, event.kind) for place, event in found.events] == [(1, EventKind.TOOL), (3, EventKind.TOOL)]
    assert found.upto == 7
    assert (await store.timeline.follow(0, 1, kinds=["tool"])).upto == 1


async def test_follower_is_woken_by_each_commit(store: Store) -> None:
    with store.timeline.news() as news:
        assert not news.is_set()
        await store.timeline.add([full_event()])
        await asyncio.wait_for(news.wait(), 5)
        assert len((await store.timeline.follow(0, 10)).events) == 1


async def test_follower_is_not_woken_by_other_events(store: Store) -> None:
    with store.timeline.news([EventKind.TURN]) as turns, store.timeline.news([EventKind.TOOL]) as tools:
        await store.settings.change({"agent.language": "de"})
        assert not turns.is_set()
        assert not tools.is_set()
        await store.timeline.add([replace(full_event(), kind=EventKind.TOOL)])
        await asyncio.wait_for(tools.wait(), 5)
        assert not turns.is_set()


@pytest.mark.parametrize("sql", ["UPDATE timeline SET status = 'x'", "DELETE FROM timeline"])
async def test_events_cannot_be_changed(store: Store, sql: str) -> None:
    event = full_event()
    await store.timeline.add([event])

    def job(connection: apsw.Connection) -> None:
        connection.execute(sql)

    with pytest.raises(StoreError, match="append-only"):
        await store._writer.write(job)
    assert await store.timeline.trace(event.trace) == (event,)


async def test_repeated_event_rejects_the_whole_transaction(store: Store) -> None:
    event = full_event()
    await store.timeline.add([event])
    with pytest.raises(StoreError):
        await store.timeline.add([replace(full_event(), trace=event.trace), event])
    assert len(await store.timeline.trace(event.trace)) == 1


def asked(reserved: int | None = 500, model: str = "model-a") -> ModelAsked:
    return ModelAsked(model, "", 10, reserved)


def replied(cost: int | None) -> ModelReplied:
    return ModelReplied("hi", usage=Usage(10, 5, 4, 3, 2), model="model-a", cost=cost)


async def test_reservation_counts_until_the_reply_settles_it(store: Store) -> None:
    turn = await make_turn(store, message("hello"))
    await store.journal.append(turn.id, [asked(500)])
    assert (await store.ledger.spent()).cost == 500
    await store.journal.append(turn.id, [replied(200)])
    for spent in (await store.ledger.spent(), await store.ledger.spent(turn=turn.id)):
        assert (spent.cost, spent.unknown_calls, spent.calls, spent.usage) == (200, 0, 1, Usage(10, 5, 4, 3, 2))


async def test_unknown_price_is_never_free(store: Store) -> None:
    turn = await make_turn(store, message("hello"))
    await store.journal.append(turn.id, [asked(None)])
    assert (await store.ledger.spent()).unknown_calls == 1
    await store.journal.append(turn.id, [replied(None)])
    spent = await store.ledger.spent()
    assert (spent.cost, spent.unknown_calls) == (0, 1)


@pytest.mark.parametrize(
    ("fault", "cost"),
    [
        (ModelFault.AUTH, 0),
        (ModelFault.RATE_LIMIT, 0),
        (ModelFault.CUT, 500),
        (ModelFault.TIMEOUT, 500),
        (ModelFault.GARBAGE, 500),
        (ModelFault.EMPTY, 500),
        (ModelFault.FILTERED, 500),
    ],
)
async def test_failed_call_is_free_only_if_the_model_had_not_begun(store: Store, fault: ModelFault, cost: int) -> None:
    turn = await make_turn(store, message("hello"))
    await store.journal.append(turn.id, [asked(500), ModelFailed(fault, "")])
    spent = await store.ledger.spent()
    assert (spent.cost, spent.unknown_calls) == (cost, 0)


async def test_known_cost_of_a_failed_call_counts(store: Store) -> None:
    turn = await make_turn(store, message("hello"))
    failed = ModelFailed(ModelFault.EMPTY, "", usage=Usage(9, 1), cost=11)
    await store.journal.append(turn.id, [asked(500), failed])
    assert (await store.ledger.spent()).cost == 11


async def test_call_without_a_recorded_end_costs_its_worst_case(store: Store) -> None:
    turn = await make_turn(store, message("hello"))
    await store.journal.append(turn.id, [asked(500)])
    await store.journal.append(turn.id, [asked(300), replied(100)])
    assert (await store.ledger.spent()).cost == 600
    await store.journal.finish(finish_of(turn, "hi", steps=()))
    spent = await store.ledger.spent()
    assert (spent.cost, spent.unknown_calls) == (600, 0)


async def test_call_outside_any_turn_is_recorded_with_its_event(store: Store) -> None:
    event = replace(full_event(), turn=None, usage=Usage(10, 5), cost=70)
    await store.ledger.record(event)
    assert (await store.ledger.spent(session=SESSION, model="model-a")).cost == 70
    assert await store.timeline.trace(event.trace) == (event,)


async def test_spending_is_summed_since_any_time_by_session_and_model() -> None:
    clock = ManualClock()
    async with memory_store(clock) as store:
        began = clock.now().timestamp()
        for n in range(12):  # one call every twenty minutes, over four hours
            event = TimelineEvent(
                new_event_id(), new_trace_id(), SpanId("s"), None, began + 1200 * n, EventKind.MODEL, f"model-{n % 2}",
                session=SessionKey(f"s{n % 3}"), usage=Usage(1, 1), cost=2**n,
            )  # fmt: skip
            await store.ledger.record(event)
        for n in range(13):
            wanted = sum(2**m for m in range(n, 12))
            assert (await store.ledger.spent(since=began + 1200 * n)).cost == wanted
            assert (await store.ledger.spent(since=began + 1200 * n - 0.5)).cost == wanted
        assert (await store.ledger.spent(model="model-0")).cost == sum(2**n for n in range(0, 12, 2))
        assert (await store.ledger.spent(session=SessionKey("s1"))).cost == sum(2**n for n in range(1, 12, 3))
        both = await store.ledger.spent(since=began + 1200 * 7, session=SessionKey("s1"), model="model-0")
        assert both.cost == 2**10


def filterable() -> dict[str, TimelineEvent]:
    plain = replace(event_of(message("hello", sender="anna")), session=SessionKey("api:one"))
    stranger = replace(plain, sender_id="7", sender_name="Zoë", authorized=False, text="let me in")
    page = replace(
        plain, kind=EventKind.TOOL, name="web_fetch", text="a page", label=Label(Origin.WEB, Trust.UNTRUSTED)
    )
    model = replace(plain, kind=EventKind.MODEL, name="model-a", text="", cost=5_000, session=SessionKey("api:two"))
    turn = replace(plain, kind=EventKind.TURN, text="")
    delivery = replace(plain, kind=EventKind.DELIVERY, name="telegram", text="")
    events = {
        "plain": plain,
        "stranger": stranger,
        "page": page,
        "model": model,
        "refused": replace(page, status="denied", label=None),
        "unreachable": replace(model, status="network", cost=None),
        "no answer": replace(plain, kind=EventKind.OUTBOUND, status="error", text="Sorry."),
        "failed": replace(turn, status="network", classification="failed"),
        "quarantined": replace(turn, classification="set_aside"),
        "done": replace(turn, classification="done"),
        "sent": delivery,
        "silent": replace(delivery, status="skipped"),
        "no receipt": replace(delivery, status="parked"),
        "no such chat": replace(delivery, status="undeliverable"),
    }
    return {name: replace(event, id=new_event_id(), trace=new_trace_id()) for name, event in events.items()}


WRONG = {"refused", "unreachable", "no answer", "failed", "quarantined", "no receipt", "no such chat"}


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (TimelineFilter(kinds=("model", "outbound")), {"model", "unreachable", "no answer"}),
        (TimelineFilter(sessions=("api:two",)), {"model", "unreachable"}),
        (TimelineFilter(sender="7"), {"stranger"}),
        (TimelineFilter(sender="Zoë"), {"stranger"}),
        (TimelineFilter(name="web_fetch"), {"page", "refused"}),
        (TimelineFilter(text="LET me"), {"stranger"}),
        (TimelineFilter(text="telegr", kinds=("delivery",), errors=True), {"no receipt", "no such chat"}),
        (TimelineFilter(errors=True), WRONG),
        (TimelineFilter(tainted=True), {"page"}),
        (TimelineFilter(authorized=False), {"stranger"}),
        (TimelineFilter(authorized=True, tainted=True), {"page"}),
        (TimelineFilter(cost=5_000), {"model"}),
        (TimelineFilter(cost=5_001), set[str]()),
    ],
)
async def test_timeline_filter_finds_exactly_its_events(store: Store, wanted: TimelineFilter, found: set[str]) -> None:
    events = filterable()
    await store.timeline.add(tuple(events.values()))
    page = await store.timeline.page(None, 100, wanted)
    names = {event.id: name for name, event in events.items()}
    assert {names[event.id] for _, event in page.events} == found


async def test_timeline_filter_by_trace_finds_that_trace(store: Store) -> None:
    events = filterable()
    await store.timeline.add(tuple(events.values()))
    page = await store.timeline.page(None, 100, TimelineFilter(trace=events["page"].trace))
    assert [event for _, event in page.events] == [events["page"]]
