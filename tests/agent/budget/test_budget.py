"""Limits stop a call before the money is spent."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hob.agent.budget.budget import Budget, worst_cost
from hob.agent.budget.limits import PeriodLimits, SenderClasses, SenderLimits, SpendingSettings
from hob.core.errors import BudgetExceeded
from hob.core.ids import SessionKey
from hob.core.messages import Inbound, Sender
from hob.core.models import ModelRequest, Price, Thinking, Usage
from hob.core.money import dollars
from hob.core.steps import ModelAsked, ModelReplied
from hob.core.translation.sentences import Sentence
from hob.core.trust.labels import SenderClass
from hob.core.turns import Turn
from hob.store.settings import StoreSettings
from hob.store.store import Store, open_store
from hob.testing.channel import message
from hob.testing.clock import ManualClock
from tests.turns import make_turn

DOLLAR = 1_000_000
_, MEMBER, STRANGER = SenderClass
PRICED = ModelRequest("priced", "", (), max_tokens=1000, thinking=Thinking.OFF, patience=0)
NAMELESS = ModelRequest("nameless", "", (), max_tokens=1000, thinking=Thinking.OFF, patience=0)


def by(cls: SenderClass) -> Inbound:
    return replace(message("hi"), sender=Sender("somebody", cls=cls))


class Known:
    """Prices: a dollar per thousand output tokens, a tenth of that for input; one model costs a tenth."""

    def max_output(self, model: str, request: ModelRequest) -> int:
        return request.max_output

    def find_price(self, model: str) -> Price | None:
        if model == "free":
            return Price(0, 0, 0, 0)
        if model == "cheap":
            return Price(10 * DOLLAR, 100 * DOLLAR, 1 * DOLLAR, 12 * DOLLAR)
        return Price(100 * DOLLAR, 1000 * DOLLAR, 10 * DOLLAR, 125 * DOLLAR) if model == "priced" else None

    async def prepare(self, models: Sequence[str]) -> None: ...


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(datetime(2026, 3, 31, 12, tzinfo=UTC))


@pytest.fixture
async def store(tmp_path: Path, clock: ManualClock) -> AsyncIterator[Store]:
    async with open_store(tmp_path, StoreSettings(), clock) as store:
        yield store


def budget(store: Store, clock: ManualClock, settings: SpendingSettings) -> Budget:
    return Budget(settings, store.ledger, Known(), clock)


async def spend(store: Store, turn: Turn, dollars: float) -> None:
    cost = round(dollars * DOLLAR)
    await store.journal.append(turn.id, [ModelAsked("priced", "h", 1, cost), ModelReplied("x", cost=cost)])


async def may(budget: Budget, turn: Turn, request: ModelRequest = PRICED) -> bool:
    try:
        async with budget.reserve_for_turn(turn, request, 0):
            return True
    except BudgetExceeded:
        return False


async def test_budget_without_limits_refuses_nothing_and_knows_the_worst_case(store: Store, clock: ManualClock) -> None:
    turn = await make_turn(store, message("hi"))
    async with budget(store, clock, SpendingSettings()).reserve_for_turn(turn, PRICED, 2000) as held:
        assert held.worst == 1_250_000  # newly cached input costs most
    async with budget(store, clock, SpendingSettings()).reserve_for_turn(turn, NAMELESS, 2000) as held:
        assert held.worst is None


async def test_reservation_includes_the_tokens_for_thinking(store: Store, clock: ManualClock) -> None:
    spending = budget(store, clock, SpendingSettings())
    thinking = replace(PRICED, thinking=Thinking.HIGH)
    turn = await make_turn(store, message("hi"))
    async with spending.reserve_for_turn(turn, thinking, 0) as held:
        assert held.worst == (16_384 + 1000) * 1000  # micro-dollars; a thousandth of a dollar for each token


async def test_turn_limit_counts_only_that_turn(store: Store, clock: ManualClock) -> None:
    first, second = await make_turn(store, message("a")), await make_turn(store, message("b"))
    limited = budget(store, clock, SpendingSettings(per_turn=1.5))
    await spend(store, first, 1)
    assert not await may(limited, first)
    assert await may(limited, second)


async def test_session_limit_counts_only_that_session(store: Store, clock: ManualClock) -> None:
    first = await make_turn(store, message("a"))
    other = await make_turn(store, message("b"), session=SessionKey("other"))
    limited = budget(store, clock, SpendingSettings(per_session=1.5))
    await spend(store, first, 1)
    assert not await may(limited, await make_turn(store, message("c")))
    assert await may(limited, other)


async def test_daily_limit_resets_at_midnight_and_the_monthly_one_does_not(store: Store, clock: ManualClock) -> None:
    turn = await make_turn(store, message("a"))
    daily, monthly = SpendingSettings(daily=1.5), SpendingSettings(monthly=1.5)
    await spend(store, turn, 1)
    assert not await may(budget(store, clock, daily), turn)
    assert not await may(budget(store, clock, monthly), turn)
    await clock.advance(36 * 3600)  # the second of April, wherever this runs
    assert await may(budget(store, clock, daily), turn)
    assert await may(budget(store, clock, monthly), turn)


async def test_day_of_a_limit_begins_in_the_owners_time_zone(store: Store, clock: ManualClock) -> None:
    turn = await make_turn(store, message("a"))
    daily = SpendingSettings(daily=1.5)
    await spend(store, turn, 1)
    await clock.advance(4 * 3600)  # 16:00 in Greenwich, the next day in Tokyo
    for zone, free in (("UTC", False), ("Asia/Tokyo", True), ("America/New_York", False)):
        assert await may(Budget(daily, store.ledger, Known(), clock, timezone=ZoneInfo(zone)), turn) is free


async def test_reservations_of_open_calls_count_as_spent(store: Store, clock: ManualClock) -> None:
    turn = await make_turn(store, message("a"))
    await store.journal.append(turn.id, [ModelAsked("priced", "h", 1, DOLLAR)])
    assert not await may(budget(store, clock, SpendingSettings(daily=1.5)), turn)


async def test_concurrent_turns_do_not_both_reserve_the_last_dollar(store: Store, clock: ManualClock) -> None:
    turns = [await make_turn(store, message(text)) for text in "abcde"]
    limited = budget(store, clock, SpendingSettings(daily=2.5))

    async def take(turn: Turn) -> bool:
        try:
            async with limited.reserve_for_turn(turn, PRICED, 0) as held:
                await store.journal.append(turn.id, [ModelAsked("priced", "h", 1, held.worst)])
        except BudgetExceeded:
            return False
        return True

    assert sum(await asyncio.gather(*map(take, turns))) == 2


@pytest.mark.parametrize(("on_unknown", "allowed"), [("allow", True), ("refuse", False)])
async def test_unknown_price_under_a_limit(store: Store, clock: ManualClock, on_unknown: str, allowed: bool) -> None:
    turn = await make_turn(store, message("a"))
    limited = budget(store, clock, SpendingSettings(daily=1, on_unknown=on_unknown))
    assert await may(limited, turn, NAMELESS) is allowed


async def test_refusal_names_the_setting_and_the_sums(store: Store, clock: ManualClock) -> None:
    turn = await make_turn(store, message("a"))
    await spend(store, turn, 0.5)
    with pytest.raises(BudgetExceeded, match=r"`spending\.daily` is \$1\.20, \$0\.50 of it is spent.*cost \$1\.00"):
        async with budget(store, clock, SpendingSettings(daily=1.2)).reserve_for_turn(turn, PRICED, 0):
            pass


async def test_model_limit_counts_only_that_model(store: Store, clock: ManualClock) -> None:
    turn = await make_turn(store, message("a"))
    limited = budget(store, clock, SpendingSettings(models={"pri*": PeriodLimits(daily=1.5)}, on_unknown="allow"))
    await spend(store, turn, 1)
    assert not await may(limited, turn)
    assert await may(limited, turn, NAMELESS)


@pytest.mark.parametrize("name", ["vendor/priced-20260101", "priced-20260101", "priced", "pri*", "vendor/*"])
async def test_model_limit_matches_every_name_that_has_a_price(store: Store, clock: ManualClock, name: str) -> None:
    turn = await make_turn(store, message("a"))
    limited = budget(store, clock, SpendingSettings(models={name: PeriodLimits(daily=0)}))
    assert not await may(limited, turn, replace(PRICED, model="vendor/priced-20260101"))
    assert await may(limited, turn, replace(PRICED, model="other/unpriced"))


async def test_call_with_several_possible_models_keeps_the_limits_of_all(store: Store, clock: ManualClock) -> None:
    turn = await make_turn(store, message("a"))
    chain = replace(NAMELESS, models=("nameless", "priced"))
    limited = budget(store, clock, SpendingSettings(models={"priced": PeriodLimits(daily=1.5)}))
    async with limited.reserve_for_turn(turn, chain, 0) as held:
        assert held.worst == DOLLAR  # the most expensive model of known price
        asked = ModelAsked("nameless", "h", 1, held.worst, models=chain.models)
        await store.journal.append(turn.id, [asked])
    assert not await may(limited, turn)  # the first call may still be answered by the model with the limit


async def test_sender_class_has_its_own_limits(store: Store, clock: ManualClock) -> None:
    limits = SenderClasses(member=SenderLimits(daily=1.5, per_turn=1.2), stranger=SenderLimits(monthly=0))
    limited = budget(store, clock, SpendingSettings(senders=limits))
    member, other, stranger = [await make_turn(store, by(cls)) for cls in (MEMBER, MEMBER, STRANGER)]
    await spend(store, member, 0.4)
    assert [await may(limited, turn) for turn in (member, other, stranger)] == [False, True, False]
    await spend(store, other, 0.2)
    assert not await may(limited, await make_turn(store, by(MEMBER)))
    assert await may(limited, await make_turn(store, message("the owner's")))


async def test_turn_counts_for_its_least_trusted_sender(store: Store, clock: ManualClock) -> None:
    turn = await make_turn(store, message("a"))
    limited = budget(store, clock, SpendingSettings(senders=SenderClasses(stranger=SenderLimits(daily=0))))
    assert await may(limited, turn)
    with pytest.raises(BudgetExceeded, match=r"spending\.senders\.stranger\.daily"):
        async with limited.reserve_for_turn(turn, PRICED, 0, [by(STRANGER)]):
            pass


async def test_calls_outside_turns_keep_the_limits_and_count_while_running(store: Store, clock: ManualClock) -> None:
    turn = await make_turn(store, message("a"))
    limited = budget(store, clock, SpendingSettings(daily=1.5))
    async with limited.reserve(turn.session, SenderClass.OWNER, PRICED, 0):
        assert not await may(limited, turn)
        with pytest.raises(BudgetExceeded):
            async with limited.reserve(turn.session, SenderClass.OWNER, PRICED, 0):
                pass
    assert await may(limited, turn)


async def test_free_model_costs_nothing_even_if_its_usage_is_unknown(store: Store, clock: ManualClock) -> None:
    spending = budget(store, clock, SpendingSettings())
    assert [spending.cost_of(model, None) for model in ("free", "priced", "nameless")] == [0, None, None]


async def test_unknown_price_is_refused_when_nothing_is_left(store: Store, clock: ManualClock) -> None:
    turn = await make_turn(store, message("a"))
    assert not await may(budget(store, clock, SpendingSettings(daily=0)), turn, NAMELESS)


async def test_unknown_prices_are_refused_for_fallback_models_too(store: Store, clock: ManualClock) -> None:
    turn = await make_turn(store, message("a"))
    limited = budget(store, clock, SpendingSettings(daily=5, on_unknown="refuse"))
    async with limited.reserve_for_turn(turn, replace(PRICED, models=("priced", "nameless")), 0) as held:
        assert held.request.models == ("priced",)
        assert [remark.sentence for remark in held.remarks] == [Sentence.PRICE_UNKNOWN]


CHAIN = replace(PRICED, models=("priced", "cheap"))


@pytest.mark.parametrize(
    ("limits", "asked", "worst"),
    [
        (SpendingSettings(models={"cheap": PeriodLimits(monthly=0.0001)}), ("priced",), 1_000_000),
        (SpendingSettings(models={"priced": PeriodLimits(daily=0.5)}), ("cheap",), 100_000),
        (SpendingSettings(models={"cheap": PeriodLimits(daily=0.5)}), ("priced", "cheap"), 1_000_000),
        (SpendingSettings(daily=0.5), ("cheap",), 100_000),
    ],
)
async def test_each_model_of_a_chain_is_checked_by_its_own_limits_and_price(
    store: Store, clock: ManualClock, limits: SpendingSettings, asked: tuple[str, ...], worst: int
) -> None:
    turn = await make_turn(store, message("a"))
    async with budget(store, clock, limits).reserve_for_turn(turn, CHAIN, 0) as held:
        assert (held.request.models, held.worst) == (asked, worst)


async def test_budget_waits_for_reservations_of_other_calls(store: Store, clock: ManualClock) -> None:
    turn, other = await make_turn(store, message("a")), await make_turn(store, message("b"))
    limited = budget(store, clock, SpendingSettings(daily=1.5))
    await store.journal.append(other.id, [ModelAsked("priced", "h", 1, DOLLAR)])
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(may(limited, turn, replace(PRICED, patience=8)))
        await asleep(clock)
        await store.journal.append(other.id, [ModelReplied("x", cost=DOLLAR // 10)])
        await clock.advance(1)
    assert waiting.result()


async def test_budget_stops_waiting_when_patience_ends_or_waiting_cannot_help(store: Store, clock: ManualClock) -> None:
    turn, other = await make_turn(store, message("a")), await make_turn(store, message("b"))
    await store.journal.append(other.id, [ModelAsked("priced", "h", 1, DOLLAR)])
    patient = replace(PRICED, patience=0.5)
    assert not await may(budget(store, clock, SpendingSettings(daily=0.5)), turn, patient)
    limited = budget(store, clock, SpendingSettings(daily=1.5))
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(may(limited, turn, patient))
        await asleep(clock)
        await clock.advance(1)
    assert not waiting.result()


async def asleep(clock: ManualClock) -> None:
    """Return once somebody waits on the clock."""
    async with asyncio.timeout(10):
        while not clock.sleepers():  # noqa: ASYNC110 - the clock tells nobody
            await asyncio.sleep(0)


@pytest.mark.parametrize(
    ("request_", "told"),
    [
        (PRICED, r"\$1\.20, \$0\.50 of it is spent, \$0\.60 is held back for answers under way, .* \$1\.00\."),
        (NAMELESS, r"\$1\.20, and nothing of it is left \(\$0\.50 spent, \$0\.70 held back\)"),
    ],
)
async def test_status_separates_spent_and_reserved_money(
    store: Store, clock: ManualClock, request_: ModelRequest, told: str
) -> None:
    turn = await make_turn(store, message("a"))
    await spend(store, turn, 0.5)
    await store.journal.append(turn.id, [ModelAsked("priced", "h", 1, 600_000 if request_ is PRICED else 700_000)])
    with pytest.raises(BudgetExceeded, match=told):
        async with budget(store, clock, SpendingSettings(daily=1.2)).reserve_for_turn(turn, request_, 0):
            pass


async def test_key_with_quotes_is_quoted_in_the_command_to_type(store: Store, clock: ManualClock) -> None:
    turn = await make_turn(store, message("a"))
    limited = budget(store, clock, SpendingSettings(models={"pri*": PeriodLimits(daily=0)}))
    with pytest.raises(BudgetExceeded, match=r""": `spending\.models\."pri\*"\.daily` is.*set 'spending\.models"""):
        async with limited.reserve_for_turn(turn, PRICED, 0):
            pass


