"""A server that lacks something is noticed by its refusal, once."""

import struct
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from hob.core.errors import ModelError, ModelFault
from hob.core.ids import BlobId
from hob.core.models import Image, ModelReply, ModelRequest, Thinking, UserMessage
from hob.core.tools import ToolSpec
from hob.providers.http.request_adaptation import AdaptingModel, lacks_thinking, lacks_tools
from hob.providers.opening import open_model
from hob.providers.routing.routing import ModelRouter
from hob.providers.settings import ModelSettings, ProviderSettings
from hob.testing.clock import ManualClock
from hob.testing.model import Cut, ScriptedModel
from hob.testing.model_server import Fault, ModelServer, Reply

TOOL = ToolSpec("clock", "Tells the time.", {"type": "object", "properties": {}})


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


PIXEL = b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
PIXEL += _chunk(b"IDAT", zlib.compress(b"\0\xff\0\0")) + _chunk(b"IEND", b"")


class Pictures:
    """Implements `Blobs` for one picture."""

    async def put(self, data: bytes, media_type: str) -> BlobId:
        raise NotImplementedError

    async def load(self, blob: BlobId) -> bytes:
        return PIXEL


@asynccontextmanager
async def opened(server: ModelServer, eyes: ModelServer | None = None) -> AsyncIterator[ModelRouter]:
    providers = {"home": ProviderSettings(wire="ollama", base_url=server.root, model="m")}
    if eyes is not None:
        providers["eyes"] = ProviderSettings(base_url=eyes.url, model="sees")
    settings = ModelSettings(name="home/m", vision="eyes/sees" if eyes else "", providers=providers)
    async with open_model(settings, ManualClock(jump=True), blobs=Pictures()) as model:
        yield model


async def ask(model: ModelRouter, request: ModelRequest) -> ModelReply:
    events = [event async for event in model.stream(request)]
    assert isinstance(events[-1], ModelReply)
    return events[-1]


async def test_tools_are_called_in_text_where_the_server_takes_none() -> None:
    request = ModelRequest("", "", (UserMessage("what time is it?"),), tools=(TOOL,))
    said = Reply('<tool_call>{"name": "clock", "arguments": {}}</tool_call>')
    async with ModelServer(said, said, capabilities=("completion",)) as server, opened(server) as model:
        first, second = await ask(model, request), await ask(model, request)
        bodies = [asked.json() for asked in server.requests if asked.path == "/api/chat"]
    assert [[call.name for call in reply.calls] for reply in (first, second)] == [["clock"], ["clock"]]
    assert ["tools" in body for body in bodies] == [True, False, False]


async def test_picture_is_described_to_a_model_that_cannot_see() -> None:
    picture = ModelRequest("", "", (UserMessage("what is this?", (Image(BlobId("b"), "image/png"),)),))
    async with ModelServer("It is red.") as eyes, ModelServer(capabilities=("completion",)) as server:
        async with opened(server, eyes) as model:
            await ask(model, picture)
            await ask(model, picture)
        bodies = [asked.json() for asked in server.requests if asked.path == "/api/chat"]
        assert ["images" in body["messages"][0] for body in bodies] == [True, False, False]
        assert "It is red." in bodies[-1]["messages"][0]["content"]
        assert len(eyes.chats) == 1


async def test_model_without_thinking_gets_no_thinking_level() -> None:
    request = ModelRequest("", "", (UserMessage("hi"),), thinking=Thinking.LOW)
    async with ModelServer(capabilities=("completion",)) as server, opened(server) as model:
        assert (await ask(model, request)).text == "You said: hi"
        assert ["think" in asked.json() for asked in server.requests] == [True, False]


async def test_request_refused_for_another_reason_is_not_repeated_in_another_form() -> None:
    request = ModelRequest("", "", (UserMessage("hi"),), tools=(TOOL,))
    async with ModelServer(Reply(fault=Fault.BAD_REQUEST)) as server, opened(server) as model:
        with pytest.raises(ModelError):
            await ask(model, request)
        assert len(server.requests) == 1


@pytest.mark.parametrize(
    "words",
    [
        '"llama3" does not support thinking',
        "Model grok-4 does not support parameter reasoningEffort.",
        "Unrecognized request argument supplied: reasoning_effort",
        "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
    ],
)
def test_refusal_of_thinking_is_recognised_for_each_server(words: str) -> None:
    request = ModelRequest("", "", (), thinking=Thinking.LOW)
    assert lacks_thinking(request, ModelError(ModelFault.BAD_REQUEST, words))
    assert not lacks_thinking(replace(request, thinking=None), ModelError(ModelFault.BAD_REQUEST, words))


async def test_request_is_not_repeated_once_an_answer_has_begun() -> None:
    refusal = ModelError(ModelFault.OVERLOAD, "this model does not support tools")
    inner = ScriptedModel(Cut("Half an ", refusal), "all of it")
    model = AdaptingModel(inner, lambda model: model, lacks_tools)
    with pytest.raises(ModelError):
        _ = [event async for event in model.stream(ModelRequest("", "", (), tools=(TOOL,)))]
    assert len(inner.requests) == 1
