"""Contract check for `hob.core.ports.model.Model`."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import AbstractAsyncContextManager, aclosing
from typing import Final, cast

from hob.core.errors import ModelError, ModelFault
from hob.core.ids import CallId
from hob.core.models import ModelEvent, ModelReply, ModelRequest, ReasoningDelta, StopReason, TextDelta, UserMessage
from hob.core.ports.model import Model
from hob.core.tools import ToolCall
from hob.testing.model import Cut, Silence
from hob.testing.promises import require

Behaviour = ModelReply | ModelError | Cut | Silence
"""Behaviour of the model: give this reply, fail, fail after some text, or send nothing."""

Make = Callable[[tuple[Behaviour, ...]], AbstractAsyncContextManager[Model]]
"""Opens a model that behaves like this for successive requests."""

_SECONDS: Final = 30.0
_TO_BE_HEARD: Final = 0.5  # seconds after which even a busy machine has received the request
_REQUEST: Final = ModelRequest("check", "You are being checked.", (UserMessage("Hi."),), patience=0.0)
_TEXT: Final = ModelReply('Grüß Gott, "Welt"\n\n- 你好 😀\n')
_CALLS: Final = ModelReply(
    "Two things at once.",
    calls=(
        ToolCall(CallId("one"), "read_file", '{"path": "a \\"b\\" \\u00e9.txt"}'),
        ToolCall(CallId("two"), "clock", "{}"),
    ),
    reasoning="First this, then that.",
    stop=StopReason.TOOLS,
)
_PLAIN: Final = ModelReply("One thing at a time.", reasoning="First this, then that.")


async def check_model(make: Make, *, calls: bool = True, streams: bool = True) -> None:
    """Check the contract. Raises AssertionError that names the broken promise.

    Set `calls` to False for a model without tool calls, `streams` to False for one that does not stream.
    """
    await _check_reply(make, _TEXT)
    await _check_reply(make, _CALLS if calls else _PLAIN)
    for fault in (ModelFault.AUTH, ModelFault.OVERLOAD, ModelFault.CONTEXT_OVERFLOW, ModelFault.RATE_LIMIT):
        await _check_failure(make, ModelError(fault, "as asked"), shown=False)
    await _check_failure(make, Cut("Half an ", ModelError(ModelFault.CUT, "as asked")), shown=True if streams else None)
    await _check_early_close(make)
    await _check_cancelling(make)
    await _check_side_by_side(make)


async def _check_reply(make: Make, wanted: ModelReply) -> None:
    async with make((wanted,)) as model:
        events = await _collect(model)
    replies = [event for event in events if isinstance(event, ModelReply)]
    require(len(replies) == 1 and events[-1] is replies[0], "the last event, and only the last, is the whole reply")
    reply = replies[0]
    require(reply.text == wanted.text, "the reply holds the text the model wrote")
    require(_joined(events, TextDelta) == reply.text, "the pieces of text make up the reply's text")
    require(_joined(events, ReasoningDelta) == reply.reasoning, "the pieces of reasoning make up the reply's reasoning")
    require(
        [_parse_call(call) for call in reply.calls] == [_parse_call(call) for call in wanted.calls],
        "the reply holds the calls the model wrote, in order, their arguments unchanged",
    )
    ids = [call.id for call in reply.calls]
    require(all(ids) and len(set(ids)) == len(ids), "every call has an id of its own")
    require(reply.stop is wanted.stop, "the reason for stopping is told")
    require(reply.attempts == 1, "an answer at the first request counts one attempt")
    if reply.usage is not None:
        require(
            0 <= reply.usage.cache_read + reply.usage.cache_write <= reply.usage.input,
            "cached tokens are part of the input",
        )


async def _check_failure(make: Make, behaviour: ModelError | Cut, *, shown: bool | None) -> None:
    fault = behaviour.fault if isinstance(behaviour, ModelError) else ModelFault.CUT
    async with make((behaviour, _TEXT)) as model:
        events: list[ModelEvent] = []
        error = await _failure_of(model, events)
        require(error is not None, f"a failure ({fault}) is raised as ModelError")
        assert error is not None  # noqa: S101
        require(error.fault is fault, f"a failure is told by its fault: {fault}, not {error.fault}")
        require(bool(str(error)), "a failure says something to people")
        require(not any(isinstance(event, ModelReply) for event in events), "no reply comes before an error")
        require(shown in (None, bool(_joined(events, TextDelta))), "text that came before a failure was streamed")
        after = await _collect(model)
        require(isinstance(after[-1], ModelReply), "the next request works after a failure")


async def _check_early_close(make: Make) -> None:
    async with make((_TEXT, _TEXT)) as model:
        events = _open(model)
        async with asyncio.timeout(_SECONDS):
            await anext(events)
            await events.aclose()
        after = await _collect(model)
        require(isinstance(after[-1], ModelReply), "the next request works after one was closed early")


async def _check_cancelling(make: Make) -> None:
    async with make((Silence(), _TEXT)) as model:
        try:
            async with asyncio.timeout(_TO_BE_HEARD):
                await _collect(model)
        except TimeoutError:
            pass
        else:
            raise AssertionError("a silent model gives no answer")
        after = await _collect(model)
        require(isinstance(after[-1], ModelReply), "the next request works after one was cancelled")


async def _check_side_by_side(make: Make) -> None:
    async with make((_TEXT, _TEXT, _TEXT)) as model:
        streams = await asyncio.gather(*(_collect(model) for _ in range(3)))
    require(
        all(_joined(events, TextDelta) == _TEXT.text for events in streams), "requests made at once do not get mixed up"
    )


def _open(model: Model) -> AsyncGenerator[ModelEvent]:
    return cast("AsyncGenerator[ModelEvent]", model.stream(_REQUEST))


async def _collect(model: Model) -> list[ModelEvent]:
    async with asyncio.timeout(_SECONDS), aclosing(_open(model)) as events:
        return [event async for event in events]


async def _failure_of(model: Model, events: list[ModelEvent]) -> ModelError | None:
    try:
        async with asyncio.timeout(_SECONDS), aclosing(_open(model)) as stream:
            async for event in stream:
                events.append(event)  # noqa: PERF401 - what came before the error counts
    except ModelError as error:
        return error
    return None


def _joined(events: Iterable[ModelEvent], kind: type[TextDelta] | type[ReasoningDelta]) -> str:
    return "".join(event.text for event in events if isinstance(event, kind))


def _parse_call(call: ToolCall) -> tuple[str, object]:
    """Return a call with parsed arguments, since some servers reformat them."""
    return call.name, json.loads(call.arguments)
