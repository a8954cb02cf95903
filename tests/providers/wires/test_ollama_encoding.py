"""Requests to Ollama."""

import base64
import json
from typing import Any

import pytest

from hob.core.ids import BlobId, CallId
from hob.core.models import (
    DEFAULT_THINKING_TOKENS,
    AssistantMessage,
    Image,
    ModelMessage,
    ModelRequest,
    Thinking,
    ToolMessage,
    UserMessage,
)
from hob.core.tools import ToolCall, ToolSpec
from hob.providers.http.wire import ListedModel
from hob.providers.wires.ollama.wire import OllamaChat, encode_request

CLOCK = ToolSpec("clock", "Tells the time.", {"type": "object", "properties": {}})
PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)


def call(id: str, name: str = "clock", arguments: str = "{}") -> ToolCall:
    return ToolCall(CallId(id), name, arguments)


def body_of(*said: ModelMessage, system: str = "", model: str = "qwen3:8b", **more: Any) -> dict[str, Any]:
    images = more.pop("images", None)
    request = ModelRequest(model, system, said, **more)
    return dict(json.loads(encode_request(request, model=model, images=images)))


def test_request_as_documented() -> None:
    said = (
        UserMessage("hi"),
        AssistantMessage("I look.", (call("a"), call("b", "date", '{"zone": "UTC"}'))),
        ToolMessage(CallId("a"), "noon"),
        ToolMessage(CallId("b"), "no such zone", is_error=True),
    )
    body = body_of(*said, system="Be brief.", tools=(CLOCK,), max_tokens=77)
    assert body["options"]["num_predict"] == 77 + DEFAULT_THINKING_TOKENS
    assert body["tools"][0]["function"]["name"] == "clock"
    assert "think" not in body
    assert body["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "hi"},
        {
            "role": "assistant",
            "content": "I look.",
            "tool_calls": [
                {"function": {"name": "clock", "arguments": {}}},
                {"function": {"name": "date", "arguments": {"zone": "UTC"}}},
            ],
        },
        {"role": "tool", "tool_name": "clock", "content": "noon"},
        {"role": "tool", "tool_name": "date", "content": "Error: no such zone"},
    ]


def test_context_always_holds_the_request_and_grows_in_few_steps() -> None:
    sizes = [
        body_of(UserMessage("x" * length), max_tokens=1000)["options"]["num_ctx"]
        for length in (0, 10_000, 20_000, 30_000, 40_000, 80_000)
    ]
    assert sizes == sorted(sizes)
    assert all(size >= length // 4 + 1000 for size, length in zip(sizes, (0, 10_000, 20_000, 30_000), strict=False))
    assert len(set(sizes)) <= 3


def test_context_counts_the_tools_too() -> None:
    large = ToolSpec("large", "x" * 60_000, {"type": "object", "properties": {}})
    assert body_of(UserMessage("hi"), tools=(large,))["options"]["num_ctx"] > 16_384


@pytest.mark.parametrize(
    ("said", "tokens"),
    [
        (UserMessage("汉" * 30_000), 45_000),
        (UserMessage("ё" * 10_000), 10_000),
        (UserMessage("\ud800" * 30_000), 10_000),
        (AssistantMessage("", (call("a", arguments=json.dumps({"text": "x y " * 10_000})),)), 13_000),
        (AssistantMessage("", (call("a", arguments="not JSON " * 5_000),)), 15_000),
        (UserMessage("look", tuple(Image(BlobId(str(n)), "image/png") for n in range(8))), 16_000),
    ],
    ids=["Chinese", "Russian", "half characters", "arguments", "what are none", "pictures"],
)
def test_context_holds_whatever_costs_tokens(said: ModelMessage, tokens: int) -> None:
    images = {BlobId(str(n)): PNG for n in range(8)}
    assert body_of(said, max_tokens=8, images=images)["options"]["num_ctx"] >= tokens


def test_context_has_room_for_the_answer() -> None:
    body = body_of(UserMessage("x" * 15_000), max_tokens=4_000, thinking=Thinking.OFF)
    assert body["options"]["num_ctx"] == 16_384  # 5,000 of the question alone would fit into half of it


@pytest.mark.parametrize(
    ("model", "level", "think"),
    [
        ("qwen3:8b", Thinking.OFF, False),
        ("qwen3:8b", Thinking.LOW, True),
        ("qwen3:8b", Thinking.XHIGH, True),
        ("gpt-oss:20b", Thinking.OFF, "low"),
        ("gpt-oss:20b", Thinking.MEDIUM, "medium"),
        ("gpt-oss:20b", Thinking.XHIGH, "high"),
    ],
)
def test_models_are_told_to_think_as_each_can_be(model: str, level: Thinking, think: bool | str) -> None:
    assert body_of(UserMessage("hi"), model=model, thinking=level)["think"] == think


def test_image_is_plain_base64() -> None:
    picture = UserMessage("What is it?", (Image(BlobId("b"), "image/png"),))
    (message,) = body_of(picture, images={BlobId("b"): PNG})["messages"]
    assert base64.b64decode(message["images"][0]) == PNG


def test_result_of_a_call_nobody_made_is_sent_without_a_name() -> None:
    (message,) = body_of(ToolMessage(CallId("z"), "noon"))["messages"]
    assert message["tool_name"] == ""


@pytest.mark.parametrize(
    "base", ["http://127.0.0.1:11434", "127.0.0.1:11434/", "http://127.0.0.1:11434/v1", "http://127.0.0.1:11434/api/"]
)
def test_address_may_be_written_in_many_ways(base: str) -> None:
    assert OllamaChat().chat_url(base, "m") == "http://127.0.0.1:11434/api/chat"
    assert OllamaChat().models_url(base) == "http://127.0.0.1:11434/api/tags"


def test_models_are_listed() -> None:
    rows = [{"model": "qwen3:8b"}, {"name": "old:1b"}, {"size": 1}, "x"]
    assert OllamaChat().read_models({"models": rows}) == (ListedModel("qwen3:8b"), ListedModel("old:1b"))
    assert OllamaChat().read_models({"data": []}) is None
    assert OllamaChat().read_models([]) is None
