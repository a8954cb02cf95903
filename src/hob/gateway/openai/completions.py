"""POST /v1/chat/completions.

Format: https://platform.openai.com/docs/api-reference/chat
"""

from collections.abc import Iterator, Mapping
from typing import Any

from starlette.background import BackgroundTask
from starlette.responses import Response

from hob.core.clock import Clock
from hob.core.models import Usage
from hob.core.tools import ToolCall
from hob.gateway.chat.outcome import outcome
from hob.gateway.http.endpoint import EndpointCall
from hob.gateway.http.reply import json_response
from hob.gateway.openai.ask import (
    ChatOutcome,
    ChatRun,
    ask,
    awaited,
    conclude,
    conversation_of,
    part,
    resumed,
    while_there,
)
from hob.gateway.openai.client_calls import results_of
from hob.gateway.openai.conversation import letter_of, read_messages
from hob.gateway.openai.errors import OpenAIProblem
from hob.gateway.openai.requests import ChatCompletionRequest
from hob.gateway.openai.stream import Stream, event
from hob.gateway.openai.terms import is_checked, read_terms

_DONE = b"data: [DONE]\n\n"


async def post(call: EndpointCall[ChatCompletionRequest]) -> Response:
    """Answer `POST /v1/chat/completions`."""
    api, payload = call.api, call.payload
    session = conversation_of(call)
    terms = read_terms(payload.tools, payload.tool_choice, payload.response_format, payload.stop, "response_format")
    if results := results_of(payload.messages, "messages"):
        begun = await resumed(call, results, "messages")
    else:
        letter = letter_of(read_messages(payload.messages, "messages"), "messages", remembered=session is not None)
        begun = await ask(call, letter, session, terms)
    if payload.stream:
        tells_usage = payload.stream_options is not None and payload.stream_options.include_usage
        return Stream(api, begun, ChunkWriter(begun, api.clock, tells_usage=tells_usage), checked=is_checked(terms))
    found = await answered(call, begun)
    if not isinstance(found, ChatOutcome):
        return reply_with(call, begun, found)
    return reply_with(call, begun, found, completion(begun, found))


async def answered(call: EndpointCall[Any], run: ChatRun) -> ChatOutcome | OpenAIProblem | None:
    """Wait for the outcome; None if the client disconnects."""

    async def wait() -> ChatOutcome | OpenAIProblem:
        await outcome(call.api, run.accepted, call.api.settings.wait_seconds)
        return await conclude(call.api, run.accepted.id, run.answered)

    async with awaited(call.api, run.accepted.id):
        return await while_there(call.request, wait())


def reply_with(
    call: EndpointCall[Any], run: ChatRun, found: ChatOutcome | OpenAIProblem | None, body: Any = None
) -> Response:
    """Answer in one piece. Delivery is recorded after the response was sent."""
    response: Response
    if isinstance(found, ChatOutcome):
        response = json_response(body, found.status, found.headers)
    elif isinstance(found, OpenAIProblem):
        response = found.response()
    else:
        response = Response(status_code=499)  # the client is gone
    over = isinstance(found, ChatOutcome) or (isinstance(found, OpenAIProblem) and found.status != 504)
    if found is None or over:
        response.background = BackgroundTask(part, call.api, run, delivered=found is not None)
    return response


def completion(run: ChatRun, outcome: ChatOutcome) -> dict[str, Any]:
    """Build the whole answer."""
    message: dict[str, Any] = {"role": "assistant", "content": outcome.content, "refusal": None}
    if outcome.calls:
        message |= {"content": outcome.content or None, "tool_calls": [_call(each) for each in outcome.calls]}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _reason(outcome)}
    head = _head(run, "chat.completion", outcome.created)
    return {**head, "choices": [choice], "usage": usage_of(outcome.usage), "hob": outcome.about}


class ChunkWriter:
    """Implements `StreamWriter` for completions: one object per piece, and an end marker."""

    def __init__(self, run: ChatRun, clock: Clock, *, tells_usage: bool) -> None:
        self._head = _head(run, "chat.completion.chunk", int(clock.now().timestamp()))
        self._tells_usage = tells_usage

    def begin(self) -> Iterator[bytes]:
        """Announce the role."""
        yield self._chunk({"role": "assistant", "content": "", "refusal": None})

    def piece(self, text: str) -> Iterator[bytes]:
        """Send a piece."""
        yield self._chunk({"content": text})

    def end(self, outcome: ChatOutcome) -> Iterator[bytes]:
        """Send tool calls, the finish reason and, if requested, the usage."""
        if outcome.calls:
            calls = [{"index": place, **_call(each)} for place, each in enumerate(outcome.calls)]
            yield self._chunk({"tool_calls": calls})
        yield self._chunk({}, _reason(outcome), {"hob": outcome.about})
        if self._tells_usage:
            yield event({**self._head, "choices": [], "usage": usage_of(outcome.usage)})
        yield _DONE

    def fail(self, problem: OpenAIProblem) -> Iterator[bytes]:
        """Send an error that clients raise."""
        yield event(problem.body())

    def _chunk(
        self, delta: Mapping[str, Any], reason: str | None = None, more: Mapping[str, Any] | None = None
    ) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
        usage = {"usage": None} if self._tells_usage else {}
        return event({**self._head, "choices": [choice], **usage, **(more or {})})


def usage_of(usage: Usage) -> dict[str, Any]:
    """Count the tokens of all model calls of the turn."""
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning, "audio_tokens": 0},
    }


def _head(run: ChatRun, kind: str, created: int) -> dict[str, Any]:
    return {"id": f"chatcmpl-{run.accepted.id}", "object": kind, "created": created, "model": run.model}


def _call(call: ToolCall) -> dict[str, Any]:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def _reason(outcome: ChatOutcome) -> str:
    if outcome.calls:
        return "tool_calls"
    return "length" if outcome.cut else "stop"
