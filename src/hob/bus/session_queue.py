"""The in-memory queue of one session: ready turns, the running turn, and hints about waiting messages."""

import asyncio
from collections import deque

from hob.bus.running_turn import RunningTurn
from hob.core.clock import Clock
from hob.core.ids import SessionKey, TraceId, TurnId
from hob.core.messages import Address, Inbound
from hob.core.turns import QueueMode

LONGEST_DEBOUNCE = 5
"""Maximum delay of a sender who never pauses, as a multiple of the debounce."""


class SessionQueue:
    """The queue of one session. It exists only while there is work; the store is authoritative.

    `has_waiting` means that unexamined rows may be waiting; `version` rises with every hint, so that a decision made
    from older data is made again.
    """

    def __init__(self, key: SessionKey, clock: Clock) -> None:
        self.key = key
        self._clock = clock
        self.ready: deque[TurnId] = deque()
        self.has_waiting = False
        self.version = 0
        self.running: RunningTurn | None = None
        self.interruptible = False
        """Set while it waits for something a shutdown need not wait for."""
        self.task: asyncio.Task[None] | None = None
        self.lock = asyncio.Lock()
        """Held while the next job is chosen, so that a stop finds either a waiting message or a turn."""
        self.mode = QueueMode.STEER
        self.changed = asyncio.Event()
        """Set with every hint."""
        self.quiet_from: float | None = None
        """Arrival time of the oldest text that no turn has taken yet."""
        self.quiet_until = 0.0
        self.origins: set[Address] = set()
        """Addresses of the messages that need an answer."""
        self.new_traces: list[TraceId] = []
        """Traces of messages that arrived since the session was last checked for being paused."""

    def hint(self, inbound: Inbound | None = None, quiet: float = 0.0) -> None:
        """Note that something is waiting. A text is taken only after `quiet` seconds without another hint."""
        self.has_waiting = True
        self.version += 1
        if inbound is not None:
            self.origins.add(inbound.origin)
            self.new_traces.append(inbound.trace)
        if quiet > 0:
            now = self._clock.monotonic()
            if self.quiet_from is None:
                self.quiet_from = now
            self.quiet_until = min(now + quiet, self.quiet_from + LONGEST_DEBOUNCE * quiet)
        else:
            self.quiet_until = 0.0
        self.changed.set()
