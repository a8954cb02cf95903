"""Timeline pages, newest first."""

from collections.abc import Iterable, Mapping
from typing import Any, TypedDict

from hob.core.events.timeline import EventKind, TimelineEvent
from hob.core.ids import EventId
from hob.core.values import dataclass
from hob.gateway.auth.callers import ApiCaller, TokenScope
from hob.gateway.http.endpoint import EndpointCall
from hob.gateway.http.fields import field
from hob.gateway.http.reply import JsonResponse, etagged
from hob.gateway.routes.views import EventAnswer, event_view, without_content
from hob.store.timeline import TimelineFilter

SPAN_TYPES: Mapping[EventKind, str] = {
    EventKind.INBOUND: "INBOUND",
    EventKind.STEER: "INBOUND",
    EventKind.OUTBOUND: "OUTBOUND",
    EventKind.DELIVERY: "OUTBOUND",
    EventKind.MODEL: "LLM",
    EventKind.TOOL: "TOOL",
    EventKind.POLICY: "POLICY",
    EventKind.APPROVAL: "APPROVAL",
    EventKind.SUBAGENT: "DELEGATION",
}
"""Span types by event kind, which determine the colours on the page; all others are EVENT."""


class EventFileAnswer(TypedDict):
    """A file attached to a message."""

    id: str
    name: str
    media_type: str
    size: int


class PlacedEvent(EventAnswer):
    """An event with its position.

    span_type: INBOUND, OUTBOUND, LLM, TOOL, POLICY, APPROVAL, DELEGATION or EVENT
    files: all files of a message; `media` is the first
    """

    cursor: int
    span_type: str
    files: list[EventFileAnswer]


class PageAnswer(TypedDict):
    """A page of the timeline, newest first.

    before: cursor of the next page; null on the last one
    newest: position of the newest event
    """

    events: list[PlacedEvent]
    before: int | None
    newest: int


@dataclass(frozen=True, slots=True)
class TimelinePageQuery:
    """Filters and position of a timeline page."""

    before: int | None = field("only those before this cursor; without it from the newest on", None, at_least=1)
    limit: int = field("at most so many", 50, at_least=1, at_most=500)
    offset: int = field("without so many of the newest; `before` costs less", 0, at_least=0, at_most=10_000)
    kind: str = field("these [kinds](timeline.md#kinds) alone, separated by commas", "")
    session: str = field("this session alone, by its whole key", "")
    trace_id: str = field("this trace alone", "")
    sender: str = field("this sender alone, by id or name", "")
    name: str = field("this tool, model, channel or command alone", "")
    text: str = field("those in whose text or name this stands", "")
    errors: bool = field("what went wrong alone", False)
    tainted: bool = field("what carries untrusted content alone", False)
    authorized: bool | None = field("what was allowed in alone, or what was not", None)
    cost: float = field("what cost at least so many dollars alone", 0.0, at_least=0, at_most=1_000_000)


async def timeline(call: EndpointCall[TimelinePageQuery]) -> JsonResponse[PageAnswer]:
    """Return a page of the timeline, newest first. `before` leads to the next page; null on the last one.

    A page may be short or even empty without being the last: one request scans at most 20,000 events.
    """
    payload = call.payload
    wanted = TimelineFilter(
        kinds=tuple(each for each in payload.kind.split(",") if each),
        sessions=(payload.session,) if payload.session else (),
        trace=payload.trace_id,
        sender=payload.sender,
        name=payload.name,
        text=payload.text if may_read(call.caller) else "",
        errors=payload.errors,
        tainted=payload.tainted,
        authorized=payload.authorized,
        cost=round(payload.cost * 1e6),
    )
    page = await call.api.store.timeline.page(payload.before, payload.limit + payload.offset, wanted)
    shown = page.events[payload.offset :]
    files = await attached_files(call, [event for _, event in shown])
    readable = may_read(call.caller)
    events = [_event(place, event, files, readable=readable) for place, event in shown]
    return etagged(call.request, {"events": events, "before": page.before, "newest": page.newest})


def may_read(caller: ApiCaller) -> bool:
    """Whether the caller may read message content."""
    return caller.may(TokenScope.READ)


async def attached_files(
    call: EndpointCall[Any], events: Iterable[TimelineEvent]
) -> Mapping[EventId, list[EventFileAnswer]]:
    """Return the attachments of these messages, if the caller may see them."""
    began = [event for event in events if event.media is not None] if may_read(call.caller) else []
    found = await call.api.store.inbox.attached({event.trace for event in began})
    return {
        event.id: [
            {"id": each.blob, "name": each.name, "media_type": each.media_type, "size": each.size}
            for each in found.get(event.trace, ())
            if each.blob is not None
        ]
        for event in began
    }


def _event(
    place: int, event: TimelineEvent, files: Mapping[EventId, list[EventFileAnswer]], *, readable: bool
) -> PlacedEvent:
    view = event_view(event) if readable else without_content(event_view(event))
    span_type = SPAN_TYPES.get(event.kind, "EVENT")
    return {"cursor": place, **view, "span_type": span_type, "files": files.get(event.id, [])}
