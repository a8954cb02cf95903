"""What the fake OpenAI server says: replies and faults as values, and the bytes they become. No sockets here."""

import json
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from enum import Enum, StrEnum
from typing import Any


class Fault(StrEnum):
    """Everything a model server can do wrong, and some oddities that are right but rare."""

    ERROR_500 = "error_500"
    ERROR_503 = "error_503"
    RATE_SHORT = "rate_short"
    RATE_LONG = "rate_long"
    RATE_DATE = "rate_date"
    UNAUTHORIZED = "unauthorized"
    PAYMENT = "payment"
    QUOTA = "quota"
    BAD_REQUEST = "bad_request"
    NOT_FOUND = "not_found"
    OVERFLOW = "overflow"
    FILTERED = "filtered"
    HTML_200 = "html_200"
    HTML_502 = "html_502"
    GARBAGE = "garbage"
    EMPTY_BODY = "empty_body"
    EMPTY_ANSWER = "empty_answer"
    CUT_BEFORE = "cut_before"
    CUT_HEADERS = "cut_headers"
    CUT_JSON = "cut_json"
    CUT_MIDDLE = "cut_middle"
    CUT_AFTER_TEXT = "cut_after_text"
    ERROR_FIRST = "error_first"
    ERROR_EVENT = "error_event"
    SILENCE = "silence"
    SILENCE_MIDDLE = "silence_middle"
    # oddities: the answer is whole
    PINGS = "pings"
    CRLF = "crlf"
    DRIP = "drip"
    NO_FINISH = "no_finish"
    NO_DONE = "no_done"
    NO_USAGE = "no_usage"
    NO_INDEX = "no_index"
    NO_IDS = "no_ids"
    DUPLICATE_IDS = "duplicate_ids"
    INTERLEAVED = "interleaved"
    SPLIT_ESCAPE = "split_escape"
    PLAIN_JSON = "plain_json"


ODDITIES = frozenset(
    {
        Fault.PINGS,
        Fault.CRLF,
        Fault.DRIP,
        Fault.NO_FINISH,
        Fault.NO_DONE,
        Fault.NO_USAGE,
        Fault.NO_INDEX,
        Fault.NO_IDS,
        Fault.DUPLICATE_IDS,
        Fault.INTERLEAVED,
        Fault.SPLIT_ESCAPE,
        Fault.PLAIN_JSON,
    }
)
"""Faults after which there is an answer all the same."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer. `calls` are `(name, JSON arguments)`; `delay` (seconds) lies before the first byte, `pause` between

    events. `retry_after` (seconds) overrides what a rate-limiting fault says.
    """

    text: str = ""
    calls: tuple[tuple[str, str], ...] = ()
    reasoning: str = ""
    fault: Fault | None = None
    delay: float = 0.0
    pause: float = 0.0
    retry_after: float | None = None


def reply_of(data: str | Mapping[str, Any]) -> Reply:
    """A reply from JSON: a text, or an object with the fields of `Reply`. Raises ValueError."""
    if isinstance(data, str):
        return Reply(data)
    unknown = set(data) - {field.name for field in fields(Reply)}
    if unknown:
        raise ValueError(f"a reply has no {', '.join(sorted(unknown))}")
    values = dict(data)
    if "calls" in values:
        values["calls"] = tuple((name, _json_text(arguments)) for name, arguments in values["calls"])
    if values.get("fault"):
        values["fault"] = Fault(values["fault"])
    return Reply(**values)


def _json_text(arguments: object) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


class End(Enum):
    """How a connection ends, or does not."""

    DROP = "drop"
    HANG = "hang"


Action = bytes | float | End
"""Bytes to send, seconds to wait, or the end."""

_STATUSES = {
    200: "OK",
    400: "Bad Request",
    401: "Unauthorized",
    402: "Payment Required",
    404: "Not Found",
    413: "Content Too Large",
    429: "Too Many Requests",
    500: "Internal Server Error",
    502: "Bad Gateway",
    503: "Service Unavailable",
}


