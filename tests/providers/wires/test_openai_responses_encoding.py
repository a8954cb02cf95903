"""Requests to OpenAI Responses."""

import json
from typing import Any

import pytest

from hob.core.ids import BlobId, CallId, SessionKey
from hob.core.models import (
    AssistantMessage,
    Continuation,
    Image,
    ModelMessage,
    ModelRequest,
    Thinking,
    ToolMessage,
    UserMessage,
)
from hob.core.tools import ToolCall, ToolSpec
from hob.providers.http.wire import ListedModel
from hob.providers.wires.openai_responses.encoding import encode_request, find_efforts
from hob.providers.wires.openai_responses.wire import Responses

CLOCK = ToolSpec("clock", "Tells the time.", {"type": "object", "properties": {}})
PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)
SEALED = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2VhbGVk"}


def call(id: str, arguments: str = "{}") -> ToolCall:
    return ToolCall(CallId(id), "clock", arguments)


def body_of(*said: ModelMessage, system: str = "", model: str = "gpt-6.1-terra", **more: Any) -> dict[str, Any]:
    images = more.pop("images", None)
    request = ModelRequest(model, system, said, **more)
    return dict(json.loads(encode_request(request, model=model, images=images)))


def items_of(*said: ModelMessage, **more: Any) -> list[dict[str, Any]]:
    return list(body_of(*said, **more)["input"])


def kept(*parts: Any) -> Continuation:
    return Continuation("openai_responses", json.dumps(parts))


def test_request_as_documented() -> None:
    said = (
        UserMessage("hi"),
        AssistantMessage("I look.", (call("a"), call("b", '{"zone": "UTC"}'))),
        ToolMessage(CallId("a"), "noon"),
        ToolMessage(CallId("b"), "no such zone", is_error=True),
    )
    body = body_of(*said, system="Be brief.", tools=(CLOCK,), max_tokens=77, cache_key=SessionKey("s"))
    assert body.pop("max_output_tokens") >= 77
    assert len(body.pop("prompt_cache_key")) == 32
    assert body == {
        "model": "gpt-6.1-terra",
        "stream": True,
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "tools": [
            {
                "type": "function",
                "name": "clock",
                "description": "Tells the time.",
                "parameters": CLOCK.schema,
                "strict": False,
            }
        ],
        "instructions": "Be brief.",
        "input": [
            {"type": "message", "role": "user", "content": "hi"},
            {"type": "message", "role": "assistant", "content": "I look."},
            {"type": "function_call", "call_id": "a", "name": "clock", "arguments": "{}"},
            {"type": "function_call", "call_id": "b", "name": "clock", "arguments": '{"zone": "UTC"}'},
            {"type": "function_call_output", "call_id": "a", "output": "noon"},
            {"type": "function_call_output", "call_id": "b", "output": "Error: no such zone"},
        ],
    }


def test_growing_parts_of_a_request_stand_last() -> None:
    said = (UserMessage("hi"), AssistantMessage("hello"))
    request = ModelRequest("gpt-5", "Be brief.", said, (CLOCK,), cache_key=SessionKey("s"), thinking=Thinking.LOW)
    longer = ModelRequest(**{f: getattr(request, f) for f in request.__slots__} | {"messages": (*said, said[0])})
    short, long = (encode_request(each, model="gpt-5") for each in (request, longer))
    assert long.startswith(short.removesuffix(b"]}"))


@pytest.mark.parametrize(
    ("model", "level", "effort"),
    [
        ("gpt-5", Thinking.OFF, "minimal"),
        ("gpt-5-mini-2025-08-07", Thinking.XHIGH, "high"),
        ("gpt-5.1", Thinking.OFF, "none"),
        ("gpt-5.1", Thinking.MINIMAL, "low"),
        ("gpt-5.4-mini", Thinking.XHIGH, "xhigh"),
        ("gpt-5.1-codex", Thinking.OFF, "low"),
        ("gpt-5-pro", Thinking.LOW, "high"),
        ("gpt-6.1-terra", Thinking.OFF, "none"),
        ("gpt-6.1-sol", Thinking.OFF, "low"),
        ("o4-mini", Thinking.MEDIUM, "medium"),
        ("openai/o3", Thinking.OFF, "low"),
        ("gpt-9-nova", Thinking.OFF, "low"),
        ("grok-4.7", Thinking.OFF, "none"),
    ],
)
def test_level_that_a_model_lacks_becomes_the_next_higher_one(model: str, level: Thinking, effort: str) -> None:
    reasoning = body_of(UserMessage("hi"), model=model, thinking=level)["reasoning"]
    assert reasoning["effort"] == effort
    assert reasoning.get("summary") == (None if effort == "none" else "auto")


@pytest.mark.parametrize("model", ["gpt-4.1-mini", "gpt-4o", "chatgpt-4o-latest", "gpt-5-chat-latest"])
def test_model_that_does_not_reason_is_not_asked_to(model: str) -> None:
    body = body_of(UserMessage("hi"), model=model, thinking=Thinking.HIGH, max_tokens=100)
    assert not body.keys() & {"reasoning", "include"}
    assert body["max_output_tokens"] == 100


