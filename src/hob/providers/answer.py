"""An answer that is being heard: pieces of text, reasoning and calls, gathered into events and, at its end, a reply.

Every wire's decoder fills one of these. Pieces of one kind that came together are told as one event.
"""

import json
from collections.abc import Collection
from dataclasses import dataclass, field
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
from hob.providers.faults import describe

MOST_CALLS = 256
"""Calls that one answer may ask for; more is nothing anybody could mean."""


@dataclass(slots=True)
class Call:
    """A call that is being written, and whether it was told."""

    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)
    told: bool = False

    def write(self, arguments: Any) -> None:
        """Take a piece of the arguments: text, or an object from servers that send it whole."""
        if isinstance(arguments, dict):
            arguments = json.dumps(arguments, ensure_ascii=False)
        if isinstance(arguments, str) and arguments:
            self.arguments.append(arguments)


class Answer:
    """What was heard of one answer.

    `taken` are the ids of calls that the conversation holds already: an id must name one call only, so a server that
    counts from zero every time gets fresh ones; so do missing and repeated ids. They are made from `salt`.
    """

    def __init__(self, host: str, salt: str = "", taken: Collection[str] = (), secret: str = "") -> None:
        self.usage: Usage | None = None
        self.model = ""
        self.cost: int | None = None
        self.continuation: Continuation | None = None
        self.calls: list[Call] = []
        self._host = host
        self._salt = salt
        self._taken = taken
        self._secret = secret
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

    def say(self, text: str) -> None:
        """A piece of the answer's text."""
        if self._pending_reasoning:
            self.flush()
            self._pending_reasoning = False
        self._pending.append(text)

    def think(self, text: str) -> None:
        """A piece of the reasoning."""
        if not self._pending_reasoning:
            self.flush()
            self._pending_reasoning = True
        self._pending.append(text)

    def new_call(self, id: str = "", name: str = "") -> Call:
        """A call begins. Raises ModelError where there are too many."""
        if len(self.calls) >= MOST_CALLS:
            raise ModelError(
                ModelFault.GARBAGE,
                describe(ModelFault.GARBAGE, self._host, "it sent more calls than anybody could mean", self._secret),
            )
        call = Call(id, name)
        self.calls.append(call)
        if name:
            self.tell(call)
        return call

    def tell(self, call: Call) -> None:
        """The call's name is known: it is told once."""
        if call.name and not call.told:
            call.told = True
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
            raise ModelError(ModelFault.FILTERED, describe(ModelFault.FILTERED, self._host, "", self._secret))
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

    def _raise_empty(self, stop: Stop) -> NoReturn:
        if stop is Stop.LENGTH:
            raise ModelError(
                ModelFault.EMPTY, "the model used up its limit before it wrote an answer; raise agent.max_tokens"
            )
        raise ModelError(ModelFault.EMPTY, f"the model at {self._host} gave an empty answer")