def whole(status: int, body: bytes, kind: str = "application/json", headers: Mapping[str, str] | None = None) -> bytes:
    """A complete HTTP answer."""
    lines = [f"HTTP/1.1 {status} {_STATUSES[status]}", f"content-type: {kind}", f"content-length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def error(status: int, message: str, *, kind: str, code: str | None = None, **headers: str) -> bytes:
    """An HTTP answer with OpenAI's error object."""
    body = {"error": {"message": message, "type": kind, "param": None, "code": code}}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return whole(status, json.dumps(body).encode(), headers=named)


def failing(fault: Fault, retry_after: float | None) -> bytes | None:
    """The HTTP answer of a fault that comes instead of any stream; None for the others."""
    if fault in _ERRORS:
        status, message, kind, code = _ERRORS[fault]
        return error(status, message, kind=kind, code=code)
    match fault:
        case Fault.RATE_SHORT | Fault.RATE_LONG:
            wait = retry_after if retry_after is not None else 1 if fault is Fault.RATE_SHORT else 3600
            return _rate_limited(f"{wait:g}")
        case Fault.RATE_DATE:
            return _rate_limited(_http_date(time.time() + (retry_after if retry_after is not None else 2)))
        case Fault.UNAUTHORIZED:
            return unauthorized("sk-wrong")
        case Fault.OVERFLOW:
            return too_long()
        case Fault.HTML_200 | Fault.HTML_502:
            return whole(200 if fault is Fault.HTML_200 else 502, _PAGE, "text/html")
        case Fault.GARBAGE:
            return whole(200, bytes(range(1, 256)) * 4, "text/event-stream")
        case Fault.EMPTY_BODY:
            return whole(200, b"", "text/event-stream")
        case _:
            return None


_ERRORS: Mapping[Fault, tuple[int, str, str, str | None]] = {
    Fault.ERROR_500: (500, "The server had an error while processing the request.", "server_error", None),
    Fault.ERROR_503: (503, "The engine is currently overloaded.", "server_error", None),
    Fault.PAYMENT: (402, "Insufficient credits.", "billing_error", "insufficient_credits"),
    Fault.QUOTA: (429, "You have no quota left.", "insufficient_quota", "insufficient_quota"),
    Fault.BAD_REQUEST: (400, "Unknown parameter: 'frobnicate'.", "invalid_request_error", None),
    Fault.NOT_FOUND: (404, "The model does not exist.", "invalid_request_error", "model_not_found"),
}
_PAGE = b"<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body><h1>Hotel Wi-Fi</h1></body></html>\n"


def unauthorized(key: str) -> bytes:
    """The answer to a wrong key; like the real one it repeats what it was sent."""
    return error(401, f"Incorrect API key provided: {key}.", kind="invalid_request_error", code="invalid_api_key")


def too_long() -> bytes:
    """The answer to a request that does not fit into the context."""
    message = "This model's maximum context length is 8192 tokens. Please reduce the length of the messages."
    return error(400, message, kind="invalid_request_error", code="context_length_exceeded")


def _rate_limited(retry_after: str) -> bytes:
    message = "Rate limit reached for requests."
    return error(429, message, kind="requests", code="rate_limit_exceeded", retry_after=retry_after)


def _http_date(at: float) -> str:
    return time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(at))


