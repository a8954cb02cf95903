"""Every model keeps the promises of the port."""

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager

import pytest

from hob.core.errors import ModelError, ModelFault
from hob.core.models import ModelReply
from hob.core.ports.model import Model
from hob.providers.http.server import Server
from hob.providers.http.transport import HttpModel
from hob.providers.http.wire import Wire
from hob.providers.opening import open_model
from hob.providers.routing.failover import ModelRoute
from hob.providers.routing.failover_model import Failover
from hob.providers.settings import ModelSettings
from hob.providers.wires.anthropic.wire import AnthropicMessages
from hob.providers.wires.gemini.wire import GenerateContent
from hob.providers.wires.ollama.wire import OllamaChat
from hob.providers.wires.openai_chat.wire import ChatCompletions
from hob.providers.wires.openai_responses.wire import Responses
from hob.testing.clock import ManualClock
from hob.testing.model import Cut, ScriptedModel, Silence
from hob.testing.model_check import Behaviour, Make, check_model
from hob.testing.model_server import Fault, ModelServer, Reply

FAULTS = {
    ModelFault.AUTH: Fault.UNAUTHORIZED,
    ModelFault.OVERLOAD: Fault.ERROR_500,
    ModelFault.CONTEXT_OVERFLOW: Fault.OVERFLOW,
    ModelFault.RATE_LIMIT: Fault.RATE_LONG,
}


def on_the_wire(behaviour: Behaviour) -> Reply:
    match behaviour:
        case ModelReply():
            calls = tuple((call.name, call.arguments) for call in behaviour.calls)
            return Reply(behaviour.text, calls, behaviour.reasoning)
        case ModelError():
            return Reply(fault=FAULTS[behaviour.fault])
        case Cut(text):
            return Reply(text, fault=Fault.CUT_AFTER_TEXT)
        case Silence():
            return Reply(fault=Fault.SILENCE)


def spoken(wire: Wire) -> Make:
    """A model behind HTTP that speaks this wire."""

    @asynccontextmanager
    async def make(behaviours: tuple[Behaviour, ...]) -> AsyncIterator[Model]:
        async with ModelServer(*map(on_the_wire, behaviours)) as server:
            address = server.url if wire.name == "openai_chat" else server.root
            async with aclosing(HttpModel(wire, Server(address), ManualClock())) as model:
                yield model

    return make


WIRES: tuple[Wire, ...] = (ChatCompletions(), AnthropicMessages(), GenerateContent(), OllamaChat(), Responses())


@asynccontextmanager
async def configured(behaviours: tuple[Behaviour, ...]) -> AsyncIterator[Model]:
    async with (
        ModelServer(*map(on_the_wire, behaviours)) as server,
        open_model(ModelSettings(base_url=server.url), ManualClock()) as model,
    ):
        yield model


@asynccontextmanager
async def scripted(behaviours: tuple[Behaviour, ...]) -> AsyncIterator[Model]:
    yield ScriptedModel(*behaviours)


@asynccontextmanager
async def retrying_scripted(behaviours: tuple[Behaviour, ...]) -> AsyncIterator[Model]:
    model = ScriptedModel(*behaviours)
    yield Failover(lambda ref: (ModelRoute(ref, "scripted"),), lambda _: model, ManualClock())


@pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.name)
async def test_every_wire_keeps_the_promises_of_a_model(wire: Wire) -> None:
    await check_model(spoken(wire))


@pytest.mark.parametrize("make", [configured, scripted, retrying_scripted])
async def test_model_keeps_its_promises(make: object) -> None:
    await check_model(make)  # type: ignore[arg-type]


async def test_check_notices_a_model_that_ends_without_a_reply() -> None:
    @asynccontextmanager
    async def broken(behaviours: tuple[Behaviour, ...]) -> AsyncIterator[Model]:
        yield ScriptedModel(ModelReply("something else"))

    with pytest.raises(AssertionError, match="broken promise"):
        await check_model(broken)
