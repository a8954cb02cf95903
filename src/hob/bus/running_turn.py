"""Control of a running turn: stop it, suspend it, or let messages join it."""

import asyncio
from collections.abc import Collection, Sequence
from typing import Any

from hob.bus.job_batches import can_join
from hob.core.ids import InboundId
from hob.core.messages import Inbound
from hob.core.turns import Turn


class RunningTurn:
    """A running turn: implements `Control`, and stops the turn or suspends it to be resumed later."""

    def __init__(self, turn: Turn) -> None:
        self.turn = turn
        self.woken = False
        """Set if the event the turn is about to wait for has already occurred."""
        self.is_shutting_down = False
        self.stopped = asyncio.Event()
        """Set when the turn is stopped, so that a pause before its next attempt ends."""
        self._may_join: set[InboundId] = set()
        self._behind: list[Inbound] = []
        self._joined = {inbound.id for inbound in turn.joined}
        self._reason: str | None = None
        self._task: asyncio.Task[Any] | None = None

    @property
    def inbounds(self) -> tuple[InboundId, ...]:
        """Ids of all messages that share this turn's outcome."""
        own = tuple(inbound.id for inbound in self.turn.inbounds)
        return own + tuple(sorted(self._joined.difference(own)))

    def joinable(self) -> Collection[InboundId]:
        return frozenset(self._may_join)

    def followups(self) -> Sequence[Inbound]:
        return tuple(self._behind)

    def mark_joined(self, inbounds: Sequence[InboundId]) -> None:
        self._joined.update(inbounds)
        if inbounds:
            self._may_join.difference_update(inbounds)
        else:
            self._may_join.clear()

    def stop_reason(self) -> str | None:
        return self._reason

    def let_join(self, inbound: Inbound) -> None:
        """Let this message join the turn if the turn can serve it; a message that wants another model needs its own
        turn.
        """
        if not all(can_join(first, inbound) for first in self.turn.inbounds):
            self.queue_followup(inbound)
        elif inbound.id not in self._joined:
            self._may_join.add(inbound.id)

    def queue_followup(self, inbound: Inbound) -> None:
        """Record that this message waits for the turn's end."""
        self._behind.append(inbound)

    def attach(self, task: asyncio.Task[Any]) -> None:
        """Set the task that runs the turn."""
        self._task = task

    def stop(self, reason: str) -> bool:
        """End the turn permanently; return False if it was already stopped."""
        if self._reason is not None or self.is_shutting_down:
            return False
        self._reason = reason
        self.stopped.set()
        self._cancel()
        return True

    def suspend(self) -> None:
        """Cancel the turn's task; the turn resumes at the next start."""
        self.is_shutting_down = True
        self._cancel()

    def _cancel(self) -> None:
        if self._task is not None and not self._task.done():
            self._task.cancel()