@pytest.mark.parametrize(
    ("micro", "told"), [(0, "0.00"), (1, "0.000001"), (50_000, "0.05"), (16_985, "0.016985"), (123_456, "0.12")]
)
def test_small_sums_are_shown_with_full_precision(micro: int, told: str) -> None:
    assert dollars(micro) == told


async def test_chain_without_room_names_the_limit_of_its_first_model(store: Store, clock: ManualClock) -> None:
    turn = await make_turn(store, message("a"))
    limits = {"priced": PeriodLimits(daily=0.5), "cheap": PeriodLimits(daily=0.05)}
    with pytest.raises(BudgetExceeded, match=r'models\."priced"\.daily.*cost \$1\.00'):
        async with budget(store, clock, SpendingSettings(models=limits)).reserve_for_turn(turn, CHAIN, 0):
            pass


async def test_owner_is_told_once_per_session_that_a_model_is_left_out(store: Store, clock: ManualClock) -> None:
    limited = budget(store, clock, SpendingSettings(models={"priced": PeriodLimits(daily=0.5)}))

    async def told(turn: Turn) -> list[str]:
        async with limited.reserve_for_turn(turn, CHAIN, 0) as held:
            return [remark.sentence for remark in held.remarks]

    turn, other = await make_turn(store, message("a")), await make_turn(store, message("b"), session=SessionKey("o"))
    assert [await told(each) for each in (turn, turn, other)] == [
        [Sentence.BUDGET_LEFT_OUT],
        [],
        [Sentence.BUDGET_LEFT_OUT],
    ]
    assert await told(await make_turn(store, by(MEMBER))) == []


