"""Wrapper that adds textual tool calls to a model without native ones."""

import os
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any, cast

from hob.core.ids import CallId, digest
from hob.core.models import (
    AssistantMessage,
    CallStarted,
    KeepAlive,
    ModelEvent,
    ModelMessage,
    ModelReply,
    ModelRequest,
    ReasoningDelta,
    StopReason,
    TextDelta,
    ToolMessage,
    UserMessage,
)
from hob.core.ports.model import Model
from hob.core.tools import ToolCall, ToolSpec
from hob.providers.http.past_calls import format_result
from hob.providers.schemas.dialects import SchemaDialect, ToolNames, make_safe_names, normalise
from hob.providers.text_tools.call_reader import CallReader
from hob.providers.text_tools.calls import parse_lenient, to_json

# Tools, calls and results as text that a small model understands.

_HOW = """\
# Tools

To use a tool, write only this and stop; its result comes in the next message:
<tool_call>{"name": "tool", "arguments": {"parameter": "value"}}</tool_call>
Use a tool only when it helps; otherwise answer in plain text. Never write a result yourself. A ? marks what may be \
left out. There are only these tools:"""
_MAX_DESCRIPTION, _MAX_NOTE = 200, 80  # characters for a tool, for one of its parameters
_MAX_CHOICES = 12
_DEEPEST = 2


def write_tools(specs: Iterable[ToolSpec], names: ToolNames) -> str:
    """Describe how to use the tools, with one line for each. The same tools give the same bytes."""
    lines = [
        f"- {names.to_wire(spec.name)}({_signature(normalise(spec, SchemaDialect.GRAMMAR))})"
        + (f": {said}" if (said := _first_line(spec.description, _MAX_DESCRIPTION)) else "")
        for spec in specs
    ]
    return "\n".join([_HOW, *lines])


def write_history(messages: Sequence[ModelMessage], names: ToolNames) -> tuple[ModelMessage, ...]:
    """Return the messages with calls and results as text; adjacent messages of one side are merged."""
    written: list[ModelMessage] = []
    called: dict[str, str] = {}
    for message in messages:
        plain = message
        if isinstance(message, AssistantMessage) and message.calls:
            called |= {call.id: names.to_wire(call.name) for call in message.calls}
            calls = "\n".join(_call(call, names) for call in message.calls)
            plain = AssistantMessage(f"{message.text}\n{calls}" if message.text else calls)
        elif isinstance(message, ToolMessage):
            plain = UserMessage(_result(message, called.get(message.call, "tool")))
        last = written[-1] if written else None
        if isinstance(plain, UserMessage) and isinstance(last, UserMessage):
            written[-1] = UserMessage(f"{last.text}\n{plain.text}", last.images + plain.images)
        else:
            written.append(plain)
    return tuple(written)


def _call(call: ToolCall, names: ToolNames) -> str:
    arguments = call.arguments.strip() or "{}"
    if not isinstance(parse_lenient(arguments), dict):
        arguments = to_json({"malformed": arguments})
    return f'<tool_call>{{"name": {to_json(names.to_wire(call.name))}, "arguments": {arguments}}}</tool_call>'


def _result(message: ToolMessage, name: str) -> str:
    # a tool's output must not be mistaken for the end of its own result
    text = message.text.replace("<tool_result", "(tool_result").replace("</tool_result", "(/tool_result")
    return f"<tool_result name={to_json(name)}>\n{format_result(replace(message, text=text))}\n</tool_result>"


def _signature(schema: Mapping[str, Any], depth: int = 0) -> str:
    required = schema.get("required", ())
    return ", ".join(
        _parameter(name if name in required else f"{name}?", part, depth)
        for name, part in schema.get("properties", {}).items()
    )


def _parameter(name: str, schema: Mapping[str, Any], depth: int) -> str:
    note = _first_line(str(schema.get("description", "")), _MAX_NOTE) if depth == 0 else ""
    kind = _describe_type(schema, depth)
    return f"{_first_line(name, 80)}: {kind} ({note})" if note else f"{_first_line(name, 80)}: {kind}"


def _describe_type(schema: Mapping[str, Any], depth: int) -> str:
    """Describe a schema's type briefly, e.g. `string[]`, `"r" | "w"`, `{name: string, size?: integer}`."""
    choices = schema.get("enum", ())
    if 0 < len(choices) <= _MAX_CHOICES:
        return " | ".join(map(to_json, choices))
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(_describe_type(part, depth) for part in schema["anyOf"]))
    kind = schema.get("type", "any")
    if isinstance(kind, list):
        return "any" if len(kind) > 3 else " | ".join(kind)
    if depth < _DEEPEST and kind == "array" and schema.get("items"):
        inner = _describe_type(schema["items"], depth + 1)
        return f"({inner})[]" if " | " in inner else f"{inner}[]"
    if depth < _DEEPEST and kind == "object" and schema.get("properties"):
        return f"{{{_signature(schema, depth + 1)}}}"
    return str(kind)


