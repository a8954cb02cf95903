"""Whose spending counts towards what."""

from dataclasses import replace

import pytest

from hob.core.errors import ModelFault
from hob.core.events.timeline import EventKind, TimelineEvent
from hob.core.ids import SessionKey, SpanId, new_event_id, new_trace_id
from hob.core.messages import Inbound, Sender
from hob.core.models import Usage
from hob.core.steps import ModelAsked, ModelFailed, ModelReplied
from hob.core.trust.labels import SenderClass
from hob.store.projections.rebuild import compare
from hob.store.spending.ledger import Division
from hob.store.store import Store
from hob.testing.channel import message
from hob.testing.memory_store import memory_store
from tests.turns import SESSION, make_turn, put_message

OWNER, MEMBER, STRANGER = SenderClass
CHAIN = ("anthropic/claude-a", "openai/gpt-b")


def by(cls: SenderClass, text: str = "hello") -> Inbound:
    return replace(message(text), sender=Sender(cls.value, cls=cls))


def asked(reserved: int = 500, models: tuple[str, ...] = CHAIN) -> ModelAsked:
    return ModelAsked(models[0], "", 10, reserved, models=models)


def replied(cost: int | None = 200, ref: str = CHAIN[0]) -> ModelReplied:
    return ModelReplied("hi", usage=Usage(10, 5), model="m", cost=cost, ref=ref)


def outside(classification: str, cost: int | None = 7, status: str = "ok", *, at: float = 5000.0) -> TimelineEvent:
    usage = Usage(1, 1) if status == "ok" else None
    return TimelineEvent(
        new_event_id(), new_trace_id(), SpanId("s"), None, at, EventKind.MODEL, "m", status, session=SESSION,
        classification=classification, usage=usage, cost=cost,
    )  # fmt: skip


async def cost(store: Store, sender: SenderClass) -> int:
    return (await store.ledger.spent(sender=sender)).cost


async def agrees(store: Store) -> None:
    """Check that the tables agree with the timeline about spending."""
    compared = await store._readers.read(compare)
    assert [line for table in compared for line in table.lines()] == []


@pytest.mark.parametrize("cls", SenderClass)
async def test_call_counts_for_the_class_of_its_sender(cls: SenderClass) -> None:
    async with memory_store() as store:
        turn = await make_turn(store, by(cls))
        await store.journal.append(turn.id, [asked()])
        assert {each: await cost(store, each) for each in SenderClass} == {
            each: 500 * (each is cls) for each in SenderClass
        }
        await store.journal.append(turn.id, [replied()])
        assert {each: await cost(store, each) for each in SenderClass} == {
            each: 200 * (each is cls) for each in SenderClass
        }
        (event,) = [event for event in await store.timeline.trace(turn.trace) if event.kind is EventKind.MODEL]
        assert event.classification == cls
        await agrees(store)


async def test_joined_turn_counts_for_its_least_trusted_sender() -> None:
    async with memory_store() as store:
        turn = await make_turn(store, by(OWNER))
        await store.journal.append(turn.id, [asked(), replied(), asked()])
        stranger = by(STRANGER)
        await put_message(store, stranger)
        await store.journal.steer(turn.id, [stranger.id])
        assert (await cost(store, OWNER), await cost(store, STRANGER)) == (200, 500)
        await agrees(store)
        await store.journal.append(turn.id, [replied(300)])
        assert (await cost(store, OWNER), await cost(store, STRANGER)) == (200, 300)
        await agrees(store)


@pytest.mark.parametrize(
    ("model", "held"),
    [
        ("anthropic/claude-a", 500),
        ("openai/gpt-b", 500),
        ("openai/*", 500),
        ("anthropic/*", 500),
        ("*", 500),
        ("openai/gpt", 0),
        ("gpt-b", 500),
        ("pt-b", 0),
        ("penai/*", 0),
        ("mistral/*", 0),
    ],
)
async def test_reservation_counts_for_every_model_that_may_answer(model: str, held: int) -> None:
    async with memory_store() as store:
        turn = await make_turn(store, message("hello"))
        await store.journal.append(turn.id, [asked()])
        spent = await store.ledger.spent(model=model)
        assert (spent.cost, spent.reserved) == (held, held)
        await agrees(store)


