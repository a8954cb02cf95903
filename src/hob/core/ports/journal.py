"""Port of a turn's journal: all writes are durable on return."""

from collections.abc import Collection, Sequence
from typing import Protocol, Unpack

from hob.core.events.timeline import TimelineEvent
from hob.core.ids import InboundId, SessionKey, TurnId
from hob.core.messages import Inbound
from hob.core.models import CallFilter, ModelRequest, Spending
from hob.core.steps import Step
from hob.core.turns import Finish, Session, SessionChange, Summary, TranscriptView


class Journal(Protocol):
    """Journal of a turn's steps. If a method raises StoreFull or another StoreError, nothing was written."""

    async def load_steps(self, turn: TurnId, since: int = 0) -> tuple[Step, ...]:
        """Return the turn's steps so far, in order, skipping the first `since`."""

    async def append(
        self,
        turn: TurnId,
        steps: Sequence[Step],
        events: Sequence[TimelineEvent] = (),
        request: ModelRequest | None = None,
    ) -> None:
        """Add steps and timeline events in one transaction, with the request of the model call in them, if any.

        In the same transaction, `ModelAsked` reserves its cost, and `ModelReplied` or `ModelFailed` settles it.
        """

    async def steer(self, turn: TurnId, inbounds: Collection[InboundId]) -> tuple[Inbound, ...]:
        """Merge these messages into the turn if they wait in its session, and journal one `Steered` each.

        The order is kept: merging stops at the first waiting message that is a command or not in the list.
        """

    async def finish(self, finish: Finish) -> None:
        """Write the end of the turn in one transaction. Finishing a turn again changes nothing."""


class Transcript(Protocol):
    """Transcripts of sessions."""

    async def load_view(self, session: SessionKey, at_most: int) -> TranscriptView:
        """Return the newest summary and the last entries after it, and after the last reset."""

    async def summarise(self, session: SessionKey, summary: Summary, event: TimelineEvent) -> None:
        """Replace the entries up to `summary.upto` with the summary; they remain stored."""

    async def undo_summary(self, session: SessionKey) -> bool:
        """Remove the newest summary, so that the entries it replaced are shown again. Return whether there was one."""


class Sessions(Protocol):
    """Conversations and their settings."""

    async def get(self, key: SessionKey) -> Session:
        """Return the session; a new one has defaults."""

    async def change(self, key: SessionKey, **chosen: Unpack[SessionChange]) -> None:
        """Store these settings; all others keep their values, including concurrent changes."""

    async def reset(self, key: SessionKey, reason: str) -> None:
        """Start over: the transcript so far is kept but no longer shown to the model."""

    async def switch(self, chat: str, key: SessionKey) -> None:
        """Direct future messages of this chat (an address key) to that session."""

    async def find(self, chat: str | None = None, archived: bool = False) -> tuple[Session, ...]:
        """Return the sessions, optionally of one chat, newest first."""


class Ledger(Protocol):
    """Spending records."""

    async def record(self, event: TimelineEvent) -> None:
        """Record a model call made outside a turn or in addition to its answer, with its cost and event.

        The event's classification is the sender class and task it is charged to: `owner/summary`.
        """

    async def spent(self, **scope: Unpack[CallFilter]) -> Spending:
        """Return the spending of these calls, including reservations for open ones."""

    async def note_once(self, what: str, since: float) -> bool:
        """Record `what` durably. Return whether it had not been recorded yet in the period starting at `since`."""
