"""Wires over a real connection, against a server that refuses what the vendors' own refuse."""

import json
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from hob.core.errors import ModelError, ModelFault
from hob.core.ids import BlobId, CallId
from hob.core.models import (
    AssistantMessage,
    Image,
    ModelMessage,
    ModelReply,
    ModelRequest,
    Thinking,
    ToolMessage,
    UserMessage,
)
from hob.core.settings import Secret
from hob.core.tools import ToolCall, ToolSpec
from hob.providers.http.server import Server
from hob.providers.http.transport import HttpModel
from hob.providers.http.wire import Wire
from hob.providers.wires.anthropic.wire import AnthropicMessages
from hob.providers.wires.gemini.wire import GenerateContent
from hob.testing.clock import ManualClock
from hob.testing.model_server import ODDITIES, Fault, ModelServer, Reply

WIRES: tuple[Wire, ...] = (AnthropicMessages(), GenerateContent())
MODELS = {
    "anthropic": ("claude-haiku-4-5", "claude-opus-5-5", "glm-5"),
    "gemini": ("gemini-2.5-flash", "gemini-3.7-flash"),
}
SILENT = {Fault.SILENCE, Fault.SILENCE_MIDDLE}
PARAMETERS = {"type": "object", "properties": {"path": {"type": ["string", "null"]}}, "additionalProperties": False}
TOOLS = (ToolSpec("read", "Reads.", PARAMETERS), ToolSpec("clock", "Tells the time.", {"type": "object"}))
CALLS = (("read", '{"path": "a\\n\\"b\\" \\u00e9 ü"}'), ("clock", "{}"))


@pytest.fixture(params=WIRES, ids=lambda wire: wire.name)
def wire(request: pytest.FixtureRequest) -> Wire:
    found: Wire = request.param
    return found


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer(key="k-right") as server:
        yield server


class Pictures:
    async def put(self, data: bytes, media_type: str) -> BlobId:
        raise NotImplementedError

    async def load(self, blob: BlobId) -> bytes:
        return b"\x89PNG\r\n\x1a\n" + blob.encode()


@pytest.fixture
async def model(server: ModelServer, wire: Wire) -> AsyncIterator[HttpModel]:
    reached = Server(server.root, Secret.of("k-right"), read_seconds=30)
    async with aclosing(HttpModel(wire, reached, ManualClock(), Pictures())) as model:
        yield model


async def ask(model: HttpModel, *said: ModelMessage, name: str = "m", thinking: Thinking | None = None) -> ModelReply:
    request = ModelRequest(name, "Be brief.", said or (UserMessage("hi"),), TOOLS, thinking=thinking)
    events = [event async for event in model.stream(request)]
    assert isinstance(events[-1], ModelReply)
    return events[-1]


async def fault_of(model: HttpModel) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await ask(model)
    return caught.value


async def test_answer_tells_who_gave_it_and_what_it_cost(model: HttpModel) -> None:
    reply = await ask(model)
    assert (reply.text, reply.model) == ("You said: hi", "m")
    assert reply.usage is not None
    assert reply.usage.input > reply.usage.output > 0


@pytest.mark.parametrize("fault", sorted(ODDITIES - {Fault.NO_FINISH}))
async def test_oddities_change_nothing(server: ModelServer, model: HttpModel, fault: Fault) -> None:
    server.script.append(Reply("Grüß 😀 dich", CALLS, "hm hm", fault=fault))
    reply = await ask(model)
    assert reply.text == "Grüß 😀 dich"
    assert [(call.name, json.loads(call.arguments)) for call in reply.calls] == [
        (name, json.loads(arguments)) for name, arguments in CALLS
    ]
    assert (reply.usage is None) == (fault is Fault.NO_USAGE)


