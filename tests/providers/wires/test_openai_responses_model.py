"""OpenAI Responses over a real connection, as the fake server checks it."""

import json
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from hob.core.ids import SessionKey
from hob.core.models import AssistantMessage, ModelMessage, ModelReply, ModelRequest, Thinking, ToolMessage, UserMessage
from hob.core.tools import ToolSpec
from hob.providers.http.server import Server
from hob.providers.http.transport import HttpModel
from hob.providers.wires.openai_responses.wire import Responses
from hob.testing.clock import ManualClock
from hob.testing.model_server import ModelServer, Reply

ADD = ToolSpec("add", "Adds.", {"type": "object", "properties": {"a": {"type": "integer"}}})
ASK = UserMessage('CALL add {"a": 1}\nCALL add {"a": 2}')


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server


@pytest.fixture
async def model(server: ModelServer) -> AsyncIterator[HttpModel]:
    async with aclosing(HttpModel(Responses(), Server(server.url), ManualClock())) as model:
        yield model


async def ask(model: HttpModel, *said: ModelMessage, name: str = "gpt-5", system: str = "Be good.") -> ModelReply:
    request = ModelRequest(name, system, said, (ADD,), thinking=Thinking.LOW, cache_key=SessionKey("s"))
    events = [event async for event in model.stream(request)]
    assert isinstance(events[-1], ModelReply)
    return events[-1]


def answered(reply: ModelReply) -> list[ModelMessage]:
    results = (ToolMessage(call.id, f"is {n}") for n, call in enumerate(reply.calls))
    return [AssistantMessage(reply.text, reply.calls, reply.continuation), *results]


async def test_tool_loop_gives_sealed_reasoning_back(server: ModelServer, model: HttpModel) -> None:
    asked = await ask(model, ASK)
    assert asked.reasoning
    told = await ask(model, ASK, *answered(asked))
    assert told.text == "The tool said: is 0 | is 1"
    items = json.loads(server.chats[-1].body)["input"]
    kinds = ["reasoning", "function_call", "function_call"]
    assert [item["type"] for item in items] == ["message", *kinds, "function_call_output", "function_call_output"]


async def test_reasoning_stays_in_place_over_several_rounds(server: ModelServer, model: HttpModel) -> None:
    server.script.extend(
        [Reply("I look.", (("add", "{}"),), "Hm."), Reply("", (("add", "{}"),), "Hm hm."), Reply("So")]
    )
    first = await ask(model, ASK)
    second = await ask(model, ASK, *answered(first))
    assert (await ask(model, ASK, *answered(first), *answered(second))).text == "So"
    kinds = [item["type"] for item in json.loads(server.chats[-1].body)["input"]]
    assert kinds[1:] == [
        *("reasoning", "message", "function_call", "function_call_output"),
        *("reasoning", "function_call", "function_call_output"),
    ]


async def test_earlier_messages_are_read_from_the_cache(model: HttpModel) -> None:
    system = "Be good. " * 1000
    first = await ask(model, UserMessage("one"), system=system)
    again = await ask(model, UserMessage("one"), AssistantMessage(first.text), UserMessage("two"), system=system)
    assert first.usage is not None
    assert again.usage is not None
    assert first.usage.cache_read == 0
    assert again.usage.cache_read > 2000


async def test_model_that_does_not_reason_answers_too(model: HttpModel) -> None:
    reply = await ask(model, UserMessage("hi"), name="gpt-4o")
    assert (reply.text, reply.reasoning, reply.continuation) == ("You said: hi", "", None)
