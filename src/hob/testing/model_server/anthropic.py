"""Anthropic Messages: https://platform.claude.com/docs/en/api/messages, .../build-with-claude/streaming."""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hob.testing.model_server import anthropic_rules as rules
from hob.testing.model_server.framing import Event
from hob.testing.model_server.hypertext import Asked, dump, whole_json
from hob.testing.model_server.prompt import Prompt, Turn
from hob.testing.model_server.replies import Fault
from hob.testing.model_server.signatures import seal, sign
from hob.testing.model_server.wire import (
    Cause,
    WireAnswer,
    WireRefusal,
    WireWriter,
    bearer,
    fragments,
    in_order,
    pieces,
)

_ERRORS: Mapping[Cause, tuple[int, str, str]] = {
    Cause.INTERNAL: (500, "api_error", "Internal server error"),
    Cause.OVERLOADED: (529, "overloaded_error", "Overloaded"),
    Cause.RATE: (429, "rate_limit_error", "This request would exceed your organization's rate limit."),
    Cause.QUOTA: (
        400,
        "invalid_request_error",
        "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to purchase credits.",
    ),
    Cause.PAYMENT: (402, "billing_error", "There is an issue with your billing or payment information."),
    Cause.KEY: (401, "authentication_error", "invalid x-api-key"),
    Cause.NO_KEY: (401, "authentication_error", "x-api-key header is required"),
    Cause.FORBIDDEN: (403, "permission_error", "Your API key does not have permission to use this resource."),
    Cause.BAD_REQUEST: (400, "invalid_request_error", "frobnicate: Extra inputs are not permitted"),
    Cause.NO_MODEL: (404, "not_found_error", "model: fake"),
    Cause.NO_PATH: (404, "not_found_error", "Not Found"),
    Cause.OVERFLOW: (400, "invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum"),
    Cause.TOO_LARGE: (413, "request_too_large", "Request exceeds the maximum size"),
}


class Anthropic:
    """Implements `Wire`."""

    def key(self, asked: Asked) -> str:
        return asked.headers.get("x-api-key") or bearer(asked)

    def read(self, asked: Asked, request: Mapping[str, Any]) -> Prompt:
        rules.check(asked, request)
        segments, marks = rules.segments(request)
        thinking = request.get("thinking") or {}
        return Prompt(
            model=request["model"],
            stream=bool(request.get("stream")),
            request=request,
            turns=list(_turns(request)),
            segments=segments,
            marks=marks,
            thinks=thinking.get("type") in ("enabled", "adaptive"),
            shows=thinking.get("display") != "omitted",
        )

    def refuse(self, refusal: WireRefusal, number: str, asked: Asked) -> bytes:
        status, kind, message = _ERRORS[refusal.cause]
        request_id = f"req_{number}"
        error = {"type": kind, "message": refusal.message or message}
        named = {**_headers(number, refusal.wait if refusal.cause is Cause.RATE else None), **refusal.retry_after}
        body = {"type": "error", "error": error, "request_id": request_id}
        return whole_json(refusal.status or status, body, named)

    def headers(self, number: str) -> Mapping[str, str]:
        return _headers(number)

    def tell(self, answer: WireAnswer) -> WireWriter:
        return _Message(answer)


def _headers(number: str, wait: float | None = None) -> Mapping[str, str]:
    """What every answer's head tells. `wait` is in seconds: until then no request is left.

    https://platform.claude.com/docs/en/api/rate-limits
    """
    reset = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + (wait or 0.0)))
    named = {"request-id": f"req_{number}", "anthropic-organization-id": "org_fake"}
    for kind, limit in (("requests", 50), ("tokens", 90_000), ("input-tokens", 50_000), ("output-tokens", 10_000)):
        left = 0 if wait is not None and kind == "requests" else limit - 1
        named[f"anthropic-ratelimit-{kind}-limit"] = str(limit)
        named[f"anthropic-ratelimit-{kind}-remaining"] = str(left)
        named[f"anthropic-ratelimit-{kind}-reset"] = reset
    return named


def _turns(request: Mapping[str, Any]) -> Iterator[Turn]:
    if request.get("system"):
        yield Turn("system", rules.text_of(request["system"]))
    for message in request["messages"]:
        blocks = rules.blocks_of(message["content"])
        for block in blocks:
            if block["type"] == "tool_result":
                yield Turn("tool", rules.text_of(block.get("content") or ""))
        if any(block["type"] != "tool_result" for block in blocks):
            yield Turn(message["role"], rules.text_of(blocks))


