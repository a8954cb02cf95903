"""POST /v1/responses, GET /v1/responses/{id} and POST /v1/responses/{id}/cancel.

Format: https://platform.openai.com/docs/api-reference/responses
"""

from collections.abc import Iterator, Mapping
from typing import Any

from starlette.responses import Response

from hob.core.clock import Clock
from hob.core.errors import NotFound
from hob.core.ids import InboundId
from hob.core.models import Usage
from hob.core.tools import ToolCall
from hob.gateway.api import Api
from hob.gateway.chat.inbound import is_own
from hob.gateway.chat.outcome import find_accepted
from hob.gateway.http.endpoint import EndpointCall
from hob.gateway.http.fields import Nothing
from hob.gateway.http.reply import json_response
from hob.gateway.openai.ask import OWN_MODEL, ChatOutcome, ChatRun, ask, conclude, conversation_of, resumed
from hob.gateway.openai.client_calls import results_of
from hob.gateway.openai.completions import answered, reply_with
from hob.gateway.openai.conversation import ClientMessage, letter_of, read_messages
from hob.gateway.openai.errors import OpenAIProblem, wrong
from hob.gateway.openai.requests import ResponseRequest
from hob.gateway.openai.stream import Stream, event
from hob.gateway.openai.terms import is_checked, read_terms

_PREFIX = "resp_"
_STILL = ("still_running", "stopping")


async def post(call: EndpointCall[ResponseRequest]) -> Response:
    """Answer `POST /v1/responses`."""
    api, payload = call.api, call.payload
    session = conversation_of(call)
    form = None if payload.text is None else payload.text.format
    terms = read_terms(payload.tools, payload.tool_choice, form, None, "text.format")
    if results := results_of(payload.input, "input") if isinstance(payload.input, list) else {}:
        begun = await resumed(call, results, "input")
    elif payload.previous_response_id is not None:
        raise wrong("previous_response_id", "a conversation goes on by X-Hob-Session, or by `user`; leave this out")
    else:
        letter = letter_of(_said(payload), "input", remembered=session is not None)
        begun = await ask(call, letter, session, terms)
    if payload.stream:
        return Stream(api, begun, ResponseWriter(begun, api.clock), checked=is_checked(terms))
    found = await answered(call, begun)
    if not isinstance(found, ChatOutcome):
        return reply_with(call, begun, found)
    return reply_with(call, begun, found, response(begun.accepted.id, begun.model, found))


def _said(payload: ResponseRequest) -> list[ClientMessage]:
    before = [ClientMessage("system", payload.instructions)] if payload.instructions else []
    if isinstance(payload.input, str):
        return [*before, *read_messages([{"role": "user", "content": payload.input}], "input")]
    if not isinstance(payload.input, list):
        raise wrong("input", "it must be a text or a list of messages")
    return [*before, *read_messages(payload.input, "input")]


async def get(call: EndpointCall[Nothing]) -> Response:
    """Answer `GET /v1/responses/{id}`."""
    return await _standing(call.api, await _own(call))


async def cancel(call: EndpointCall[Nothing]) -> Response:
    """Answer `POST /v1/responses/{id}/cancel`."""
    id = await _own(call)
    await call.api.operations.cancel(id, "the program that asked has stopped it")
    return await _standing(call.api, id)


async def _own(call: EndpointCall[Nothing]) -> InboundId:
    id = InboundId(call.id.removeprefix(_PREFIX))
    accepted = await find_accepted(call.api, id)
    if not call.id.startswith(_PREFIX) or not is_own(call.caller, accepted.session):
        raise NotFound("no response of yours has this id")
    return id


async def _standing(api: Api, id: InboundId) -> Response:
    found = await conclude(api, id)
    if isinstance(found, ChatOutcome):
        return json_response(response(id, OWN_MODEL, found), found.status, found.headers)
    result = await api.store.results.find(id)
    created = int(result.created) if result is not None else 0
    status = "in_progress" if found.code in _STILL else "cancelled" if found.code == "cancelled" else "failed"
    error = {"code": "server_error", "message": found.message} if status == "failed" else None
    return json_response({**_head(id, OWN_MODEL, created, status), "error": error})


def response(id: InboundId, model: str, outcome: ChatOutcome, text: str | None = None) -> dict[str, Any]:
    """Build the whole response; `text` replaces its content. A question to people is an incomplete response."""
    status = "incomplete" if outcome.cut or outcome.waits else "completed"
    return {
        **_head(id, model, outcome.created, status),
        "incomplete_details": {"reason": "max_output_tokens"} if outcome.cut else None,
        "output": _output(id, status, outcome, outcome.content if text is None else text),
        "usage": usage_of(outcome.usage),
        "hob": outcome.about,
    }


