"""Requests to Anthropic Messages."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from hob.core.ids import BlobId, CallId
from hob.core.models import (
    DEFAULT_THINKING_TOKENS,
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
from hob.providers.http.sealed_reasoning import prefix_digest
from hob.providers.http.wire import ListedModel
from hob.providers.wires.anthropic.encoding import encode_request
from hob.providers.wires.anthropic.wire import AnthropicMessages

CLOCK = ToolSpec("clock", "Tells the time.", {"type": "object", "properties": {}})
PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)


def call(id: str, arguments: str = "{}") -> ToolCall:
    return ToolCall(CallId(id), "clock", arguments)


def body_of(*said: ModelMessage, system: str = "", model: str = "claude-sonnet-5-5", **more: Any) -> dict[str, Any]:
    images = more.pop("images", None)
    request = ModelRequest(model, system, said, **more)
    return dict(json.loads(encode_request(request, model=model, images=images)))


def unmarked(value: Any) -> Any:
    """Without the marks for the cache, which have tests of their own."""
    if isinstance(value, dict):
        return {key: unmarked(part) for key, part in value.items() if key != "cache_control"}
    return [unmarked(part) for part in value] if isinstance(value, list) else value


def messages_of(*said: ModelMessage, **more: Any) -> list[dict[str, Any]]:
    return list(unmarked(body_of(*said, **more)["messages"]))


def test_request_as_documented() -> None:
    said = (
        UserMessage("hi"),
        AssistantMessage("I look.", (call("a"), call("b", '{"zone": "UTC"}'))),
        ToolMessage(CallId("a"), "noon"),
        ToolMessage(CallId("b"), "no such zone", is_error=True),
    )
    body = body_of(*said, system="Be brief.", tools=(CLOCK,), max_tokens=7)
    assert list(body) == ["model", "max_tokens", "stream", "tools", "system", "messages"]
    assert unmarked(body) == {
        "model": "claude-sonnet-5-5",
        "max_tokens": 7 + DEFAULT_THINKING_TOKENS,
        "stream": True,
        "tools": [{"name": "clock", "description": "Tells the time.", "input_schema": CLOCK.schema}],
        "system": [{"type": "text", "text": "Be brief."}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "hi"}]},
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "I look."},
                    {"type": "tool_use", "id": "a", "name": "clock", "input": {}},
                    {"type": "tool_use", "id": "b", "name": "clock", "input": {"zone": "UTC"}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "a", "content": "noon"},
                    {"type": "tool_result", "tool_use_id": "b", "content": "no such zone", "is_error": True},
                ],
            },
        ],
    }


def test_neighbours_of_one_side_are_one_message_and_results_come_first() -> None:
    said = (
        UserMessage("one"),
        UserMessage("two"),
        AssistantMessage("", (call("a"), call("b"))),
        ToolMessage(CallId("a"), "x"),
        UserMessage("and this"),
        ToolMessage(CallId("b"), ""),
    )
    messages = messages_of(*said)
    assert [message["role"] for message in messages] == ["user", "assistant", "user"]
    assert [block["type"] for block in messages[2]["content"]] == ["tool_result", "tool_result", "text"]
    assert messages[2]["content"][1] == {"type": "tool_result", "tool_use_id": "b"}


def test_users_side_begins_and_nothing_is_empty() -> None:
    assert messages_of(AssistantMessage("so"), UserMessage("hi"))[0]["role"] == "user"
    assert messages_of(UserMessage(" \n"), AssistantMessage(""), UserMessage("hi"))[:2] == [
        {"role": "user", "content": [{"type": "text", "text": "[empty]"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "[empty]"}]},
    ]
    assert "system" not in body_of(UserMessage("hi"), system="\n")


def test_ids_of_other_wires_are_replaced_the_same_way_each_time() -> None:
    said = (UserMessage("x"), AssistantMessage("", (call("fc:ü 1"), call("b_1"))), ToolMessage(CallId("fc:ü 1"), "x"))
    first = messages_of(*said)
    made = first[1]["content"][0]["id"]
    assert made.startswith("toolu_")
    assert made.isascii()
    assert first[2]["content"][0]["tool_use_id"] == made
    assert first[1]["content"][1]["id"] == "b_1"
    assert messages_of(*said) == first


def test_images_come_first_and_are_what_their_bytes_say() -> None:
    said = UserMessage("look", (Image(BlobId("b"), "image/jpeg"),))
    blocks = messages_of(said, images={BlobId("b"): PNG})[0]["content"]
    assert blocks[0]["source"] == {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgoAAAAAAAAAAA=="}
    assert blocks[1] == {"type": "text", "text": "look"}


@pytest.mark.parametrize("data", [b"<svg/>", PNG + bytes(4 * 1024 * 1024)])
def test_image_that_would_be_refused_is_a_line_of_text(data: bytes) -> None:
    said = UserMessage("look", (Image(BlobId("b"), "image/png"),))
    assert [block["type"] for block in messages_of(said, images={BlobId("b"): data})[0]["content"]] == ["text", "text"]


# -- thinking


@pytest.mark.parametrize("level", [None, *Thinking])
@pytest.mark.parametrize("model", ["claude-opus-5-5", "claude-haiku-4-5-20251001", "glm-5"])
def test_temperature_is_never_sent(model: str, level: Thinking | None) -> None:
    assert not {"temperature", "top_p", "top_k"} & body_of(UserMessage("x"), model=model, thinking=level).keys()


@pytest.mark.parametrize(
    ("model", "level", "thinking", "effort"),
    [
        ("claude-opus-5-5", None, None, None),
        ("claude-opus-5-5", Thinking.OFF, "adaptive", "low"),
        ("claude-opus-5-5", Thinking.XHIGH, "adaptive", "xhigh"),
        ("claude-fable-5-2", Thinking.MINIMAL, "adaptive", "low"),
        ("claude-mythos-preview", Thinking.MEDIUM, "adaptive", "medium"),
        ("claude-sonnet-5-5", Thinking.OFF, "between_tools", None),
        ("claude-sonnet-5", Thinking.OFF, "disabled", None),
        ("anthropic/claude-haiku-5.5", Thinking.OFF, "disabled", None),
        ("claude-opus-5", Thinking.HIGH, "adaptive", "high"),
        ("claude-opus-4-8", Thinking.OFF, None, None),
        ("claude-sonnet-4-6", Thinking.XHIGH, "adaptive", "max"),
        ("claude-opus-4-5-20251101", Thinking.HIGH, "enabled", None),
        ("claude-haiku-4-5", Thinking.OFF, None, None),
        ("claude-opus-4-20250514", Thinking.LOW, "enabled", None),
        ("claude-3-7-sonnet-latest", Thinking.LOW, "enabled", None),
        ("claude-3-5-haiku-20241022", Thinking.HIGH, None, None),
        ("claude-opus-9", Thinking.OFF, "adaptive", "low"),
        ("claude-opus-5-7", Thinking.OFF, "adaptive", "low"),
        ("deepseek-reasoner", Thinking.LOW, "enabled", None),
        ("deepseek-chat", Thinking.OFF, "disabled", None),
    ],
)
def test_each_model_is_told_to_think_in_its_own_way(
    model: str, level: Thinking | None, thinking: str | None, effort: str | None
) -> None:
    body = body_of(UserMessage("x"), model=model, thinking=level)
    assert body.get("thinking", {}).get("type") == thinking
    assert body.get("output_config", {}).get("effort") == effort


@pytest.mark.parametrize("max_tokens", [1, 4096, 60_000, 200_000])
@pytest.mark.parametrize("level", list(Thinking))
@pytest.mark.parametrize("model", ["claude-haiku-4-5", "claude-opus-4-1", "glm-5", "claude-opus-5"])
def test_budget_leaves_room_for_an_answer_within_what_the_model_may_write(
    model: str, level: Thinking, max_tokens: int
) -> None:
    body = body_of(UserMessage("x"), model=model, thinking=level, max_tokens=max_tokens)
    budget = body.get("thinking", {}).get("budget_tokens", 0)
    assert budget == 0 or budget >= 1024
    assert budget < body["max_tokens"]
    assert body["max_tokens"] - budget >= min(max_tokens, 1024)
    assert body["max_tokens"] <= ModelRequest("m", "", (), max_tokens=max_tokens, thinking=level).max_output
    assert body["max_tokens"] <= {"claude-haiku-4-5": 64_000, "claude-opus-4-1": 32_000}.get(model, 300_000)


SEALED = {"type": "thinking", "thinking": "", "signature": "s="}


def kept(*parts: Any) -> Continuation:
    return Continuation("anthropic", json.dumps(parts))


def assistant_blocks(said: AssistantMessage, **more: Any) -> list[Any]:
    results = [ToolMessage(call.id, "x") for call in said.calls]
    return list(messages_of(UserMessage("x"), said, *results, **more)[1]["content"])


def test_signed_blocks_go_back_unchanged_and_in_their_place() -> None:
    said = AssistantMessage("Hm. Well.", (call("a"), call("b")), kept(SEALED, 4, SEALED, None, 5, None))
    text = [{"type": "text", "text": "Hm. "}, {"type": "text", "text": "Well."}]
    calls: list[dict[str, Any]] = [{"type": "tool_use", "id": id, "name": "clock", "input": {}} for id in ("a", "b")]
    assert assistant_blocks(said) == [SEALED, text[0], SEALED, calls[0], text[1], calls[1]]


@pytest.mark.parametrize("data", ["", "{", "5", '[{"type": "image"}, 99, "x", -1, true]', "[" * 100_000])
def test_strange_continuation_costs_nothing(data: str) -> None:
    said = AssistantMessage("Hm.", (call("a"),), Continuation("anthropic", data))
    assert [block["type"] for block in assistant_blocks(said)] == ["text", "tool_use"]


def test_signed_blocks_come_first_in_a_message_that_was_changed_since() -> None:
    said = AssistantMessage("Cut.", (call("a"),), kept(5, SEALED, None))
    assert [block["type"] for block in assistant_blocks(said)] == ["thinking", "text", "tool_use"]


def test_blocks_of_other_wires_are_left_out_and_all_of_them_where_thinking_is_off() -> None:
    strange = AssistantMessage("Hm.", (call("a"),), Continuation("gemini", "[]"))
    assert [block["type"] for block in assistant_blocks(strange)] == ["text", "tool_use"]
    said = AssistantMessage("Hm.", (call("a"),), kept(SEALED, 3, None))
    assert [block["type"] for block in assistant_blocks(said, thinking=Thinking.OFF)] == ["text", "tool_use"]


def test_tool_loop_that_another_model_began_is_not_asked_for_its_thoughts() -> None:
    said = (UserMessage("x"), AssistantMessage("", (call("a"),)), ToolMessage(CallId("a"), "x"))
    own = (UserMessage("x"), AssistantMessage("", (call("a"),), kept(SEALED, None)), ToolMessage(CallId("a"), "x"))
    budget = {"model": "claude-haiku-4-5", "thinking": Thinking.LOW}
    assert "thinking" not in body_of(*said, **budget)
    assert "thinking" in body_of(*own, **budget)
    assert "thinking" in body_of(*said, AssistantMessage("so"), UserMessage("y"), **budget)


def test_blocks_signed_after_another_beginning_are_left_out_with_all_that_followed() -> None:
    steps = [AssistantMessage("", (call(str(n)),)) for n in range(3)]
    results = [ToolMessage(said.calls[0].id, "x") for said in steps]

    def told(opening: str, *parts: ModelMessage) -> ModelRequest:
        return ModelRequest("claude-opus-5-5", "", (UserMessage(opening), *parts))

    def sealed(step: int, before: ModelRequest) -> AssistantMessage:
        return replace(steps[step], continuation=replace(kept(SEALED, None), prefix=prefix_digest(before)))

    first = sealed(0, told("at nine"))
    second = sealed(1, told("at nine", first, results[0]))
    later = told("at ten", steps[0], results[0], steps[1], results[1])

    def thoughts(opening: str) -> list[bool]:
        parts = (first, results[0], second, results[1], sealed(2, later), results[2])
        body = json.loads(encode_request(told(opening, *parts), model="claude-opus-5-5"))
        return ["thinking" in str(message) for message in body["messages"][1::2]]

    assert thoughts("at nine") == [True, True, False]
    assert thoughts("at ten") == [False, False, True]  # what came after the change was sealed with it


def test_blocks_after_one_left_out_are_kept() -> None:
    first = AssistantMessage("", (call("a"),), replace(kept(SEALED, None), prefix="another beginning"))
    asked = (UserMessage("x"), first, ToolMessage(CallId("a"), "x"))
    sealed = replace(kept(SEALED, None), prefix=prefix_digest(ModelRequest("claude-opus-5-5", "", asked)))
    second = AssistantMessage("", (call("b"),), sealed)
    request = ModelRequest("claude-opus-5-5", "", (*asked, second, ToolMessage(CallId("b"), "x")))
    body = json.loads(encode_request(request, model="claude-opus-5-5"))
    assert ["thinking" in str(message) for message in body["messages"][1::2]] == [False, True]


# -- the wire


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("https://api.anthropic.com", "https://api.anthropic.com/v1/messages"),
        ("api.anthropic.com/v1/", "https://api.anthropic.com/v1/messages"),
        ("https://api.anthropic.com/v1/messages", "https://api.anthropic.com/v1/messages"),
        ("https://api.deepseek.com/anthropic", "https://api.deepseek.com/anthropic/v1/messages"),
        ("127.0.0.1:8080", "http://127.0.0.1:8080/v1/messages"),
    ],
)
def test_base_url_is_understood_however_it_is_written(base: str, url: str) -> None:
    assert AnthropicMessages().chat_url(base, "m") == url
    assert AnthropicMessages().models_url(base) == url.replace("/messages", "/models?limit=1000")


def test_base_url_that_is_none_is_told() -> None:
    with pytest.raises(ValueError, match="Invalid"):
        AnthropicMessages().chat_url("http://[", "m")


def test_models_are_listed_with_what_is_known_of_them() -> None:
    capabilities = {"image_input": {"supported": True}, "thinking": {"supported": False}}
    row = {"id": "claude-x", "max_input_tokens": 9, "max_tokens": 5, "capabilities": capabilities}
    listing = {"data": [row, {"id": "old", "capabilities": None}, {"id": 5}, "x"], "has_more": False}
    assert AnthropicMessages().read_models(listing) == (
        ListedModel("claude-x", 9, 5, images=True, thinking=False),
        ListedModel("old"),
    )
    assert AnthropicMessages().read_models([]) is None


def marks_in(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    blocks = [*body.get("tools", ()), *body.get("system", ())]
    blocks += [block for message in body["messages"] for block in message["content"]]
    return (block for block in blocks if "cache_control" in block)


def test_key_goes_into_its_own_header() -> None:
    assert AnthropicMessages().headers("k") == {"anthropic-version": "2023-06-01", "x-api-key": "k"}
    assert "x-api-key" not in AnthropicMessages().headers("")


def test_tools_and_system_and_the_end_are_marked_but_never_what_is_sealed() -> None:
    said = AssistantMessage("", (), kept(SEALED))
    body = body_of(UserMessage("x"), said, UserMessage("y"), system="s", tools=(CLOCK, CLOCK))
    assert [block.get("text", block.get("name")) for block in marks_in(body)] == ["clock", "s", "y"]
