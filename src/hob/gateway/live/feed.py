"""Events as they are told: read and written out once for all connections that are at the same place."""

import asyncio
from collections.abc import Sequence

from hob.core.values import dataclass
from hob.gateway.http.reply import encoded
from hob.gateway.live.messages import EventMessage
from hob.gateway.routes.views import event_view, without_content
from hob.store.timeline import Timeline


@dataclass(frozen=True, slots=True)
class ToldEvents:
    """Messages, each beside its JSON, and the place up to which there is no other."""

    messages: tuple[tuple[EventMessage, str], ...]
    upto: int


class EventFeed:
    """What is being read for somebody is read for whoever asks for the same meanwhile."""

    def __init__(self) -> None:
        self._reading: dict[tuple[object, ...], asyncio.Future[ToldEvents | None]] = {}

    async def follow(
        self, timeline: Timeline, after: int, limit: int, *, sessions: Sequence[str], kinds: Sequence[str], reads: bool
    ) -> ToldEvents:
        """The next events after a place, whole if the caller `reads`; all that was committed before is among them."""
        key = (timeline.commits, after, limit, sessions, kinds, reads)
        while (reading := self._reading.get(key)) is not None:
            found = await asyncio.shield(reading)
            if found is not None:  # else whoever read went away, or failed
                return found
        found, self._reading[key] = None, asyncio.get_running_loop().create_future()
        try:
            found = await _read(timeline, after, limit, sessions, kinds, reads=reads)
            return found
        finally:
            self._reading.pop(key).set_result(found)


async def _read(
    timeline: Timeline, after: int, limit: int, sessions: Sequence[str], kinds: Sequence[str], *, reads: bool
) -> ToldEvents:
    found = await timeline.follow(after, limit, sessions=sessions, kinds=kinds)
    views = ((cursor, event_view(event)) for cursor, event in found.events)
    told = (EventMessage(cursor=cursor, event=view if reads else without_content(view)) for cursor, view in views)
    return ToldEvents(tuple((message, encoded(message).decode()) for message in told), found.upto)
