"""OpenAI Responses: https://platform.openai.com/docs/api-reference/responses and .../responses-streaming."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hob.testing.model_server import openai
from hob.testing.model_server import openai_responses_rules as rules
from hob.testing.model_server.framing import Event
from hob.testing.model_server.hypertext import Asked, dump
from hob.testing.model_server.prompt import Prompt
from hob.testing.model_server.replies import Fault, Reply
from hob.testing.model_server.signatures import seal
from hob.testing.model_server.wire import WireAnswer, WireRefusal, WireWriter, bearer, fragments, in_order, pieces


class OpenAIResponses:
    """Implements `Wire`."""

    def key(self, asked: Asked) -> str:
        return bearer(asked)

    def read(self, asked: Asked, request: Mapping[str, Any]) -> Prompt:
        model = openai.named_model(request)
        items = rules.items_of(request)
        rules.check(request, items)
        tools = request.get("tools")
        reasoning = request.get("reasoning") or {}
        return Prompt(
            model=model,
            stream=bool(request.get("stream")),
            request=request,
            turns=list(rules.turns(request, items)),
            segments=[*([tools] if tools else ()), request.get("instructions") or "", *items],
            thinks=reasoning.get("effort") not in (None, "none"),
            shows=reasoning.get("summary") is not None,
        )

    def refuse(self, refusal: WireRefusal, number: str, asked: Asked) -> bytes:
        return openai.refuse(refusal, number)

    def headers(self, number: str) -> Mapping[str, str]:
        return openai.headers(number)

    def tell(self, answer: WireAnswer) -> WireWriter:
        return _Response(answer)


class _Response:
    """One reply as events or as one response."""

    def __init__(self, answer: WireAnswer) -> None:
        self._answer = answer
        self._reply = answer.reply
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
        told = [*plain, *in_order(rows, self._reply.fault)]
        return [self._event(kind, **fields) for kind, fields in told]

    def tail(self) -> Sequence[Event]:
        status = self._status()
        response = self._response(status, self._items)
        if self._answer.is_(Fault.NO_FINISH):
            del response["status"]
        return [self._event(f"response.{status}", response=response)]

    def broken(self) -> Event:
        """The servers have two ways of saying it: an error alone, and a response that failed."""
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
                yield from _text(item["content"][0], {**place, "content_index": 0})
            case _:
                empty = {**item, "status": "in_progress", "arguments": ""}
                yield "response.output_item.added", {"output_index": index, "item": empty}
                for fragment in fragments(item["arguments"], self._reply.fault):
                    yield "response.function_call_arguments.delta", {**place, "delta": fragment}
                yield "response.function_call_arguments.done", {**place, "arguments": item["arguments"]}
        yield "response.output_item.done", {"output_index": index, "item": item}


def _reason(reply: Reply) -> str | None:
    """Why a response is incomplete, if it is."""
    if reply.truncated:
        return "max_output_tokens"
    return "content_filter" if reply.fault is Fault.FILTERED else None


def _summary(part: Mapping[str, Any], place: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    kind = "response.reasoning_summary"
    yield f"{kind}_part.added", {**place, "part": {**part, "text": ""}}
    for piece in pieces(part["text"]):
        yield f"{kind}_text.delta", {**place, "delta": piece}
    yield f"{kind}_text.done", {**place, "text": part["text"]}
    yield f"{kind}_part.done", {**place, "part": part}


def _text(part: Mapping[str, Any], place: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "response.content_part.added", {**place, "part": {**part, "text": ""}}
    for piece in pieces(part["text"]):
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
