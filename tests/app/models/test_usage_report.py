"""The report of what was spent."""

import os
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from hob.agent.budget.budget import Budget
from hob.agent.budget.limits import SpendingSettings
from hob.app.models.usage_report import UsageReport
from hob.core.errors import InvalidRequest
from hob.core.events.timeline import EventKind, TimelineEvent
from hob.core.ids import SessionKey, SpanId, new_event_id, new_trace_id
from hob.core.models import ModelRequest, Price, Usage
from hob.core.steps import ModelAsked, ModelReplied
from hob.store.store import Store
from hob.testing.channel import message
from hob.testing.clock import ManualClock
from hob.testing.memory_store import memory_store
from tests.turns import make_turn

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)


class Unpriced:
    """Implements `Prices`."""

    def max_output(self, model: str, request: ModelRequest) -> int:
        return request.max_output

    def find_price(self, model: str) -> Price | None:
        return None

    async def prepare(self, models: Sequence[str]) -> None: ...


@pytest.fixture
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(os.environ, "TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    async with memory_store(ManualClock(NOON)) as store:
        yield store


def accounts(store: Store, settings: SpendingSettings | None = None) -> UsageReport:
    clock = ManualClock(NOON)
    return UsageReport(store.ledger, Budget(settings or SpendingSettings(), store.ledger, Unpriced(), clock), clock)


async def spend(store: Store, at: datetime, cost: int | None, *, model: str = "m", whose: str = "owner") -> None:
    event = TimelineEvent(
        new_event_id(), new_trace_id(), SpanId("s"), None, at.timestamp(), EventKind.MODEL, model,
        session=SessionKey("s"), classification=whose, usage=Usage(1000, 10, 500), cost=cost,
    )  # fmt: skip
    await store.ledger.record(event)


@pytest.mark.usefixtures("berlin")
async def test_days_are_local_and_include_those_without_spending(store: Store) -> None:
    await spend(store, datetime(2026, 3, 6, 23, 30, tzinfo=UTC), 1_000_000)  # the seventh in Berlin
    await spend(store, datetime(2026, 3, 9, 22, 30, tzinfo=UTC), 2_000_000)
    await spend(store, datetime(2026, 3, 9, 23, 30, tzinfo=UTC), 3_000_000)
    seen = await accounts(store).report(30, "day")
    assert [(row["key"], row["cost_usd"]) for row in seen["rows"]] == [
        ("2026-03-07", 1.0), ("2026-03-08", 0.0), ("2026-03-09", 2.0), ("2026-03-10", 3.0),
    ]  # fmt: skip


@pytest.mark.usefixtures("berlin")
async def test_one_day_is_today(store: Store) -> None:
    await spend(store, datetime(2026, 3, 9, 22, 59, tzinfo=UTC), 1)
    await spend(store, datetime(2026, 3, 9, 23, 1, tzinfo=UTC), 2_000_000)
    seen = await accounts(store).report(1, "day")
    assert [(row["key"], row["cost_usd"]) for row in seen["rows"]] == [("2026-03-10", 2.0)]


async def test_rows_are_sorted_by_cost(store: Store) -> None:
    for model, cost in (("a", 1), ("b", 3), ("c", None), ("d", 2)):
        await spend(store, NOON, cost, model=model)
    seen = await accounts(store).report(7, "model")
    assert [row["key"] for row in seen["rows"]] == ["b", "d", "a", "c"]
    assert (seen["total"]["calls"], seen["total"]["unknown_calls"], seen["total"]["cost_usd"]) == (4, 1, 6e-06)


@pytest.mark.parametrize(("by", "keys"), [("sender", {"owner", "member"}), ("task", {"chat", "summary"})])
async def test_spending_is_grouped_by_sender_and_task(store: Store, by: str, keys: set[str]) -> None:
    await spend(store, NOON, 1)
    await spend(store, NOON, 1, whose="member/summary")
    assert {row["key"] for row in (await accounts(store).report(7, by))["rows"]} == keys


async def test_call_is_split_equally_among_the_tools_it_read(store: Store) -> None:
    turn = await make_turn(store, message("hello"))

    async def asks(cost: int) -> None:
        used = Usage(1000, 10, 500)
        await store.journal.append(turn.id, [ModelAsked("m", "", 10, cost, models=("m",))])
        await store.journal.append(turn.id, [ModelReplied("", usage=used, model="m", cost=cost, ref="m")])

    async def uses(*names: str) -> None:
        at = NOON.timestamp()
        await store.timeline.add([
            TimelineEvent(new_event_id(), turn.trace, SpanId("s"), None, at, EventKind.TOOL, name, turn=turn.id)
            for name in names
        ])  # fmt: skip

    await asks(1_000_000)
    await uses("read", "read", "exec")
    await asks(4_000_000)
    await uses("exec")
    await asks(500_000)
    await spend(store, NOON, 7_000_000)
    seen = await accounts(store).report(7, "tool")
    rows = [(row["key"], row["cost_usd"], row["calls"], row["input_tokens"]) for row in seen["rows"]]
    assert rows == [("", 8.0, 2, 2000), ("exec", 2.5, 2, 1500), ("read", 2.0, 1, 500)]
    assert (seen["total"]["cost_usd"], seen["total"]["calls"]) == (12.5, 4)


async def test_name_that_a_model_made_up_is_no_tool(store: Store) -> None:
    turn, at = await make_turn(store, message("hello")), NOON.timestamp()
    await store.timeline.add([
        TimelineEvent(
            new_event_id(), turn.trace, SpanId("s"), None, at, EventKind.TOOL, "a_surgery", "unknown_tool", turn=turn.id
        )
    ])  # fmt: skip
    await store.journal.append(turn.id, [ModelAsked("m", "", 10, 5, models=("m",))])
    await store.journal.append(turn.id, [ModelReplied("", usage=Usage(9, 1, 0), model="m", cost=5, ref="m")])
    assert [row["key"] for row in (await accounts(store).report(7, "tool"))["rows"]] == [""]


async def test_remaining_amount_of_a_limit_is_never_negative(store: Store) -> None:
    await spend(store, NOON, 1_500_000)
    seen = await accounts(store, SpendingSettings(daily=1, monthly=2)).report(1, "day")
    assert [(each["key"], each["limit_usd"], each["left_usd"]) for each in seen["limits"]] == [
        ("spending.daily", 1.0, 0.0), ("spending.monthly", 2.0, 0.5),
    ]  # fmt: skip


@pytest.mark.parametrize(("days", "by"), [(0, "day"), (5000, "day"), (1, "hour"), (1, "x; DROP TABLE usage")])
async def test_usage_refuses_an_unknown_grouping(store: Store, days: int, by: str) -> None:
    with pytest.raises(InvalidRequest):
        await accounts(store).report(days, by)


async def test_report_without_spending_is_empty(store: Store) -> None:
    seen = await accounts(store).report(30, "day")
    assert (seen["total"]["calls"], [row["key"] for row in seen["rows"]]) == (0, [seen["rows"][0]["key"]])


async def test_days_are_those_of_the_owners_time_zone(store: Store) -> None:
    await spend(store, datetime(2026, 3, 9, 14, 30, tzinfo=UTC), 1_000_000)  # 23:30 in Tokyo
    await spend(store, datetime(2026, 3, 9, 15, 30, tzinfo=UTC), 2_000_000)  # half an hour into the tenth
    clock, limits = ManualClock(NOON), SpendingSettings(daily=5)
    budget = Budget(limits, store.ledger, Unpriced(), clock, timezone=ZoneInfo("Asia/Tokyo"))
    seen = await UsageReport(store.ledger, budget, clock).report(7, "day")
    assert [(row["key"], row["cost_usd"]) for row in seen["rows"]] == [("2026-03-09", 1.0), ("2026-03-10", 2.0)]
    assert [limit["spent_usd"] for limit in seen["limits"]] == [2.0]
