"""A chain of models as one model, driven by `failover.py`."""

import logging
import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import aclosing
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TypeVar, cast

from hob.core.clock import Clock, deadline
from hob.core.errors import ModelError, ModelFault, StoreError
from hob.core.models import ExtraCall, KeepAlive, ModelEvent, ModelReply, ModelRequest, Remark
from hob.core.ports.model import Model
from hob.core.translation.language import translatable
from hob.core.translation.sentences import FALLBACK_SENTENCES
from hob.core.values import dataclass
from hob.providers.routing.failover import MAX_ATTEMPTS, FailoverPlan, ModelRoute, RouteHealth

# Fallbacks already reported: an outage may last a day, but is reported once per conversation.

_MAX = 4096
_NoticeKey = tuple[str, str, str]  # session, task, requested model


class FallbackNotices:
    """Last reported fallback per session. Kept in memory: after a restart each is reported again."""

    def __init__(self) -> None:
        self._last: dict[_NoticeKey, Remark] = {}

    def is_news(self, request: ModelRequest, remark: Remark) -> bool:
        """Record the fallback; return whether it is new to the request's session.

        A fallback is always new to a person's request without a session.
        """
        session = request.cache_key or ""
        if not session and request.task == "chat":
            return True
        whom = (session, request.task, dict(remark.values).get("model", ""))
        if self._last.get(whom) == remark:
            return False
        self._last.pop(whom, None)
        self._last[whom] = remark
        if len(self._last) > _MAX:
            del self._last[next(iter(self._last))]
        return True

    def answered(self, model: str) -> None:
        """Record an answer by this model: its next outage is reported again."""
        if self._last:
            for whom in [whom for whom in self._last if whom[2] == model]:
                del self._last[whom]


log = logging.getLogger(__name__)
_T = TypeVar("_T")
_KEEP_ALIVE = KeepAlive()
_UNSHOWN = frozenset({KeepAlive, Remark, ExtraCall})
_RETRY_SECONDS = 8.0  # seconds, as if a person were waiting


@dataclass(frozen=True, slots=True)
class RouteHealthView:
    """Health of a route for people: `fault` is the reason for its cooldown, None if it has none."""

    route: ModelRoute
    fault: ModelFault | None = None
    until: datetime | None = None