class _Message:
    """One reply as events or as one message."""

    def __init__(self, answer: WireAnswer) -> None:
        self._answer = answer
        self._reply = answer.reply
        self._blocks = list(_blocks(answer))
        self._stop = "tool_use" if answer.reply.calls else "end_turn"
        if answer.is_(Fault.FILTERED) or answer.reply.truncated:
            self._stop = "max_tokens" if answer.reply.truncated else "refusal"

    def whole(self) -> object:
        usage = {} if self._answer.is_(Fault.NO_USAGE) else {"usage": self._usage(self._output())}
        return {**self._message(), "content": self._blocks, **self._stopped(), **usage}

    def head(self) -> Sequence[Event]:
        usage = {} if self._answer.is_(Fault.NO_USAGE) else {"usage": self._usage(1)}
        return [_event("message_start", message={**self._message(), **usage})]

    def body(self) -> Sequence[Event]:
        rows = [list(self._events_of(n, block)) for n, block in enumerate(self._blocks)]
        plain = [row for row, block in zip(rows, self._blocks, strict=True) if block["type"] != "tool_use"]
        calls = [row for row, block in zip(rows, self._blocks, strict=True) if block["type"] == "tool_use"]
        events = [event for row in plain for event in row]
        events += in_order(calls, self._reply.fault)
        events.insert(1, _event("ping"))  # as the real one does, after the first block has begun
        return events

    def tail(self) -> Sequence[Event]:
        stop = None if self._answer.is_(Fault.NO_FINISH) else self._stop
        usage = {} if self._answer.is_(Fault.NO_USAGE) else {"usage": self._spent(self._output())}
        last = _event("message_delta", delta={**self._stopped(), "stop_reason": stop}, **usage)
        return [last] if self._answer.is_(Fault.NO_DONE) else [last, _event("message_stop")]

    def _stopped(self) -> dict[str, Any]:
        told: dict[str, Any] = {"stop_reason": self._stop, "stop_sequence": None}
        if self._stop == "refusal":
            why = "This request would violate the usage policy."
            told["stop_details"] = {"type": "refusal", "category": None, "explanation": why}
        return told

    def broken(self) -> Event:
        return _event("error", error={"type": "overloaded_error", "message": "Overloaded"})

    def _message(self) -> dict[str, Any]:
        return {
            "id": f"msg_{self._answer.number}",
            "type": "message",
            "role": "assistant",
            "model": self._answer.prompt.model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
        }

    def _output(self) -> int:
        return self._answer.said + self._answer.thought

    def _usage(self, output: int) -> Mapping[str, Any]:
        tokens = self._answer.tokens
        return {
            "input_tokens": tokens.input - tokens.read - tokens.written,
            "cache_creation_input_tokens": tokens.written,
            "cache_read_input_tokens": tokens.read,
            "cache_creation": {"ephemeral_5m_input_tokens": tokens.written, "ephemeral_1h_input_tokens": 0},
            **self._spent(output),
            "service_tier": "standard",
        }

    def _spent(self, output: int) -> Mapping[str, Any]:
        thought = min(output, self._answer.thought)
        return {"output_tokens": output, "output_tokens_details": {"thinking_tokens": thought}}

    def _events_of(self, index: int, block: Mapping[str, Any]) -> Iterator[Event]:
        fault = self._reply.fault
        deltas: list[dict[str, Any]] = []
        match block["type"]:
            case "text":
                empty: Mapping[str, Any] = {"type": "text", "text": ""}
                deltas = [{"type": "text_delta", "text": piece} for piece in pieces(block["text"])]
            case "thinking":
                empty = {"type": "thinking", "thinking": "", "signature": ""}
                deltas = [{"type": "thinking_delta", "thinking": piece} for piece in pieces(block["thinking"])]
                deltas.append({"type": "signature_delta", "signature": block["signature"]})
            case "tool_use":
                empty = {**block, "input": {}}
                _, arguments = self._reply.calls[index - len(self._blocks)]
                parts = ["", *fragments(arguments, fault)]
                deltas = [{"type": "input_json_delta", "partial_json": part} for part in parts]
            case _:
                empty = block
        yield _event("content_block_start", index=index, content_block=empty)
        for delta in deltas:
            yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)


def _event(kind: str, **fields: object) -> Event:
    return Event(dump({"type": kind, **fields}), kind)


def _blocks(answer: WireAnswer) -> Iterator[dict[str, Any]]:
    reply, prompt = answer.reply, answer.prompt
    if prompt.thinks and reply.reasoning:
        if answer.is_(Fault.REDACTED):
            yield {"type": "redacted_thinking", "data": seal(reply.reasoning)}
        else:
            shown = reply.reasoning if prompt.shows else ""
            bound = f".{rules.binding(prompt.segments)}" if rules.binds_thinking(prompt.model) else ""
            yield {"type": "thinking", "thinking": shown, "signature": f"{sign(shown)}{bound}"}
    if reply.text:
        yield {"type": "text", "text": reply.text}
    for n, (name, arguments) in enumerate(reply.calls):
        identity = "" if answer.is_(Fault.NO_IDS) else answer.call_id(n, "toolu_")
        yield {"type": "tool_use", "id": identity, "name": name, "input": _object(arguments)}


def _object(arguments: str) -> Mapping[str, Any]:
    """What a model wrote as arguments, if it is an object."""
    try:
        found = json.loads(arguments)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
