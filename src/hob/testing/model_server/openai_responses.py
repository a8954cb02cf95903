"""OpenAI Responses: https://platform.openai.com/docs/api-reference/responses and .../responses-streaming."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hob.testing.model_server import openai
from hob.testing.model_server.hypertext import Event, HttpRequest, dump
from hob.testing.model_server.openai import OpenAIWire
from hob.testing.model_server.prompt import Prompt, Turn
from hob.testing.model_server.replies import Fault, Reply
from hob.testing.model_server.signatures import seal, unseal
from hob.testing.model_server.wire import (
    Cause,
    WireAnswer,
    WireRefusal,
    WireRefused,
    WireWriter,
    bad_request,
    order_rows,
    refuse_if,
    split_arguments,
    split_text,
)

# Reasons for which OpenAI refuses a Responses request. Items:
# https://platform.openai.com/docs/api-reference/responses/create

Item = Mapping[str, Any]

_PARTS: Mapping[str, tuple[str, ...]] = {
    "user": ("input_text", "input_image", "input_file"),
    "system": ("input_text", "input_image", "input_file"),
    "developer": ("input_text", "input_image", "input_file"),
    "assistant": ("output_text", "refusal"),
}
_PREFIXES = {"message": "msg", "function_call": "fc", "reasoning": "rs", "additional_tools": "at"}
_MIN_OUTPUT = 16


def get_items(request: Mapping[str, Any]) -> list[Item]:
    """Return the input as a list of items; a string is a user message. Raises WireRefused."""
    found: Any = request.get("input")
    if isinstance(found, str):
        return [{"type": "message", "role": "user", "content": found}]
    refuse_if(
        not isinstance(found, list) or not found,
        "Missing required parameter: 'input'.",
        "input",
        "missing_required_parameter",
    )
    return list(found)


def turns(request: Mapping[str, Any], items: Sequence[Item]) -> Iterator[Turn]:
    """Return the conversation in the request."""
    if request.get("instructions"):
        yield Turn("system", request["instructions"])
    for item in items:
        match item.get("type", "message"):
            case "message":
                role = item["role"]
                yield Turn("system" if role == "developer" else role, _text(item["content"]))
            case "function_call":
                yield Turn("assistant", "")
            case "function_call_output":
                yield Turn("tool", _text(item["output"]))


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content if "text" in part)


def check(request: Mapping[str, Any], items: Sequence[Item]) -> None:
    """Check the request. Raises WireRefused."""
    maximum = request.get("max_output_tokens")
    if maximum is not None and maximum < _MIN_OUTPUT:
        message = (
            f"Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got {maximum}."
        )
        raise bad_request(message, "max_output_tokens", "integer_below_min_value")
    if request.get("previous_response_id"):
        message = f"Previous response with id '{request['previous_response_id']}' not found."
        raise bad_request(message, "previous_response_id", "previous_response_not_found")
    if request.get("tools"):
        openai.check_tools(request["tools"])
    _check_items(items, stored=request.get("store") is not False)


def _check_items(items: Sequence[Item], *, stored: bool) -> None:
    asked: set[str] = set()
    answered: set[str] = set()
    ids: set[str] = set()
    for number, item in enumerate(items):
        where = f"input[{number}]"
        kind = item.get("type", "message")
        _check_id(item, kind, where, ids)
        match kind:
            case "message":
                _check_message(item, where)
            case "function_call":
                openai.check_name(item["name"], f"{where}.name")
                refuse_if(
                    not isinstance(item["arguments"], str),
                    f"Invalid type for '{where}.arguments'.",
                    f"{where}.arguments",
                    "invalid_type",
                )
                asked.add(item["call_id"])
            case "function_call_output":
                if item["call_id"] not in asked:
                    message = f"No tool call found for function call output with call_id {item['call_id']}."
                    raise bad_request(message, "input")
                answered.add(item["call_id"])
            case "additional_tools":  # tools in the input, as Codex sends them
                refuse_if(
                    item.get("role") != "developer" or not isinstance(item.get("tools"), list),
                    f"Invalid value for '{where}'.",
                    where,
                    "invalid_value",
                )
            case "reasoning":
                _check_reasoning(item, items[number + 1 : number + 2], stored=stored)
            case _:
                raise bad_request(f"Invalid value: '{kind}'.", f"{where}.type", "invalid_value")
    if asked - answered:
        raise bad_request(f"No tool output found for function call {min(asked - answered)}.", "input")


def _check_id(item: Item, kind: str, where: str, ids: set[str]) -> None:
    found = item.get("id")
    if found is None:
        return
    prefix = _PREFIXES.get(kind, "")
    refuse_if(
        not isinstance(found, str) or not found.startswith(prefix),
        f"Invalid '{where}.id': '{found}'. Expected an ID that begins with '{prefix}'.",
        f"{where}.id",
    )
    refuse_if(found in ids, f"Duplicate item found with id {found}. Remove duplicate items and try again.", "input")
    ids.add(found)


def _check_message(item: Item, where: str) -> None:
    refuse_if(item["role"] not in _PARTS, f"Invalid value: '{item['role']}'.", f"{where}.role", "invalid_value")
    if isinstance(item["content"], str):
        return
    allowed = _PARTS[item["role"]]
    for place, part in enumerate(item["content"]):
        if part["type"] not in allowed:
            supported = ", ".join(f"'{name}'" for name in allowed)
            message = f"Invalid value: '{part['type']}'. Supported values are: {supported}."
            raise bad_request(message, f"{where}.content[{place}]", "invalid_value")


def _check_reasoning(item: Item, following: Sequence[Item], *, stored: bool) -> None:
    """Check that reasoning precedes what it led to, and is sealed or kept by the server."""
    name = item["id"]
    refuse_if(
        not isinstance(item["summary"], list),
        "Missing required parameter: 'input.summary'.",
        "input",
        "missing_required_parameter",
    )
    sealed = item.get("encrypted_content")
    if sealed is None and not stored:
        message = f"Item with id '{name}' not found. Items are not persisted when `store` is set to false."
        raise WireRefused(WireRefusal(Cause.NO_MODEL, message, "input"))
    if sealed is not None and unseal(sealed) is None:
        message = f"The encrypted content for item {name} could not be verified."
        raise bad_request(message, None, "invalid_encrypted_content")
    then = following[0] if following else {}
    own = then.get("type", "message") == "message" and then.get("role") == "assistant"
    refuse_if(
        not own and then.get("type") not in ("function_call", "reasoning"),
        f"Item '{name}' of type 'reasoning' was provided without its required following item.",
        "input",
    )


class _Response(WireWriter):
    """Writer of one reply as events or as one response."""

    def __init__(self, answer: WireAnswer) -> None:
        super().__init__(answer)
        self._items = list(_items(answer))
        self._number = -1

    def whole(self) -> object:
        return self._response(self._status(), self._items)

    def head(self) -> Sequence[Event]:
        begun = self._response("in_progress", [])
        return [self._event("response.created", response=begun), self._event("response.in_progress", response=begun)]

    def body(self) -> Sequence[Event]:
        others = [n for n, item in enumerate(self._items) if item["type"] != "function_call"]
        calls = [n for n, item in enumerate(self._items) if item["type"] == "function_call"]
        rows = [list(self._events_of(n, self._items[n])) for n in calls]
        plain = [event for n in others for event in self._events_of(n, self._items[n])]
        told = [*plain, *order_rows(rows, self._reply.fault)]
        return [self._event(kind, **fields) for kind, fields in told]

    def tail(self) -> Sequence[Event]:
        status = self._status()
        response = self._response(status, self._items)
        if self._answer.is_(Fault.NO_FINISH):
            del response["status"]
        return [self._event(f"response.{status}", response=response)]

    def broken(self) -> Event:
        """Return one of the server's two forms of failure: an error alone, or a failed response."""
        if self._answer.is_(Fault.ERROR_FIRST):
            said = {"code": "server_error", "message": openai.BROKEN["message"], "param": None}
            return self._event("error", **said)
        failed = self._response("failed", [])
        failed["error"] = {"code": "server_error", "message": openai.BROKEN["message"]}
        return self._event("response.failed", response=failed)

    def _event(self, kind: str, **fields: object) -> Event:
        self._number += 1
        return Event(dump({"type": kind, "sequence_number": self._number, **fields}), kind)

    def _status(self) -> str:
        return "incomplete" if _reason(self._reply) else "completed"

    def _response(self, status: str, items: Sequence[object]) -> dict[str, Any]:
        request = self._answer.prompt.request
        ended = status in ("completed", "incomplete") and not self._answer.is_(Fault.NO_USAGE)
        return {
            "id": f"resp_{self._answer.number}",
            "object": "response",
            "created_at": 1_700_000_000,
            "status": status,
            "background": False,
            "error": None,
            "incomplete_details": {"reason": _reason(self._reply)} if status == "incomplete" else None,
            "instructions": request.get("instructions"),
            "max_output_tokens": request.get("max_output_tokens"),
            "metadata": request.get("metadata") or {},
            "model": self._answer.prompt.model,
            "output": items,
            "parallel_tool_calls": request.get("parallel_tool_calls", True),
            "previous_response_id": request.get("previous_response_id"),
            "prompt_cache_key": request.get("prompt_cache_key"),
            "reasoning": {"effort": None, "summary": None, **(request.get("reasoning") or {})},
            "service_tier": "default",
            "store": request.get("store", True),
            "temperature": request.get("temperature", 1.0),
            "text": {"format": {"type": "text"}, "verbosity": "medium"},
            "tool_choice": request.get("tool_choice", "auto"),
            "tools": request.get("tools") or [],
            "top_p": request.get("top_p", 1.0),
            "truncation": "disabled",
            "usage": self._usage() if ended else None,
            "user": None,
        }

    def _usage(self) -> Mapping[str, Any]:
        tokens = self._answer.tokens
        output = self._answer.said + self._answer.thought
        return {
            "input_tokens": tokens.input,
            "input_tokens_details": {"cached_tokens": tokens.read, "cache_write_tokens": tokens.written},
            "output_tokens": output,
            "output_tokens_details": {"reasoning_tokens": self._answer.thought},
            "total_tokens": tokens.input + output,
        }

    def _events_of(self, index: int, item: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
        place = {"item_id": item["id"], "output_index": index}
        match item["type"]:
            case "reasoning":
                yield "response.output_item.added", {"output_index": index, "item": {**item, "summary": []}}
                for number, part in enumerate(item["summary"]):
                    yield from _summary(part, {**place, "summary_index": number})
            case "message":
                empty = {**item, "status": "in_progress", "content": []}
                yield "response.output_item.added", {"output_index": index, "item": empty}
                yield from _said(item["content"][0], {**place, "content_index": 0})
            case _:
                empty = {**item, "status": "in_progress", "arguments": ""}
                yield "response.output_item.added", {"output_index": index, "item": empty}
                for fragment in split_arguments(item["arguments"], self._reply.fault):
                    yield "response.function_call_arguments.delta", {**place, "delta": fragment}
                yield "response.function_call_arguments.done", {**place, "arguments": item["arguments"]}
        yield "response.output_item.done", {"output_index": index, "item": item}


def _reason(reply: Reply) -> str | None:
    """Return why a response is incomplete, if it is."""
    if reply.truncated:
        return "max_output_tokens"
    return "content_filter" if reply.fault is Fault.FILTERED else None


def _summary(part: Mapping[str, Any], place: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    kind = "response.reasoning_summary"
    yield f"{kind}_part.added", {**place, "part": {**part, "text": ""}}
    for piece in split_text(part["text"]):
        yield f"{kind}_text.delta", {**place, "delta": piece}
    yield f"{kind}_text.done", {**place, "text": part["text"]}
    yield f"{kind}_part.done", {**place, "part": part}


def _said(part: Mapping[str, Any], place: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "response.content_part.added", {**place, "part": {**part, "text": ""}}
    for piece in split_text(part["text"]):
        yield "response.output_text.delta", {**place, "delta": piece, "logprobs": []}
    yield "response.output_text.done", {**place, "text": part["text"], "logprobs": []}
    yield "response.content_part.done", {**place, "part": part}


def _items(answer: WireAnswer) -> Iterator[dict[str, Any]]:
    reply, prompt, number = answer.reply, answer.prompt, answer.number
    if thought := reply.reasoning:
        summary = [{"type": "summary_text", "text": thought}] if prompt.shows else []
        sealed = "reasoning.encrypted_content" in (prompt.request.get("include") or ())
        encrypted = {"encrypted_content": seal(thought)} if sealed else {}
        yield {"id": f"rs_{number}", "type": "reasoning", "summary": summary, **encrypted}
    status = "incomplete" if _reason(reply) else "completed"
    if reply.text:
        part = {"type": "output_text", "annotations": [], "logprobs": [], "text": reply.text}
        head = {"id": f"msg_{number}", "type": "message", "status": status, "role": "assistant"}
        yield {**head, "content": [part]}
    for n, (name, arguments) in enumerate(reply.calls):
        call_id = "" if answer.is_(Fault.NO_IDS) else answer.call_id(n, "call_")
        ids = {"id": f"fc_{number}_{n}", "call_id": call_id}
        yield {"type": "function_call", "status": "completed", "arguments": arguments, "name": name, **ids}


class OpenAIResponses(OpenAIWire):
    """Implements `Wire`."""

    writes = _Response

    def read(self, http_request: HttpRequest, request: Mapping[str, Any]) -> Prompt:
        model = openai.named_model(request)
        items = get_items(request)
        check(request, items)
        tools = request.get("tools")
        reasoning = request.get("reasoning") or {}
        return Prompt(
            model=model,
            stream=bool(request.get("stream")),
            request=request,
            turns=list(turns(request, items)),
            segments=[*([tools] if tools else ()), request.get("instructions") or "", *items],
            thinks=reasoning.get("effort") not in (None, "none"),
            shows=reasoning.get("summary") is not None,
        )