def _first_line(text: str, maximum: int) -> str:
    """Return the first line of a text, cut at a word."""
    line = next(iter(text.strip().splitlines()), "").strip()
    return line if len(line) <= maximum else f"{line[:maximum].rsplit(' ', 1)[0]} …"


_BEAT = KeepAlive()


class TextTools:
    """Implements `Model` with a text-only model: tools are in the system text, calls in the answer.

    Only the answer is searched for calls, and only available tools are called. Text before a call is yielded
    immediately; after its calls the answer is over, and the underlying request is closed if the model continues (the
    usage is then unknown).
    """

    def __init__(self, model: Model) -> None:
        self._model = model

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        """Yield the answer in pieces. Raises what the underlying model raises."""
        names = make_safe_names(request.tools)
        reader = CallReader(
            {names.to_wire(spec.name): normalise(spec, SchemaDialect.GRAMMAR) for spec in request.tools}
        )
        answer = _Answer(reader, names)
        asked = cast("AsyncGenerator[ModelEvent]", self._model.stream(_describe_tools(request, names)))
        async with aclosing(asked) as events:
            async for event in events:
                for told in answer.take(event) if request.tools else (event,):
                    yield told
                if reader.done:
                    break
        if request.tools:
            for told in answer.complete(request):
                yield told


class _Answer:
    """Converts the events of one answer."""

    def __init__(self, reader: CallReader, names: ToolNames) -> None:
        self._reader = reader
        self._names = names
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._heard = False
        self._told = 0
        self._reply: ModelReply | None = None

    def take(self, event: ModelEvent) -> list[ModelEvent]:
        """Return the events to yield now; a `KeepAlive` if there are none."""
        match event:
            case TextDelta(text):
                self._heard = True
                return self._events(self._reader.feed(text)) or [_BEAT]
            case ModelReply():
                self._reply = event
                return [] if self._heard else self._events(self._reader.feed(event.text))
            case ReasoningDelta(text):
                self._reasoning.append(text)
        return [event]

    def complete(self, request: ModelRequest) -> list[ModelEvent]:
        """Return the last events; none if the underlying model ended without a reply in the middle of its answer."""
        if self._reply is None and not self._reader.done:
            return []
        events = self._events(self._reader.finish())
        reply = self._reply or ModelReply("", reasoning="".join(self._reasoning))
        calls = (*_name_calls(self._reader, self._names, request), *reply.calls)
        stop = reply.stop
        if calls and not (stop is StopReason.LENGTH and self._reader.unfinished):
            stop = StopReason.TOOLS
        return [*events, replace(reply, text="".join(self._text), calls=calls, stop=stop)]

    def _events(self, text: str) -> list[ModelEvent]:
        events: list[ModelEvent] = []
        if text:
            self._text.append(text)
            events.append(TextDelta(text))
        found = self._reader.calls
        events += [CallStarted(self._names.to_tool(call.name)) for call in found[self._told :]]
        self._told = len(found)
        return events


def _describe_tools(request: ModelRequest, names: ToolNames) -> ModelRequest:
    """Return the request with its tools described at the end of the system text, which stays constant with them."""
    messages = request.messages
    if any(isinstance(said, ToolMessage) or (isinstance(said, AssistantMessage) and said.calls) for said in messages):
        messages = write_history(messages, names)
    if not request.tools:
        return replace(request, messages=messages)
    tools = write_tools(request.tools, names)
    system = f"{request.system}\n\n{tools}" if request.system else tools
    return replace(request, system=system, messages=messages, tools=())


def _name_calls(reader: CallReader, names: ToolNames, request: ModelRequest) -> list[ToolCall]:
    """Return the calls with tool names and ids that are new to the conversation."""
    taken = {call.id for said in request.messages if isinstance(said, AssistantMessage) for call in said.calls}
    made: list[ToolCall] = []
    for call in reader.calls:
        # random, since the visible conversation may lack its middle
        while (identity := CallId(digest(os.urandom(16))[:9])) in taken:
            pass
        taken.add(identity)
        made.append(ToolCall(identity, names.to_tool(call.name), call.arguments))
    return made
