"""Interface of a wire, and shared parts: refusals, faults, and the conversion of replies to actions."""

import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import Enum, auto
from typing import Any, Protocol, TypeVar

from hob.core.values import dataclass
from hob.testing.model_server.hypertext import (
    STREAM_END,
    Action,
    End,
    Event,
    HttpRequest,
    dump,
    frame,
    insert_pauses,
    make_chunk,
    make_response,
    make_stream_head,
)
from hob.testing.model_server.prompt import Prompt, Tokens
from hob.testing.model_server.replies import Fault, Reply


class Cause(Enum):
    """Cause of a refusal; each vendor has its own message and status for it."""

    INTERNAL = auto()
    OVERLOADED = auto()
    RATE = auto()
    QUOTA = auto()
    PAYMENT = auto()
    KEY = auto()
    NO_KEY = auto()
    FORBIDDEN = auto()
    BAD_REQUEST = auto()
    NO_MODEL = auto()
    NO_PATH = auto()
    OVERFLOW = auto()
    TOO_LARGE = auto()


@dataclass(frozen=True, slots=True)
class WireRefusal:
    """One refusal. An empty `message` means the vendor's usual one. `wait` is in seconds; `dated`: sent as a date."""

    cause: Cause
    message: str = ""
    param: str | None = None
    code: str | None = None
    status: int | None = None
    wait: float | None = None
    dated: bool = False

    @property
    def retry_after(self) -> Mapping[str, str]:
        """The header, if there is a wait."""
        if self.wait is None:
            return {}
        return {"retry-after": http_date(time.time() + self.wait) if self.dated else f"{self.wait:g}"}


class WireRefused(Exception):
    """The request is refused."""

    def __init__(self, refusal: WireRefusal) -> None:
        super().__init__(refusal.message)
        self.refusal = refusal


def bad_request(message: str, param: str | None = None, code: str | None = None) -> WireRefused:
    """Return the error for a request that the real server answers with 400."""
    return WireRefused(WireRefusal(Cause.BAD_REQUEST, message, param, code))


def refuse_if(wrong: object, message: str, param: str | None = None, code: str | None = None) -> None:
    """Raise WireRefused, like `bad_request`, if `wrong` is true."""
    if wrong:
        raise bad_request(message, param, code)


@dataclass(frozen=True, slots=True)
class WireAnswer:
    """One reply to one prompt. `number` makes its ids."""

    reply: Reply
    prompt: Prompt
    number: str
    tokens: Tokens
    asked: HttpRequest

    @property
    def said(self) -> int:
        """Tokens of the answer without reasoning."""
        return len(self.reply.text.split()) + 8 * len(self.reply.calls)

    @property
    def thought(self) -> int:
        """Tokens of the reasoning."""
        return len(self.reply.reasoning.split())

    def is_(self, fault: Fault) -> bool:
        """Whether the reply has this fault or oddity."""
        return self.reply.fault is fault

    def call_id(self, n: int, prefix: str) -> str:
        """Return the id of the n-th call."""
        return f"{prefix}{self.number}_{0 if self.is_(Fault.DUPLICATE_IDS) else n}"


class WireWriter(Protocol):
    """Writes one answer in the format of a wire: as events, or whole."""

    _answer: WireAnswer
    _reply: Reply

    def __init__(self, answer: WireAnswer) -> None:
        self._answer = answer
        self._reply = answer.reply

    def head(self) -> Sequence[Event]:
        """Return the events before the answer."""
        return []

    def body(self) -> Sequence[Event]:
        """Return the events of the answer."""

    def tail(self) -> Sequence[Event]:
        """Return the final events: finish reason, usage and end."""

    def broken(self) -> Event:
        """Return the error events in place of the rest."""

    def whole(self) -> object:
        """Return everything as one JSON value."""


class Wire(Protocol):
    """One vendor's chat protocol."""

    writes: type[WireWriter]
    """Writer of its answers."""

    def key(self, http_request: HttpRequest) -> str:
        """Return the API key of the request."""
        return http_request.headers.get("authorization", "").partition(" ")[2]

    def read(self, http_request: HttpRequest, request: Mapping[str, Any]) -> Prompt:
        """Check a request as the vendor does. Raises WireRefused."""

    def refuse(self, refusal: WireRefusal, number: str, http_request: HttpRequest) -> bytes:
        """Return the HTTP response for a refusal."""

    def headers(self, number: str, wait: float | None = None) -> Mapping[str, str]:
        """Return the response headers besides the media type; after `wait` seconds requests are allowed again."""
        return {}


def perform(wire: Wire, answer: WireAnswer) -> list[Action]:
    """Return the actions for a valid request."""
    reply = answer.reply
    fault = reply.fault
    before: list[Action] = [reply.delay] if reply.delay else []
    kind = answer.prompt.framing if answer.prompt.stream else _JSON
    if instead := perform_instead(wire, reply, answer.number, answer.asked, kind):
        return [*before, *instead]
    if fault is Fault.EMPTY_ANSWER:
        answer = replace(answer, reply=replace(reply, text="", calls=(), reasoning=""))
    elif answer.prompt.thinks and not reply.reasoning:
        answer = replace(answer, reply=replace(reply, reasoning="Let me think."))
    notifier = wire.writes(answer)
    if answer.prompt.stream and fault is not Fault.PLAIN_JSON:
        return [*before, *_stream(wire, answer, notifier)]
    told = notifier.broken().data if fault is Fault.ERROR_FIRST else dump(notifier.whole())
    body = told.encode()
    return [*before, *perform_whole(reply.fault, body, _JSON, wire.headers(answer.number))]


