"""An answer that is being heard: pieces of text, reasoning and calls, gathered into events and, at its end, a reply.

Every wire's decoder fills one of these. Pieces of one kind that came together are told as one event.
"""

import json
from collections.abc import Collection, Mapping
from dataclasses import field
from typing import Any, NoReturn

from hob.core.errors import ModelError, ModelFault
from hob.core.ids import CallId, digest
from hob.core.models import (
    CallStarted,
    Continuation,
    ModelEvent,
    ModelReply,
    ReasoningDelta,
    Stop,
    TextDelta,
    Usage,
)
from hob.core.tools import ToolCall
from hob.core.translation.language import translatable
from hob.core.values import dataclass
from hob.providers.http.faults import describe

MAX_CALLS = 256
"""Calls that one answer may ask for; more is nothing anybody could mean."""
MAX_KEPT = 16 * 1024 * 1024
"""Characters of text, reasoning and calls that one answer may have."""
MAX_NAME = 256
"""Characters of a tool's name."""


@dataclass(slots=True)
class PartialCall:
    """A call that is being written, and whether it was told."""

    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)
    announced: bool = False


class PartialJson:
    """A JSON object of which some texts come in pieces; they are joined once, when it is whole."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self._fields = dict(fields)
        self._pieces: dict[str, list[str]] = {}

    def get(self, name: str) -> Any:
        """What it began with under this name."""
        return self._fields.get(name)

    def put(self, name: str, value: Any) -> None:
        """This instead of what was there."""
        self._pieces.pop(name, None)
        self._fields[name] = value

    def grow(self, name: str, piece: str) -> None:
        """The text goes on."""
        if name not in self._pieces:
            before = self._fields.get(name)
            self._pieces[name] = [before] if isinstance(before, str) else []
        self._pieces[name].append(piece)

    def whole(self) -> dict[str, Any]:
        """All of it."""
        return {**self._fields, **{name: "".join(pieces) for name, pieces in self._pieces.items()}}


class PartialAnswer:
    """What was heard of one answer.

    `taken` are the ids of calls that the conversation holds already: an id must name one call only, so a server that
    counts from zero every time gets fresh ones; so do missing and repeated ids. They are made from `salt`.

    Whatever adds to it raises ModelError where that is more than an answer can be.
    """

    def __init__(self, host: str, salt: str = "", taken: Collection[str] = (), secrets: tuple[str, ...] = ()) -> None:
        self.usage: Usage | None = None
        self.model = ""
        self.cost: int | None = None
        self.continuation: Continuation | None = None
        self.calls: list[PartialCall] = []
        self.thought = 0
        """Characters of reasoning so far."""
        self._kept = 0
        self._host = host
        self._salt = salt
        self._taken = taken
        self._secrets = secrets
        self._events: list[ModelEvent] = []
        self._pending: list[str] = []
        self._pending_reasoning = False
        self._text: list[str] = []
        self._reasoning: list[str] = []

    @property
    def begun(self) -> bool:
        """Whether any text or call was heard."""
        return bool(self._text or self._pending or self.calls)

    @property
    def reasoning(self) -> str:
        """The reasoning so far."""
        pending = "".join(self._pending) if self._pending_reasoning else ""
        return "".join(self._reasoning) + pending

    @property
    def size(self) -> int:
        """Characters so far, of text, reasoning and calls."""
        return self._kept

    def keep(self, size: int) -> None:
        """So many characters more are kept."""
        self._kept += size
        if self._kept > MAX_KEPT:
            self._raise_garbage(translatable("an answer without end"))

    def keep_fields(self, fields: Mapping[str, Any]) -> None:
        """All of this object is kept."""
        self.keep(len(json.dumps(fields)))

    def say(self, text: str) -> None:
        """A piece of the answer's text; an empty one is none."""
        if not text:
            return
        self.keep(len(text))
        if self._pending_reasoning:
            self.flush()
            self._pending_reasoning = False
        self._pending.append(text)

    def think(self, text: str) -> None:
        """A piece of the reasoning; an empty one is none."""
        if not text:
            return
        self.keep(len(text))
        self.thought += len(text)
        if not self._pending_reasoning:
            self.flush()
            self._pending_reasoning = True
        self._pending.append(text)

    def named_call(self, id: object, name: object) -> PartialCall:
        """A call begins, as a server tells it. Raises ModelError where it names no tool."""
        if not isinstance(name, str) or not name:
            self._raise_garbage(translatable("a call of nothing"))
        return self.new_call(id if isinstance(id, str) else "", name)

    def new_call(self, id: str = "", name: str = "") -> PartialCall:
        """A call begins."""
        if len(self.calls) >= MAX_CALLS:
            self._raise_garbage(translatable("more calls than anybody could mean"))
        call = PartialCall()
        self.calls.append(call)
        self.identify(call, id)
        self.name(call, name)
        self.announce_call(call)
        return call

    def identify(self, call: PartialCall, id: str) -> None:
        """The call's id, unless it has one."""
        if id and not call.id:
            self.keep(len(id))
            call.id = id

    def name(self, call: PartialCall, name: str) -> None:
        """A piece of the call's name, or the name once more."""
        if name and name != call.name:
            if len(call.name) + len(name) > MAX_NAME:
                self._raise_garbage(translatable("a name that no tool has"))
            call.name += name

    def write(self, call: PartialCall, arguments: Any) -> None:
        """A piece of the call's arguments: text, or an object from servers that send it whole."""
        if isinstance(arguments, dict):
            arguments = json.dumps(arguments, ensure_ascii=False)
        if isinstance(arguments, str) and arguments:
            self.keep(len(arguments))
            call.arguments.append(arguments)

    def announce_call(self, call: PartialCall) -> None:
        """The call's name is known: it is told once."""
        if call.name and not call.announced:
            call.announced = True
            self.flush()
            self._events.append(CallStarted(call.name))

    def flush(self) -> None:
        """What is pending becomes an event."""
        if not self._pending:
            return
        text = self._pending[0] if len(self._pending) == 1 else "".join(self._pending)
        self._pending.clear()
        if self._pending_reasoning:
            self._reasoning.append(text)
            self._events.append(ReasoningDelta(text))
        else:
            self._text.append(text)
            self._events.append(TextDelta(text))

    def take_events(self) -> list[ModelEvent]:
        """The events since the last time."""
        self.flush()
        events = self._events
        if events:
            self._events = []
        return events

    def complete(self, stop: Stop) -> None:
        """The answer is whole: its reply is the last event. Raises ModelError where it is none."""
        self.flush()
        if stop is Stop.FILTER:
            said = describe(ModelFault.FILTERED, self._host, "", self._secrets)
            raise ModelError(ModelFault.FILTERED, said, usage=self.usage, cost=self.cost)
        text = "".join(self._text)
        calls = self._finished_calls()
        if not text.strip() and not calls:
            self._raise_empty(stop)
        if stop is not Stop.LENGTH:
            stop = Stop.TOOLS if calls else Stop.END
        self._events.append(
            ModelReply(
                text,
                calls,
                "".join(self._reasoning),
                stop,
                self.usage,
                self.model,
                cost=self.cost,
                continuation=self.continuation,
            )
        )

    def _finished_calls(self) -> tuple[ToolCall, ...]:
        seen = set(self._taken)
        finished = []
        for call in self.calls:
            if not call.name and not call.arguments:
                continue
            identity = call.id
            while not identity or identity in seen:
                # nine letters and digits are what the strictest server takes
                identity = digest(f"{self._salt}.{len(seen)}.{identity}")[:9]
            seen.add(identity)
            finished.append(ToolCall(CallId(identity), call.name, "".join(call.arguments) or "{}"))
        return tuple(finished)

    def _raise_garbage(self, what: str) -> NoReturn:
        said = describe(ModelFault.GARBAGE, self._host, translatable("it sent {what}", what=what), self._secrets)
        raise ModelError(ModelFault.GARBAGE, said)

    def _raise_empty(self, stop: Stop) -> NoReturn:
        said = translatable("the model at {host} gave an empty answer", host=self._host)
        if stop is Stop.LENGTH:
            said = translatable(
                "the model wrote as much as it may before it came to an answer; a chat's limit is agent.max_tokens"
            )
        raise ModelError(ModelFault.EMPTY, said, usage=self.usage, cost=self.cost)