class Failover:
    """Implements `Model` by trying the routes of the models that may answer a request.

    This is the only place with retries, and there are none once part of an answer was yielded. `routes_of` returns a
    reference's routes (one per key), `open_route` the model behind a route; both may raise ModelError, which counts as
    that model's failure. A route that sends nothing for `silence` seconds is abandoned while other models are untried.
    """

    def __init__(
        self,
        routes_of: Callable[[str], tuple[ModelRoute, ...]],
        open_route: Callable[[ModelRoute], Model],
        clock: Clock,
        *,
        max_attempts: int = MAX_ATTEMPTS,
        draw: Callable[[], float] = random.random,
        health: RouteHealth | None = None,
        silence: float = 90.0,
    ) -> None:
        self._routes_of = routes_of
        self._open_route = open_route
        self._clock = clock
        self._max_attempts = max_attempts
        self._draw = draw
        self._health = health if health is not None else RouteHealth()
        self._silence = silence
        self.told = FallbackNotices()
        """Fallbacks already reported to the sessions."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        """Yield the answer in pieces. Raises one ModelError that reports on each model.

        The reply says which model gave it and how many requests were made. If a model other than the first answers, a
        `Remark` precedes the first piece, once per session and outage; a change of key is not mentioned. Each billable
        failed request is reported as an `ExtraCall`, so the final error has no cost.
        """
        monotonic = self._clock.monotonic
        walk = self._begin(request)
        ask = walk.first(monotonic())
        while ask is not None:
            route, shown, done = ask.route, False, False
            asked = replace(request, model=route.ref, models=(), patience=walk.patience_of(ask, monotonic()))
            try:
                events = cast("AsyncGenerator[ModelEvent]", self._open_route(route).stream(asked))
                async with aclosing(events):
                    heard = _AnswerStream(events, self._clock, self._silence if walk.others_left else None)
                    async for event in heard:
                        kind = type(event)
                        if not shown and kind not in _UNSHOWN:
                            shown, heard.silence = True, None
                            if (remark := _make_remark(walk, route)) is not None and self.told.is_news(request, remark):
                                yield remark
                        if type(event) is ModelReply:
                            done = True
                            walk.answered(route)
                            self.told.answered(route.ref)
                            event = replace(event, ref=route.ref, attempts=walk.made)
                        yield event
                if done:
                    return
                failure = ModelError(ModelFault.CUT, translatable("the stream ended without an answer"))
            except ModelError as error:
                failure = error
            except StoreError:  # no route is to blame, and no other would do better
                raise
            except Exception as error:  # an odd answer or a plug-in: only this route fails
                log.exception("what speaks to the model %s broke", route.ref)
                if done:
                    return
                failure = _defect_error(error)
            ask = walk.failed(route, failure, monotonic(), draw=self._draw(), shown=shown)
            # always yield something, so that the silence watchdog sees progress
            yield _make_extra_call(route, failure, shown=shown, has_next=ask is not None) or _KEEP_ALIVE
            if ask is not None:
                await self._clock.sleep(ask.wait)
        verdict = walk.verdict(monotonic())
        verdict.cost = 0
        raise verdict

    def forget_failures(self) -> None:
        """End all cooldowns: keys or addresses have changed."""
        self._health.forget()

    def reconfigure(self, max_attempts: int) -> None:
        """Use another limit of attempts from now on."""
        self._max_attempts = max_attempts
        self.forget_failures()

    async def with_retries(self, ask: Callable[[], Awaitable[_T]]) -> _T:
        """Return the result of `ask`, retried like an answer, e.g. for the name of a server's model.

        Raises the last ModelError.
        """
        route, now = ModelRoute("", ""), self._clock.monotonic()
        walk = FailoverPlan((route,), RouteHealth(), now, patience=_RETRY_SECONDS, max_attempts=self._max_attempts)
        again = walk.first(now)
        while again is not None:
            await self._clock.sleep(again.wait)
            try:
                return await ask()
            except ModelError as error:
                again = walk.failed(route, error, self._clock.monotonic(), draw=self._draw())
        raise walk.verdict(self._clock.monotonic())

    def health_view(self, refs: Iterable[str]) -> tuple[RouteHealthView, ...]:
        """Return the health of these references' routes, in configured order."""
        monotonic, now = self._clock.monotonic(), self._clock.now()
        rows = []
        for route in dict.fromkeys(route for ref in refs for route in self._routes(ref)[0]):
            rest = self._health.find_cooldown(route, monotonic)
            if rest is None:
                rows.append(RouteHealthView(route))
            else:
                rows.append(RouteHealthView(route, rest.fault, now + timedelta(seconds=rest.until - monotonic)))
        return tuple(rows)

    def _begin(self, request: ModelRequest) -> FailoverPlan:
        chain: list[ModelRoute] = []
        failed: dict[ModelRoute, ModelError] = {}
        for ref in request.models or (request.model,):
            routes, error = self._routes(ref)
            if error is not None:
                routes = (ModelRoute(ref, ""),)
                failed[routes[0]] = error
            chain.extend(routes)
        return FailoverPlan(
            chain,
            self._health,
            self._clock.monotonic(),
            patience=request.patience,
            max_attempts=self._max_attempts,
            failed=failed,
        )

    def _routes(self, ref: str) -> tuple[tuple[ModelRoute, ...], ModelError | None]:
        try:
            routes = self._routes_of(ref)
        except ModelError as error:
            return (), error
        return routes, None if routes else ModelError(
            ModelFault.NOT_CONFIGURED, translatable("no provider is configured for it")
        )


def _defect_error(error: Exception) -> ModelError:
    """Return the error for a defect caused by an odd answer or a plug-in. It shows only the type, since the text may
    contain anything.
    """
    kind = type(error).__name__
    return ModelError(
        ModelFault.GARBAGE, translatable("its answer could not be understood ({kind}); Hob's log says where", kind=kind)
    )


def _make_extra_call(route: ModelRoute, error: ModelError, *, shown: bool, has_next: bool) -> ExtraCall | None:
    """Return the failed request if it may be charged, otherwise None."""
    if not error.is_billable and (error.cost == 0 or not shown):
        return None
    return ExtraCall(route.ref, error.fault, error.usage, error.cost, has_next)


def _make_remark(walk: FailoverPlan, route: ModelRoute) -> Remark | None:
    passed = walk.passed_over(route)
    return (
        Remark(FALLBACK_SENTENCES[passed[1]], (("model", passed[0]), ("other", route.ref)))
        if passed is not None
        else None
    )


class _AnswerStream:
    """Events of one answer. If `silence` is set, that many seconds without an event raise ModelError (TIMEOUT)."""

    __slots__ = ("_clock", "_events", "silence")

    def __init__(self, events: AsyncGenerator[ModelEvent], clock: Clock, silence: float | None) -> None:
        self._events = events
        self._clock = clock
        self.silence = silence

    def __aiter__(self) -> "_AnswerStream":
        return self

    def __anext__(self) -> Awaitable[ModelEvent]:
        return self._events.__anext__() if self.silence is None else self._next_within(self.silence)

    async def _next_within(self, seconds: float) -> ModelEvent:
        try:
            async with deadline(self._clock, seconds):
                event = await anext(self._events, None)
        except TimeoutError as error:
            why = translatable("nothing came for {seconds:g} seconds", seconds=seconds)
            raise ModelError(ModelFault.TIMEOUT, why) from error
        if event is None:
            raise StopAsyncIteration
        return event