def _output(id: InboundId, status: str, outcome: ChatOutcome, text: str) -> list[dict[str, Any]]:
    said = [] if outcome.calls and not text else [_message(id, status, text)]
    return [*said, *(_called(call) for call in outcome.calls)]


def _called(call: ToolCall) -> dict[str, Any]:
    names = {"call_id": call.id, "name": call.name, "arguments": call.arguments}
    return {"type": "function_call", "id": f"fc_{call.id}", **names, "status": "completed"}


class ResponseWriter:
    """Implements `StreamWriter` for responses: numbered events around one message with one text part."""

    def __init__(self, run: ChatRun, clock: Clock) -> None:
        self._run = run
        self._created = int(clock.now().timestamp())
        self._number = -1
        self._text: list[str] = []

    def begin(self) -> Iterator[bytes]:
        """Open the response, its message and its text part."""
        id = self._run.accepted.id
        for name in ("created", "in_progress"):
            head = _head(id, self._run.model, self._created, "in_progress")
            yield self._event(f"response.{name}", {"response": head})
        item = {**_message(id, "in_progress", ""), "content": []}
        yield self._event("response.output_item.added", {"output_index": 0, "item": item})
        yield self._event("response.content_part.added", {**self._place(), "part": _part("")})

    def piece(self, text: str) -> Iterator[bytes]:
        """Send a piece."""
        self._text.append(text)
        yield self._event("response.output_text.delta", {**self._place(), "delta": text, "logprobs": []})

    def end(self, outcome: ChatOutcome) -> Iterator[bytes]:
        """Close everything in reverse order of opening."""
        id, text = self._run.accepted.id, "".join(self._text)
        whole = response(id, self._run.model, outcome, text)
        yield self._event("response.output_text.done", {**self._place(), "text": text, "logprobs": []})
        yield self._event("response.content_part.done", {**self._place(), "part": _part(text)})
        yield self._event("response.output_item.done", {"output_index": 0, "item": _message(id, "completed", text)})
        for place, call in enumerate(outcome.calls, 1):
            item, at = _called(call), {"item_id": f"fc_{call.id}", "output_index": place}
            opened = {**item, "arguments": "", "status": "in_progress"}
            yield self._event("response.output_item.added", {"output_index": place, "item": opened})
            yield self._event("response.function_call_arguments.delta", {**at, "delta": call.arguments})
            done = {**at, "name": call.name, "arguments": call.arguments}
            yield self._event("response.function_call_arguments.done", done)
            yield self._event("response.output_item.done", {"output_index": place, "item": item})
        if outcome.calls and not text:
            whole = {**whole, "output": [_message(id, "completed", ""), *whole["output"]]}
        yield self._event(f"response.{whole['status']}", {"response": whole})

    def fail(self, problem: OpenAIProblem) -> Iterator[bytes]:
        """Send an event with an `error`, which clients raise."""
        told = {"code": problem.code, "message": problem.message, "param": problem.param}
        yield self._event("error", {**told, **problem.body()})

    def _place(self) -> dict[str, Any]:
        return {"item_id": _item(self._run.accepted.id), "output_index": 0, "content_index": 0}

    def _event(self, kind: str, data: Mapping[str, Any]) -> bytes:
        self._number += 1
        return event({"type": kind, "sequence_number": self._number, **data}, kind)


def usage_of(usage: Usage) -> dict[str, Any]:
    """Count the tokens of all model calls of the turn."""
    return {
        "input_tokens": usage.input,
        "input_tokens_details": {"cached_tokens": usage.cache_read, "cache_write_tokens": usage.cache_write},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.input + usage.output,
    }


def _head(id: InboundId, model: str, created: int, status: str) -> dict[str, Any]:
    return {
        "id": f"{_PREFIX}{id}",
        "object": "response",
        "created_at": created,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "model": model,
        "output": [],
        "parallel_tool_calls": False,
        "previous_response_id": None,
        "temperature": None,
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": [],
        "top_p": None,
        "truncation": "disabled",
        "usage": None,
    }


def _item(id: InboundId) -> str:
    return f"msg_{id}"


def _message(id: InboundId, status: str, text: str) -> dict[str, Any]:
    return {"type": "message", "id": _item(id), "status": status, "role": "assistant", "content": [_part(text)]}


def _part(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
