"""Money: what a call may cost at worst is held back before it is made, and limits stop it before it is spent."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime

from hob.core.clock import Clock
from hob.core.errors import BudgetExceeded
from hob.core.models import ModelRequest, Price, Usage
from hob.core.ports.journal import Ledger
from hob.core.ports.model import Prices
from hob.core.sentences import Sentence, say
from hob.core.settings import setting
from hob.core.turns import Turn

MICRO = 1_000_000
"""Micro-dollars in a dollar."""


@dataclass(frozen=True, slots=True)
class SpendingSettings:
    """How much may be spent, in dollars; a limit that is not set does not exist. Days and months are local time's."""

    daily: float | None = setting(None, "Dollars per day.", at_least=0, stored=True)
    monthly: float | None = setting(None, "Dollars per month.", at_least=0, stored=True)
    per_session: float | None = setting(None, "Dollars one session may ever spend.", at_least=0, stored=True)
    per_turn: float | None = setting(None, "Dollars one turn may spend.", at_least=0, stored=True)
    on_unknown: str = setting(
        "allow",
        "What to do about a model of unknown price while a limit is set; allowed calls are counted, not added.",
        one_of=("allow", "refuse"),
    )


@dataclass(frozen=True, slots=True)
class _Limit:
    key: str
    dollars: float
    since: float = 0.0
    of_session: bool = False
    of_turn: bool = False


class Budget:
    """Keeps spending within the limits. Unknown prices are unknown, never free: they are counted, not added."""

    def __init__(
        self, settings: SpendingSettings, ledger: Ledger, prices: Prices, clock: Clock, language: str = "en"
    ) -> None:
        self._settings = settings
        self._ledger = ledger
        self._prices = prices
        self._clock = clock
        self._language = language
        self._gate = asyncio.Lock()  # between looking and reserving nobody else may look

    def worst_cost(self, request: ModelRequest, input_estimate: int) -> int | None:
        """What the call costs at most, in micro-dollars. None if its price is unknown."""
        price = self._prices.find_price(request.model)
        return None if price is None else worst_cost(price, input_estimate, request.max_tokens)

    def cost_of(self, model: str, usage: Usage | None) -> int | None:
        """What a call did cost, in micro-dollars. None if price or usage are unknown."""
        price = self._prices.find_price(model) if usage is not None else None
        return None if price is None or usage is None else price.cost(usage)

    @asynccontextmanager
    async def reserved(self, turn: Turn, request: ModelRequest, input_estimate: int) -> AsyncIterator[int | None]:
        """The worst cost of the call, if there is room for it; the block journals it (that is the reservation).

        Raises BudgetExceeded with the sentence for the user: then nothing may be asked.
        """
        worst = self.worst_cost(request, input_estimate)
        limits = self._limits()
        if not limits:
            yield worst
            return
        if worst is None and self._settings.on_unknown == "refuse":
            raise BudgetExceeded(say(Sentence.PRICE_UNKNOWN, self._language, model=request.model or "this model"))
        async with self._gate:
            for limit in limits:
                await self._check(limit, turn, worst or 0)
            yield worst

    async def _check(self, limit: _Limit, turn: Turn, worst: int) -> None:
        spent = await self._ledger.spent(
            since=limit.since,
            session=turn.session if limit.of_session else None,
            turn=turn.id if limit.of_turn else None,
        )
        if spent.cost + worst > limit.dollars * MICRO:
            text = say(
                Sentence.BUDGET_REACHED,
                self._language,
                key=limit.key,
                limit=_dollars(limit.dollars),
                spent=_dollars(spent.cost / MICRO),
                worst=_dollars(worst / MICRO),
            )
            raise BudgetExceeded(text)

    def _limits(self) -> list[_Limit]:
        settings, found = self._settings, []
        if settings.per_turn is not None:
            found.append(_Limit("spending.per_turn", settings.per_turn, of_turn=True))
        if settings.per_session is not None:
            found.append(_Limit("spending.per_session", settings.per_session, of_session=True))
        if settings.daily is not None or settings.monthly is not None:
            today = _midnight(self._clock.now())
            if settings.daily is not None:
                found.append(_Limit("spending.daily", settings.daily, today.timestamp()))
            if settings.monthly is not None:
                first = _midnight(today.replace(day=1))
                found.append(_Limit("spending.monthly", settings.monthly, first.timestamp()))
        return found


def worst_cost(price: Price, tokens: int, output: int) -> int:
    """Micro-dollars for this much input, none of it cached (all newly cached where that is dearer), and this output."""
    return price.cost(Usage(tokens, output, cache_write=tokens if price.cache_write > price.input else 0))


def _midnight(now: datetime) -> datetime:
    """The local day's beginning; naive on purpose, so that the offset is that of midnight, not of now."""
    local = now.astimezone() if now.tzinfo is not None else now
    return local.replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)


def _dollars(amount: float) -> str:
    return f"{amount:.2f}" if amount >= 0.1 or amount == 0 else f"{amount:.6f}".rstrip("0")
