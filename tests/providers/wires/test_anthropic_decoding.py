"""Answers of Anthropic Messages."""

import json
from typing import Any

import pytest

from hob.core.errors import ModelFault
from hob.core.ids import CallId
from hob.core.models import CallStarted, ModelReply, ReasoningDelta, StopReason, TextDelta, Usage
from hob.core.tools import ToolCall
from hob.providers.wires.anthropic.wire import AnthropicDecoder
from tests.providers.hearing import failure, hear, last, sse

Event = dict[str, Any]


def start(**usage: Any) -> Event:
    return {"type": "message_start", "message": {"model": "claude-x", "content": [], "usage": usage}}


def begin(index: int, **block: Any) -> Event:
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: int, kind: str, **fields: Any) -> Event:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}


def text(index: int, *pieces: str) -> list[Event]:
    return [begin(index, type="text", text=""), *(delta(index, "text_delta", text=piece) for piece in pieces)]


def call(index: int, id: str, name: str, *pieces: str) -> list[Event]:
    opening = begin(index, type="tool_use", id=id, name=name, input={})
    return [opening, *(delta(index, "input_json_delta", partial_json=piece) for piece in pieces)]


def end(reason: str | None = "end_turn", **usage: Any) -> list[Event]:
    return [
        {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage},
        {"type": "message_stop"},
    ]


def reply_to(*events: Event) -> ModelReply:
    return last(hear(AnthropicDecoder(salt="s"), sse(*events)))


def test_text_is_told_as_it_comes_with_a_ping_between() -> None:
    pieces = [sse(event) for event in (start(), *text(0, "A", "B"), {"type": "ping"}, *end())]
    events = hear(AnthropicDecoder(), *pieces)
    assert events == [TextDelta("A"), TextDelta("B"), ModelReply("AB", model="claude-x")]


def test_input_counts_what_was_cached_and_later_numbers_stand_for_earlier_ones() -> None:
    begun = start(
        input_tokens=10,
        cache_read_input_tokens=300,
        cache_creation_input_tokens=40,
        cache_creation={"ephemeral_5m_input_tokens": 30, "ephemeral_1h_input_tokens": 10},
        output_tokens=1,
    )
    ended = end(
        input_tokens=12, cache_read_input_tokens=None, output_tokens=9, output_tokens_details={"thinking_tokens": 4}
    )
    assert reply_to(begun, *text(0, "x"), *ended).usage == Usage(352, 9, 300, 40, 4, 10)


def test_server_that_ends_with_zeros_has_still_counted() -> None:
    ended = end(input_tokens=0, output_tokens=5)
    assert reply_to(start(input_tokens=7, output_tokens=0), *text(0, "x"), *ended).usage == Usage(7, 5)


def test_server_that_counts_nothing_tells_nothing() -> None:
    assert reply_to(start(), *text(0, "x"), *end()).usage is None


def test_calls_are_told_at_once_and_their_arguments_joined() -> None:
    one = call(0, "toolu_1", "read", "", '{"path": "a\\', 'n"}')
    events = hear(AnthropicDecoder(), sse(start(), *one, *call(1, "toolu_2", "clock"), *end("tool_use")))
    calls = (ToolCall(CallId("toolu_1"), "read", '{"path": "a\\n"}'), ToolCall(CallId("toolu_2"), "clock", "{}"))
    assert events == [
        CallStarted("read"),
        CallStarted("clock"),
        ModelReply("", calls, stop=StopReason.TOOLS, model="claude-x"),
    ]


def test_calls_that_are_written_at_the_same_time_are_told_apart_by_their_index() -> None:
    one, two = call(0, "a", "one", '{"x":', "1}"), call(1, "b", "two", '{"y":', "2}")
    mixed = [event for pair in zip(one, two, strict=True) for event in pair]
    assert [made.arguments for made in reply_to(start(), *mixed, *end("tool_use")).calls] == ['{"x":1}', '{"y":2}']


def test_arguments_that_come_whole_with_the_block_count_if_no_pieces_follow() -> None:
    whole = begin(0, type="tool_use", id="a", name="one", input={"x": "ü"})
    pieces = [
        begin(1, type="tool_use", id="b", name="two", input={"x": 1}),
        delta(1, "input_json_delta", partial_json="{}"),
    ]
    assert [made.arguments for made in reply_to(start(), whole, *pieces, *end()).calls] == ['{"x": "ü"}', "{}"]


def thought(index: int, words: str, signature: str) -> list[Event]:
    return [
        begin(index, type="thinking", thinking="", signature=""),
        delta(index, "thinking_delta", thinking=words[:3]),
        delta(index, "thinking_delta", thinking=words[3:]),
        delta(index, "signature_delta", signature=signature),
    ]


