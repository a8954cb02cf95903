"""Servers that speak chat completions differ: each one's ways, as its own documentation tells them."""

import json
from typing import Any

import pytest

from hob.core.ids import CallId
from hob.core.models import (
    AssistantMessage,
    Continuation,
    ModelReply,
    ModelRequest,
    Thinking,
    ToolMessage,
    UserMessage,
)
from hob.core.tools import ToolCall
from hob.providers.catalog.catalog import find_provider
from hob.providers.wires.openai_chat.wire import ChatCompletions, ChatDecoder, read_cost

CALL = ToolCall(CallId("toolu_01ABC"), "clock", "{}")
TALK = (
    UserMessage("what time is it?"),
    AssistantMessage("", (CALL,), Continuation("openai_chat", '{"reasoning_content": "hm"}')),
    ToolMessage(CALL.id, "noon"),
    UserMessage("thanks"),
)


def sent(provider: str, request: ModelRequest, model: str = "m") -> dict[str, Any]:
    known = find_provider(provider)
    assert known is not None
    body = ChatCompletions(known.dialect).encode(request, model=model, images={})
    read: dict[str, Any] = json.loads(body)
    return read


def test_mistral_gets_ids_of_nine_characters_and_never_a_user_after_a_tool() -> None:
    body = sent("mistral", ModelRequest("m", "", TALK))
    ids = {body["messages"][1]["tool_calls"][0]["id"], body["messages"][2]["tool_call_id"]}
    assert len(ids) == 1
    assert all(len(id) == 9 and id.isalnum() for id in ids)
    assert [said["role"] for said in body["messages"]] == ["user", "assistant", "tool", "assistant", "user"]
    assert "stream_options" not in body


def test_deepseek_gets_its_reasoning_back_within_the_turn() -> None:
    assert sent("deepseek", ModelRequest("m", "", TALK))["messages"][1]["reasoning_content"] == "hm"
    decoder = ChatDecoder(returns_reasoning=True)
    fragment = {"index": 0, "id": "c", "function": {"name": "clock", "arguments": "{}"}}
    lines: list[dict[str, Any]] = [
        {"reasoning_content": "let me "},
        {"reasoning_content": "see"},
        {"tool_calls": [fragment]},
    ]
    reply = heard(decoder, lines)
    assert reply.continuation == Continuation("openai_chat", '{"reasoning_content": "let me see"}')


def test_openrouters_signed_reasoning_comes_back_in_one_piece_and_its_price_is_believed() -> None:
    pieces = [
        {"reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "let me "}]},
        {"reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "see"}]},
        {"reasoning_details": [{"type": "reasoning.text", "index": 0, "signature": "sig"}]},
        {"tool_calls": [{"index": 0, "id": "c", "function": {"name": "clock", "arguments": "{}"}}]},
    ]
    reply = heard(ChatDecoder(), pieces, usage={"prompt_tokens": 9, "completion_tokens": 3, "cost": 0.000123})
    assert reply.cost == 123
    assert reply.continuation is not None
    whole = {"type": "reasoning.text", "index": 0, "text": "let me see", "signature": "sig"}
    assert json.loads(reply.continuation.data) == {"reasoning_details": [whole]}


@pytest.mark.parametrize(
    ("charged", "cost"),
    [
        ({"cost": 0, "is_byok": True, "cost_details": {"upstream_inference_cost": 0.5}}, 500_000),
        ({"cost": 0.025, "is_byok": True, "cost_details": {"upstream_inference_cost": 0.5}}, 525_000),
        ({"cost": 0.5, "is_byok": False, "cost_details": {"upstream_inference_cost": 0.5}}, 500_000),
        ({"cost": 0, "is_byok": True, "cost_details": None}, None),
        ({"cost": 0, "is_byok": True}, None),
        ({"cost": 4e-7}, 1),
        ({"cost": 0}, 0),
        ({"cost": True}, None),
        ({"cost": -1}, None),
        ({"cost": float("nan")}, None),
    ],
)
def test_openrouters_charge_includes_what_the_owners_own_key_is_charged(
    charged: dict[str, Any], cost: int | None
) -> None:
    assert read_cost(charged) == cost


def test_openrouter_is_told_what_to_cache_where_the_model_wants_to_be_told() -> None:
    request = ModelRequest("m", "Be brief.", TALK)
    marked = sent("openrouter", request, "anthropic/claude-x")["messages"]
    assert marked[0]["content"][0]["cache_control"] == {"type": "ephemeral"}
    assert "cache_control" in json.dumps(marked[-1])
    assert "cache_control" not in json.dumps(sent("openrouter", request, "openai/gpt-x"))


@pytest.mark.parametrize(
    ("provider", "level", "field"),
    [
        ("openai", Thinking.OFF, {"reasoning_effort": "none"}),
        ("openai", Thinking.XHIGH, {"reasoning_effort": "xhigh"}),
        ("groq", Thinking.MINIMAL, {"reasoning_effort": "low"}),
        ("xai", Thinking.XHIGH, {"reasoning_effort": "high"}),
        ("openrouter", Thinking.HIGH, {"reasoning": {"effort": "high"}}),
        ("openrouter", Thinking.OFF, {"reasoning": {"enabled": False}}),
        ("vllm", Thinking.HIGH, {}),
    ],
)
def test_thinking_level_is_said_in_the_servers_words(provider: str, level: Thinking, field: dict[str, Any]) -> None:
    body = sent(provider, ModelRequest("m", "", TALK, thinking=level))
    assert {key: body[key] for key in ("reasoning_effort", "reasoning") if key in body} == field


def test_listing_tells_what_its_server_knows() -> None:
    row = {
        "id": "anthropic/claude-x",
        "context_length": 200_000,
        "architecture": {"input_modalities": ["text", "image"]},
        "supported_parameters": ["tools", "reasoning"],
        "pricing": {"prompt": "0.000003", "completion": "0.000015"},
        "top_provider": {"max_completion_tokens": 64_000},
    }
    listed = ChatCompletions().read_models({"data": [row, {"id": "plain"}, {"id": 7}, "junk"]})
    assert listed is not None
    rich, plain = listed
    assert (rich.context_tokens, rich.output_tokens) == (200_000, 64_000)
    assert (rich.images, rich.tools, rich.thinking) == (True, True, True)
    assert rich.input_price == pytest.approx(3)
    assert rich.output_price == pytest.approx(15)
    assert (plain.name, plain.context_tokens, plain.tools, plain.input_price) == ("plain", None, None, None)


def heard(decoder: ChatDecoder, deltas: list[dict[str, Any]], usage: dict[str, Any] | None = None) -> ModelReply:
    chunks: list[dict[str, Any]] = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}], "usage": usage})
    events = decoder.feed("".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks).encode())
    events += decoder.feed(b"data: [DONE]\n\n")
    assert isinstance(events[-1], ModelReply)
    return events[-1]
