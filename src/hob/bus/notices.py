"""Live notices: subscribers follow a trace or session of this process."""

import asyncio
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from hob.core.events.notices import Delta, Notice, Progress
from hob.core.ids import SessionKey, TraceId


class Subscription:
    """A subscriber's queue of notices; iterate over it. `dropped` counts the notices lost to a full queue."""

    def __init__(self, at_most: int) -> None:
        self.dropped = 0
        self._at_most = at_most
        self._queue: deque[Notice] = deque()
        self._droppable = 0  # queued notices that may be dropped
        self._ready = asyncio.Event()
        self._closed = False

    def __aiter__(self) -> "Subscription":
        return self

    async def __anext__(self) -> Notice:
        while not self._queue:
            if self._closed:
                raise StopAsyncIteration
            self._ready.clear()
            await self._ready.wait()
        notice = self._queue.popleft()
        self._droppable -= isinstance(notice, (Delta, Progress))
        return notice

    def push(self, notice: Notice) -> None:
        """Queue a notice. A full queue drops its oldest delta or progress, never an outcome."""
        passing = isinstance(notice, (Delta, Progress))
        if len(self._queue) >= self._at_most:
            if self._droppable:
                self._drop_oldest()
            elif passing:
                self.dropped += 1
                return
        self._queue.append(notice)
        self._droppable += passing
        self._ready.set()

    def close(self) -> None:
        """End the iteration after the queued notices."""
        self._closed = True
        self._ready.set()

    def _drop_oldest(self) -> None:
        place = next(n for n, queued in enumerate(self._queue) if isinstance(queued, (Delta, Progress)))
        del self._queue[place]
        self._droppable -= 1
        self.dropped += 1


class Hub:
    """Implements `Notices`. The cost of publishing grows only with the subscribers of that trace or session."""

    def __init__(self, at_most: int = 256) -> None:
        self._at_most = at_most
        self._viewers: dict[tuple[str, str], set[Subscription]] = {}

    def publish(self, notice: Notice) -> None:
        """Send a notice to all subscribers. Never blocks, never raises."""
        if not self._viewers:
            return
        for key in (("trace", notice.trace), ("session", notice.session), ("all", "")):
            for viewer in self._viewers.get(key, ()):
                viewer.push(notice)

    @contextmanager
    def subscribe(
        self, *, trace: TraceId | None = None, session: SessionKey | None = None, at_most: int | None = None
    ) -> Iterator[Subscription]:
        """Subscribe to one trace, one session, or everything. Earlier notices are not delivered."""
        key = ("trace", str(trace)) if trace else ("session", str(session)) if session else ("all", "")
        viewer = Subscription(at_most or self._at_most)
        self._viewers.setdefault(key, set()).add(viewer)
        try:
            yield viewer
        finally:
            viewer.close()
            left = self._viewers[key]
            left.discard(viewer)
            if not left:
                del self._viewers[key]

    def close(self) -> None:
        """End all iterations."""
        for viewers in self._viewers.values():
            for viewer in viewers:
                viewer.close()
