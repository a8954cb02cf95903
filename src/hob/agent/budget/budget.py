"""Budgets: the worst-case cost of a model call is reserved before the call, so that limits are never exceeded."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from copy import copy
from dataclasses import replace
from datetime import tzinfo

from hob.agent.budget.limits import (
    Limit,
    SpendingCaller,
    SpendingSettings,
    general_limits,
    limits_for,
    session_limit,
    start_of_today,
)
from hob.core.clock import Clock
from hob.core.errors import BILLABLE_FAULTS, BudgetExceeded, ModelError
from hob.core.ids import SessionKey
from hob.core.messages import Inbound
from hob.core.models import NO_SPENDING, ExtraCall, ModelReply, ModelRequest, Price, Remark, Spending, Usage
from hob.core.money import dollars
from hob.core.ports.journal import Ledger
from hob.core.ports.model import Prices
from hob.core.translation.sentences import Sentence, say
from hob.core.trust.labels import SenderClass, least_trusted
from hob.core.turns import Turn
from hob.core.values import dataclass

_DEARER_FROM = 4, 5
"""A higher price for long input is assumed from this fraction of its threshold (numerator, denominator), since
estimates may be too low.
"""
_FREE = Price(0, 0, 0, 0)
_POLL_SECONDS = 0.5
"""Polling interval for released reservations."""


@dataclass(frozen=True, slots=True)
class Reservation:
    """A reservation for a call, in micro-dollars (None if the price is unknown), with remarks for the user.

    `request` omits models for which a limit has no room. `tokens` is the estimated input.
    """

    worst: int | None
    request: ModelRequest
    caller: SpendingCaller
    tokens: int
    remarks: tuple[Remark, ...] = ()


@dataclass(frozen=True, slots=True)
class BudgetStatus:
    """Usage of a limit."""

    limit: Limit
    spent: Spending

    @property
    def settled(self) -> int:
        """Micro-dollars spent, without reservations."""
        return self.spent.cost - self.spent.reserved

    def has_room(self, worst: int | None) -> bool:
        """Whether this amount may be spent. An unknown price is allowed as long as anything is left."""
        return self._has_room_beyond(self.spent.cost, worst)

    def may_have_room(self, worst: int | None) -> bool:
        """Whether this amount may fit once current reservations are released."""
        return self._has_room_beyond(self.settled, worst)

    def without(self, held: int | None) -> "BudgetStatus":
        """Return the status as if this amount were not reserved."""
        given_back = min(held or 0, self.spent.reserved)
        spent = replace(self.spent, cost=self.spent.cost - given_back, reserved=self.spent.reserved - given_back)
        return replace(self, spent=spent)

    def _has_room_beyond(self, used: int, worst: int | None) -> bool:
        return used < self.limit.maximum if worst is None else used + worst <= self.limit.maximum


@dataclass(frozen=True, slots=True)
class _Refusal:
    """Reason why a model may not be called: the limit without room, or None for a refused unknown price."""

    model: str
    worst: int | None
    status: BudgetStatus | None

    @property
    def is_temporary(self) -> bool:
        """Whether waiting may help."""
        return self.status is not None and self.status.may_have_room(self.worst)


async def charge_itself(session: SessionKey) -> SessionKey:
    """Return the session itself: each session pays for its own calls."""
    return session


class Budget:
    """Keeps spending within the limits. An unknown price is never treated as zero: such calls are counted, not added
    up.
    """

    def __init__(
        self,
        settings: SpendingSettings,
        ledger: Ledger,
        prices: Prices,
        clock: Clock,
        language: str = "en",
        timezone: tzinfo | None = None,
        payer: Callable[[SessionKey], Awaitable[SessionKey]] = charge_itself,
    ) -> None:
        """`payer` returns the session whose limit a session's spending counts towards."""
        self._payer = payer
        self._shared_settings = [settings]
        """Shared with copies that use other prices."""
        self.ledger = ledger
        self._prices = prices
        self._clock = clock
        self._language = language
        self.zone = timezone
        """Time zone in which days begin; None is the machine's."""
        self._lock = asyncio.Lock()  # held from reading the ledger until the reservation is made
        self._outside: list[tuple[SpendingCaller, int]] = []
        """Reservations of running calls outside of turns; those of turns are in the ledger."""
        self._noted: set[tuple[str, float]] = set()

    @property
    def _settings(self) -> SpendingSettings:
        return self._shared_settings[0]

    def reconfigure(self, settings: SpendingSettings) -> None:
        """Keep to these limits from now on."""
        self._shared_settings[0] = settings

    def with_prices(self, prices: Prices) -> "Budget":
        """Return the same budget, sharing limits and reservations, with other prices."""
        other = copy(self)
        other._prices = prices  # noqa: SLF001 - its own
        return other

    def cost_of(self, model: str, usage: Usage | None) -> int | None:
        """Return the cost of a call in micro-dollars; None if unknown. A free model costs nothing."""
        price = self._prices.find_price(model)
        if price is None or usage is None:
            return 0 if price == _FREE else None
        return price.cost(usage)

    def cost_of_reply(self, asked: str, reply: ModelReply) -> int | None:
        """Return the cost of a reply; None if it is unknown."""
        if reply.cost is not None:
            return reply.cost
        # Prices are listed under requested names; servers answer with dated ones.
        cost = self.cost_of(reply.ref or asked, reply.usage)
        return self.cost_of(reply.model, reply.usage) if cost is None and reply.model else cost

    def cost_of_failure(self, held: Reservation, error: ModelError) -> int | None:
        """Return the cost of a failed call: nothing if it was rejected, the worst case if unknown."""
        if error.cost is not None or error.usage is not None:
            return self.cost_of(held.request.first, error.usage) if error.cost is None else error.cost
        return held.worst if error.fault in BILLABLE_FAULTS else None

    def cost_of_extra(self, held: Reservation, call: ExtraCall) -> int | None:
        """Return the cost of a call made in addition to the answer; its worst case if unknown."""
        cost = self.cost_of(call.ref, call.usage) if call.cost is None else call.cost
        return self._worst_cost(call.ref, held.request, held.tokens) if cost is None and call.usage is None else cost

    @asynccontextmanager
    async def reserve_for_turn(
        self, turn: Turn, request: ModelRequest, input_estimate: int, joined: Collection[Inbound] = ()
    ) -> AsyncIterator[Reservation]:
        """Reserve the worst-case cost of the turn's call; the block journals it, which makes the reservation durable.

        Each model is checked against its own limits and price; those without room are dropped. Waits for reservations
        of other calls at most as long as the request's patience. `joined` are messages that joined the turn since it
        started. Raises BudgetExceeded with a sentence for the user; then no model may be called.
        """
        sender = least_trusted(inbound.sender.cls for inbound in (*turn.inbounds, *turn.joined, *joined))
        session = await self._payer(turn.session)
        caller = SpendingCaller(session, sender, _models(request), turn.id)
        async with self._hold_room(caller, request, input_estimate) as held:
            yield held

    @asynccontextmanager
    async def reserve(
        self, session: SessionKey, sender: SenderClass, request: ModelRequest, input_estimate: int
    ) -> AsyncIterator[Reservation]:
        """Reserve the cost of a call outside any turn, as long as the block makes it and records its cost."""
        caller = SpendingCaller(session, sender, _models(request))
        async with self._hold_room(caller, request, input_estimate) as held:
            mine = replace(caller, models=_models(held.request)), held.worst or 0
            self._outside.append(mine)
        try:
            yield held
        finally:
            self._outside.remove(mine)

    async def renew(self, held: Reservation) -> Reservation:
        """Return the reservation if all its models still have room, otherwise one for those that do.

        Raises BudgetExceeded if none is left.
        """
        models = _models(held.request)
        caller = replace(held.caller, models=models)
        limits = limits_for(self._settings, caller, self._clock.now(), self.zone)
        worst = {model: self._worst_cost(model, held.request, held.tokens) for model in models}
        async with self._lock:
            budget_statuses = [(await self._status_of(limit)).without(held.worst) for limit in limits]
        refusals = list(self._refusals(caller, worst, budget_statuses))
        if not refusals:
            return held
        left = await self._make_reservation(caller, held.request, held.tokens, worst, budget_statuses, refusals)
        return replace(left, worst=held.worst)  # the amount reserved stays the same

    async def budget_statuses(self, session: SessionKey | None = None) -> list[BudgetStatus]:
        """Return each daily and monthly limit, and the session's, with the amount spent."""
        limits = list(general_limits(self._settings, self._clock.now(), self.zone))
        if session is not None and self._settings.per_session is not None:
            limits.insert(0, session_limit(self._settings.per_session, session))
        return [BudgetStatus(limit, await self.ledger.spent(**limit.scope)) for limit in limits]

    async def token_statuses(self) -> list[tuple[int, int]]:
        """Return the tokens used today and their limit; empty without one."""
        if (limit := self._settings.daily_tokens) is None:
            return []
        usage = (await self.ledger.spent(since=start_of_today(self._clock.now(), self.zone))).usage
        return [(usage.input + usage.output, limit)]

    @asynccontextmanager
    async def _hold_room(
        self, caller: SpendingCaller, request: ModelRequest, input_estimate: int
    ) -> AsyncIterator[Reservation]:
        await self._prices.prepare(caller.models)
        await self._check_tokens()
        worst = {model: self._worst_cost(model, request, input_estimate) for model in caller.models}
        limits = limits_for(self._settings, caller, self._clock.now(), self.zone)
        if not limits:
            yield Reservation(
                _max_known(worst.values()), request, caller, input_estimate, await self._warnings(caller, ())
            )
            return
        give_up = self._clock.monotonic() + request.patience
        while True:
            async with self._lock:
                budget_statuses = [await self._status_of(limit) for limit in limits]
                refusals = list(self._refusals(caller, worst, budget_statuses))
                waits = bool(refusals) and refusals[0].model == caller.models[0] and refusals[0].is_temporary
                if not waits or self._clock.monotonic() >= give_up:
                    yield await self._make_reservation(
                        caller, request, input_estimate, worst, budget_statuses, refusals
                    )
                    return
            await self._clock.sleep(_POLL_SECONDS)

    async def _check_tokens(self) -> None:
        """Raise BudgetExceeded if the day's tokens are used up."""
        for used, limit in await self.token_statuses():
            if used >= limit:
                raise BudgetExceeded(
                    say(Sentence.TOKENS_USED_UP, self._language, limit=f"{limit:,}", spent=f"{used:,}")
                )

    async def _make_reservation(
        self,
        caller: SpendingCaller,
        request: ModelRequest,
        tokens: int,
        worst: Mapping[str, int | None],
        budget_statuses: Sequence[BudgetStatus],
        refusals: Sequence[_Refusal],
    ) -> Reservation:
        """Return the reservation for the remaining models. Raises BudgetExceeded."""
        refused = {refusal.model for refusal in refusals}
        left = tuple(model for model in caller.models if model not in refused)
        if not left:
            raise BudgetExceeded(self._explain(refusals[0]))
        remarks = (*await self._refusal_remarks(caller, refusals), *await self._warnings(caller, budget_statuses))
        narrowed = replace(request, models=left) if refusals else request
        return Reservation(_max_known(worst[model] for model in left), narrowed, caller, tokens, remarks)

    def _worst_cost(self, model: str, request: ModelRequest, input_estimate: int) -> int | None:
        price = self._prices.find_price(model)
        return None if price is None else worst_cost(price, input_estimate, self._prices.max_output(model, request))

    async def _status_of(self, limit: Limit) -> BudgetStatus:
        # Read before the ledger: a call that ends meanwhile is counted twice rather than not at all.
        outside = sum(cost for caller, cost in self._outside if limit.applies_to(caller))
        return BudgetStatus(
            limit, await self.ledger.spent(**limit.scope) + replace(NO_SPENDING, cost=outside, reserved=outside)
        )

    def _refusals(
        self, caller: SpendingCaller, worst: Mapping[str, int | None], budget_statuses: Sequence[BudgetStatus]
    ) -> Iterator[_Refusal]:
        """Yield one refusal for each model that may not be called now, in order."""
        for model, cost in worst.items():
            if cost is None and self._settings.on_unknown == "refuse":
                yield _Refusal(model, cost, None)
                continue
            alone = replace(caller, models=(model,))
            full = [each for each in budget_statuses if each.limit.applies_to(alone) and not each.has_room(cost)]
            if full:  # prefer the limit for which waiting does not help
                yield _Refusal(model, cost, min(full, key=lambda each: each.may_have_room(cost)))

    def _explain(self, refusal: _Refusal) -> str:
        """Explain to the user why no model is called."""
        if refusal.status is None:
            return say(Sentence.PRICE_UNKNOWN, self._language, model=refusal.model or "this model")
        limit, held = refusal.status.limit, refusal.status.spent.reserved
        sentence = Sentence.BUDGET_REACHED
        if refusal.worst is None:
            sentence = Sentence.BUDGET_USED_UP
        elif held:
            sentence = Sentence.BUDGET_HELD
        return say(
            sentence,
            self._language,
            key=limit.key,
            setting=f"'{limit.key}'" if '"' in limit.key else limit.key,
            limit=dollars(limit.maximum),
            spent=dollars(refusal.status.settled),
            held=dollars(held),
            worst=dollars(refusal.worst or 0),
        )

    async def _refusal_remarks(self, caller: SpendingCaller, refusals: Sequence[_Refusal]) -> list[Remark]:
        """Return remarks for the owner on refused models while others may be called: once per session and period."""
        if caller.sender is not SenderClass.OWNER or caller.turn is None:
            return []
        remarks = []
        for refusal in refusals:
            if refusal.is_temporary and refusal.model != caller.models[0]:
                continue
            key, since = "spending.on_unknown", 0.0
            values = {"model": refusal.model}
            sentence = Sentence.PRICE_UNKNOWN
            if refusal.status is not None:
                limit, spent = refusal.status.limit, refusal.status.spent
                key, since = limit.key, limit.scope.get("since", 0.0)
                left = dollars(max(0, limit.maximum - spent.cost))
                values |= {"key": key, "limit": dollars(limit.maximum), "left": left}
                sentence = Sentence.BUDGET_LEFT_OUT
            if await self._note_once(f"{key} without {refusal.model} {caller.session}", since):
                remarks.append(Remark(sentence, tuple(values.items())))
        return remarks

    async def _warnings(self, caller: SpendingCaller, budget_statuses: Sequence[BudgetStatus]) -> tuple[Remark, ...]:
        """Return warnings for the owner about nearly exhausted limits, including those of other callers."""
        if caller.sender is not SenderClass.OWNER or caller.turn is None or self._settings.warn_at >= 1:
            return ()
        others = [
            limit
            for limit in general_limits(self._settings, self._clock.now(), self.zone)
            if not limit.applies_to(caller)
        ]
        all_standings = (
            *budget_statuses,
            *[BudgetStatus(limit, await self.ledger.spent(**limit.scope)) for limit in others],
        )
        remarks = [await self._warn(status) for status in all_standings if "turn" not in status.limit.scope]
        return tuple(remark for remark in remarks if remark is not None)

    async def _warn(self, status: BudgetStatus) -> Remark | None:
        """Return a warning if most of a limit is used up, once per period."""
        limit, settled = status.limit, status.settled
        if not settled or settled < self._settings.warn_at * limit.maximum:
            return None
        if not await self._note_once(
            f"{limit.key} {limit.scope.get('session', '')}".strip(), limit.scope.get("since", 0.0)
        ):
            return None
        values = {"key": limit.key, "spent": dollars(settled), "limit": dollars(limit.maximum)}
        return Remark(Sentence.BUDGET_NEARLY_REACHED, tuple(values.items()))

    async def _note_once(self, what: str, since: float) -> bool:
        """Whether this is recorded for the first time since then."""
        if (what, since) in self._noted:
            return False
        is_first = await self.ledger.note_once(what, since)
        self._noted.add((what, since))
        return is_first


def worst_cost(price: Price, tokens: int, output: int) -> int:
    """Return the worst-case micro-dollars for this input, uncached (or newly cached if that costs more), and this
    output.
    """
    part, whole = _DEARER_FROM
    prices = (price, *(dearer for start, dearer in price.above if tokens * whole > start * part))
    # without `above`: each of these prices applies to all of the input
    return max(_flat_cost(each, tokens, output) for each in prices)


def _flat_cost(price: Price, tokens: int, output: int) -> int:
    flat = Price(max(price.input, price.cache_write), price.output, 0, 0, call=price.call)
    return flat.cost(Usage(tokens, output))


def _max_known(costs: Iterable[int | None]) -> int | None:
    return max((cost for cost in costs if cost is not None), default=None)


def _models(request: ModelRequest) -> tuple[str, ...]:
    return request.models or (request.model,)
