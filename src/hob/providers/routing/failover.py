"""Failover: which model is tried next, how long to wait before a retry, and cooldowns after failures.

No I/O, no clock: times are seconds, passed in. A chain of models is a list of routes. A `FailoverPlan` leads one
request along them until one answers: every model is tried, those on cooldown last. A fault puts its scope on cooldown,
and that alone decides the next route: the provider's next key after a refused key, another model after an overload,
another provider after a network failure. A model's other keys are not tried if the key was not at fault.
"""

from collections.abc import Iterable, Mapping
from enum import Enum

from hob.core.errors import ModelError, ModelFault
from hob.core.translation.code_words import NO_MODEL
from hob.core.translation.language import join_texts
from hob.core.values import dataclass

# Health of the routes: which ones are on cooldown, and until when (seconds of a monotonic clock). A cooldown only moves
# a route to the end of the order and never excludes it, so it cannot lock anyone out.


@dataclass(frozen=True, slots=True)
class ModelRoute:
    """One way to reach a model: its reference, its provider, and the index of a key in the provider's list."""

    ref: str
    provider: str
    key: int = 0


class CooldownScope(Enum):
    """Range of routes that a fault applies to."""

    LANE = "this model with this key"
    KEY = "this key, whatever the model"
    MODEL = "this model, whatever the key"
    PROVIDER = "all of this provider"


@dataclass(frozen=True, slots=True)
class CooldownRule:
    """Scope of the cooldown after a fault, and its length in seconds for the first failure, the second, and so on."""

    scope: CooldownScope
    seconds: tuple[float, ...]


_MINUTE, _HOUR = 60.0, 3600.0
_BUSY_SECONDS = (30.0, _MINUTE, 5 * _MINUTE)
_MISCONFIGURED_SECONDS = (5 * _MINUTE, 10 * _MINUTE, 20 * _MINUTE, 40 * _MINUTE, _HOUR)
_TRANSIENT_SECONDS = (10.0, 20.0, 40.0, _MINUTE)

RULES: Mapping[ModelFault, CooldownRule] = {
    ModelFault.RATE_LIMIT: CooldownRule(CooldownScope.LANE, _BUSY_SECONDS),  # servers count requests by key and model
    ModelFault.OVERLOAD: CooldownRule(CooldownScope.MODEL, _BUSY_SECONDS),
    ModelFault.TIMEOUT: CooldownRule(CooldownScope.MODEL, _BUSY_SECONDS),
    ModelFault.AUTH: CooldownRule(CooldownScope.KEY, _MISCONFIGURED_SECONDS),
    ModelFault.BILLING: CooldownRule(CooldownScope.KEY, (5 * _HOUR, 10 * _HOUR, 20 * _HOUR, 24 * _HOUR)),
    ModelFault.NOT_FOUND: CooldownRule(CooldownScope.MODEL, _MISCONFIGURED_SECONDS),
    # Either the model does not accept our format, or one conversation contains something unusual. A model of the first
    # kind must not be retried forever; a conversation of the second kind must not block the model for all others, whose
    # answers end the cooldown.
    ModelFault.BAD_REQUEST: CooldownRule(CooldownScope.MODEL, (10.0, _MINUTE, 5 * _MINUTE)),
    ModelFault.NETWORK: CooldownRule(CooldownScope.PROVIDER, _TRANSIENT_SECONDS),
    ModelFault.CUT: CooldownRule(CooldownScope.MODEL, _TRANSIENT_SECONDS),
    ModelFault.GARBAGE: CooldownRule(CooldownScope.MODEL, _TRANSIENT_SECONDS),
    ModelFault.EMPTY: CooldownRule(CooldownScope.MODEL, _TRANSIENT_SECONDS),
}
"""Cooldown after each fault. Other faults say nothing about the route, or occur without a request."""

MAX_WAIT_SECONDS = 7 * 24 * _HOUR
"""Maximum plausible wait requested by a server, in seconds."""

_MAX_SCOPES = 1000  # references come from outside
_Scoped = tuple[CooldownScope, str, int]


@dataclass(frozen=True, slots=True)
class Cooldown:
    """A fault's cooldown: when it ends, and the number of consecutive failures."""

    fault: ModelFault
    until: float
    times: int = 1