def test_reasoning_gets_room_besides_the_answer() -> None:
    limits = [
        body_of(UserMessage("hi"), model="gpt-5.4", thinking=level, max_tokens=100)["max_output_tokens"]
        for level in (Thinking.OFF, Thinking.LOW, Thinking.HIGH)
    ]
    assert limits[0] == 100
    assert limits == sorted(set(limits))
    assert body_of(UserMessage("hi"), model="gpt-4o", max_tokens=1)["max_output_tokens"] == 16


def test_every_model_has_levels_in_order() -> None:
    order = ["none", "minimal", "low", "medium", "high", "xhigh"]
    for model in ("gpt-5", "gpt-5.1", "gpt-5.2-pro", "gpt-5.3-codex", "gpt-6-astra", "o1", "gpt-oss:20b", "x"):
        levels = find_efforts(model)
        assert levels
        assert list(levels) == sorted(levels, key=order.index)


def test_image_is_a_data_url_of_what_it_really_is() -> None:
    picture = UserMessage("What is it?", (Image(BlobId("b"), "image/jpeg"),))
    (item,) = items_of(picture, images={BlobId("b"): PNG})
    text, image = item["content"]
    assert text == {"type": "input_text", "text": "What is it?"}
    assert image["type"] == "input_image"
    assert image["image_url"].startswith("data:image/png;base64,iVBOR")


def test_image_that_cannot_be_shown_is_named() -> None:
    picture = UserMessage("", (Image(BlobId("b"), "image/tiff"),))
    (item,) = items_of(picture, images={BlobId("b"): b"II*\0"})
    assert item["content"] == [{"type": "input_text", "text": "[an image that cannot be shown here: image/tiff]"}]


def test_reasoning_goes_back_before_the_call_it_led_to() -> None:
    parts = kept(SEALED, {"said": 7, "id": "msg_1", "phase": "commentary"}, {"call": True, "id": "fc_1"})
    said = AssistantMessage("I look.", (call("a"),), parts)
    reasoning, message, asked, _ = items_of(said, ToolMessage(CallId("a"), "noon"))
    assert reasoning == SEALED
    assert (message["id"], message["phase"], message["content"][0]["text"]) == ("msg_1", "commentary", "I look.")
    assert (asked["id"], asked["call_id"]) == ("fc_1", "a")


def test_each_message_of_an_answer_gets_its_own_text_back() -> None:
    parts = kept({"said": 3}, SEALED, {"said": 5}, {"call": True})
    items = items_of(AssistantMessage("one\n\ntwo", (call("a"),), parts))
    assert [item.get("content", item["type"]) for item in items] == ["one", "reasoning", "two", "function_call"]


def test_text_that_was_changed_since_keeps_its_reasoning() -> None:
    parts = kept(SEALED, {"said": 3, "id": "msg_1"}, {"said": 5}, {"call": True})
    items = items_of(AssistantMessage("something else", (call("a"),), parts))
    assert [item.get("content", item["type"]) for item in items] == ["reasoning", "something else", "function_call"]


@pytest.mark.parametrize(
    "continuation",
    [
        kept(SEALED, {"call": True}, {"call": True}),
        kept(SEALED),
        kept(),
        Continuation("openai_responses", "no json"),
        Continuation("openai_responses", '{"a": 1}'),
        Continuation("anthropic", '[{"type": "thinking"}]'),
    ],
)
def test_reasoning_that_would_stand_elsewhere_is_left_out(continuation: Continuation) -> None:
    items = items_of(AssistantMessage("I look.", (call("a"),), continuation))
    assert [item["type"] for item in items] == ["message", "function_call"]


def test_reasoning_is_never_the_last_of_an_answer() -> None:
    items = items_of(AssistantMessage("", (call("a"),), kept({"call": True}, SEALED)), ToolMessage(CallId("a"), "x"))
    assert [item["type"] for item in items] == ["function_call", "function_call_output"]


def test_id_that_a_server_used_twice_is_sent_once() -> None:
    twice = [AssistantMessage("", (call(name),), kept(SEALED, {"call": True, "id": "fc_0"})) for name in "ab"]
    assert [item.get("id") for item in items_of(*twice)] == ["rs_1", "fc_0", None, None]


def test_ids_of_other_servers_are_shortened_alike() -> None:
    long = "x" * 65
    asked, told = items_of(AssistantMessage("", (call(long),)), ToolMessage(CallId(long), "noon"))
    assert asked["call_id"] == told["call_id"]
    assert len(asked["call_id"]) <= 64


@pytest.mark.parametrize(
    "base",
    [
        "https://api.openai.com",
        "https://api.openai.com/v1/",
        "https://api.openai.com/v1/responses",
        "api.openai.com/v1",
    ],
)
def test_address_may_be_written_in_many_ways(base: str) -> None:
    assert Responses().chat_url(base, "m") == "https://api.openai.com/v1/responses"
    assert Responses().models_url(base) == "https://api.openai.com/v1/models"


def test_models_are_listed() -> None:
    assert Responses().read_models({"data": [{"id": "gpt-5"}, {"no": "name"}]}) == (ListedModel("gpt-5"),)
    assert Responses().read_models({"error": "x"}) is None
