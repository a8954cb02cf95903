"""A model with scripted answers."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Iterable

from hob.core.errors import HobError
from hob.core.ids import CallId
from hob.core.models import (
    KeepAlive,
    ModelEvent,
    ModelReply,
    ModelRequest,
    ReasoningDelta,
    Remark,
    StopReason,
    TextDelta,
    Usage,
)
from hob.core.tools import ToolCall
from hob.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Silence:
    """The model sends this text and then nothing until the request is closed."""

    text: str = ""


@dataclass(frozen=True, slots=True)
class Cut:
    """Some text is streamed, then this error is raised."""

    text: str
    error: HobError


_BACKGROUND = frozenset({"facts", "observer", "reflector", "consolidation", "rewriting", "reranking", "sampling"})
Line = str | ModelReply | HobError | Silence | Cut | Callable[[ModelRequest], "str | ModelReply | Silence"]


def calls(*named: tuple[str, str], text: str = "") -> ModelReply:
    """Return a reply with tool calls, each `(name, JSON arguments)`."""
    made = tuple(ToolCall(CallId(f"c{n}"), name, arguments) for n, (name, arguments) in enumerate(named, 1))
    return ModelReply(text, calls=made, stop=StopReason.TOOLS, usage=Usage(10, 5))


class ScriptedModel:
    """Implements `Model` with a script; `requests` holds the requests.

    `remarks` precede every answer.

    An item of the script is a text, a whole reply, an error to raise, `Silence`, `Cut`, or a function of the request.
    When the script is used up, `otherwise` answers (by default it echoes the last user message). Background requests
    are kept in `background_requests` and answered from `background`, afterwards with nothing to remember.
    """

    def __init__(self, *script: Line, otherwise: Line | None = None) -> None:
        self.script: list[Line] = list(script)
        self.requests: list[ModelRequest] = []
        self.background: list[Line] = []
        self.background_requests: list[ModelRequest] = []
        self.remarks: tuple[Remark, ...] = ()
        self.open_streams = 0
        self._otherwise: Line = otherwise if otherwise is not None else _echo

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        if request.task in _BACKGROUND:
            self.background_requests.append(request)
            line: Line = self.background.pop(0) if self.background else "[]"
        else:
            self.requests.append(request)
            line = self.script.pop(0) if self.script else self._otherwise
        self.open_streams += 1
        try:
            for remark in self.remarks:
                yield remark
            async for event in self._perform(line, request):
                yield event
        finally:
            self.open_streams -= 1

    async def _perform(self, line: Line, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        await asyncio.sleep(0)
        match line:
            case HobError():
                raise line
            case Silence(text):
                for piece in _pieces(text):
                    yield TextDelta(piece)
                await asyncio.Event().wait()
            case Cut(text, error):
                for piece in _pieces(text):
                    yield TextDelta(piece)
                raise error
            case str() | ModelReply():
                for event in _events(line, request):
                    yield event
            case _:
                async for event in self._perform(line(request), request):
                    yield event


def _events(said: str | ModelReply, request: ModelRequest) -> Iterable[ModelEvent]:
    reply = said if isinstance(said, ModelReply) else ModelReply(said, usage=Usage(len(request.system) // 4, 3))
    yield KeepAlive()
    if reply.reasoning:
        yield ReasoningDelta(reply.reasoning)
    for piece in _pieces(reply.text):
        yield TextDelta(piece)
    yield reply


def _pieces(text: str) -> list[str]:
    return re.findall(r"\S+\s*|\s+", text)


def _echo(request: ModelRequest) -> str:
    last = request.messages[-1].text if request.messages else ""
    return f"You said: {last}"
