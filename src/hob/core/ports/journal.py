"""The port of a turn's journal: every method is durable when it returns."""

from collections.abc import Collection, Sequence
from typing import Protocol, Unpack

from hob.core.events.timeline import TimelineEvent
from hob.core.ids import InboundId, SessionKey, TurnId
from hob.core.messages import Inbound
from hob.core.models import CallScope, ModelRequest, Spent
from hob.core.steps import Step
from hob.core.turns import Finish, Session, SessionChange, Summary, View


class Journal(Protocol):
    """Steps of turns. Raises StoreFull and other StoreErrors; then nothing was written."""

    async def load_steps(self, turn: TurnId, since: int = 0) -> tuple[Step, ...]:
        """The turn's steps so far, in order, without the first `since`."""

    async def append(
        self,
        turn: TurnId,
        steps: Sequence[Step],
        events: Sequence[TimelineEvent] = (),
        request: ModelRequest | None = None,
    ) -> None:
        """Add these steps and timeline events in one transaction, with what the model that is asked in them is given.

        A `ModelAsked` reserves its cost, a `ModelReplied` or `ModelFailed` settles it, in the same transaction.
        """

    async def steer(self, turn: TurnId, inbounds: Collection[InboundId]) -> tuple[Inbound, ...]:
        """Merge those of these messages that wait in the turn's session into it and journal one `Steered` each.

        Nothing is overtaken: it ends at the first that waits and is a command or none of these.
        """

    async def finish(self, finish: Finish) -> None:
        """Write the turn's end in one transaction. A second finish of a turn changes nothing."""


class Transcript(Protocol):
    """What was said in a session."""

    async def load_view(self, session: SessionKey, at_most: int) -> View:
        """The newest summary and the last entries after it (and after the last reset)."""

    async def summarise(self, session: SessionKey, summary: Summary, event: TimelineEvent) -> None:
        """Let the summary stand for the entries up to `summary.upto`; they stay stored."""

    async def undo_summary(self, session: SessionKey) -> bool:
        """Take the newest summary back: what stood before it shows again. False if there is none."""


class Sessions(Protocol):
    """Conversations and their rules."""

    async def get(self, key: SessionKey) -> Session:
        """The session; a new one has defaults."""

    async def change(self, key: SessionKey, **chosen: Unpack[SessionChange]) -> None:
        """Store these choices; the others stay, also those that somebody else changes meanwhile."""

    async def reset(self, key: SessionKey, reason: str) -> None:
        """Begin afresh: what was said so far is kept and no longer shown to the model."""

    async def switch(self, chat: str, key: SessionKey) -> None:
        """From now on messages of this chat (an address key) go to that session."""

    async def find(self, chat: str | None = None, archived: bool = False) -> tuple[Session, ...]:
        """The sessions, of one chat if given, newest first."""


class Ledger(Protocol):
    """Spending."""

    async def record(self, event: TimelineEvent) -> None:
        """Write a model call made outside any turn, or beside a turn's answer, with its cost, and the event itself.

        The event's classification is the sender class it counts for and its task: `owner/summary`.
        """

    async def spent(self, **scope: Unpack[CallScope]) -> Spent:
        """What these calls have cost, with what is held back for those still open."""

    async def note_once(self, what: str, since: float) -> bool:
        """Whether this was not yet noted for the time that began then. Now it is, durably."""
