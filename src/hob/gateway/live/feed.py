"""Live events, read and encoded once for all connections at the same position."""

import asyncio
from collections.abc import Sequence

from hob.core.values import dataclass
from hob.gateway.http.reply import encoded
from hob.gateway.live.messages import EventMessage
from hob.gateway.routes.views import event_view, without_content
from hob.store.timeline import Timeline


@dataclass(frozen=True, slots=True)
class EncodedEvents:
    """Event messages with their JSON, and the position up to which they are complete."""

    messages: tuple[tuple[EventMessage, str], ...]
    upto: int


class EventFeed:
    """Shares each read of the timeline between concurrent connections."""

    def __init__(self) -> None:
        self._reading: dict[tuple[object, ...], asyncio.Future[EncodedEvents | None]] = {}

    async def follow(
        self, timeline: Timeline, after: int, limit: int, *, sessions: Sequence[str], kinds: Sequence[str], reads: bool
    ) -> EncodedEvents:
        """Return the next events after a position, with content if the caller `reads`. Includes everything committed
        before.
        """
        key = (timeline.commits, after, limit, sessions, kinds, reads)
        while (reading := self._reading.get(key)) is not None:
            found = await asyncio.shield(reading)
            if found is not None:  # else the reading connection was closed, or its read failed
                return found
        found, self._reading[key] = None, asyncio.get_running_loop().create_future()
        try:
            found = await _read(timeline, after, limit, sessions, kinds, reads=reads)
            return found
        finally:
            self._reading.pop(key).set_result(found)


async def _read(
    timeline: Timeline, after: int, limit: int, sessions: Sequence[str], kinds: Sequence[str], *, reads: bool
) -> EncodedEvents:
    found = await timeline.follow(after, limit, sessions=sessions, kinds=kinds)
    views = ((cursor, event_view(event)) for cursor, event in found.events)
    told = (EventMessage(cursor=cursor, event=view if reads else without_content(view)) for cursor, view in views)
    return EncodedEvents(tuple((message, encoded(message).decode()) for message in told), found.upto)
