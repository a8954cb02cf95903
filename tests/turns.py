"""Test doubles for a turn's session queue and live views."""

import asyncio
from collections.abc import Collection, Sequence

from hob.core.events.notices import Delta, Notice
from hob.core.events.timeline import EventKind, TimelineEvent
from hob.core.ids import InboundId, SessionKey, new_event_id, new_span_id
from hob.core.messages import Inbound
from hob.core.turns import Turn
from hob.store.messages.inbox import InboxLimits
from hob.store.store import Store

SESSION = SessionKey("memory:main")


class FreeControl:
    """Implements `TurnControl`: nothing may join and nothing is stopped until the test says so."""

    def __init__(self) -> None:
        self.waiting: set[InboundId] = set()
        self.later: list[Inbound] = []
        self.taken: list[InboundId] = []
        self._reason: str | None = None
        self.is_shutting_down = False

    def joinable(self) -> Collection[InboundId]:
        return self.waiting

    def followups(self) -> Sequence[Inbound]:
        return self.later

    def mark_joined(self, inbounds: Sequence[InboundId]) -> None:
        self.waiting.clear()
        self.taken.extend(inbounds)

    def stop_reason(self) -> str | None:
        return self._reason

    def stop(self, task: "asyncio.Task[object]", reason: str) -> None:
        """Cancel the turn's task as a person would."""
        self._reason = reason
        task.cancel()


class NoticeRecorder:
    """Implements `Notices`: `seen` holds every notice."""

    def __init__(self) -> None:
        self.seen: list[Notice] = []

    def publish(self, notice: Notice) -> None:
        self.seen.append(notice)

    def of(self, *kinds: type) -> list[Notice]:
        """Return the notices of these kinds, in order."""
        return [notice for notice in self.seen if isinstance(notice, kinds)]

    @property
    def streamed(self) -> str:
        """All streamed text."""
        return "".join(notice.text for notice in self.seen if isinstance(notice, Delta) and not notice.reasoning)


async def put_message(store: Store, inbound: Inbound, session: SessionKey = SESSION) -> None:
    """Put the message into the inbox of the session."""
    event = TimelineEvent(
        new_event_id(), inbound.trace, new_span_id(), None, 0.0, EventKind.INBOUND, inbound.origin.channel
    )
    await store.inbox.accept(inbound, session=session, limits=InboxLimits(), event=event)


async def make_turn(store: Store, *inbounds: Inbound, session: SessionKey = SESSION) -> Turn:
    """Start a turn with these messages, as a session queue would."""
    for inbound in inbounds:
        await put_message(store, inbound, session)
    return await store.inbox.claim(session, [inbound.id for inbound in inbounds])