def perform_whole(fault: Fault | None, body: bytes, kind: str, headers: Mapping[str, str]) -> list[Action]:
    """Return the actions for a whole answer, or as much of it as the fault allows."""
    sent = make_response(200, body, kind, headers)
    if fault is Fault.SILENCE_MIDDLE:
        return [sent[: -(len(body) // 2) - 1], End.HANG]
    return [sent[: -(len(body) // 2) - 1], End.DROP] if fault in _CUTS else [sent]


def perform_instead(wire: Wire, reply: Reply, number: str, http_request: HttpRequest, kind: str) -> list[Action]:
    """Return the actions in place of an answer; none for faults within the answer."""
    if reply.fault is None:
        return []
    if refusal := find_refusal(reply.fault, reply.retry_after):
        return [wire.refuse(refusal, number, http_request)]
    match reply.fault:
        case Fault.HTML_200 | Fault.HTML_502:
            return [make_response(200 if reply.fault is Fault.HTML_200 else 502, _PAGE, "text/html")]
        case Fault.GARBAGE:
            return [make_response(200, bytes(range(1, 256)) * 4, kind)]
        case Fault.EMPTY_BODY:
            return [make_response(200, b"", kind)]
        case Fault.CUT_BEFORE:
            return [End.DROP]
        case Fault.SILENCE:
            return [End.HANG]
        case _:
            return []


_JSON = "application/json"
_CUTS = frozenset({Fault.CUT_HEADERS, Fault.CUT_JSON, Fault.CUT_MIDDLE, Fault.CUT_AFTER_TEXT, Fault.ERROR_EVENT})


def _stream(wire: Wire, answer: WireAnswer, notifier: WireWriter) -> list[Action]:
    framing = answer.prompt.framing
    fault = answer.reply.fault
    head, body = list(notifier.head()), list(notifier.body())
    half = body[: max(1, len(body) // 2)]
    end: Action = STREAM_END
    match fault:
        case Fault.CUT_HEADERS:
            events, end = [], End.DROP
        case Fault.CUT_JSON:
            events = [*head, Event(body[0].data[: len(body[0].data) // 2], body[0].name) if body else Event("{")]
        case Fault.CUT_MIDDLE:
            events, end = head + half, End.DROP
        case Fault.CUT_AFTER_TEXT:
            events, end = head + body, End.DROP
        case Fault.ERROR_FIRST:
            events = [*head, notifier.broken()]
        case Fault.ERROR_EVENT:
            events = [*head, *half, notifier.broken()]
        case Fault.SILENCE_MIDDLE:
            events, end = head + half, End.HANG
        case _:
            events = [*head, *body, *notifier.tail()]
    closed = end is STREAM_END and fault is not Fault.CUT_JSON
    frames = (make_chunk(data) for data in frame(events, framing, fault, closed=closed))
    pause = answer.reply.pause or (0.002 if fault is Fault.DRIP else 0.0)
    return insert_pauses([make_stream_head(framing, wire.headers(answer.number)), *frames, end], pause)


def find_refusal(fault: Fault, retry_after: float | None = None) -> WireRefusal | None:
    """Return the refusal for a fault; None for other faults."""
    if fault in _WAITS:
        wait = _WAITS[fault] if retry_after is None else retry_after
        return WireRefusal(Cause.RATE, wait=wait, dated=fault is Fault.RATE_DATE)
    refusal = _REFUSALS.get(fault)
    return refusal and replace(refusal, wait=retry_after)


_WAITS = {Fault.RATE_SHORT: 1.0, Fault.RATE_LONG: 3600.0, Fault.RATE_DATE: 2.0}
_REFUSALS = {
    Fault.ERROR_500: WireRefusal(Cause.INTERNAL),
    Fault.ERROR_503: WireRefusal(Cause.OVERLOADED, status=503),
    Fault.OVERLOADED: WireRefusal(Cause.OVERLOADED),
    Fault.UNAUTHORIZED: WireRefusal(Cause.KEY, param="sk-wrong"),
    Fault.FORBIDDEN: WireRefusal(Cause.FORBIDDEN),
    Fault.PAYMENT: WireRefusal(Cause.PAYMENT),
    Fault.QUOTA: WireRefusal(Cause.QUOTA),
    Fault.BAD_REQUEST: WireRefusal(Cause.BAD_REQUEST),
    Fault.NOT_FOUND: WireRefusal(Cause.NO_MODEL),
    Fault.OVERFLOW: WireRefusal(Cause.OVERFLOW),
}
_PAGE = b"<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body><h1>Hotel Wi-Fi</h1></body></html>\n"


def http_date(at: float) -> str:
    """Return a time as an HTTP date."""
    return time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(at))


def split_words(text: str) -> frozenset[str]:
    """Split a text into a set of names."""
    return frozenset(text.split())


def split_text(text: str) -> list[str]:
    """Split a text into streamed pieces: words."""
    return re.findall(r"\S+\s*|\s+", text)


def split_arguments(arguments: str, fault: Fault | None) -> Iterator[str]:
    """Split a call's arguments into streamed pieces."""
    step = 1 if fault is Fault.SPLIT_ESCAPE else 12
    return (arguments[start : start + step] for start in range(0, len(arguments), step))


_T = TypeVar("_T")


def interleave(rows: Sequence[Sequence[_T]]) -> Iterable[_T]:
    """Alternate between the rows, one item each."""
    for place in range(max(map(len, rows), default=0)):
        for row in rows:
            yield from row[place : place + 1]


def order_rows(rows: Sequence[Sequence[_T]], fault: Fault | None) -> Iterable[_T]:
    """Return the rows one after another, or alternating if the fault says so."""
    return interleave(rows) if fault is Fault.INTERLEAVED else (item for row in rows for item in row)