def test_signed_and_sealed_thoughts_are_kept_in_their_places() -> None:
    events = hear(
        AnthropicDecoder(),
        sse(
            start(),
            *thought(0, "First this.", "sig="),
            begin(1, type="redacted_thinking", data="sealed"),
            *text(2, "I look ", "first."),
            *thought(3, "", "sig2"),
            *call(4, "a", "look", "{}"),
            *end("tool_use"),
        ),
    )
    reply = last(events)
    assert events[0] == ReasoningDelta("First this.")
    assert reply.reasoning == "First this."
    assert reply.continuation is not None
    assert reply.continuation.wire == "anthropic"
    assert json.loads(reply.continuation.data) == [
        {"type": "thinking", "thinking": "First this.", "signature": "sig="},
        {"type": "redacted_thinking", "data": "sealed"},
        13,
        {"type": "thinking", "thinking": "", "signature": "sig2"},
        None,
    ]


def test_answer_without_thoughts_has_nothing_to_go_on_with() -> None:
    assert reply_to(start(), *text(0, "x"), *end()).continuation is None


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("end_turn", StopReason.END),
        ("stop_sequence", StopReason.END),
        ("pause_turn", StopReason.END),
        ("max_tokens", StopReason.LENGTH),
        ("model_context_window_exceeded", StopReason.LENGTH),
        ("something new", StopReason.END),
    ],
)
def test_stop_reason_is_read(reason: str, stop: StopReason) -> None:
    assert reply_to(start(), *text(0, "x"), *end(reason)).stop is stop


def test_refusal_is_told_with_its_reason_and_is_no_answer() -> None:
    ended = {"stop_reason": "refusal", "stop_details": {"type": "refusal", "explanation": "Blocked under the policy."}}
    error = failure(
        AnthropicDecoder(host="h"), sse(start(), *text(0, "I"), {"type": "message_delta", "delta": ended}, *end(None))
    )
    assert error.fault is ModelFault.FILTERED
    assert "Blocked under the policy." in str(error)


def test_context_that_was_full_before_the_first_word_is_too_long() -> None:
    stream = sse(start(), *end("model_context_window_exceeded"))
    assert failure(AnthropicDecoder(), stream).fault is ModelFault.CONTEXT_OVERFLOW


@pytest.mark.parametrize(
    ("kind", "fault"),
    [
        ("overloaded_error", ModelFault.OVERLOAD),
        ("api_error", ModelFault.OVERLOAD),
        ("timeout_error", ModelFault.OVERLOAD),
        ("rate_limit_error", ModelFault.RATE_LIMIT),
        ("authentication_error", ModelFault.AUTH),
        ("permission_error", ModelFault.AUTH),
        ("billing_error", ModelFault.BILLING),
        ("invalid_request_error", ModelFault.BAD_REQUEST),
        ("request_too_large", ModelFault.CONTEXT_OVERFLOW),
    ],
)
def test_error_after_text_is_an_error(kind: str, fault: ModelFault) -> None:
    stream = sse(start(), *text(0, "Half"), {"type": "error", "error": {"type": kind, "message": "Sorry"}})
    assert failure(AnthropicDecoder(), stream).fault is fault


def test_stream_that_ends_before_its_stop_reason_was_cut() -> None:
    assert failure(AnthropicDecoder(), sse(start(), *text(0, "Half an"))).fault is ModelFault.CUT


def test_stream_may_lack_its_last_event() -> None:
    assert reply_to(start(), *text(0, "x"), end()[0]).text == "x"


def test_unknown_events_are_ignored() -> None:
    strange: list[Event] = [
        {"type": "brand_new"},
        begin(0, type="server_tool_use", id="s", name="web_search", input={}),
        delta(0, "input_json_delta", partial_json="{}"),
        delta(0, "citations_delta", citation={}),
        delta(7, "signature_delta", signature="lost"),
        {"type": "content_block_delta", "index": "x", "delta": 5},
        {"type": "content_block_start"},
    ]
    assert reply_to(start(), *strange, *text(1, "x"), *end()).text == "x"


def test_whole_answer_instead_of_a_stream_is_understood() -> None:
    content = [
        {"type": "thinking", "thinking": "Hm.", "signature": "s"},
        {"type": "text", "text": "Let me see."},
        {"type": "tool_use", "id": "a", "name": "look", "input": {"at": "ü"}},
    ]
    answer = {
        "type": "message",
        "model": "m",
        "content": content,
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 3},
    }
    reply = last(hear(AnthropicDecoder(), json.dumps(answer).encode()))
    assert (reply.text, reply.reasoning, reply.stop) == ("Let me see.", "Hm.", StopReason.TOOLS)
    assert reply.calls == (ToolCall(CallId("a"), "look", '{"at": "ü"}'),)
    assert reply.continuation is not None
    assert reply.usage == Usage(3)
