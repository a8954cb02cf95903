"""What a wire and a connection make together, whatever the wire."""

from dataclasses import replace

from hob.core.ids import CallId
from hob.core.models import AssistantMessage, ModelReply, ModelRequest, ToolMessage, UserMessage
from hob.core.tools import ToolCall, ToolSpec
from hob.providers.openai_chat.settings import Dialect
from hob.providers.openai_chat.wire import ChatCompletions
from hob.providers.server import Server
from hob.providers.transport import HttpModel
from hob.testing.clock import ManualClock
from hob.testing.model_server import ModelServer, Reply

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
