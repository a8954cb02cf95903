"""Rate limits for the actions Hob performs for one sender, per app and in total."""

from collections import OrderedDict, deque
from collections.abc import Hashable

from hob.core.clock import Clock
from hob.core.values import dataclass
from hob.guard.admission.settings import ActionLimits

# Sliding windows in monotonic time, in memory and bounded.

_MAX_KEYS = 10_000


class SlidingWindows:
    """Counts events per key within the last `seconds`. Refused events are not counted."""

    def __init__(self, seconds: float = 60.0) -> None:
        self._seconds = seconds
        self._times: OrderedDict[Hashable, deque[float]] = OrderedDict()

    def wait(self, key: Hashable, maximum: int, now: float) -> float:
        """Return the seconds until the key may proceed; 0.0 means now."""
        times = self._times.get(key)
        if times is None:
            return 0.0 if maximum > 0 else self._seconds
        self._expire(times, now)
        if len(times) < maximum:
            return 0.0
        return max(times[-maximum] + self._seconds - now, 0.0) if maximum > 0 else self._seconds

    def count(self, key: Hashable, now: float) -> int:
        """Count an event; return how many events are in the window."""
        times = self._times.get(key)
        if times is None:
            times = self._times[key] = deque()
            if len(self._times) > _MAX_KEYS:  # drop the key that has been idle longest
                self._times.popitem(last=False)
        self._times.move_to_end(key)
        self._expire(times, now)
        times.append(now)
        return len(times)

    def take(self, key: Hashable, maximum: int, now: float) -> float:
        """Count an event if the key may proceed; return the seconds to wait otherwise."""
        wait = self.wait(key, maximum, now)
        if not wait:
            self.count(key, now)
        return wait

    def _expire(self, times: deque[float], now: float) -> None:
        while times and times[0] <= now - self._seconds:
            times.popleft()


@dataclass(frozen=True, slots=True)
class RateLimited:
    """The reason why an action must wait, and the seconds to wait. With `alert`, the owner is notified (once)."""

    reason: str
    wait: float
    alert: bool = False


class ActionRates:
    """Limits for actions that affect the world: sending, persisting, irreversible changes. Read-only calls are exempt.

    More than `spike` actions within a minute block all actions of that sender for `cooldown_seconds`.
    """

    def __init__(self, limits: ActionLimits, clock: Clock) -> None:
        self._limits = limits
        self._clock = clock
        self._windows = SlidingWindows()
        self._resting: dict[str, float] = {}

    def refuse(self, sender: str, app: str) -> RateLimited | None:
        """Return why this sender's next action must wait, or None. Counts nothing."""
        now = self._clock.monotonic()
        wait = self._resting.get(sender, 0.0) - now
        if wait > 0:
            return RateLimited(f"too many actions within a minute; the next one may be made in {wait:.0f} s", wait)
        self._resting.pop(sender, None)
        maximum = self._limits.apps.get(app, self._limits.per_minute)
        wait = self._windows.wait((sender, app), maximum, now)
        if wait:
            return RateLimited(f"{app} may be used {maximum} times a minute; again in {wait:.0f} s", wait)
        if self._windows.wait(sender, self._limits.spike, now):
            return self._rest(sender, now)
        return None

    def count(self, sender: str, app: str) -> None:
        """Count an action."""
        now = self._clock.monotonic()
        self._windows.count((sender, app), now)
        self._windows.count(sender, now)

    def _rest(self, sender: str, now: float) -> RateLimited:
        seconds = self._limits.cooldown_seconds
        self._resting[sender] = now + seconds
        self._resting = {each: until for each, until in self._resting.items() if until > now}
        reason = f"more than {self._limits.spike} actions within a minute; none for {seconds:.0f} s"
        return RateLimited(reason, seconds, alert=True)
