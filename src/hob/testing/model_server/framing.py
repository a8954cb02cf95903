"""How a stream's events become bytes: server-sent events, a JSON object a line, or one JSON array."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from hob.testing.model_server.replies import Fault


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a stream. `name` is the `event:` line of server-sent events; empty: there is none."""

    data: str
    name: str = ""


class Framing(StrEnum):
    """The value is the media type; SSE_CRLF is Google's way of writing server-sent events."""

    SSE = "text/event-stream; charset=utf-8"
    SSE_CRLF = "text/event-stream"
    LINES = "application/x-ndjson"
    ARRAY = "application/json; charset=UTF-8"


def frame(events: Sequence[Event], framing: Framing, fault: Fault | None, *, closed: bool) -> Iterator[bytes]:
    """The bytes of these events. `closed`: the stream ends as it should."""
    for number, event in enumerate(events):
        if fault is Fault.PINGS:
            yield _ping(number, framing)
        line = _frame(event, number, framing, "\r\n" if fault is Fault.CRLF else "\n")
        if fault is Fault.DRIP:  # cut anywhere, inside characters too
            yield from (line[at : at + 37] for at in range(0, len(line), 37))
        else:
            yield line
    if closed and framing is Framing.ARRAY:
        yield b"\n]\n" if events else b"[]\n"


def _frame(event: Event, number: int, framing: Framing, end: str) -> bytes:
    match framing:
        case Framing.LINES:
            return f"{event.data}{end}".encode()
        case Framing.ARRAY:
            return (",\r\n" if number else "[").encode() + event.data.encode()
        case Framing.SSE_CRLF:
            end = "\r\n"
        case Framing.SSE:
            pass
    named = f"event: {event.name}{end}" if event.name else ""
    return f"{named}data: {event.data}{end}{end}".encode()


def _ping(number: int, framing: Framing) -> bytes:
    if framing in (Framing.LINES, Framing.ARRAY):
        return b"\n"  # blanks are all that these can carry
    return f": ping {number}\n\nevent: ping\n\n".encode()
