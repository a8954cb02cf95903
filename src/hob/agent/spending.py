"""Money: what a call may cost at worst is held back before it is made, and limits stop it before it is spent."""

import asyncio
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from hob.agent.limits import MICRO, Caller, Limit, SpendingSettings, general_limits, limits_for, session_limit
from hob.core.clock import Clock
from hob.core.errors import BudgetExceeded
from hob.core.ids import SessionKey
from hob.core.labels import SenderClass, least_known
from hob.core.messages import Inbound
from hob.core.models import ModelRequest, Price, Remark, Spent, Usage
from hob.core.ports.journal import Ledger
from hob.core.ports.model import Prices
from hob.core.sentences import Sentence, say
from hob.core.turns import Turn

_CLIFF = 4, 5
"""A dearer price for long input is reckoned with from this part of its beginning on: estimates may be short."""


@dataclass(frozen=True, slots=True)
class Held:
    """What is held back for a call, in micro-dollars, None where its price is unknown; and what its reader is told."""

    worst: int | None
    remarks: tuple[Remark, ...] = ()


@dataclass(frozen=True, slots=True)
class Standing:
    """How much of a limit is used up."""

    limit: Limit
    spent: Spent


class Budget:
    """Keeps spending within the limits. Unknown prices are unknown, never free: they are counted, not added."""

    def __init__(
        self, settings: SpendingSettings, ledger: Ledger, prices: Prices, clock: Clock, language: str = "en"
    ) -> None:
        self._settings = settings
        self.ledger = ledger
        self._prices = prices
        self._clock = clock
        self._language = language
        self._gate = asyncio.Lock()  # between looking and reserving nobody else may look
        self._outside: list[tuple[Caller, int]] = []
        """What is held back for calls under way that no turn makes; those of turns are in the ledger."""
        self._noted: set[tuple[str, float]] = set()

    def worst_cost(self, request: ModelRequest, input_estimate: int) -> int | None:
        """What the call costs at most, in micro-dollars, whichever of its models answers. None if no price is known."""
        prices = [self._prices.find_price(model) for model in _models(request)]
        known = [worst_cost(price, input_estimate, request.most_output) for price in prices if price is not None]
        return max(known, default=None)

    def cost_of(self, model: str, usage: Usage | None) -> int | None:
        """What a call did cost, in micro-dollars. None if price or usage are unknown."""
        price = self._prices.find_price(model) if usage is not None else None
        return None if price is None or usage is None else price.cost(usage)

    @asynccontextmanager
    async def reserved(
        self, turn: Turn, request: ModelRequest, input_estimate: int, joined: Collection[Inbound] = ()
    ) -> AsyncIterator[Held]:
        """The worst cost of the turn's call, if there is room for it; the block journals it: that is the reservation.

        `joined` are messages that have joined the turn since it was taken in hand. Raises BudgetExceeded with the
        sentence for the user: then nothing may be asked.
        """
        sender = least_known(inbound.sender.cls for inbound in (*turn.inbounds, *turn.joined, *joined))
        caller = Caller(turn.session, sender, _models(request), turn.id)
        async with self._room(caller, request, input_estimate) as held:
            yield held

    @asynccontextmanager
    async def held(
        self, session: SessionKey, sender: SenderClass, request: ModelRequest, input_estimate: int
    ) -> AsyncIterator[None]:
        """The same for a call outside any turn: held back while the block makes it and records what it cost."""
        caller = Caller(session, sender, _models(request))
        async with self._room(caller, request, input_estimate) as held:
            mine = caller, held.worst or 0
            self._outside.append(mine)
        try:
            yield
        finally:
            self._outside.remove(mine)

    async def standings(self, session: SessionKey | None = None) -> list[Standing]:
        """Each limit of days and months, and the session's, with what is spent of it."""
        limits = list(general_limits(self._settings, self._clock.now()))
        if session is not None and self._settings.per_session is not None:
            limits.insert(0, session_limit(self._settings.per_session, session))
        return [Standing(limit, await self.ledger.spent(**limit.scope)) for limit in limits]

    @asynccontextmanager
    async def _room(self, caller: Caller, request: ModelRequest, input_estimate: int) -> AsyncIterator[Held]:
        await self._prices.prepare(caller.models)
        worst = self.worst_cost(request, input_estimate)
        limits = limits_for(self._settings, caller, self._clock.now())
        if not limits:
            yield Held(worst, await self._remarks(caller, ()))
            return
        if self._settings.on_unknown == "refuse":
            for model in caller.models:
                if self._prices.find_price(model) is None:
                    raise BudgetExceeded(say(Sentence.PRICE_UNKNOWN, self._language, model=model or "this model"))
        async with self._gate:
            standings = [await self._check(limit, worst) for limit in limits]
            yield Held(worst, await self._remarks(caller, standings))

    async def _check(self, limit: Limit, worst: int | None) -> Standing:
        # before the ledger is read: what ends meanwhile is counted twice rather than not at all
        outside = sum(cost for caller, cost in self._outside if limit.counts(caller))
        spent = await self.ledger.spent(**limit.scope)
        used = spent.cost + outside
        # of an unknown price nobody knows whether it fits, but where nothing is left it does not
        if used + (worst or 0) > limit.most or (worst is None and used >= limit.most):
            text = say(
                Sentence.BUDGET_REACHED,
                self._language,
                key=f"'{limit.key}'" if '"' in limit.key else limit.key,
                limit=dollars(limit.most),
                spent=dollars(used),
                worst=dollars(worst or 0),
            )
            raise BudgetExceeded(text)
        return Standing(limit, spent)

    async def _remarks(self, caller: Caller, standings: Sequence[Standing]) -> tuple[Remark, ...]:
        """What the owner is told with an answer: of which limits most is spent, those of others too."""
        if caller.sender is not SenderClass.OWNER or caller.turn is None or self._settings.warn_at >= 1:
            return ()
        others = [limit for limit in general_limits(self._settings, self._clock.now()) if not limit.counts(caller)]
        all_standings = (*standings, *[Standing(limit, await self.ledger.spent(**limit.scope)) for limit in others])
        remarks = [await self._warn(standing) for standing in all_standings if "turn" not in standing.limit.scope]
        return tuple(remark for remark in remarks if remark is not None)

    async def _warn(self, standing: Standing) -> Remark | None:
        """The line where most of a limit is spent, once in its time."""
        limit, settled = standing.limit, standing.spent.cost - standing.spent.reserved
        if not settled or settled < self._settings.warn_at * limit.most:
            return None
        mark = f"{limit.key} {limit.scope.get('session', '')}".strip(), limit.scope.get("since", 0.0)
        if mark in self._noted:
            return None
        is_first = await self.ledger.note_once(*mark)
        self._noted.add(mark)
        if not is_first:
            return None
        values = {"key": limit.key, "spent": dollars(settled), "limit": dollars(limit.most)}
        return Remark(Sentence.BUDGET_NEARLY_REACHED, tuple(values.items()))


def worst_cost(price: Price, tokens: int, output: int) -> int:
    """Micro-dollars for this much input, none of it cached (all newly cached where that is dearer), and this output."""
    part, whole = _CLIFF
    prices = (price, *(dearer for start, dearer in price.above if tokens * whole > start * part))
    # `above` is left out: each of these prices is asked for all of the input
    return max(_flat_cost(each, tokens, output) for each in prices)


def _flat_cost(price: Price, tokens: int, output: int) -> int:
    flat = Price(max(price.input, price.cache_write), price.output, 0, 0, call=price.call)
    return flat.cost(Usage(tokens, output))


def dollars(micro: int) -> str:
    """Micro-dollars as people write them; small sums with all that is known of them."""
    amount = micro / MICRO
    return f"{amount:.2f}" if amount >= 0.1 or amount == 0 else f"{amount:.6f}".rstrip("0")


def _models(request: ModelRequest) -> tuple[str, ...]:
    return request.models or (request.model,)