FAULTS = {
    Fault.ERROR_500: ModelFault.OVERLOAD,
    Fault.ERROR_503: ModelFault.OVERLOAD,
    Fault.OVERLOADED: ModelFault.OVERLOAD,
    Fault.RATE_SHORT: ModelFault.RATE_LIMIT,
    Fault.RATE_LONG: ModelFault.RATE_LIMIT,
    Fault.RATE_DATE: ModelFault.RATE_LIMIT,
    Fault.UNAUTHORIZED: ModelFault.AUTH,
    Fault.FORBIDDEN: ModelFault.AUTH,
    Fault.PAYMENT: ModelFault.BILLING,
    Fault.QUOTA: ModelFault.BILLING,
    Fault.BAD_REQUEST: ModelFault.BAD_REQUEST,
    Fault.NOT_FOUND: ModelFault.NOT_FOUND,
    Fault.OVERFLOW: ModelFault.CONTEXT_OVERFLOW,
    Fault.FILTERED: ModelFault.FILTERED,
    Fault.HTML_200: ModelFault.GARBAGE,
    Fault.HTML_502: ModelFault.OVERLOAD,
    Fault.GARBAGE: ModelFault.GARBAGE,
    Fault.EMPTY_BODY: ModelFault.EMPTY,
    Fault.EMPTY_ANSWER: ModelFault.EMPTY,
    Fault.CUT_BEFORE: ModelFault.CUT,
    Fault.CUT_HEADERS: ModelFault.CUT,
    Fault.CUT_JSON: ModelFault.GARBAGE,
    Fault.CUT_MIDDLE: ModelFault.CUT,
    Fault.CUT_AFTER_TEXT: ModelFault.CUT,
    Fault.ERROR_FIRST: ModelFault.OVERLOAD,
    Fault.ERROR_EVENT: ModelFault.OVERLOAD,
}


@pytest.mark.parametrize("fault", sorted(set(Fault) - ODDITIES - SILENT))
async def test_every_failure_is_told_by_its_fault(server: ModelServer, model: HttpModel, fault: Fault) -> None:
    server.script.append(Reply("one two three", fault=fault))
    assert (await fault_of(model)).fault is FAULTS[fault]


async def test_wait_of_a_rate_limit_is_told(server: ModelServer, model: HttpModel) -> None:
    server.script.append(Reply(fault=Fault.RATE_SHORT, retry_after=7))
    assert (await fault_of(model)).retry_after == 7.0


async def test_wrong_key_is_told_without_it(server: ModelServer, wire: Wire) -> None:
    reached = Server(server.root, Secret.of("k-wrong-0123456789"))
    async with aclosing(HttpModel(wire, reached, ManualClock())) as model:
        error = await fault_of(model)
    assert error.fault is ModelFault.AUTH
    assert "k-wrong" not in str(error)


async def test_models_are_listed(model: HttpModel) -> None:
    assert [listed.name for listed in await model.list_models()] == ["fake-1"]


@pytest.mark.parametrize("thinking", [None, Thinking.OFF, Thinking.LOW, Thinking.XHIGH])
async def test_tool_loop_goes_on_with_what_was_signed(
    server: ModelServer, model: HttpModel, wire: Wire, thinking: Thinking | None
) -> None:
    for name in MODELS[wire.name]:
        said: list[ModelMessage] = [UserMessage("Look twice.")]
        for step in range(3):
            server.script.append(Reply(f"Step {step}.", CALLS[: 1 + step % 2], "I think."))
            reply = await ask(model, *said, name=name, thinking=thinking)
            said.append(AssistantMessage(reply.text, reply.calls, reply.continuation))
            said += [ToolMessage(call.id, "result") for call in reversed(reply.calls)]
        assert (await ask(model, *said, name=name, thinking=thinking)).text.startswith("The tool said: result")


async def test_tool_loop_goes_on_after_its_beginning_has_changed(
    server: ModelServer, model: HttpModel, wire: Wire
) -> None:
    for name in MODELS[wire.name]:
        said: list[ModelMessage] = []
        for step in range(4):
            server.script.append(Reply("", CALLS, "I think."))
            opening = UserMessage(f"It is {step // 2} o'clock.")
            reply = await ask(model, opening, *said, name=name, thinking=Thinking.HIGH)
            assert reply.continuation is None or reply.continuation.prefix
            said.append(AssistantMessage(reply.text, reply.calls, reply.continuation))
            said += [ToolMessage(call.id, "result") for call in reply.calls]


async def test_turn_that_another_wire_began_goes_on_here(model: HttpModel, wire: Wire) -> None:
    calls = (ToolCall(CallId("ü|1"), "read", "{"), ToolCall(CallId("call_2"), "clock", ""))
    said: list[ModelMessage] = [UserMessage("Look."), AssistantMessage("", calls)]
    said += [ToolMessage(call.id, "seen") for call in calls]
    for name in MODELS[wire.name]:
        assert (await ask(model, *said, name=name, thinking=Thinking.LOW)).text == "The tool said: seen | seen"


async def test_images_are_sent(server: ModelServer, model: HttpModel) -> None:
    await ask(model, UserMessage("look", (Image(BlobId("b"), "image/png"),)))
    assert b"iVBORw0KGgpi" in server.chats[-1].body
