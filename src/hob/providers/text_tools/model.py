"""A model without tool calls, wrapped into one that has them."""

import os
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from typing import cast

from hob.core.ids import CallId, digest
from hob.core.models import (
    AssistantMessage,
    Beat,
    CallStarted,
    ModelEvent,
    ModelReply,
    ModelRequest,
    ReasoningDelta,
    Stop,
    TextDelta,
    ToolMessage,
)
from hob.core.ports.model import Model
from hob.core.tools import ToolCall
from hob.providers.schemas import SchemaDialect, ToolNames, normalise, safe_names
from hob.providers.text_tools.reading import CallReader
from hob.providers.text_tools.writing import write_history, write_tools

_BEAT = Beat()


class TextTools:
    """Implements `Model` by asking another one in text alone: tools stand in the system text, calls in the answer.

    Only the answer is read for calls, and only tools that were offered are called. Text before a call is told at once;
    after its calls the answer is over, and the request behind is closed if the model goes on (then nobody tells the
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
