"""No limit is ever exceeded, whatever is asked concurrently, by whom, of which models, at which prices."""

import asyncio
import tempfile
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hob.agent.budget.accounting import stream_in_turn
from hob.agent.budget.budget import Budget, Reservation
from hob.agent.budget.limits import PeriodLimits, SenderClasses, SenderLimits, SpendingSettings
from hob.core.errors import BudgetExceeded
from hob.core.events.timeline import EventKind, TimelineEvent
from hob.core.ids import SessionKey, TurnId, new_event_id, new_span_id, new_trace_id
from hob.core.messages import Sender
from hob.core.models import ExtraCall, ModelEvent, ModelReply, ModelRequest, Price, Thinking, Usage
from hob.core.money import MICRO
from hob.core.steps import ModelAsked, ModelFailed, ModelReplied
from hob.core.trust.labels import SenderClass
from hob.core.turns import Turn
from hob.store.settings import StoreSettings
from hob.store.store import Store, open_store
from hob.testing.channel import message
from hob.testing.clock import ManualClock
from tests.turns import make_turn

MODELS = ("a/one", "a/two", "b/one")
SESSIONS = (SessionKey("s"), SessionKey("t"))
MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None

# A call costs a few tens of cents at most, and a limit has room for a few calls, so every run reaches its limits.
rates = st.sampled_from([0, 20, 100, 200]).map(lambda dollars: dollars * MICRO)
prices = st.builds(
    lambda plain, output, write, dear, call: Price(
        plain, output, plain // 10, write, call=call,
        above=((500, Price(plain * dear, output, plain // 10, write * dear, call=call)),),
    ),
    rates, rates, rates, st.integers(1, 3), st.sampled_from([0, 100_000]),
)  # fmt: skip


@dataclass(frozen=True)
class Question:
    """One model call and its outcome, in fractions of the maximum."""

    chain: tuple[str, ...]
    estimate: int
    maximum: int
    answers: int
    parts: tuple[float, float, float, float]
    fails: bool
    stumbles: tuple[int, ...] = ()
    """Models that fail first, each after as much as an answer costs."""

    def request(self) -> ModelRequest:
        return ModelRequest(
            self.chain[0], "", (), max_tokens=self.maximum, models=self.chain, thinking=Thinking.OFF, patience=0
        )


parts = st.sampled_from([0.0, 0.5, 1.0, 1.0])
questions = st.builds(
    Question,
    st.lists(st.sampled_from(MODELS), min_size=1, max_size=3, unique=True).map(tuple),
    st.sampled_from([100, 500, 600, 1000]),
    st.sampled_from([100, 1000]),
    st.integers(0, 2),
    st.tuples(parts, parts, parts, parts),
    st.sampled_from([False, False, False, True]),
    st.lists(st.integers(0, 2), max_size=2).map(tuple),
)


@dataclass(frozen=True)
class Work:
    """A turn of somebody, or a summary of their session."""

    session: SessionKey
    sender: SenderClass
    questions: tuple[Question, ...]
    is_turn: bool


asked_by = st.sampled_from(SenderClass)
asks = st.lists(questions, min_size=1, max_size=4).map(tuple)
works = st.builds(Work, st.sampled_from(SESSIONS), asked_by, asks, st.sampled_from([True, True, False]))
maximum = st.sampled_from([0.3, 0.5, 1.0])
one_limit = st.one_of(
    st.builds(lambda maximum: SpendingSettings(daily=maximum), maximum),
    st.builds(lambda maximum: SpendingSettings(monthly=maximum), maximum),
    st.builds(lambda maximum: SpendingSettings(per_session=maximum), maximum),
    st.builds(lambda maximum: SpendingSettings(per_turn=maximum), maximum),
    st.builds(lambda maximum: SpendingSettings(models={"a/*": PeriodLimits(daily=maximum)}), maximum),
    st.builds(lambda maximum: SpendingSettings(models={"b/one": PeriodLimits(monthly=maximum)}), maximum),
    st.builds(lambda maximum: SpendingSettings(senders=SenderClasses(member=SenderLimits(daily=maximum))), maximum),
    st.builds(
        lambda maximum: SpendingSettings(senders=SenderClasses(stranger=SenderLimits(per_turn=maximum))), maximum
    ),
)
spending = one_limit | st.builds(
    lambda first, second: replace(
        first, daily=first.daily or second.daily, per_session=first.per_session or second.per_session,
        models={**first.models, **second.models}, warn_at=0.5,
    ),
    one_limit, one_limit,
)  # fmt: skip


@dataclass
class World:
    store: Store
    clock: ManualClock
    budget: Budget
    prices: Mapping[str, Price]
    spent: dict[tuple[str, ...], int] = field(default_factory=lambda: defaultdict(int))
    """Micro-dollars by what they count towards, summed independently of the store."""
    asked: int = 0

    async def perform(self, work: Work) -> None:
        turn = await self._turn(work) if work.is_turn else None
        for question in work.questions:
            try:
                if turn is not None:
                    await self._ask(work, turn, question)
                else:
                    await self._summarise(work, question)
            except BudgetExceeded:
                continue

    async def _turn(self, work: Work) -> Turn:
        inbound = replace(message("hello"), sender=Sender("somebody", cls=work.sender))
        return await make_turn(self.store, inbound, session=work.session)

    async def _ask(self, work: Work, turn: Turn, question: Question) -> None:
        request = question.request()
        async with self.budget.reserve_for_turn(turn, request, question.estimate) as held:
            chain = held.request.models
            asked = ModelAsked(chain[0], "h", question.estimate, held.worst, models=chain)
            await self.store.journal.append(turn.id, [asked])
        await self.think()
        reply = await self._hear(work, question, held, turn.id)
        if reply is None:
            await self.store.journal.append(turn.id, [ModelFailed("auth", "no", cost=0)])
            return
        model, usage, cost = reply.ref, reply.usage, reply.cost
        await self.store.journal.append(turn.id, [ModelReplied("yes", usage=usage, cost=cost, ref=model)])

    async def _summarise(self, work: Work, question: Question) -> None:
        request = question.request()
        async with self.budget.reserve(work.session, work.sender, request, question.estimate) as held:
            await self.think()
            reply = await self._hear(work, question, held, "")
            if reply is None:
                return
            event = replace(self._event(work, "", reply.ref, "ok"), usage=reply.usage, cost=reply.cost)
            await self.store.ledger.record(replace(event, classification=f"{work.sender}/summary"))

    async def _hear(self, work: Work, question: Question, held: Reservation, turn: str) -> ModelReply | None:
        """Receive the answer, unless there is none or no room for it is left."""
        model = Stumbling(self, work, question, turn)
        reply: ModelReply | None = None
        try:
            stream = stream_in_turn(self.budget, model, held, partial(self._event, work, turn))
            async with aclosing(stream) as events:
                async for event in events:
                    reply = event if isinstance(event, ModelReply) else reply
        except BudgetExceeded:
            return None
        return reply

    def _event(self, work: Work, turn: str, model: str, status: str) -> TimelineEvent:
        return TimelineEvent(
            new_event_id(), new_trace_id(), new_span_id(), None, self.clock.now().timestamp(), EventKind.MODEL,
            model, status, session=work.session, turn=TurnId(turn) if turn else None,
        )  # fmt: skip

    async def think(self) -> None:
        """Time in which others may run."""
        for _ in range(3):
            await self.store.ledger.spent()

    def answer(self, question: Question, chain: tuple[str, ...]) -> tuple[str, Usage, int]:
        """Return any answer within the estimate and the request's maximum tokens."""
        model = chain[question.answers % len(chain)]
        plain, output, read, written = question.parts
        tokens = int(question.estimate * plain)
        cached = int(tokens * read)
        usage = Usage(tokens, int(question.maximum * output), cached, int((tokens - cached) * written))
        return model, usage, self.prices[model].cost(usage)

    def count(self, work: Work, model: str, cost: int, turn: str) -> None:
        self.asked += 1
        day = str(self.clock.now().astimezone().date())
        for period in (day, day[:7]):
            self.spent[period, "all"] += cost
            self.spent[period, "model", model[:2]] += cost
            self.spent[period, "model", model] += cost
            self.spent[period, "sender", work.sender] += cost
        self.spent["session", work.session] += cost
        if turn:
            self.spent["turn", turn, work.sender] += cost

    def broken(self, limits: SpendingSettings) -> list[tuple[str, ...]]:
        """Return the limits that were exceeded."""
        return [
            key for key, cost in self.spent.items() for maximum in _limits_of(limits, key) if cost > maximum * MICRO
        ]


def _limits_of(limits: SpendingSettings, key: tuple[str, ...]) -> Sequence[float]:
    period, *what = key

    def chosen(section: SpendingSettings | PeriodLimits | SenderLimits) -> float | None:
        return section.daily if len(period) == len("2026-01-01") else section.monthly

    match what:
        case ["all"]:
            found = [chosen(limits)]
        case ["model", "a/"]:
            found = [chosen(limits.models.get("a/*", PeriodLimits()))]
        case ["model", "b/one"]:
            found = [chosen(limits.models.get("b/one", PeriodLimits()))]
        case ["sender", cls]:
            found = [chosen(getattr(limits.senders, cls))]
        case [_, cls] if period == "turn":
            found = [limits.per_turn, getattr(limits.senders, cls).per_turn]
        case _ if period == "session":
            found = [limits.per_session]
        case _:
            found = []
    return [maximum for maximum in found if maximum is not None]


@dataclass
class Stumbling:
    """A model whose first attempts fail, each at a cost, before one answers."""

    world: World
    work: Work
    question: Question
    turn: str

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        question = self.question
        stumbles, self.question = question.stumbles, replace(question, stumbles=())
        for place in stumbles:
            model, usage, cost = self._pay(replace(question, answers=place), request.models)
            yield ExtraCall(model, "cut_stream", usage, cost)
            await self.world.think()
        if not question.fails:
            model, usage, cost = self._pay(question, request.models)
            yield ModelReply("yes", usage=usage, cost=cost, ref=model)

    def _pay(self, question: Question, chain: tuple[str, ...]) -> tuple[str, Usage, int]:
        model, usage, cost = self.world.answer(question, chain)
        self.world.count(self.work, model, cost, self.turn)
        return model, usage, cost


class Listed:
    """Implements `Prices`."""

    def __init__(self, prices: Mapping[str, Price]) -> None:
        self._prices = prices

    def max_output(self, model: str, request: ModelRequest) -> int:
        return request.max_output

    def find_price(self, model: str) -> Price | None:
        return self._prices.get(model)

    async def prepare(self, models: Sequence[str]) -> None: ...


async def play(days: list[list[Work]], limits: SpendingSettings, priced: Mapping[str, Price], home: Path) -> World:
    """Run each day's work concurrently, then a night."""
    clock = ManualClock()
    async with open_store(home, StoreSettings(), clock) as store:
        world = World(store, clock, Budget(limits, store.ledger, Listed(priced), clock), priced)
        for works in days:
            async with asyncio.TaskGroup() as group:
                for work in works:
                    group.create_task(world.perform(work))
            clock.set_wall(clock.now() + timedelta(days=1))
        total = await store.ledger.spent()
        assert (total.cost, total.reserved) == (sum(c for key, c in world.spent.items() if key[0] == "session"), 0)
        return world


days = st.lists(st.lists(works, min_size=2, max_size=6), min_size=1, max_size=2)


@given(days, spending, st.tuples(prices, prices, prices))
def test_no_limit_is_exceeded(days: list[list[Work]], limits: SpendingSettings, priced: tuple[Price, ...]) -> None:
    with tempfile.TemporaryDirectory(prefix="hob-", dir=MEMORY) as home:
        world = asyncio.run(play(days, limits, dict(zip(MODELS, priced, strict=True)), Path(home)))
    assert world.broken(limits) == []


@pytest.mark.parametrize(("stumbles", "at_once"), [((), 3), ((0,), 1)])
def test_limits_can_be_used_up_completely(stumbles: tuple[int, ...], at_once: int) -> None:
    """The property above would also hold for a budget that refuses everything."""
    question = Question(("a/one",), 1000, 1000, 0, (1.0, 1.0, 0.0, 0.0), fails=False, stumbles=stumbles)
    work = Work(SESSIONS[0], SenderClass.OWNER, (question,) * 4, is_turn=True)
    price = Price(100 * MICRO, 100 * MICRO, 0, 0)  # each call costs 0.2 dollars
    with tempfile.TemporaryDirectory(prefix="hob-", dir=MEMORY) as home:
        world = asyncio.run(play([[work] * at_once], SpendingSettings(daily=1.0), {"a/one": price}, Path(home)))
    assert (world.asked, world.spent["session", SESSIONS[0]]) == (5, MICRO)
