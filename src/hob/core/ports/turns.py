"""The ports between bus and agent: running a turn, and slash commands."""

from collections.abc import Collection, Sequence
from typing import Protocol

from hob.core.ids import InboundId, SessionKey
from hob.core.messages import Inbound
from hob.core.turns import Outcome, QueueMode, Turn


class Control(Protocol):
    """The session queue's hand on a running turn. `is_shutting_down`: Hob ends, and the turn's task with it."""

    is_shutting_down: bool

    def joinable(self) -> Collection[InboundId]:
        """The messages that wait and may join the turn (queue mode `steer`); only a hint."""

    def followups(self) -> Sequence[Inbound]:
        """Messages that came for this session since the turn began, and wait for its end."""

    def mark_joined(self, inbounds: Sequence[InboundId]) -> None:
        """The turn has taken these in (or found none): from now on `joinable` speaks of later ones."""

    def stop_reason(self) -> str | None:
        """Why the turn's task was cancelled by a person, or None: then Hob is shutting down and the turn resumes."""


class Turns(Protocol):
    """Something that performs turns."""

    async def run(self, turn: Turn, control: Control) -> Outcome:
        """Perform or resume the turn. Raises StoreErrors; then it can be run again later.

        Cancelled with a stop reason it finishes as cancelled; without one it stays resumable and re-raises.
        """


class Commands(Protocol):
    """Slash commands: answered without a model."""

    def timing(self, text: str) -> str | None:
        """`arrival` if the text is a command that acts at once, `lane` if it waits its turn, None if no command."""

    async def run(self, inbound: Inbound, session: SessionKey) -> str:
        """Do it and give the answer. What a person typed wrong is answered, not raised."""


class Routing(Protocol):
    """Which conversation a message belongs to."""

    def session_of(self, inbound: Inbound) -> SessionKey:
        """The session of an address that was never switched elsewhere."""

    def mode_of(self, channel: str) -> QueueMode:
        """The queue mode where the session has chosen none."""