async def told(limited: Budget, turn: Turn) -> list[str]:
    async with limited.reserve_for_turn(turn, replace(PRICED, max_tokens=1), 0) as held:
        return [remark.sentence for remark in held.remarks]


async def test_owner_is_warned_once_when_most_of_a_limit_is_spent(store: Store, clock: ManualClock) -> None:
    turn = await make_turn(store, message("a"))
    settings = SpendingSettings(daily=1, monthly=10, warn_at=0.8)
    limited = budget(store, clock, settings)
    await spend(store, turn, 0.79)
    assert await told(limited, turn) == []
    await spend(store, turn, 0.02)
    assert await told(limited, turn) == [Sentence.BUDGET_NEARLY_REACHED]
    assert await told(limited, turn) == []
    assert await told(budget(store, clock, settings), turn) == []  # after a restart
    await clock.advance(36 * 3600)
    await spend(store, turn, 0.9)
    assert await told(limited, turn) == [Sentence.BUDGET_NEARLY_REACHED]


async def test_only_the_owner_is_told_about_limits(store: Store, clock: ManualClock) -> None:
    limited = budget(store, clock, SpendingSettings(daily=1))
    turn = await make_turn(store, by(MEMBER))
    await spend(store, turn, 0.9)
    assert await told(limited, turn) == []
    assert await told(limited, await make_turn(store, message("hi"))) == [Sentence.BUDGET_NEARLY_REACHED]


