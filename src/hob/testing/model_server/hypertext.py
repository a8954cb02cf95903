"""HTTP for the fake model server: requests as values, responses as bytes and actions. No sockets."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum, StrEnum
from typing import Any

from hob.core.values import dataclass
from hob.testing.model_server.replies import Fault

# Encoding of stream events: server-sent events, one JSON object per line, or one JSON array.


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a stream. `name` is the `event:` line of server-sent events, if not empty."""

    data: str
    name: str = ""


class Framing(StrEnum):
    """Encoding of a stream; the value is the media type. SSE_CRLF is Google's variant of server-sent events."""

    SSE = "text/event-stream; charset=utf-8"
    SSE_CRLF = "text/event-stream"
    LINES = "application/x-ndjson"
    ARRAY = "application/json; charset=UTF-8"


def frame(events: Sequence[Event], framing: Framing, fault: Fault | None, *, closed: bool) -> Iterator[bytes]:
    """Encode the events. `closed`: the stream ends regularly."""
    for number, event in enumerate(events):
        if fault is Fault.PINGS:
            yield _ping(number, framing)
        line = _frame(event, number, framing, "\r\n" if fault is Fault.CRLF else "\n")
        if fault is Fault.DRIP:  # split anywhere, even inside characters
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
        return b"\n"  # these formats allow only white space
    return f": ping {number}\n\nevent: ping\n\n".encode()


MAX_BODY = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A received request. `at` is monotonic time; header names are in lower case."""

    at: float
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """Return the parsed body. Raises ValueError."""
        return json.loads(self.body)


class End(Enum):
    """End of an exchange: the connection is dropped or hangs."""

    DROP = "drop"
    HANG = "hang"


Action = bytes | float | End
"""Bytes to send, seconds to wait, or the end."""

_STATUSES = {
    200: "OK",
    400: "Bad Request",
    401: "Unauthorized",
    402: "Payment Required",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    413: "Content Too Large",
    415: "Unsupported Media Type",
    429: "Too Many Requests",
    500: "Internal Server Error",
    502: "Bad Gateway",
    503: "Service Unavailable",
    529: "Site is overloaded",
}
STREAM_END = b"0\r\n\r\n"

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def dump(value: object) -> str:
    """Return JSON as servers write it: without spaces and needless escapes."""
    return _encode(value)


def make_response(
    status: int, body: bytes, kind: str = "application/json", headers: Mapping[str, str] | None = None
) -> bytes:
    """Return a complete HTTP response."""
    return _head(status, kind, headers, f"content-length: {len(body)}") + body


def make_json_response(status: int, value: object, headers: Mapping[str, str] | None = None) -> bytes:
    """Return a complete HTTP response with a JSON body."""
    return make_response(status, dump(value).encode(), headers=headers)


def make_stream_head(kind: str, headers: Mapping[str, str] | None = None) -> bytes:
    """Return the head of a chunked response."""
    return _head(200, kind, headers, "cache-control: no-cache\r\ntransfer-encoding: chunked")


def make_chunk(data: bytes) -> bytes:
    """Return one chunk of a chunked body."""
    return b"%x\r\n%b\r\n" % (len(data), data)


def _head(status: int, kind: str, headers: Mapping[str, str] | None, length: str) -> bytes:
    more = "".join(f"{name}: {value}\r\n" for name, value in (headers or {}).items())
    return f"HTTP/1.1 {status} {_STATUSES[status]}\r\ncontent-type: {kind}\r\n{more}{length}\r\n\r\n".encode()


def insert_pauses(actions: Iterable[Action], pause: float) -> list[Action]:
    """Insert a pause (seconds) between actions; none if 0."""
    if not pause:
        return list(actions)
    return [part for action in actions for part in (pause, action)][1:]
