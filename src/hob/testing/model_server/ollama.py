"""Ollama's own API: https://docs.ollama.com/api."""

import base64
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hob.core.content.json_text import parse_json_object
from hob.testing.model_server.hypertext import Event, Framing, HttpRequest, dump, make_json_response
from hob.testing.model_server.prompt import Prompt, Turn
from hob.testing.model_server.replies import Fault
from hob.testing.model_server.vectors import DIMENSIONS, make_vector
from hob.testing.model_server.wire import (
    Cause,
    Wire,
    WireAnswer,
    WireRefusal,
    WireWriter,
    bad_request,
    order_rows,
    refuse_if,
    split_text,
)

_ERRORS: Mapping[Cause, tuple[int, str]] = {
    Cause.INTERNAL: (500, "llama runner process has terminated: exit status 2"),
    Cause.OVERLOADED: (503, "server busy, please try again.  maximum pending requests exceeded"),
    Cause.RATE: (429, "too many requests"),
    Cause.QUOTA: (429, "you've reached your weekly usage limit, please upgrade to continue"),
    Cause.PAYMENT: (402, "payment required"),
    Cause.KEY: (401, "unauthorized"),
    Cause.NO_KEY: (401, "unauthorized"),
    Cause.FORBIDDEN: (403, "forbidden"),
    Cause.BAD_REQUEST: (400, 'invalid options: ["frobnicate"]'),
    Cause.NO_MODEL: (404, "model 'fake' not found"),
    Cause.NO_PATH: (404, "404 page not found"),
    Cause.OVERFLOW: (400, "prompt too long; exceeded max context length by 4096 tokens"),
    Cause.TOO_LARGE: (413, "request too large"),
}


def _check_message(message: Mapping[str, Any]) -> None:
    refuse_if(message["role"] not in ("system", "user", "assistant", "tool"), f"invalid role: {message['role']}")
    refuse_if(
        not isinstance(message.get("content", ""), str),
        "json: cannot unmarshal array into Go struct field ChatRequest.messages.content of type string",
    )
    for call in message.get("tool_calls") or ():
        refuse_if(
            not isinstance(call["function"]["arguments"], dict),
            "json: cannot unmarshal string into Go struct field "
            "ChatRequest.messages.tool_calls.function.arguments of type api.ToolCallFunctionArguments",
        )
    for image in message.get("images") or ():
        try:
            base64.b64decode(image, validate=True)
        except ValueError:
            raise bad_request("illegal base64 data at input byte 0") from None


def _turn(message: Mapping[str, Any]) -> Turn:
    return Turn(message["role"], message.get("content", ""))


class _Chat(WireWriter):
    """Writer of one reply as lines or as one object."""

    def __init__(self, answer: WireAnswer) -> None:
        super().__init__(answer)
        self._thought = answer.reply.reasoning if answer.prompt.shows else ""
        self._calls = list(_calls(answer))

    def whole(self) -> object:
        message: dict[str, Any] = {"role": "assistant", "content": self._reply.text}
        if self._thought:
            message["thinking"] = self._thought
        if self._calls:
            message["tool_calls"] = self._calls
        return {**self._chunk(message), **self._last()}

    def body(self) -> Sequence[Event]:
        rows: list[list[dict[str, Any]]] = [
            [{"content": piece} for piece in split_text(self._reply.text)],
            [{"content": "", "tool_calls": [call]} for call in self._calls],
        ]
        messages = [{"content": "", "thinking": piece} for piece in split_text(self._thought)]
        messages += order_rows(rows, self._reply.fault)
        return [Event(dump(self._chunk({"role": "assistant", **message}))) for message in messages]

    def tail(self) -> Sequence[Event]:
        return [Event(dump({**self._chunk({"role": "assistant", "content": ""}), **self._last()}))]

    def broken(self) -> Event:
        return Event(dump({"error": "an error was encountered while running the model: unexpected EOF"}))

    def _chunk(self, message: Mapping[str, Any]) -> dict[str, Any]:
        head = {"model": self._answer.prompt.model, "created_at": "2026-01-01T00:00:00.123456Z"}
        return {**head, "message": message, "done": False}

    def _last(self) -> Mapping[str, Any]:
        """Return the final fields. Durations are in nanoseconds; a cached prompt is neither evaluated nor counted."""
        reason = "length" if self._reply.truncated else "stop"
        finish = {} if self._answer.is_(Fault.NO_FINISH) else {"done_reason": reason}
        times = {"total_duration": 9_000_000, "load_duration": 1_000_000}
        if self._answer.is_(Fault.NO_USAGE):
            return {"done": True, **finish, **times}
        return {
            "done": True,
            **finish,
            **times,
            "prompt_eval_count": self._answer.tokens.input,
            "prompt_eval_duration": 3_000_000,
            "eval_count": self._answer.said + self._answer.thought,
            "eval_duration": 5_000_000,
        }


def _calls(answer: WireAnswer) -> Iterator[Mapping[str, Any]]:
    """Return the calls whose arguments are an object; others are not calls here."""
    for n, (name, arguments) in enumerate(answer.reply.calls):
        found = parse_json_object(arguments)
        if found is not None:
            identity = {} if answer.is_(Fault.NO_IDS) else {"id": answer.call_id(n, "call_")}
            yield {**identity, "function": {"index": n, "name": name, "arguments": found}}


def embed(request: Mapping[str, Any]) -> object:
    """Answer `POST /api/embed`. Raises WireRefused."""
    refuse_if(not request.get("model"), "model is required")
    found = request.get("input", [])
    texts = [found] if isinstance(found, str) else found
    refuse_if(not all(isinstance(text, str) for text in texts), "invalid input type")
    return {
        "model": request["model"],
        "embeddings": [make_vector(text, request.get("dimensions") or DIMENSIONS) for text in texts],
        "total_duration": 14_143_917,
        "load_duration": 1_019_500,
        "prompt_eval_count": sum(len(text.split()) for text in texts),
    }


class Ollama(Wire):
    """Implements `Wire`. `capabilities` are those of all its models."""

    writes = _Chat

    def __init__(self, capabilities: Sequence[str] = ("completion", "tools", "thinking", "vision")) -> None:
        self.capabilities = capabilities

    def read(self, http_request: HttpRequest, request: Mapping[str, Any]) -> Prompt:
        refuse_if(not isinstance(request.get("model"), str) or not request["model"], "model is required")
        messages = request.get("messages") or []
        for message in messages:
            _check_message(message)
        think = request.get("think")
        refuse_if(
            think not in (None, True, False, "low", "medium", "high", "max"),
            f'invalid think value: "{think}" (must be "high", "medium", "low", "max", true, or false)',
        )
        refuse_if(
            "vision" not in self.capabilities and any(message.get("images") for message in messages),
            "this model is missing data required for image input",
        )
        tools = request.get("tools")
        refuse_if(
            tools and "tools" not in self.capabilities,
            f"registry.ollama.ai/library/{request['model']}:latest does not support tools",
        )
        if think and "thinking" not in self.capabilities:
            raise bad_request(f'"{request["model"]}" does not support thinking')
        return Prompt(
            model=request["model"],
            stream=request.get("stream", True),
            request=request,
            turns=[_turn(message) for message in messages],
            segments=[tools, *messages] if tools else messages,
            shows=think is not False and "thinking" in self.capabilities,
            framing=Framing.LINES,
        )

    def refuse(self, refusal: WireRefusal, number: str, http_request: HttpRequest) -> bytes:
        status, message = _ERRORS[refusal.cause]
        error = {"error": refusal.message or message}
        return make_json_response(refusal.status or status, error, refusal.retry_after)
