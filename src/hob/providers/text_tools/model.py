"""A model without tool calls, wrapped into one that has them."""

import os
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any, cast

from hob.core.ids import CallId, digest
from hob.core.models import (
    AssistantMessage,
    Beat,
    CallStarted,
    ModelEvent,
    ModelMessage,
    ModelReply,
    ModelRequest,
    ReasoningDelta,
    Stop,
    TextDelta,
    ToolMessage,
    UserMessage,
)
from hob.core.ports.model import Model
from hob.core.tools import ToolCall, ToolSpec
from hob.providers.http.past_calls import result_text
from hob.providers.schemas.dialects import SchemaDialect, ToolNames, normalise, safe_names
from hob.providers.text_tools.call_reader import CallReader
from hob.providers.text_tools.calls import read, write

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
    """How tools are used, and one line for each. The same tools give the same bytes."""
    lines = [
        f"- {names.to_wire(spec.name)}({_signature(normalise(spec, SchemaDialect.GRAMMAR))})"
        + (f": {said}" if (said := _line(spec.description, _MAX_DESCRIPTION)) else "")
        for spec in specs
    ]
    return "\n".join([_HOW, *lines])


def write_history(messages: Sequence[ModelMessage], names: ToolNames) -> tuple[ModelMessage, ...]:
    """The messages with calls and results as text; neighbours of one side as one message."""
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
    if not isinstance(read(arguments), dict):
        arguments = write({"malformed": arguments})
    return f'<tool_call>{{"name": {write(names.to_wire(call.name))}, "arguments": {arguments}}}</tool_call>'


def _result(message: ToolMessage, name: str) -> str:
    # what a tool brought in must not pass for the end of its own result
    text = message.text.replace("<tool_result", "(tool_result").replace("</tool_result", "(/tool_result")
    return f"<tool_result name={write(name)}>\n{result_text(replace(message, text=text))}\n</tool_result>"


def _signature(schema: Mapping[str, Any], depth: int = 0) -> str:
    required = schema.get("required", ())
    return ", ".join(
        _parameter(name if name in required else f"{name}?", part, depth)
        for name, part in schema.get("properties", {}).items()
    )


def _parameter(name: str, schema: Mapping[str, Any], depth: int) -> str:
    note = _line(str(schema.get("description", "")), _MAX_NOTE) if depth == 0 else ""
    kind = _kind(schema, depth)
    return f"{_line(name, 80)}: {kind} ({note})" if note else f"{_line(name, 80)}: {kind}"


def _kind(schema: Mapping[str, Any], depth: int) -> str:
    """A schema's type in few words, e.g. `string[]`, `"r" | "w"`, `{name: string, size?: integer}`."""
    choices = schema.get("enum", ())
    if 0 < len(choices) <= _MAX_CHOICES:
        return " | ".join(map(write, choices))
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(_kind(part, depth) for part in schema["anyOf"]))
    kind = schema.get("type", "any")
    if isinstance(kind, list):
        return "any" if len(kind) > 3 else " | ".join(kind)
    if depth < _DEEPEST and kind == "array" and schema.get("items"):
        inner = _kind(schema["items"], depth + 1)
        return f"({inner})[]" if " | " in inner else f"{inner}[]"
    if depth < _DEEPEST and kind == "object" and schema.get("properties"):
        return f"{{{_signature(schema, depth + 1)}}}"
    return str(kind)


def _line(text: str, maximum: int) -> str:
    """The first line of a text, cut at a word."""
    line = next(iter(text.strip().splitlines()), "").strip()
    return line if len(line) <= maximum else f"{line[:maximum].rsplit(' ', 1)[0]} …"


_BEAT = Beat()


class TextTools:
    """Implements `Model` by asking another one in text alone: tools stand in the system text, calls in the answer.

    Only the answer is read for calls, and only tools that were offered are called. Text before a call is told at once;
    after its calls the answer is over, and the request behind is closed if the model goes on (then no one tells the
    usage).
    """

    def __init__(self, model: Model) -> None:
        self._model = model

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        """Answer, piece by piece. Raises what the model behind raises."""
        names = safe_names(request.tools)
        reader = CallReader(
            {names.to_wire(spec.name): normalise(spec, SchemaDialect.GRAMMAR) for spec in request.tools}
        )
        answer = _Answer(reader, names)
        asked = cast("AsyncGenerator[ModelEvent]", self._model.stream(_in_text(request, names)))
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
    """One answer, from the events of the model behind to those that are told."""

    def __init__(self, reader: CallReader, names: ToolNames) -> None:
        self._reader = reader
        self._names = names
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._heard = False
        self._told = 0
        self._reply: ModelReply | None = None

    def take(self, event: ModelEvent) -> list[ModelEvent]:
        """What is to be told now; the model is alive even where that is nothing."""
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
        """The last events. None where the model behind ended without a reply in the middle of its answer."""
        if self._reply is None and not self._reader.done:
            return []
        events = self._events(self._reader.finish())
        reply = self._reply or ModelReply("", reasoning="".join(self._reasoning))
        calls = (*_named(self._reader, self._names, request), *reply.calls)
        stop = reply.stop
        if calls and not (stop is Stop.LENGTH and self._reader.unfinished):
            stop = Stop.TOOLS
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


def _in_text(request: ModelRequest, names: ToolNames) -> ModelRequest:
    """The request without tools: they stand at the end of the system text, which stays the same as long as they do."""
    messages = request.messages
    if any(isinstance(said, ToolMessage) or (isinstance(said, AssistantMessage) and said.calls) for said in messages):
        messages = write_history(messages, names)
    if not request.tools:
        return replace(request, messages=messages)
    tools = write_tools(request.tools, names)
    system = f"{request.system}\n\n{tools}" if request.system else tools
    return replace(request, system=system, messages=messages, tools=())


def _named(reader: CallReader, names: ToolNames, request: ModelRequest) -> list[ToolCall]:
    """The calls with the names of their tools and ids that the conversation does not hold yet."""
    taken = {call.id for said in request.messages if isinstance(said, AssistantMessage) for call in said.calls}
    made: list[ToolCall] = []
    for call in reader.calls:
        # at random, since the conversation that is shown may have lost its middle
        while (identity := CallId(digest(os.urandom(16))[:9])) in taken:
            pass
        taken.add(identity)
        made.append(ToolCall(identity, names.to_tool(call.name), call.arguments))
    return made