def answer(reply: Reply, request: Mapping[str, Any], number: int, size: int) -> list[Action]:
    """What is done about one well-formed request. `number` makes its ids, `size` (bytes of its body) its usage."""
    actions: list[Action] = [reply.delay] if reply.delay else []
    instead = failing(reply.fault, reply.retry_after) if reply.fault else None
    if instead is not None:
        return [*actions, instead]
    if reply.fault in (Fault.CUT_BEFORE, Fault.SILENCE):
        return [*actions, End.DROP if reply.fault is Fault.CUT_BEFORE else End.HANG]
    if request.get("stream") and reply.fault is not Fault.PLAIN_JSON:
        return [*actions, *_stream(reply, _Told(reply, request, number, size))]
    body = whole(200, _Told(reply, request, number, size).completion())
    if reply.fault in _CUTS:
        return [*actions, body[: -len(body) // 4], End.DROP]
    if reply.fault is Fault.SILENCE_MIDDLE:
        return [*actions, body[: -len(body) // 4], End.HANG]
    return [*actions, body]


_CUTS = frozenset({Fault.CUT_HEADERS, Fault.CUT_JSON, Fault.CUT_MIDDLE, Fault.CUT_AFTER_TEXT, Fault.ERROR_EVENT})


class _Told:
    """One reply as chunks or as one completion."""

    def __init__(self, reply: Reply, request: Mapping[str, Any], number: int, size: int) -> None:
        empty = reply.fault is Fault.EMPTY_ANSWER
        self.text = "" if empty else reply.text
        self.calls = () if empty else reply.calls
        self.reasoning = reply.reasoning
        self.fault = reply.fault
        self.number = number
        self.model = str(request.get("model", ""))
        self.usage = {
            "prompt_tokens": size // 4,
            "completion_tokens": (words := len(self.text.split()) + 8 * len(self.calls)),
            "total_tokens": size // 4 + words,
            "prompt_tokens_details": {"cached_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": len(self.reasoning.split())},
        }
        options = request.get("stream_options") or {}
        self.tells_usage = bool(options.get("include_usage")) and reply.fault is not Fault.NO_USAGE
        self.finish = "tool_calls" if self.calls else "stop"
        if reply.fault is Fault.FILTERED:
            self.finish = "content_filter"

    def completion(self) -> bytes:
        message: dict[str, Any] = {"role": "assistant", "content": self.text or None, "refusal": None}
        if self.reasoning:
            message["reasoning_content"] = self.reasoning
        if self.calls:
            message["tool_calls"] = [
                {"id": self._id(n), "type": "function", "function": {"name": name, "arguments": arguments}}
                for n, (name, arguments) in enumerate(self.calls)
            ]
        body: dict[str, Any] = {
            "id": f"chatcmpl-{self.number}",
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": self.model,
            "choices": [{"index": 0, "message": message, "finish_reason": self.finish, "logprobs": None}],
        }
        if self.fault is not Fault.NO_USAGE:
            body["usage"] = self.usage
        return json.dumps(body).encode()

    def _id(self, n: int) -> str:
        return f"call_{self.number}_{0 if self.fault is Fault.DUPLICATE_IDS else n}"

    def head(self) -> list[str]:
        """Chunks before any text."""
        return [self._chunk({"role": "assistant", "content": ""})]

    def body(self) -> list[str]:
        """Chunks that carry the answer."""
        chunks = [self._chunk({"reasoning_content": piece}) for piece in _pieces(self.reasoning)]
        chunks += [self._chunk({"content": piece}) for piece in _pieces(self.text)]
        fragments = [list(self._fragments(n, *call)) for n, call in enumerate(self.calls)]
        if self.fault is Fault.INTERLEAVED:
            ordered: Iterable[dict[str, Any]] = _interleave(fragments)
        else:
            ordered = (fragment for call in fragments for fragment in call)
        return chunks + [self._chunk({"tool_calls": [fragment]}) for fragment in ordered]

    def tail(self) -> list[str]:
        """Finish reason, usage and end."""
        chunks = [] if self.fault is Fault.NO_FINISH else [self._chunk({}, self.finish)]
        if self.tells_usage:
            chunks.append(self._prefix() + f'"choices":[],"usage":{json.dumps(self.usage)}}}')
        return chunks if self.fault is Fault.NO_DONE else [*chunks, "[DONE]"]

    def _prefix(self) -> str:
        return (
            f'{{"id":"chatcmpl-{self.number}","object":"chat.completion.chunk","created":1700000000,'
            f'"model":{json.dumps(self.model)},'
        )

    def _chunk(self, delta: Mapping[str, Any], finish: str | None = None) -> str:
        usage = ',"usage":null' if self.tells_usage else ""
        return (
            f'{self._prefix()}"choices":[{{"index":0,"delta":{json.dumps(delta, ensure_ascii=False)},'
            f'"finish_reason":{json.dumps(finish)}}}]{usage}}}'
        )

    def _fragments(self, n: int, name: str, arguments: str) -> Iterator[dict[str, Any]]:
        index = {} if self.fault is Fault.NO_INDEX else {"index": n}
        identity = {} if self.fault is Fault.NO_IDS else {"id": self._id(n)}
        yield {**index, **identity, "type": "function", "function": {"name": name, "arguments": ""}}
        step = 1 if self.fault is Fault.SPLIT_ESCAPE else 12
        for start in range(0, len(arguments), step):
            yield {**index, "function": {"arguments": arguments[start : start + step]}}


def _pieces(text: str) -> list[str]:
    return re.findall(r"\S+\s*|\s+", text)


def _interleave(rows: Sequence[Sequence[dict[str, Any]]]) -> Iterator[dict[str, Any]]:
    for place in range(max(map(len, rows), default=0)):
        for row in rows:
            yield from row[place : place + 1]


_STREAM_HEAD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ncache-control: no-cache\r\n"
    b"transfer-encoding: chunked\r\n\r\n"
)
_STREAM_END = b"0\r\n\r\n"
_BROKEN = '{"error":{"message":"The server had an error.","type":"server_error","param":null,"code":null}}'


def _stream(reply: Reply, told: _Told) -> list[Action]:
    head, body, tail = told.head(), told.body(), told.tail()
    half = body[: max(1, len(body) // 2)]
    last: Action = _STREAM_END
    match reply.fault:
        case Fault.CUT_HEADERS:
            return [_STREAM_HEAD, End.DROP]
        case Fault.CUT_JSON:
            events, last = [*head, body[0][: len(body[0]) // 2] if body else "{"], _STREAM_END
        case Fault.CUT_MIDDLE:
            events, last = head + half, End.DROP
        case Fault.CUT_AFTER_TEXT:
            events, last = head + body, End.DROP
        case Fault.ERROR_FIRST:
            events = [*head, _BROKEN]
        case Fault.ERROR_EVENT:
            events = [*head, *half, _BROKEN]
        case Fault.SILENCE_MIDDLE:
            events, last = head + half, End.HANG
        case _:
            events = head + body + tail
    actions: list[Action] = [_STREAM_HEAD, *(_http_chunk(line) for line in _lines(events, reply.fault)), last]
    pause = reply.pause or (0.002 if reply.fault is Fault.DRIP else 0.0)
    return [part for action in actions for part in (pause, action)][1:] if pause else actions


def _lines(events: Sequence[str], fault: Fault | None) -> Iterator[bytes]:
    end = "\r\n" if fault is Fault.CRLF else "\n"
    for number, event in enumerate(events):
        if fault is Fault.PINGS:
            yield f": ping {number}\n\nevent: ping\n\n".encode()
        line = f"data: {event}{end}{end}".encode()
        if fault is Fault.DRIP:  # cut anywhere, inside characters too
            yield from (line[at : at + 37] for at in range(0, len(line), 37))
        else:
            yield line


def _http_chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)
