"""Our decoders hear in a server's answer what the vendors' own SDKs hear."""

import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import anthropic
import openai
import pytest

from hob.core.models import ModelReply, ModelRequest, StopReason, Thinking, UserMessage
from hob.core.tools import ToolSpec
from hob.providers.http.server import Server
from hob.providers.http.transport import HttpModel
from hob.providers.http.wire import Wire
from hob.providers.wires.anthropic.wire import AnthropicMessages
from hob.providers.wires.openai_chat.wire import ChatCompletions
from hob.providers.wires.openai_responses.wire import Responses
from hob.testing.clock import ManualClock
from hob.testing.model_server import Fault, ModelServer, Reply

CALLS = (("add", '{"a": "1 \\" 2", "ü": [1.5, null]}'), ("add", "{}"))
REPLIES = {
    "text": Reply("Grüß dich, 世界 😀\n\n- one"),
    "thinking": Reply("So it is.", reasoning="First this, then that."),
    "tools": Reply("I add.", CALLS, "Twice."),
    "tools in any order": Reply("", CALLS, fault=Fault.INTERLEAVED),
    "cut escapes": Reply("", CALLS, fault=Fault.SPLIT_ESCAPE),
    "pings and comments": Reply("A b c.", CALLS, "Hm.", fault=Fault.PINGS),
    "lines that end in CR LF": Reply("A b c.", CALLS, "Hm.", fault=Fault.CRLF),
    "cut anywhere": Reply("Ä b ç.", CALLS, "Hm.", fault=Fault.DRIP),
    "sealed thinking": Reply("A.", CALLS, "Hm.", fault=Fault.REDACTED),
    "at the limit": Reply("Half a", truncated=True),
}
every_reply = pytest.mark.parametrize("reply", REPLIES.values(), ids=REPLIES)
# OpenAI's own SDK trips over events without data, which the standard says to skip.
most_replies = pytest.mark.parametrize("name", [name for name in REPLIES if REPLIES[name].fault is not Fault.PINGS])
REQUEST = ModelRequest(
    "claude-haiku-4-5",
    "Be brief.",
    (UserMessage("hi"),),
    (ToolSpec("add", "Adds.", {"type": "object", "properties": {}}),),
    thinking=Thinking.LOW,
)


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server


async def heard_by_us(
    server: ModelServer, wire: Wire, base_url: str, reply: Reply
) -> tuple[ModelReply, dict[str, Any]]:
    """What we make of the reply, and the body that we asked with."""
    server.script.append(reply)
    async with aclosing(HttpModel(wire, Server(base_url), ManualClock())) as model:
        events = [event async for event in model.stream(REQUEST)]
    assert isinstance(events[-1], ModelReply)
    return events[-1], json.loads(server.chats[-1].body)


@every_reply
async def test_anthropics_sdk_hears_the_same(server: ModelServer, reply: Reply) -> None:
    ours, body = await heard_by_us(server, AnthropicMessages(), server.root, reply)
    server.script.append(reply)
    async with anthropic.AsyncAnthropic(base_url=server.root, api_key="any", max_retries=0) as client:
        del body["stream"]
        async with client.messages.stream(**body) as stream:
            theirs = await stream.get_final_message()
    blocks = theirs.content
    assert ours.text == "".join(block.text for block in blocks if block.type == "text")
    assert ours.reasoning == "".join(block.thinking for block in blocks if block.type == "thinking")
    calls = [(block.name, block.input) for block in blocks if block.type == "tool_use"]
    assert [(call.name, json.loads(call.arguments)) for call in ours.calls] == calls
    assert {StopReason.END: "end_turn", StopReason.TOOLS: "tool_use", StopReason.LENGTH: "max_tokens"}[
        ours.stop
    ] == theirs.stop_reason
    assert ours.model == theirs.model
    sealed = [block.to_dict() for block in blocks if block.type in ("thinking", "redacted_thinking")]
    kept = json.loads(ours.continuation.data) if ours.continuation else []
    assert [part for part in kept if isinstance(part, dict)] == sealed
    usage = theirs.usage
    assert ours.usage is not None
    assert ours.usage.output == usage.output_tokens
    assert ours.usage.cache_write + ours.usage.cache_read == (usage.cache_creation_input_tokens or 0) + (
        usage.cache_read_input_tokens or 0
    )
    assert ours.usage.input == usage.input_tokens + ours.usage.cache_write + ours.usage.cache_read


