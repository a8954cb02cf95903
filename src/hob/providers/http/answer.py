"""An answer under construction: text, reasoning and calls are collected into events and finally a reply.

The decoders of all wires fill it. Consecutive pieces of one kind become one event.
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
    StopReason,
    TextDelta,
    Usage,
)
from hob.core.tools import ToolCall
from hob.core.translation.language import translatable
from hob.core.values import dataclass
from hob.providers.http.faults import describe

MAX_CALLS = 256
"""Maximum calls per answer."""
MAX_ANSWER = 16 * 1024 * 1024
"""Maximum characters of text, reasoning and calls per answer."""
MAX_NAME = 256
"""Maximum characters of a tool name."""


@dataclass(slots=True)
class PartialCall:
    """A call under construction, and whether it was announced."""

    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)
    announced: bool = False


class PartialJson:
    """A JSON object whose texts arrive in pieces, joined once at the end."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self._fields = dict(fields)
        self._pieces: dict[str, list[str]] = {}

    def get(self, name: str) -> Any:
        """Return the initial value of a field."""
        return self._fields.get(name)

    def put(self, name: str, value: Any) -> None:
        """Replace the value of a field."""
        self._pieces.pop(name, None)
        self._fields[name] = value

    def grow(self, name: str, piece: str) -> None:
        """Append a piece to a text field."""
        if name not in self._pieces:
            before = self._fields.get(name)
            self._pieces[name] = [before] if isinstance(before, str) else []
        self._pieces[name].append(piece)

    def whole(self) -> dict[str, Any]:
        """Return the complete object."""
        return {**self._fields, **{name: "".join(pieces) for name, pieces in self._pieces.items()}}


class PartialAnswer:
    """The answer so far.

    `taken` are call ids already used in the conversation: an id must be unique, so missing, repeated and reused ids
    (some servers always count from zero) are replaced by new ones made from `salt`.

    Methods that add content raise ModelError if it exceeds what an answer can be.
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
        """Whether any text or call has arrived."""
        return bool(self._text or self._pending or self.calls)

    @property
    def reasoning(self) -> str:
        """The reasoning so far."""
        pending = "".join(self._pending) if self._pending_reasoning else ""
        return "".join(self._reasoning) + pending

    @property
    def size(self) -> int:
        """Characters of text, reasoning and calls so far."""
        return self._kept

    def keep(self, size: int) -> None:
        """Count more characters. Raises ModelError beyond `MAX_ANSWER`."""
        self._kept += size
        if self._kept > MAX_ANSWER:
            self._raise_garbage(translatable("an answer without end"))

    def keep_fields(self, fields: Mapping[str, Any]) -> None:
        """Count the size of this object."""
        self.keep(len(json.dumps(fields)))

    def say(self, text: str) -> None:
        """Add a piece of the answer's text."""
        if not text:
            return
        self.keep(len(text))
        if self._pending_reasoning:
            self.flush()
            self._pending_reasoning = False
        self._pending.append(text)

    def think(self, text: str) -> None:
        """Add a piece of the reasoning."""
        if not text:
            return
        self.keep(len(text))
        self.thought += len(text)
        if not self._pending_reasoning:
            self.flush()
            self._pending_reasoning = True
        self._pending.append(text)

    def named_call(self, id: object, name: object) -> PartialCall:
        """Start a call as reported by a server. Raises ModelError if it names no tool."""
        if not isinstance(name, str) or not name:
            self._raise_garbage(translatable("a call of nothing"))
        return self.new_call(id if isinstance(id, str) else "", name)

    def new_call(self, id: str = "", name: str = "") -> PartialCall:
        """Start a call."""
        if len(self.calls) >= MAX_CALLS:
            self._raise_garbage(translatable("more calls than anybody could mean"))
        call = PartialCall()
        self.calls.append(call)
        self.identify(call, id)
        self.name(call, name)
        self.announce_call(call)
        return call

    def identify(self, call: PartialCall, id: str) -> None:
        """Set the call's id unless it has one."""
        if id and not call.id:
            self.keep(len(id))
            call.id = id

    def name(self, call: PartialCall, name: str) -> None:
        """Add a piece of the call's name; repeating the name changes nothing."""
        if name and name != call.name:
            if len(call.name) + len(name) > MAX_NAME:
                self._raise_garbage(translatable("a name that no tool has"))
            call.name += name

    def write(self, call: PartialCall, arguments: Any) -> None:
        """Add arguments to the call: a piece of text, or an object from servers that send it whole."""
        if isinstance(arguments, dict):
            arguments = json.dumps(arguments, ensure_ascii=False)
        if isinstance(arguments, str) and arguments:
            self.keep(len(arguments))
            call.arguments.append(arguments)

    def announce_call(self, call: PartialCall) -> None:
        """Emit `CallStarted` once the call's name is known."""
        if call.name and not call.announced:
            call.announced = True
            self.flush()
            self._events.append(CallStarted(call.name))

    def flush(self) -> None:
        """Turn pending text into an event."""
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
        """Return the events since the last call."""
        self.flush()
        events = self._events
        if events:
            self._events = []
        return events

    def complete(self, stop: StopReason) -> None:
        """Complete the answer with its reply as the last event. Raises ModelError if there is none."""
        self.flush()
        if stop is StopReason.FILTER:
            said = describe(ModelFault.FILTERED, self._host, "", self._secrets)
            raise ModelError(ModelFault.FILTERED, said, usage=self.usage, cost=self.cost)
        text = "".join(self._text)
        calls = self._finished_calls()
        if not text.strip() and not calls:
            self._raise_empty(stop)
        if stop is not StopReason.LENGTH:
            stop = StopReason.TOOLS if calls else StopReason.END
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
                # the strictest server accepts exactly nine letters and digits
                identity = digest(f"{self._salt}.{len(seen)}.{identity}")[:9]
            seen.add(identity)
            finished.append(ToolCall(CallId(identity), call.name, "".join(call.arguments) or "{}"))
        return tuple(finished)

    def _raise_garbage(self, what: str) -> NoReturn:
        said = describe(ModelFault.GARBAGE, self._host, translatable("it sent {what}", what=what), self._secrets)
        raise ModelError(ModelFault.GARBAGE, said)

    def _raise_empty(self, stop: StopReason) -> NoReturn:
        said = translatable("the model at {host} gave an empty answer", host=self._host)
        if stop is StopReason.LENGTH:
            said = translatable(
                "the model wrote as much as it may before it came to an answer; a chat's limit is agent.max_tokens"
            )
        raise ModelError(ModelFault.EMPTY, said, usage=self.usage, cost=self.cost)
