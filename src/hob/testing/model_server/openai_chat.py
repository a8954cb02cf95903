"""OpenAI chat completions: https://platform.openai.com/docs/api-reference/chat."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hob.testing.model_server import openai
from hob.testing.model_server.hypertext import Event, HttpRequest, dump
from hob.testing.model_server.openai import OpenAIWire
from hob.testing.model_server.prompt import Prompt, Turn
from hob.testing.model_server.replies import Fault
from hob.testing.model_server.wire import (
    WireAnswer,
    WireWriter,
    bad_request,
    order_rows,
    refuse_if,
    split_arguments,
    split_text,
)

_ROLES = ("system", "developer", "user", "assistant", "tool")


def _turn(message: Mapping[str, Any]) -> Turn:
    role = message["role"]
    return Turn("system" if role == "developer" else role, get_text(message))


def get_text(message: Mapping[str, Any]) -> str:
    """Return the text of a message in either form."""
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content if part.get("type") == "text")


def _check_messages(messages: Sequence[Any]) -> None:
    """Check the messages, e.g. that every call has a result and every result a call."""
    open_calls: dict[str, None] = {}
    for number, message in enumerate(messages):
        where = f"messages[{number}]"
        role = message.get("role") if isinstance(message, dict) else None
        refuse_if(role not in _ROLES, f"{where} has no valid role.", f"{where}.role")
        if role == "tool":
            refuse_if(
                message.get("tool_call_id") not in open_calls,
                f"{where} with role 'tool' must follow a message with its 'tool_calls'.",
                f"{where}.role",
            )
            del open_calls[message["tool_call_id"]]
        elif open_calls:
            raise bad_request(f"{where} must be a tool message responding to {next(iter(open_calls))}.", where)
        _check_content(message, where)
        for call in _calls_of(message, where):
            open_calls[call["id"]] = None
    if open_calls:
        raise bad_request(f"No tool message responds to {next(iter(open_calls))}.", "messages")


def _check_content(message: Mapping[str, Any], where: str) -> None:
    content = message.get("content")
    if content is None:
        refuse_if(
            message["role"] != "assistant" or not message.get("tool_calls"),
            f"Invalid value for '{where}.content': expected a string, got null.",
            f"{where}.content",
        )
    elif isinstance(content, list):
        for place, part in enumerate(content):
            kinds = ("text", "image_url", "input_audio", "file", "refusal")
            if part["type"] not in kinds or part["type"] not in part:
                raise bad_request(
                    f"Invalid value: '{part['type']}'.", f"{where}.content[{place}].type", "invalid_value"
                )
    elif not isinstance(content, str):
        raise bad_request(f"Invalid type for '{where}.content'.", f"{where}.content", "invalid_type")


def _calls_of(message: Mapping[str, Any], where: str) -> Sequence[Mapping[str, Any]]:
    calls: Sequence[Mapping[str, Any]] | None = message.get("tool_calls")
    if calls is None:
        return ()
    refuse_if(
        message["role"] != "assistant",
        f"Only an assistant message may hold 'tool_calls', not {where}.",
        f"{where}.tool_calls",
    )
    refuse_if(not calls, f"Invalid '{where}.tool_calls': empty array.", f"{where}.tool_calls", "empty_array")
    for call in calls:
        function = call["function"]
        refuse_if(
            call["type"] != "function" or not call["id"] or not isinstance(function["arguments"], str),
            f"Invalid '{where}.tool_calls'.",
            f"{where}.tool_calls",
            "invalid_type",
        )
        openai.check_name(function["name"], f"{where}.tool_calls.function.name")
    return calls


class _Completion(WireWriter):
    """Writer of one reply as chunks or as one completion."""

    def __init__(self, answer: WireAnswer) -> None:
        super().__init__(answer)
        options = answer.prompt.request.get("stream_options") or {}
        self._tells_usage = bool(options.get("include_usage")) and not answer.is_(Fault.NO_USAGE)
        self._finish = "tool_calls" if answer.reply.calls else "stop"
        if answer.is_(Fault.FILTERED) or answer.reply.truncated:
            self._finish = "length" if answer.reply.truncated else "content_filter"
        self._prefix = (
            f'{{"id":"chatcmpl-{answer.number}","object":"chat.completion.chunk","created":1700000000,'
            f'"model":{dump(answer.prompt.model)},"service_tier":"default","system_fingerprint":"fp_fake",'
        )

    def whole(self) -> object:
        reply, answer = self._reply, self._answer
        message: dict[str, Any] = {"role": "assistant", "content": reply.text or None, "refusal": None}
        if reply.reasoning:
            message["reasoning_content"] = reply.reasoning
        if reply.calls:
            message["tool_calls"] = [
                {"id": answer.call_id(n, "call_"), "type": "function", "function": {"name": name, "arguments": text}}
                for n, (name, text) in enumerate(reply.calls)
            ]
        body: dict[str, Any] = {
            "id": f"chatcmpl-{answer.number}",
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": answer.prompt.model,
            "choices": [{"index": 0, "message": message, "finish_reason": self._finish, "logprobs": None}],
            "service_tier": "default",
            "system_fingerprint": "fp_fake",
        }
        if not answer.is_(Fault.NO_USAGE):
            body["usage"] = self._usage()
        return body

    def head(self) -> Sequence[Event]:
        return [self._chunk({"role": "assistant", "content": ""})]

    def body(self) -> Sequence[Event]:
        events = [self._chunk({"reasoning_content": piece}) for piece in split_text(self._reply.reasoning)]
        events += [self._chunk({"content": piece}) for piece in split_text(self._reply.text)]
        rows = [list(self._fragments(n, *call)) for n, call in enumerate(self._reply.calls)]
        return events + [self._chunk({"tool_calls": [part]}) for part in order_rows(rows, self._reply.fault)]

    def tail(self) -> Sequence[Event]:
        events = [] if self._answer.is_(Fault.NO_FINISH) else [self._chunk({}, self._finish)]
        if self._tells_usage:
            events.append(Event(f'{self._prefix}"choices":[],"usage":{dump(self._usage())}}}'))
        return events if self._answer.is_(Fault.NO_DONE) else [*events, Event("[DONE]")]

    def broken(self) -> Event:
        return Event(dump({"error": openai.BROKEN}))

    def _usage(self) -> Mapping[str, Any]:
        answer = self._answer
        output = answer.said + answer.thought
        return {
            "prompt_tokens": answer.tokens.input,
            "completion_tokens": output,
            "total_tokens": answer.tokens.input + output,
            "prompt_tokens_details": {"cached_tokens": answer.tokens.read, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": answer.thought, "audio_tokens": 0},
        }

    def _chunk(self, delta: Mapping[str, Any], finish: str | None = None) -> Event:
        usage = ',"usage":null' if self._tells_usage else ""
        return Event(
            f'{self._prefix}"choices":[{{"index":0,"delta":{dump(delta)},"logprobs":null,'
            f'"finish_reason":{dump(finish)}}}]{usage}}}'
        )

    def _fragments(self, n: int, name: str, arguments: str) -> Iterator[dict[str, Any]]:
        index = {} if self._answer.is_(Fault.NO_INDEX) else {"index": n}
        identity = {} if self._answer.is_(Fault.NO_IDS) else {"id": self._answer.call_id(n, "call_")}
        yield {**index, **identity, "type": "function", "function": {"name": name, "arguments": ""}}
        for fragment in split_arguments(arguments, self._reply.fault):
            yield {**index, "function": {"arguments": fragment}}


class OpenAIChat(OpenAIWire):
    """Implements `Wire`."""

    writes = _Completion

    def read(self, http_request: HttpRequest, request: Mapping[str, Any]) -> Prompt:
        model = openai.named_model(request)
        messages: Any = request.get("messages")
        refuse_if(
            not isinstance(messages, list) or not messages, "'messages' must be a list that is not empty.", "messages"
        )
        _check_messages(messages)
        refuse_if(
            not isinstance(request.get("stream_options") or {}, dict),
            "Invalid type for 'stream_options': expected an object.",
            "stream_options",
            "invalid_type",
        )
        tools: Any = request.get("tools")
        if tools is not None:
            openai.check_tools(tools, "function")
        return Prompt(
            model=model,
            stream=bool(request.get("stream")),
            request=request,
            turns=[_turn(message) for message in messages],
            segments=[tools, *messages] if tools else messages,
        )
