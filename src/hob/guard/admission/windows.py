"""How often: sliding windows in monotonic time, kept in memory and bounded."""

from collections import OrderedDict, deque
from collections.abc import Hashable

_MOST_KEYS = 10_000


class Windows:
    """Counts what each key did in the last `seconds`. What is refused is not counted."""

    def __init__(self, seconds: float = 60.0) -> None:
        self._seconds = seconds
        self._times: OrderedDict[Hashable, deque[float]] = OrderedDict()

    def wait(self, key: Hashable, most: int, now: float) -> float:
        """Seconds until the key may do it (again); 0.0: now."""
        times = self._times.get(key)
        if times is None:
            return 0.0 if most > 0 else self._seconds
        self._expire(times, now)
        if len(times) < most:
            return 0.0
        return max(times[-most] + self._seconds - now, 0.0) if most > 0 else self._seconds

    def count(self, key: Hashable, now: float) -> int:
        """Note that the key did it; how often it did so in the window."""
        times = self._times.get(key)
        if times is None:
            times = self._times[key] = deque()
            if len(self._times) > _MOST_KEYS:  # whoever has been silent for longest is forgotten
                self._times.popitem(last=False)
        self._times.move_to_end(key)
        self._expire(times, now)
        times.append(now)
        return len(times)

    def take(self, key: Hashable, most: int, now: float) -> float:
        """Count it if the key may do it; seconds until it may if not."""
        wait = self.wait(key, most, now)
        if not wait:
            self.count(key, now)
        return wait

    def forget(self, key: Hashable) -> None:
        """Begin to count this key afresh."""
        self._times.pop(key, None)

    def _expire(self, times: deque[float], now: float) -> None:
        while times and times[0] <= now - self._seconds:
            times.popleft()