class RouteHealth:
    """Cooldowns of routes, shared by all sessions: a key that was refused is refused everywhere."""

    def __init__(self) -> None:
        self._cooldowns: dict[_Scoped, dict[ModelFault, Cooldown]] = {}

    def note_failure(self, route: ModelRoute, error: ModelError, now: float) -> None:
        """Put what the fault applies to on cooldown: longer after each consecutive failure, and at least as long as the
        server asks.

        A failure during a cooldown belongs to the same outage and does not count again.
        """
        rule = RULES.get(error.fault)
        if rule is None:
            return
        cooldowns = self._cooldowns.setdefault(_scoped(rule.scope, route), {})
        old = cooldowns.get(error.fault)
        times, until = 1, now
        if old is not None and now < old.until + rule.seconds[-1]:
            times = old.times + (now >= old.until)
            until = old.until
        seconds = max(rule.seconds[min(times, len(rule.seconds)) - 1], min(error.retry_after or 0.0, MAX_WAIT_SECONDS))
        cooldowns[error.fault] = Cooldown(error.fault, max(until, now + seconds), times)
        if len(self._cooldowns) > _MAX_SCOPES:
            self._shrink(now)

    def note_answer(self, route: ModelRoute) -> None:
        """Record an answered request: all cooldowns of this route end."""
        for scope in CooldownScope:
            self._cooldowns.pop(_scoped(scope, route), None)

    def find_cooldown(self, route: ModelRoute, now: float) -> Cooldown | None:
        """Return the longest cooldown that applies to the route, or None."""
        if not self._cooldowns:
            return None
        cooldowns = (
            rest for scope in CooldownScope for rest in self._cooldowns.get(_scoped(scope, route), {}).values()
        )
        return max((rest for rest in cooldowns if rest.until > now), key=lambda rest: rest.until, default=None)

    def seconds_left(self, route: ModelRoute, now: float) -> float:
        """Return the seconds until the route's cooldown ends; 0 if it has none."""
        rest = self.find_cooldown(route, now)
        return rest.until - now if rest is not None else 0.0

    def forget(self) -> None:
        """End all cooldowns, e.g. after a change of keys or addresses."""
        self._cooldowns.clear()

    def _shrink(self, now: float) -> None:
        over = [
            scoped
            for scoped, cooldowns in self._cooldowns.items()
            if all(rest.until <= now for rest in cooldowns.values())
        ]
        for scoped in over or [next(iter(self._cooldowns))]:
            del self._cooldowns[scoped]


def _scoped(scope: CooldownScope, route: ModelRoute) -> _Scoped:
    match scope:
        case CooldownScope.LANE:
            return scope, route.ref, route.key
        case CooldownScope.KEY:
            return scope, route.provider, route.key
        case CooldownScope.MODEL:
            return scope, route.ref, 0
        case CooldownScope.PROVIDER:
            return scope, route.provider, 0


MAX_ATTEMPTS = 4
"""Maximum requests for a chain of one route. Each further route allows one more."""

_FIRST_DELAY = 0.5
_CONNECT_SECONDS = 5.0  # a route is not to blame for the time others took

FINAL_FAULTS = frozenset({ModelFault.CONTEXT_OVERFLOW, ModelFault.FILTERED, ModelFault.BUDGET})
"""Faults that end the request: the agent shortens what is too long, and a filter must not be evaded by another route.
"""

_REPEATABLE = frozenset(
    {
        ModelFault.RATE_LIMIT,
        ModelFault.OVERLOAD,
        ModelFault.NETWORK,
        ModelFault.GARBAGE,
        ModelFault.CUT,
        ModelFault.EMPTY,
    }
)
_WHATEVER_THE_KEY = frozenset({CooldownScope.MODEL, CooldownScope.PROVIDER})
_BUSY_FAULTS = frozenset({ModelFault.RATE_LIMIT, ModelFault.OVERLOAD})
_STANDING = frozenset(
    {
        ModelFault.AUTH,
        ModelFault.BILLING,
        ModelFault.NOT_FOUND,
        ModelFault.BAD_REQUEST,
        ModelFault.SETTINGS,
        ModelFault.NOT_CONFIGURED,
    }
)
_WHY: Mapping[ModelFault, str] = {
    ModelFault.AUTH: "access refused",
    ModelFault.BILLING: "no credit left",
    ModelFault.RATE_LIMIT: "rate limit",
    ModelFault.OVERLOAD: "overloaded",
    ModelFault.NETWORK: "cannot be reached",
    ModelFault.TIMEOUT: "silent for too long",
    ModelFault.CUT: "answer cut off",
    ModelFault.GARBAGE: "not a model's answer",
    ModelFault.EMPTY: "empty answer",
    ModelFault.NOT_FOUND: "no such model",
    ModelFault.BAD_REQUEST: "request not accepted",
    ModelFault.SETTINGS: "set up wrongly",
    ModelFault.NOT_CONFIGURED: "not configured",
}


