"""Limits of what Hob does for one sender in a time: by app, and in all."""

from collections import OrderedDict, deque
from collections.abc import Hashable

from hob.core.clock import Clock
from hob.core.values import dataclass
from hob.guard.admission.settings import ActionLimits

# How often: sliding windows in monotonic time, kept in memory and bounded.

_MAX_KEYS = 10_000


class Windows:
    """Counts what each key did in the last `seconds`. What is refused is not counted."""

    def __init__(self, seconds: float = 60.0) -> None:
        self._seconds = seconds
        self._times: OrderedDict[Hashable, deque[float]] = OrderedDict()

    def wait(self, key: Hashable, maximum: int, now: float) -> float:
        """Seconds until the key may do it (again); 0.0: now."""
        times = self._times.get(key)
        if times is None:
            return 0.0 if maximum > 0 else self._seconds
        self._expire(times, now)
        if len(times) < maximum:
            return 0.0
        return max(times[-maximum] + self._seconds - now, 0.0) if maximum > 0 else self._seconds

    def count(self, key: Hashable, now: float) -> int:
        """Note that the key did it; how often it did so in the window."""
        times = self._times.get(key)
        if times is None:
            times = self._times[key] = deque()
            if len(self._times) > _MAX_KEYS:  # the sender silent for longest is forgotten
                self._times.popitem(last=False)
        self._times.move_to_end(key)
        self._expire(times, now)
        times.append(now)
        return len(times)

    def take(self, key: Hashable, maximum: int, now: float) -> float:
        """Count it if the key may do it; seconds until it may if not."""
        wait = self.wait(key, maximum, now)
        if not wait:
            self.count(key, now)
        return wait

    def forget(self, key: Hashable) -> None:
        """Begin to count this key afresh."""
        self._times.pop(key, None)

    def _expire(self, times: deque[float], now: float) -> None:
        while times and times[0] <= now - self._seconds:
            times.popleft()


@dataclass(frozen=True, slots=True)
class RateLimited:
    """Why an action has to wait, and for how many seconds. `alert` says that the owner should hear of it, once."""

    reason: str
    wait: float
    alert: bool = False


class ActionRates:
    """Limits for calls that act on the world: send, persist, cannot be undone. Calls that only read are not asked for.

    More than `spike` actions within a minute stop all actions of that sender for `cooldown_seconds`.
    """

    def __init__(self, limits: ActionLimits, clock: Clock) -> None:
        self._limits = limits
        self._clock = clock
        self._windows = Windows()
        self._resting: dict[str, float] = {}

    def take(self, sender: str, app: str) -> RateLimited | None:
        """Count one action of this sender, a person's id or an address; or why it may not be done now."""
        found = self.refuse(sender, app)
        if found is None:
            self.count(sender, app)
        return found

    def refuse(self, sender: str, app: str) -> RateLimited | None:
        """Why this sender's next action may not be done now; it is not counted."""
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
        """It is done."""
        now = self._clock.monotonic()
        self._windows.count((sender, app), now)
        self._windows.count(sender, now)

    def _rest(self, sender: str, now: float) -> RateLimited:
        seconds = self._limits.cooldown_seconds
        self._resting[sender] = now + seconds
        self._resting = {each: until for each, until in self._resting.items() if until > now}
        reason = f"more than {self._limits.spike} actions within a minute; none for {seconds:.0f} s"
        return RateLimited(reason, seconds, alert=True)
