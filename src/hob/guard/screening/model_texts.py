"""Changes of all texts that go to a model or come from it."""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import replace
from typing import Any, Protocol, cast

from hob.core.models import AssistantMessage, ModelEvent, ModelMessage, ModelReply, ReasoningDelta, TextDelta
from hob.core.tools import ToolCall


class TextStream(Protocol):
    """A change of a text that arrives in pieces."""

    def feed(self, piece: str) -> str:
        """Add a piece; return the text that can be released."""

    def finish(self) -> str:
        """Return the rest at the end of the text."""


def change_message(
    message: ModelMessage, text: Callable[[str], str], call: Callable[[ToolCall], ToolCall]
) -> ModelMessage:
    """Change a message's text and calls; return the same object if nothing changes."""
    changed = text(message.text)
    if isinstance(message, AssistantMessage):
        calls = tuple(map(call, message.calls))
        if any(new is not old for new, old in zip(calls, message.calls, strict=True)):
            return replace(message, text=changed, calls=calls)
    return message if changed is message.text else replace(message, text=changed)


async def change_answer(
    events: AsyncIterator[ModelEvent], stream: Callable[[], TextStream], whole: Callable[[ModelReply], ModelReply]
) -> AsyncGenerator[ModelEvent]:
    """Change an answer's text and reasoning as they arrive, each with a `stream` of its own, and the `whole` reply."""
    text, reasoning = stream(), stream()
    # every model's stream is an async generator, and closing it ends the request
    async with aclosing(cast("AsyncGenerator[ModelEvent]", events)) as source:
        async for event in source:
            if type(event) is TextDelta:
                if piece := text.feed(event.text):
                    yield event if piece == event.text else TextDelta(piece)
            elif type(event) is ReasoningDelta:
                if piece := reasoning.feed(event.text):
                    yield event if piece == event.text else ReasoningDelta(piece)
            elif type(event) is ModelReply:
                if rest := reasoning.finish():
                    yield ReasoningDelta(rest)
                if rest := text.finish():
                    yield TextDelta(rest)
                yield whole(event)
            else:
                yield event


Change = Callable[[str, str], str]
"""Maps the name of a text (or "") and the text to the new text."""


def change_texts(arguments: str, change: Change) -> str:
    """Change every text in the arguments: names, strings and integers of the JSON, or the whole if it is not JSON.

    If nothing changes, the arguments are returned byte for byte.
    """
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return change("", arguments)
    changing = _Changing(change)
    changed = changing.of(value, "")
    return json.dumps(changed, ensure_ascii=False) if changing.touched else arguments


class _Changing:
    """Walks a JSON value and records whether anything was changed."""

    __slots__ = ("_change", "touched")

    def __init__(self, change: Change) -> None:
        self._change = change
        self.touched = False

    def of(self, value: Any, name: str) -> Any:
        if isinstance(value, str):
            return self._text(value, name)
        if isinstance(value, dict):
            return {self._text(key, ""): self.of(inner, key) for key, inner in value.items()}
        if isinstance(value, list):
            return [self.of(inner, name) for inner in value]
        if type(value) is int:
            written = str(value)
            changed = self._text(written, name)
            return value if changed == written else changed
        return value

    def _text(self, text: str, name: str) -> str:
        changed = self._change(name, text)
        self.touched = self.touched or changed != text
        return changed
