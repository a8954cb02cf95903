"""Ends the own process as `kill -9` would, at a chosen step of a message's way.

A `Crash` names the boundary and how often it may be passed; wrappers around the ports tell it when one is. Nothing is
flushed, closed or answered: what the next start finds is what was durable at that moment.
"""

import os
import signal
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Sequence
from contextlib import AbstractAsyncContextManager, aclosing
from enum import StrEnum
from typing import Self, cast

from hob.core.events.timeline import TimelineEvent
from hob.core.ids import InboundId, TurnId
from hob.core.messages import Inbound, Outbound
from hob.core.models import ModelEvent, ModelRequest, TextDelta, UserMessage
from hob.core.ports.accept import Accept, Accepted
from hob.core.ports.channel import Channel, Delivered
from hob.core.ports.journal import Journal
from hob.core.ports.model import Model
from hob.core.ports.tools import CallContext, Toolset
from hob.core.steps import ModelAsked, Step, ToolIntended, ToolReceived
from hob.core.tools import ToolCall, ToolResult, ToolSpec
from hob.core.turns import Finish


class Boundary(StrEnum):
    """Where a process can end, in the order in which a message passes them."""

    ACCEPTED = "accepted"
    """The message is durable, its sender has not been told."""
    CLAIMED = "claimed"
    """A turn holds the message and has done nothing."""
    MODEL_ASKED = "model_asked"
    """That the model is asked is journalled; the request is not sent."""
    MID_STREAM = "mid_stream"
    """A piece of the answer was streamed."""
    TOOL_INTENT = "tool_intent"
    """That the call is made is journalled; it is not made."""
    TOOL_RUNNING = "tool_running"
    """The call took effect; what it gave is not journalled."""
    RECEIPT = "receipt"
    """What the call gave is journalled."""
    FINISHED = "finished"
    """The turn knows what to say; its end is not committed."""
    OUTBOX_WRITTEN = "outbox_written"
    """The end is committed, the reply in the outbox with it."""
    SENDING = "sending"
    """That the reply is sent is committed; the channel has not got it."""
    SENT = "sent"
    """The channel has the reply; that is not committed."""


class Crash:
    """Kills the own process when the boundary is passed for the n-th time. Without a boundary it never does."""

    def __init__(self, at: Boundary | None = None, nth: int = 1) -> None:
        self._at = at
        self._left = nth

    @classmethod
    def parse(cls, text: str) -> Self:
        """From `boundary` or `boundary:nth`; nothing never crashes. Raises ValueError."""
        name, _, nth = text.partition(":")
        return cls(Boundary(name) if name else None, int(nth or 1))

    def passed(self, boundary: Boundary) -> None:
        """A message has come so far."""
        if boundary is self._at:
            self._left -= 1
            if self._left == 0:
                die()


def die() -> None:
    """End this process as `kill -9` does."""
    os.kill(os.getpid(), signal.SIGKILL)


_OF_STEP: dict[type[object], Boundary] = {
    ModelAsked: Boundary.MODEL_ASKED,
    ToolIntended: Boundary.TOOL_INTENT,
    ToolReceived: Boundary.RECEIPT,
}


class CrashingAccept:
    """Wraps `Accept`."""

    def __init__(self, accept: Accept, crash: Crash) -> None:
        self._accept = accept
        self._crash = crash

    async def __call__(self, inbound: Inbound) -> Accepted:
        accepted = await self._accept(inbound)
        self._crash.passed(Boundary.ACCEPTED)
        return accepted


class CrashingJournal:
    """Wraps `Journal`."""

    def __init__(self, journal: Journal, crash: Crash) -> None:
        self._journal = journal
        self._crash = crash

    async def load_steps(self, turn: TurnId, since: int = 0) -> tuple[Step, ...]:
        steps = await self._journal.load_steps(turn, since)
        if not steps and not since:
            self._crash.passed(Boundary.CLAIMED)
        return steps

    async def append(
        self,
        turn: TurnId,
        steps: Sequence[Step],
        events: Sequence[TimelineEvent] = (),
        request: ModelRequest | None = None,
    ) -> None:
        await self._journal.append(turn, steps, events, request)
        for step in steps:
            boundary = _OF_STEP.get(type(step))
            if boundary is not None:
                self._crash.passed(boundary)

    async def steer(self, turn: TurnId, inbounds: Collection[InboundId]) -> tuple[Inbound, ...]:
        return await self._journal.steer(turn, inbounds)

    async def finish(self, finish: Finish) -> None:
        self._crash.passed(Boundary.FINISHED)
        await self._journal.finish(finish)
        self._crash.passed(Boundary.OUTBOX_WRITTEN)


class CrashingModel:
    """Wraps `Model`. A newest user message that holds the poison, if there is one, always kills."""

    def __init__(self, model: Model, crash: Crash, poison: str = "") -> None:
        self._model = model
        self._crash = crash
        self._poison = poison

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        said = [message.text for message in request.messages if isinstance(message, UserMessage)]
        if self._poison and said and self._poison in said[-1]:
            die()
        # every model's stream is an asynchronous generator; closing it ends the request
        events = self._model.stream(request)
        async with aclosing(cast(AsyncGenerator[ModelEvent, None], events)) as stream:
            async for event in stream:
                yield event
                if isinstance(event, TextDelta):
                    self._crash.passed(Boundary.MID_STREAM)


class CrashingToolset:
    """Wraps `Toolset`."""

    def __init__(self, toolset: Toolset, crash: Crash) -> None:
        self._toolset = toolset
        self._crash = crash

    def specs(self) -> tuple[ToolSpec, ...]:
        return self._toolset.specs()

    async def call(self, call: ToolCall, context: CallContext) -> ToolResult:
        result = await self._toolset.call(call, context)
        self._crash.passed(Boundary.TOOL_RUNNING)
        return result


class CrashingChannel:
    """Wraps `Channel`."""

    def __init__(self, channel: Channel, crash: Crash) -> None:
        self.name = channel.name
        self.account = channel.account
        self.repeats = channel.repeats
        self.text_limit = channel.text_limit
        self._channel = channel
        self._crash = crash

    def run(self, accept: Accept) -> AbstractAsyncContextManager[None]:
        return self._channel.run(accept)

    async def send(self, message: Outbound) -> Delivered:
        self._crash.passed(Boundary.SENDING)
        delivered = await self._channel.send(message)
        self._crash.passed(Boundary.SENT)
        return delivered
