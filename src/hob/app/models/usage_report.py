"""The usage report: spending by category and what is left, for command, API and dashboard."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Literal, cast, get_args

from hob.agent.budget.budget import Budget
from hob.core.clock import Clock
from hob.core.errors import InvalidRequest
from hob.core.models import NO_SPENDING, Spending, Usage
from hob.core.translation.language import translatable
from hob.gateway.answer_types import SpendingAnswer, SpentAnswer
from hob.store.spending.ledger import Division, StoredLedger

By = Literal["day", "model", "session", "sender", "task", "tool"]
MAX_DAYS = 3_660
_TOKENS = ("input", "output", "cache_read", "cache_write", "reasoning")
_HOUR = 3600


class UsageReport:
    """Reports the ledger's sums and the budget's limits."""

    def __init__(self, ledger: StoredLedger, budget: Budget, clock: Clock) -> None:
        self._ledger = ledger
        self._budget = budget
        self._clock = clock

    async def report(self, days: int, by: str) -> SpendingAnswer:
        """Return the spending of the last `days` days including today, and each limit. Raises InvalidRequest.

        Hours belong to the day in which they begin, so in zones with half-hour offsets days end half an hour off.
        """
        if not 1 <= days <= MAX_DAYS:
            raise InvalidRequest(translatable("days must be a number from 1 to {maximum}", maximum=MAX_DAYS))
        if by not in get_args(By):
            raise InvalidRequest(translatable("by must be one of {choices}", choices=", ".join(get_args(By))))
        today = self._clock.now().astimezone(self._budget.zone).date()
        first = today - timedelta(days=days - 1)
        since = datetime.combine(first, time(), self._budget.zone).timestamp()
        sums = await self._ledger.sums("hour" if by in ("day", "tool") else cast(Division, by), since)
        total = sum((spent for _, spent in sums), NO_SPENDING)
        if by == "day":
            rows = _by_day(sums, first, today, self._budget.zone)
        elif by == "tool":
            rows = await self._by_tool(since, total)
        else:
            rows = dict(by_cost(sums))
        return {
            "days": days,
            "by": by,
            "since": since,
            "total": _spent_view(total),
            "rows": [{"key": key, **_spent_view(spent)} for key, spent in rows.items()],
            "limits": [
                {
                    "key": standing.limit.key,
                    "limit_usd": _usd(standing.limit.maximum),
                    "spent_usd": _usd(standing.spent.cost - standing.spent.reserved),
                    "held_usd": _usd(standing.spent.reserved),
                    "left_usd": _usd(max(0, standing.limit.maximum - standing.spent.cost)),
                }
                for standing in await self._budget.budget_statuses()
            ],
            "token_limits": [
                {"key": "spending.daily_tokens", "limit": limit, "used": used, "left": max(0, limit - used)}
                for used, limit in await self._budget.token_statuses()
            ],
        }

    async def _by_tool(self, since: float, whole: Spending) -> dict[str, Spending]:
        """Return what reading each tool's results cost; the empty name collects all other calls."""
        tools, calls = await self._ledger.tools(since)
        read = sum((spent for _, spent in tools), NO_SPENDING)
        rest = _subtract(whole, replace(read, calls=calls))
        return dict(by_cost((*tools, ("", rest)) if rest.calls > 0 else tools))


def by_cost(sums: Iterable[tuple[str, Spending]]) -> list[tuple[str, Spending]]:
    """Return the rows by cost, highest first."""
    return sorted(sums, key=lambda row: (-row[1].cost, -row[1].calls, row[0]))


def _subtract(whole: Spending, part: Spending) -> Spending:
    used, read = whole.usage, part.usage
    left = Usage(*(getattr(used, each) - getattr(read, each) for each in _TOKENS))
    cost, unknown = whole.cost - part.cost, whole.unknown_calls - part.unknown_calls
    return Spending(cost, max(0, unknown), left, whole.calls - part.calls, whole.reserved)


def _by_day(
    hours: Iterable[tuple[str, Spending]], first: date, today: date, timezone: tzinfo | None
) -> dict[str, Spending]:
    """Return the spending per day from the first with any, including days without."""
    days: dict[date, list[Spending]] = {}
    for hour, spent in hours:
        day = datetime.fromtimestamp(int(hour) * _HOUR, UTC).astimezone(timezone).date()
        days.setdefault(min(max(day, first), today), []).append(spent)
    begin = min(days, default=today)
    every = (begin + timedelta(days=number) for number in range((today - begin).days + 1))
    return {day.isoformat(): sum(days.get(day, ()), NO_SPENDING) for day in every}


def _spent_view(spent: Spending) -> SpentAnswer:
    """Return a sum as a row. `cost_usd` is the known cost, without the `unknown_calls`."""
    return {
        "cost_usd": _usd(spent.cost - spent.reserved),
        "held_usd": _usd(spent.reserved),
        "calls": spent.calls,
        "unknown_calls": spent.unknown_calls,
        "input_tokens": spent.usage.input,
        "cached_tokens": spent.usage.cache_read,
        "output_tokens": spent.usage.output,
    }


def _usd(micro: int) -> float:
    return micro / 1_000_000
