"""What is known of the ways to ask a model: which of them rest after a fault, and until when. No I/O, no clock.

Times are seconds of a monotonic clock and are passed in. What rests is asked last, never not at all: resting changes
an order and nothing else, so it cannot lock anybody out.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from hob.core.errors import ModelError, ModelFault


@dataclass(frozen=True, slots=True)
class ModelRoute:
    """One way to ask: a model by its reference, its provider, and the place of a key in the provider's list."""

    ref: str
    provider: str
    key: int = 0


class RestScope(Enum):
    """What a fault says something about."""

    LANE = "this model with this key"
    KEY = "this key, whatever the model"
    MODEL = "this model, whatever the key"
    PROVIDER = "all of this provider"


@dataclass(frozen=True, slots=True)
class RestRule:
    """What rests after a fault, and for how many seconds the first time, the second time, and so on."""

    scope: RestScope
    seconds: tuple[float, ...]


_MINUTE, _HOUR = 60.0, 3600.0
_BUSY = (30.0, _MINUTE, 5 * _MINUTE)
_WRONG = (5 * _MINUTE, 10 * _MINUTE, 20 * _MINUTE, 40 * _MINUTE, _HOUR)
_SHORT = (10.0, 20.0, 40.0, _MINUTE)

RULES: Mapping[ModelFault, RestRule] = {
    ModelFault.RATE_LIMIT: RestRule(RestScope.LANE, _BUSY),  # servers count requests by key and model
    ModelFault.OVERLOAD: RestRule(RestScope.MODEL, _BUSY),
    ModelFault.TIMEOUT: RestRule(RestScope.MODEL, _BUSY),
    ModelFault.AUTH: RestRule(RestScope.KEY, _WRONG),
    ModelFault.BILLING: RestRule(RestScope.KEY, (5 * _HOUR, 10 * _HOUR, 20 * _HOUR, 24 * _HOUR)),
    ModelFault.NOT_FOUND: RestRule(RestScope.MODEL, _WRONG),
    # Either the model does not take our format, or one conversation holds something odd. The first must not be tried
    # for ever, the second must not take the model from all other conversations: their answers clear it.
    ModelFault.BAD_REQUEST: RestRule(RestScope.MODEL, (10.0, _MINUTE, 5 * _MINUTE)),
    ModelFault.NETWORK: RestRule(RestScope.PROVIDER, _SHORT),
    ModelFault.CUT: RestRule(RestScope.MODEL, _SHORT),
    ModelFault.GARBAGE: RestRule(RestScope.MODEL, _SHORT),
    ModelFault.EMPTY: RestRule(RestScope.MODEL, _SHORT),
}
"""What a fault makes rest. The others say nothing of the route, or are found out without a request."""

LONGEST = 7 * 24 * _HOUR
"""Seconds; whoever asks to be left alone for longer is not believed."""

_MOST_SCOPES = 1000  # references come from outside
_Scoped = tuple[RestScope, str, int]


@dataclass(frozen=True, slots=True)
class Rest:
    """Why something rests, until when, and the how-manieth time in a row."""

    fault: ModelFault
    until: float
    times: int = 1


class RouteHealth:
    """Which routes rest. One for all sessions: a key that was refused is refused for everybody."""

    def __init__(self) -> None:
        self._rests: dict[_Scoped, dict[ModelFault, Rest]] = {}

    def note_failure(self, route: ModelRoute, error: ModelError, now: float) -> None:
        """A request failed. What the fault is about rests, longer each time in a row, or as long as the server says.

        A failure of something that rests already belongs to the same outage: it does not count as another time.
        """
        rule = RULES.get(error.fault)
        if rule is None:
            return
        rests = self._rests.setdefault(_scoped(rule.scope, route), {})
        old = rests.get(error.fault)
        times, until = 1, now
        if old is not None and now < old.until + rule.seconds[-1]:
            times = old.times + (now >= old.until)
            until = old.until
        seconds = max(rule.seconds[min(times, len(rule.seconds)) - 1], min(error.retry_after or 0.0, LONGEST))
        rests[error.fault] = Rest(error.fault, max(until, now + seconds), times)
        if len(self._rests) > _MOST_SCOPES:
            self._shrink(now)

    def note_answer(self, route: ModelRoute) -> None:
        """A request was answered: nothing of this route rests any more."""
        for scope in RestScope:
            self._rests.pop(_scoped(scope, route), None)

    def find_rest(self, route: ModelRoute, now: float) -> Rest | None:
        """The longest rest that holds for the route, or None where nothing is known against it."""
        if not self._rests:
            return None
        rests = (rest for scope in RestScope for rest in self._rests.get(_scoped(scope, route), {}).values())
        return max((rest for rest in rests if rest.until > now), key=lambda rest: rest.until, default=None)

    def seconds_left(self, route: ModelRoute, now: float) -> float:
        """How long the route rests yet; 0 where it does not."""
        rest = self.find_rest(route, now)
        return rest.until - now if rest is not None else 0.0

    def forget(self) -> None:
        """Forget everything, as when keys or addresses were changed."""
        self._rests.clear()

    def _shrink(self, now: float) -> None:
        over = [scoped for scoped, rests in self._rests.items() if all(rest.until <= now for rest in rests.values())]
        for scoped in over or [next(iter(self._rests))]:
            del self._rests[scoped]


def _scoped(scope: RestScope, route: ModelRoute) -> _Scoped:
    match scope:
        case RestScope.LANE:
            return scope, route.ref, route.key
        case RestScope.KEY:
            return scope, route.provider, route.key
        case RestScope.MODEL:
            return scope, route.ref, 0
        case RestScope.PROVIDER:
            return scope, route.provider, 0