async def test_spending_counts_for_the_model_that_answered() -> None:
    async with memory_store() as store:
        turn = await make_turn(store, message("hello"))
        await store.journal.append(turn.id, [asked(), replied(ref=CHAIN[1])])
        spent = {model: (await store.ledger.spent(model=model)).cost for model in ("anthropic/*", "openai/*")}
        assert spent == {"anthropic/*": 0, "openai/*": 200}
        assert (await store.ledger.spent()).reserved == 0
        await agrees(store)


@pytest.mark.parametrize("fault", [ModelFault.AUTH, ModelFault.RATE_LIMIT, ModelFault.NETWORK, ModelFault.OVERLOAD])
async def test_rejected_request_does_not_count_as_a_call(fault: ModelFault) -> None:
    async with memory_store() as store:
        turn = await make_turn(store, message("hello"))
        await store.journal.append(turn.id, [asked(), ModelFailed(fault, "no"), asked(), replied()])
        await store.ledger.record(outside("owner/summary", None, fault))
        spent = await store.ledger.spent()
        assert (spent.calls, spent.cost, spent.unknown_calls) == (1, 200, 0)
        await agrees(store)


async def test_call_outside_any_turn_records_sender_class_and_task() -> None:
    async with memory_store() as store:
        await store.ledger.record(outside("member/summary"))
        await store.ledger.record(outside("", 3))  # as older ones are
        assert {key: spent.cost for key, spent in await store.ledger.sums("task")} == {"summary": 7, "chat": 3}
        assert (await cost(store, MEMBER), await cost(store, OWNER)) == (7, 3)
        await agrees(store)


@pytest.mark.parametrize(
    ("division", "wanted"),
    [
        ("model", {"m": 7 + 11 + 13}),
        ("sender", {"owner": 7, "member": 24}),
        ("task", {"summary": 18, "title": 13}),
        ("session", {SESSION: 31}),
        ("hour", {"1": 7, "2": 24}),
    ],
)
async def test_sums_are_grouped(division: Division, wanted: dict[str, int]) -> None:
    async with memory_store() as store:
        await store.ledger.record(outside("owner/summary", 7, at=3600.0))
        await store.ledger.record(outside("member/summary", 11, at=7200.0))
        await store.ledger.record(outside("member/title", 13, at=7300.0))
        assert {key: spent.cost for key, spent in await store.ledger.sums(division)} == wanted


async def test_sums_may_begin_in_the_middle_of_an_hour() -> None:
    async with memory_store() as store:
        for at in (3600.0, 3700.0, 7200.0):
            await store.ledger.record(outside("owner", 1, at=at))
        assert [spent.cost for _, spent in await store.ledger.sums("session", 3650.0)] == [2]


async def test_limit_is_noted_once_per_period() -> None:
    async with memory_store() as store:
        assert await store.ledger.note_once("spending.daily", 0.0)
        assert not await store.ledger.note_once("spending.daily", 0.0)
        assert await store.ledger.note_once("spending.daily", 86_400.0)
        assert await store.ledger.note_once("spending.monthly", 0.0)


async def test_special_characters_in_names_are_literal() -> None:
    name = SessionKey("a'b%_*\n")
    async with memory_store() as store:
        turn = await make_turn(store, message("hello"), session=name)
        await store.journal.append(turn.id, [asked(models=("a%_", "b")), replied(ref="a%_")])
        assert (await store.ledger.spent(session=name, model="a%_")).cost == 200
        assert (await store.ledger.spent(model="ab_")).cost == 0