async def test_owner_is_told_about_other_peoples_limits(store: Store, clock: ManualClock) -> None:
    limits = SpendingSettings(senders=SenderClasses(member=SenderLimits(monthly=1)))
    limited = budget(store, clock, limits)
    turn = await make_turn(store, by(MEMBER))
    await spend(store, turn, 0.9)
    assert await told(limited, turn) == []
    assert await told(limited, await make_turn(store, message("hi"))) == [Sentence.BUDGET_NEARLY_REACHED]


async def test_reserved_money_is_not_reported_as_spent(store: Store, clock: ManualClock) -> None:
    turn = await make_turn(store, message("a"))
    await store.journal.append(turn.id, [ModelAsked("priced", "h", 1, 900_000)])
    assert await told(budget(store, clock, SpendingSettings(daily=1)), turn) == []


async def test_statuses_list_each_limit_with_the_amount_spent(store: Store, clock: ManualClock) -> None:
    turn = await make_turn(store, message("a"))
    settings = SpendingSettings(daily=1, per_session=3, models={"x/*": PeriodLimits(monthly=2)})
    await spend(store, turn, 0.5)
    found = await budget(store, clock, settings).budget_statuses(turn.session)
    assert [(each.limit.key, each.limit.maximum, each.spent.cost) for each in found] == [
        ("spending.per_session", 3 * DOLLAR, 500_000),
        ("spending.daily", DOLLAR, 500_000),
        ('spending.models."x/*".monthly', 2 * DOLLAR, 0),
    ]


def test_long_input_is_estimated_at_the_higher_price_slightly_early() -> None:
    price = Price(100, 1000, 10, 100, above=((200_000, Price(200, 1000, 20, 200)),))
    assert worst_cost(price, 150_000, 0) == 15
    assert worst_cost(price, 170_000, 0) == 34


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 4096), st.data())
def test_call_within_its_estimate_never_costs_more_than_its_reservation(
    read: int, estimate: int, output: int, data: st.DataObject
) -> None:
    price = Price(100, 1000, 10, data.draw(st.integers(0, 200)))
    read = min(read, estimate)
    written = data.draw(st.integers(0, estimate - read))
    assert price.cost(Usage(estimate, output, read, written)) <= worst_cost(price, estimate, 4096)