@most_replies
async def test_openais_sdk_hears_the_same(server: ModelServer, name: str) -> None:
    reply = REPLIES[name]
    ours, body = await heard_by_us(server, ChatCompletions(), server.url, reply)
    server.script.append(reply)
    async with openai.AsyncOpenAI(base_url=server.url, api_key="any", max_retries=0) as client:
        del body["stream"]
        async with client.chat.completions.stream(**body) as stream:
            async for _ in stream:
                pass
            theirs = stream.current_completion_snapshot
    choice = theirs.choices[0]
    assert ours.text == (choice.message.content or "")
    assert ours.reasoning == (getattr(choice.message, "reasoning_content", None) or "")
    calls = [(call.function.name, call.function.arguments) for call in choice.message.tool_calls or ()]
    assert [(call.name, call.arguments) for call in ours.calls] == calls
    assert {StopReason.END: "stop", StopReason.TOOLS: "tool_calls", StopReason.LENGTH: "length"}[
        ours.stop
    ] == choice.finish_reason
    assert ours.model == theirs.model
    assert theirs.usage is not None
    assert ours.usage is not None
    assert (ours.usage.input, ours.usage.output) == (theirs.usage.prompt_tokens, theirs.usage.completion_tokens)


@most_replies
async def test_openais_sdk_hears_the_same_in_responses(server: ModelServer, name: str) -> None:
    reply = REPLIES[name]
    ours, body = await heard_by_us(server, Responses(), server.url, reply)
    server.script.append(reply)
    async with openai.AsyncOpenAI(base_url=server.url, api_key="any", max_retries=0) as client:
        del body["stream"]
        async with client.responses.stream(**body) as stream:
            ended = [event async for event in stream][-1]
    assert ended.type in ("response.completed", "response.incomplete")
    theirs = ended.response
    assert ours.text == theirs.output_text
    thoughts = [item for item in theirs.output if item.type == "reasoning"]
    assert ours.reasoning == "".join(part.text for item in thoughts for part in item.summary)
    calls = [(item.name, item.arguments) for item in theirs.output if item.type == "function_call"]
    assert [(call.name, call.arguments) for call in ours.calls] == calls
    assert (ours.stop is StopReason.LENGTH) == (theirs.status == "incomplete")
    assert ours.model == theirs.model
    kept = json.loads(ours.continuation.data) if ours.continuation else []
    sealed = [part["encrypted_content"] for part in kept if part.get("type") == "reasoning"]
    assert sealed == [item.encrypted_content for item in thoughts if calls]
    usage = theirs.usage
    assert usage is not None
    assert ours.usage is not None
    assert (ours.usage.input, ours.usage.output) == (usage.input_tokens, usage.output_tokens)
    assert ours.usage.reasoning == usage.output_tokens_details.reasoning_tokens


async def test_anthropics_sdk_lists_the_same_models(server: ModelServer) -> None:
    async with aclosing(HttpModel(AnthropicMessages(), Server(server.root), ManualClock())) as model:
        ours = await model.list_models()
    async with anthropic.AsyncAnthropic(base_url=server.root, api_key="any", max_retries=0) as client:
        theirs = [found async for found in client.models.list()]
    assert [(found.name, found.context_tokens, found.output_tokens) for found in ours] == [
        (found.id, found.max_input_tokens, found.max_tokens) for found in theirs
    ]