@dataclass(frozen=True, slots=True)
class ModelAttempt:
    """The next attempt: a route, and seconds to wait before it."""

    route: ModelRoute
    wait: float = 0.0


@dataclass(frozen=True, slots=True)
class _Failure:
    error: ModelError
    at: float
    times: int


class FailoverPlan:
    """The attempts of one request: `first`, then `failed` after each failure until `answered` or no route is left.

    At most `len(routes) + max_attempts - 1` requests: each route once, and `max_attempts - 1` repeats, none of which
    begins after `patience` seconds. An untried route is tried however long the others took. `failed` are routes that
    could not be opened.
    """

    def __init__(
        self,
        chain: Iterable[ModelRoute],
        health: RouteHealth,
        now: float,
        *,
        patience: float,
        max_attempts: int = MAX_ATTEMPTS,
        failed: Mapping[ModelRoute, ModelError] | None = None,
    ) -> None:
        self.made = 0
        self._asked = ""
        self._chain = tuple(dict.fromkeys(chain))
        self._health = health
        self._patience = patience
        self._end = now + patience
        self._failures = {route: _Failure(error, now, 0) for route, error in (failed or {}).items()}
        self._unasked = [route for route in self._chain if route not in self._failures]
        self._repeats, self._most_repeats = 0, max(1, min(max_attempts, MAX_ATTEMPTS)) - 1
        self._repeated_empty = False
        self._last: ModelError | None = None
        # the preferred route is tried first unless it is on cooldown, so this is why it was not
        self._cooldown = health.find_cooldown(self._chain[0], now) if self._chain else None

    @property
    def others_left(self) -> bool:
        """Whether an untried model other than the current one is left."""
        return any(route.ref != self._asked for route in self._unasked)

    def patience_of(self, ask: ModelAttempt, now: float) -> float:
        """Return the patience for the request: the time left, or enough to connect on a first attempt."""
        left = max(0.0, self._end - now)
        return left if ask.wait else max(left, min(self._patience, _CONNECT_SECONDS))

    def first(self, now: float) -> ModelAttempt | None:
        """Return the first attempt, or None."""
        return self._next_unasked(now) if self._unasked else None

    def answered(self, route: ModelRoute) -> None:
        """Record that the route answered."""
        self._health.note_answer(route)

    def failed(
        self, route: ModelRoute, error: ModelError, now: float, *, draw: float, shown: bool = False
    ) -> ModelAttempt | None:
        """Return the next attempt, or None if the request ends with `verdict`.

        There is none once part of an answer was shown. `draw` (0 to 1) shortens a wait by up to half.
        """
        error = _with_plausible_wait(error)
        self._health.note_failure(route, error, now)
        before = self._failures.get(route)
        self._failures[route] = _Failure(error, now, 1 if before is None else before.times + 1)
        if shown or error.fault in FINAL_FAULTS:
            self._last = _with_reference(route.ref, error)
            return None
        rule = RULES.get(error.fault)
        if rule is not None and rule.scope in _WHATEVER_THE_KEY:
            self._unasked = [other for other in self._unasked if other.ref != route.ref]
        if not self._unasked:
            return self._repeat_any(now, draw)
        return self._repeat_at_once(route, error, now, draw) or self._next_unasked(now)

    def passed_over(self, route: ModelRoute) -> tuple[str, ModelFault] | None:
        """Return the preferred model that did not answer, and why; None if this route's model is the preferred one."""
        wanted = self._chain[0].ref
        if wanted == route.ref:
            return None
        failure = self._failure_of(wanted)
        if failure is not None:
            return wanted, failure.error.fault
        return (wanted, self._cooldown.fault) if self._cooldown is not None else None

    def verdict(self, now: float) -> ModelError:
        """Return one error for all attempts, with their number.

        It is the error of the first model, unless only the owner can fix that one and another model is merely busy:
        then it is the other's, since waiting helps. Its detail names each model and its problem. `retry_after` is the
        earliest time at which a busy server says it will answer, if all busy ones say so.
        """
        if self._last is not None:
            self._last.attempts = self.made
            return self._last
        found = [(ref, self._failure_of(ref)) for ref in dict.fromkeys(route.ref for route in self._chain)]
        failures = {ref: failure.error for ref, failure in found if failure is not None}
        if not failures:
            return ModelError(ModelFault.NOT_CONFIGURED, NO_MODEL, attempts=0)
        chosen = next(iter(failures))
        if failures[chosen].fault in _STANDING:
            chosen = next((ref for ref, error in failures.items() if error.fault in _BUSY_FAULTS), chosen)
        error = _with_reference(chosen, failures[chosen])
        if len(failures) > 1:
            each = (
                str(error) if ref == chosen else join_texts(": ", (ref, _WHY[failure.fault]))
                for ref, failure in failures.items()
            )
            error = ModelError(error.fault, join_texts("; ", each))
            error.__cause__ = failures[chosen]
        error.attempts = self.made
        error.retry_after = self._soonest(now)
        return error

    def _next_unasked(self, now: float) -> ModelAttempt:
        route = min(self._unasked, key=lambda route: self._health.seconds_left(route, now))  # the first of equals
        self._unasked.remove(route)
        self._asked = route.ref
        self.made += 1
        return ModelAttempt(route)

    def _repeat_at_once(self, route: ModelRoute, error: ModelError, now: float, draw: float) -> ModelAttempt | None:
        # A short failure of the first route must not cost its prompt cache; the other routes have none to lose.
        if self.made > 1 or error.fault is ModelFault.RATE_LIMIT:
            return None
        delay = _FIRST_DELAY * (1 - draw / 2)
        return self._repeat(route, now, delay) if (error.retry_after or 0.0) <= delay else None

    def _repeat_any(self, now: float, draw: float) -> ModelAttempt | None:
        delay: float = _FIRST_DELAY * 2**self._repeats * (1 - draw / 2)

        def readiness(route: ModelRoute) -> tuple[float, int]:
            failure = self._failures[route]
            return max(now + delay, failure.at + (failure.error.retry_after or 0.0)), failure.times

        route = min(filter(self._may_repeat, self._chain), key=readiness, default=None)
        return self._repeat(route, now, readiness(route)[0] - now) if route is not None else None

    def _repeat(self, route: ModelRoute, now: float, wait: float) -> ModelAttempt | None:
        if now + wait >= self._end or not self._may_repeat(route):
            return None
        if self._failures[route].error.fault is ModelFault.EMPTY:
            self._repeated_empty = True
        self._repeats += 1
        self._asked = route.ref
        self.made += 1
        return ModelAttempt(route, wait)

    def _may_repeat(self, route: ModelRoute) -> bool:
        failure = self._failures.get(route)
        if failure is None:  # an untried key
            return False
        fault = failure.error.fault
        if fault is ModelFault.EMPTY and self._repeated_empty:  # each attempt has cost all its tokens
            return False
        return fault in _REPEATABLE and self._repeats < self._most_repeats

    def _failure_of(self, ref: str) -> _Failure | None:
        """Return the error that represents all keys of a model: a busy one if there is one, otherwise the first."""
        failures = [self._failures[route] for route in self._chain if route.ref == ref and route in self._failures]
        return min(failures, key=lambda failure: failure.error.fault not in _BUSY_FAULTS, default=None)

    def _soonest(self, now: float) -> float | None:
        busy = [failure for failure in self._failures.values() if failure.error.fault in _BUSY_FAULTS]
        told = [failure.at + failure.error.retry_after for failure in busy if failure.error.retry_after is not None]
        return max(0.0, min(told) - now) if told and len(told) == len(busy) else None


def _with_reference(ref: str, error: ModelError) -> ModelError:
    """Return the error with the model's reference before its detail."""
    if not ref:
        return error
    named = ModelError(
        error.fault, join_texts(": ", (ref, str(error))), retry_after=error.retry_after, attempts=error.attempts
    )
    named.__cause__ = error
    return named


def _with_plausible_wait(error: ModelError) -> ModelError:
    """Return the error with a plausible wait. Missing credit until a given time ("weekly limit") counts as a rate
    limit.
    """
    wait = error.retry_after
    if wait is None:
        return error
    error.retry_after = wait = min(wait, MAX_WAIT_SECONDS) if wait >= 0 else None  # NaN is not >= 0 either
    if error.fault is ModelFault.BILLING and wait is not None:
        return ModelError(ModelFault.RATE_LIMIT, str(error), retry_after=wait)
    return error
