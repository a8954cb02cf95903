"""Ports between bus and agent: running turns, and slash commands."""

from collections.abc import Collection, Sequence
from typing import Protocol

from hob.core.ids import InboundId, SessionKey
from hob.core.messages import Inbound
from hob.core.turns import Outcome, QueueMode, Turn


class TurnControl(Protocol):
    """The session queue's control over a running turn. `is_shutting_down`: Hob is stopping and ends the turn's task."""

    is_shutting_down: bool

    def joinable(self) -> Collection[InboundId]:
        """Return the waiting messages that may join the turn (queue mode `steer`); only a hint."""

    def followups(self) -> Sequence[Inbound]:
        """Return messages that arrived for this session during the turn and wait for its end."""

    def mark_joined(self, inbounds: Sequence[InboundId]) -> None:
        """Record that the turn merged these messages, or found none; `joinable` then reports only later ones."""

    def stop_reason(self) -> str | None:
        """Return why a person stopped the turn, or None if Hob is shutting down and the turn resumes later."""


class Turns(Protocol):
    """Runs turns."""

    async def run(self, turn: Turn, control: TurnControl) -> Outcome:
        """Run or resume the turn. After a StoreError it can be run again later.

        If cancelled with a stop reason it finishes as cancelled; otherwise it stays resumable and re-raises.
        """


class Commands(Protocol):
    """Slash commands, which are answered without a model."""

    def timing(self, text: str) -> str | None:
        """Return when to run the command: `arrival` at once, `lane` in its turn; None for text that is no command."""

    async def run(self, inbound: Inbound, session: SessionKey) -> str:
        """Run the command and return its answer. A user's typing mistake gives an answer, not an exception."""


class Routing(Protocol):
    """Assigns messages to conversations."""

    def session_of(self, inbound: Inbound) -> SessionKey:
        """Return the default session of the message's address."""

    def mode_of(self, channel: str) -> QueueMode:
        """Return the default queue mode of a channel."""
