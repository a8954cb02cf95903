"""What a wire and a connection make together, whatever the wire."""

import asyncio
import json
from dataclasses import replace

import pytest

from hob.core.errors import ModelError, ModelFault
from hob.core.ids import CallId
from hob.core.models import AssistantMessage, ModelReply, ModelRequest, ToolMessage, UserMessage
from hob.core.settings import Secret
from hob.core.tools import ToolCall, ToolSpec
from hob.providers.http.server import Server
from hob.providers.http.transport import HttpModel
from hob.providers.wires.openai_chat.settings import Dialect
from hob.providers.wires.openai_chat.wire import ChatCompletions
from hob.testing.clock import ManualClock
from hob.testing.model_server import ModelServer, Reply
from tests.providers.canned import listening, read_request, serving

HI = ModelRequest("m", "", (UserMessage("hi"),))
TOOL = ToolSpec("clock", "Tells the time.", {"type": "object", "properties": {}})


async def test_reasoning_that_another_provider_or_key_has_sealed_is_not_sent() -> None:
    asked = ModelRequest("m", "", (UserMessage("what time is it?"),), tools=(TOOL,))
    async with ModelServer(Reply("", (("clock", "{}"),), "let me see")) as server:
        models = {
            name: HttpModel(
                ChatCompletions(Dialect(returns_reasoning=True)), Server(server.url), ManualClock(), identity=name
            )
            for name in ("deepseek/0", "deepseek/1")
        }
        reply = [event async for event in models["deepseek/0"].stream(asked)][-1]
        assert isinstance(reply, ModelReply)
        assert reply.continuation is not None
        (call,) = reply.calls
        said = AssistantMessage("", (ToolCall(CallId(call.id), call.name, call.arguments),), reply.continuation)
        later = replace(asked, messages=(*asked.messages, said, ToolMessage(call.id, "noon")))
        for model in models.values():
            _ = [event async for event in model.stream(later)]
            await model.aclose()
        kept = ["reasoning_content" in asked.body.decode() for asked in server.chats]
    assert kept == [False, True, False]


SECRETS = ("the-key-of-mine", "hush-hush-1", "hush-hush-2", "the-password")
TOLD = json.dumps({"error": {"message": f"What is {' or '.join(SECRETS)}?"}})


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, TOLD),
        (200, TOLD),
        (200, f"data: {TOLD}\n\n"),
        (200, f"data: {' '.join(SECRETS)}\n\n"),
        (200, f"data: {'x' * 70} {SECRETS[1]}\n\n"),
        (302, ""),
    ],
)
async def test_credential_is_masked_where_a_server_echoes_it(status: int, body: str) -> None:
    headers = {"x-gate": SECRETS[1], "authorization": f"Token {SECRETS[2]}"}
    async with serving(body.encode(), status, f"location: http://x/{SECRETS[1]}\r\n") as address:
        server = Server(address.replace("://", f"://me:{SECRETS[3]}@"), Secret.of(SECRETS[0]), headers)
        model = HttpModel(ChatCompletions(), server, ManualClock())
        with pytest.raises(ModelError) as caught:
            _ = [event async for event in model.stream(HI)]
        await model.aclose()
    assert "•••" in str(caught.value)
    assert not any(secret[:8] in str(caught.value) for secret in SECRETS)


@pytest.mark.parametrize("value", ["Höb", "hush\nhush", "hush "])
async def test_invalid_header_is_reported_by_name(value: str) -> None:
    model = HttpModel(ChatCompletions(), Server("http://127.0.0.1:1", headers={"x-title": value}), ManualClock())
    with pytest.raises(ModelError, match="the header x-title cannot be sent") as caught:
        _ = [event async for event in model.stream(HI)]
    assert caught.value.fault is ModelFault.SETTINGS
    assert "hush" not in str(caught.value)
    await model.aclose()


async def test_server_on_this_machine_is_not_asked_through_the_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    async with ModelServer() as server:
        model = HttpModel(ChatCompletions(), Server(server.url), ManualClock())
        assert [event async for event in model.stream(HI)]
        await model.aclose()


async def test_connection_is_reused_if_its_end_arrives_after_the_answer() -> None:
    answered, connections = asyncio.Event(), 0
    body = b'data: {"choices": [{"delta": {"content": "hi"}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        while True:
            await read_request(reader)
            writer.write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
            writer.write(b"%x\r\n%s\r\n" % (len(body), body))
            await answered.wait()
            answered.clear()
            writer.write(b"0\r\n\r\n")

    async with listening(serve) as address:
        model = HttpModel(ChatCompletions(), Server(address), ManualClock())
        for _ in range(3):
            async for event in model.stream(HI):
                if isinstance(event, ModelReply):
                    answered.set()
        await model.aclose()
    assert connections == 1
