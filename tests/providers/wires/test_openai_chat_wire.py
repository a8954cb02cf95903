"""Chat completions as bytes."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from hob.core.errors import ModelError, ModelFault
from hob.core.ids import BlobId, CallId, SessionKey
from hob.core.models import (
    AssistantMessage,
    CallStarted,
    Continuation,
    Image,
    KeepAlive,
    ModelEvent,
    ModelReply,
    ModelRequest,
    ReasoningDelta,
    StopReason,
    TextDelta,
    ToolMessage,
    Usage,
    UserMessage,
)
from hob.core.tools import ToolCall, ToolSpec
from hob.providers.wires.openai_chat.settings import Dialect
from hob.providers.wires.openai_chat.wire import ChatDecoder, encode_request

CLOCK = ToolSpec("clock", "Tells the time.", {"type": "object", "properties": {}})


def body_of(request: ModelRequest, dialect: Dialect | None = None) -> dict[str, Any]:
    return dict(json.loads(encode_request(request, model="m", dialect=dialect)))


# -- requests


def test_growing_parts_stand_last_so_that_a_longer_conversation_shares_its_prefix() -> None:
    def ask(turns: int) -> bytes:
        said = [m for n in range(turns) for m in (UserMessage(f"question {n}"), AssistantMessage(f"answer {n}"))]
        return encode_request(ModelRequest("m", "s" * 500, (*said, UserMessage("now")), (CLOCK,)), model="m")

    shorter, longer = ask(5), ask(6)
    same = next(n for n, (a, b) in enumerate(zip(shorter, longer, strict=False)) if a != b)
    assert same > len(shorter) - 50
    assert list(json.loads(longer)) == ["model", "stream", "stream_options", "max_tokens", "tools", "messages"]


def test_request_for_hi_is_little_more_than_its_system_prompt() -> None:
    body = encode_request(ModelRequest("gpt-5-mini", "s" * 1000, (UserMessage("hi"),)), model="gpt-5-mini")
    assert len(body) < 1200


def test_calls_and_results_are_written_as_the_server_knows_them() -> None:
    call = ToolCall(CallId("c1"), "clock", "")
    said = (UserMessage("hi"), AssistantMessage("", (call,)), ToolMessage(CallId("c1"), "no clock", is_error=True))
    _, asked, told = body_of(ModelRequest("m", "", said))["messages"]
    function = {"name": "clock", "arguments": "{}"}
    assert asked == {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": function}],
    }
    assert told == {"role": "tool", "tool_call_id": "c1", "content": "Error: no clock"}


@pytest.mark.parametrize("data", ["[1]", "{", "null", "[" * 100_000, '{"role": "user"}', ""], ids=range(6))
def test_reasoning_that_cannot_be_read_is_left_out(data: str) -> None:
    calls = (ToolCall(CallId("c1"), "t", "{}"),)
    plain, continued = AssistantMessage("", calls), AssistantMessage("", calls, Continuation("openai_chat", data))
    assert body_of(ModelRequest("m", "", (continued,))) == body_of(ModelRequest("m", "", (plain,)))


def test_error_that_says_so_itself_is_not_marked_twice() -> None:
    told = body_of(ModelRequest("m", "", (ToolMessage(CallId("c1"), "error: none", is_error=True),)))
    assert told["messages"][0]["content"] == "error: none"


def test_event_of_two_lines_may_be_cut_between_the_two_halves_of_a_line_end() -> None:
    chunk = b'data: {"choices": [{"index": 0, "delta": {"content": "hi"},\r\ndata:  "finish_reason": "stop"}]}\r\n\r\n'
    for cut in range(len(chunk)):
        decoder = ChatDecoder()
        decoder.feed(chunk[:cut])
        decoder.feed(chunk[cut:])
        reply = decoder.finish()[-1]
        assert isinstance(reply, ModelReply)
        assert reply.text == "hi"


def test_whole_message_at_the_end_of_the_pieces_is_not_said_again() -> None:
    pieces = ({"index": 0, "delta": {"content": "one "}}, {"index": 0, "delta": {"content": "two"}})
    end = {"index": 0, "message": {"role": "assistant", "content": "one two"}, "finish_reason": "stop"}
    decoder = ChatDecoder()
    for choice in (*pieces, end):
        decoder.feed(b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\n")
    reply = decoder.finish()[-1]
    assert isinstance(reply, ModelReply)
    assert reply.text == "one two"


def test_images_are_sent_inside_the_message() -> None:
    picture = Image(BlobId("b1"), "image/png")
    request = ModelRequest("m", "", (UserMessage("look", (picture,)),))
    body = json.loads(encode_request(request, model="m", images={BlobId("b1"): b"\x00\x01"}))
    assert body["messages"][0]["content"][1]["image_url"]["url"] == "data:image/png;base64,AAE="


def test_openais_own_server_gets_its_own_words() -> None:
    request = ModelRequest("m", "", (UserMessage("hi"),), max_tokens=7, cache_key=SessionKey("local:main"))
    official = body_of(request, Dialect(max_tokens="max_completion_tokens", cache_key=True))
    assert official["max_completion_tokens"] == 7
    assert "local" not in official["prompt_cache_key"]
    assert body_of(request)["max_tokens"] == 7


# -- answers


def chunk(delta: object, finish: str | None = None, **more: object) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return "data: " + json.dumps({"model": "m-1", "choices": [choice], **more}) + "\n\n"


DONE = "data: [DONE]\n\n"
END = chunk({}, "stop") + DONE


def decode(*data: str | bytes, taken: Sequence[str] = ()) -> list[ModelEvent]:
    decoder = ChatDecoder(salt="s", taken=taken)
    events = [
        event for piece in data for event in decoder.feed(piece.encode() if isinstance(piece, str) else piece)
    ] + decoder.finish()
    return [event for event in events if not isinstance(event, KeepAlive)]


def reply_to(*data: str | bytes, taken: Sequence[str] = ()) -> ModelReply:
    reply = decode(*data, taken=taken)[-1]
    assert isinstance(reply, ModelReply)
    return reply


def fault_of(*data: str | bytes) -> ModelFault:
    with pytest.raises(ModelError) as caught:
        decode(*data)
    return caught.value.fault


def test_text_reasoning_and_usage() -> None:
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "prompt_tokens_details": {"cached_tokens": 60},
        "completion_tokens_details": {"reasoning_tokens": 5},
    }
    assert decode(
        chunk({"role": "assistant", "content": ""}),
        chunk({"reasoning_content": "hm"}),
        chunk({"content": "A"}),
        chunk({"content": "B"}),
        chunk({}, "stop"),
        "data: " + json.dumps({"choices": [], "usage": usage}) + "\n\n",
        DONE,
    ) == [
        ReasoningDelta("hm"),
        TextDelta("A"),
        TextDelta("B"),
        ModelReply("AB", reasoning="hm", usage=Usage(100, 20, cache_read=60, reasoning=5), model="m-1"),
    ]


def test_bytes_without_meaning_are_a_beat() -> None:
    decoder = ChatDecoder()
    assert decoder.feed(b": ping\n\n") == [KeepAlive()]
    assert decoder.feed(b"data: {") == [KeepAlive()]


def test_pieces_that_come_together_are_told_as_one() -> None:
    assert decode(chunk({"content": "A"}) + chunk({"content": "B"}) + END)[0] == TextDelta("AB")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_may_end_in_three_ways_and_comments_are_skipped(end: str) -> None:
    stream = ("﻿: hello\n\nevent: message\nid: 7\n" + chunk({"content": "é"}) + ": ping\n\n" + END).replace("\n", end)
    assert reply_to(stream).text == "é"


def test_data_may_have_several_lines_and_no_space() -> None:
    assert reply_to('data:{"choices":[{"index":0,\ndata:"delta":{"content":"x"}}]}\n\n' + END).text == "x"


def test_events_without_an_empty_line_between_them_are_two() -> None:
    assert reply_to((chunk({"content": "x"}) + chunk({"content": "y"})).replace("\n\n", "\n") + "\n" + END).text == "xy"


def fragment(index: int | None, arguments: str = "", *, id: str | None = None, name: str | None = None) -> str:
    made: dict[str, Any] = {"function": {"arguments": arguments} | ({"name": name} if name else {})}
    return chunk({"tool_calls": [made | ({} if index is None else {"index": index}) | ({"id": id} if id else {})]})


def test_fragments_of_calls_are_joined_by_index() -> None:
    events = decode(
        fragment(0, id="a", name="one"),
        fragment(1, id="b", name="two"),
        fragment(0, '{"x": "\\'),
        fragment(1, "{}"),
        fragment(0, 'n"}'),
        chunk({}, "tool_calls"),
        DONE,
    )
    calls = (ToolCall(CallId("a"), "one", '{"x": "\\n"}'), ToolCall(CallId("b"), "two", "{}"))
    assert events == [CallStarted("one"), CallStarted("two"), ModelReply("", calls, stop=StopReason.TOOLS, model="m-1")]


def test_fragments_without_index_belong_to_their_id_or_to_the_last_call() -> None:
    calls = reply_to(
        fragment(None, '{"a"', id="a", name="one"),
        fragment(None, ":1}"),
        fragment(None, "{}", id="b", name="two"),
        END,
    ).calls
    assert [(call.id, call.arguments) for call in calls] == [("a", '{"a":1}'), ("b", "{}")]


def test_calls_that_all_claim_one_index_are_told_apart_by_their_ids() -> None:
    calls = reply_to(fragment(0, "{}", id="a", name="one"), fragment(0, "{}", id="b", name="two"), END).calls
    assert [call.name for call in calls] == ["one", "two"]


def test_name_that_is_repeated_with_each_fragment_is_one_name() -> None:
    calls = reply_to(fragment(0, "{", id="a", name="one"), fragment(0, "}", id="a", name="one"), END).calls
    assert calls == (ToolCall(CallId("a"), "one", "{}"),)


def test_missing_repeated_and_used_ids_are_replaced() -> None:
    stream = (
        fragment(0, "{}", name="one"),
        fragment(1, "{}", id="x", name="two"),
        fragment(2, "{}", id="x", name="three"),
        fragment(3, "{}", id="old", name="four"),
        END,
    )
    ids = [call.id for call in reply_to(*stream, taken=["old"]).calls]
    assert ids[1] == "x"
    assert len({*ids, "old"}) == 5
    assert all(len(made) == 9 and made.isalnum() for made in (ids[0], ids[2], ids[3]))


def test_arguments_that_are_an_object_or_missing_become_json() -> None:
    calls = [
        {"index": 0, "id": "a", "function": {"name": "one", "arguments": {"x": "ü"}}},
        {"index": 1, "id": "b", "function": {"name": "two"}},
    ]
    assert [c.arguments for c in reply_to(chunk({"tool_calls": calls}), END).calls] == ['{"x": "ü"}', "{}"]


def test_older_function_call_is_understood() -> None:
    call = {"function_call": {"name": "one", "arguments": "{}"}}
    assert reply_to(chunk(call), chunk({}, "function_call")).calls[0].name == "one"


@pytest.mark.parametrize(
    ("finish", "stop"),
    [("stop", StopReason.END), ("length", StopReason.LENGTH), ("eos", StopReason.END), (None, StopReason.END)],
)
def test_reason_for_stopping(finish: str | None, stop: StopReason) -> None:
    assert reply_to(chunk({"content": "x"}), chunk({}, finish), DONE).stop is stop


def test_answer_is_whole_with_a_finish_reason_even_if_the_connection_breaks() -> None:
    decoder = ChatDecoder()
    decoder.feed((chunk({"content": "x"}) + chunk({}, "stop")).encode())
    assert [type(event) for event in decoder.finish(broken=True)] == [ModelReply]


def test_stream_that_ends_early_is_cut_however_politely() -> None:
    assert fault_of(chunk({"content": "x"})) is ModelFault.CUT
    assert fault_of(chunk({"role": "assistant"})) is ModelFault.CUT
    assert fault_of(chunk({"content": "x"})[:-20]) is ModelFault.CUT
    assert fault_of(": ping\n\n") is ModelFault.CUT
    assert fault_of(fragment(0, '{"a"', id="a", name="one")) is ModelFault.CUT


def test_empty_answer_is_no_answer() -> None:
    assert fault_of("") is ModelFault.EMPTY
    assert fault_of(DONE) is ModelFault.EMPTY
    assert fault_of(chunk({"content": " \n"}), END) is ModelFault.EMPTY
    assert fault_of(chunk({"reasoning": "hm"}), chunk({}, "length"), DONE) is ModelFault.EMPTY


@pytest.mark.parametrize(
    "body",
    [
        "<!DOCTYPE html><html></html>",
        "Internal Server Error",
        'data: {"choices": [broken}\n\n',
        "data: []\n\n",
        "data: 7\n\n",
        '{"answer": "x"}',
        "[1, 2]",
        "data: " + "[" * 100_000 + "\n\n",
        "data: " + "9" * 10_000 + "\n\n",
    ],
)
def test_malformed_answer_is_garbage(body: str) -> None:
    assert fault_of(body) is ModelFault.GARBAGE


def test_line_without_end_is_given_up() -> None:
    assert fault_of("data: ", *["x" * 1024 * 1024] * 9) is ModelFault.GARBAGE


def test_filtered_answer_is_an_error() -> None:
    assert fault_of(chunk({"content": "x"}), chunk({}, "content_filter"), DONE) is ModelFault.FILTERED


def test_error_in_the_stream_is_an_error_before_and_after_text() -> None:
    error = 'data: {"error": {"message": "The engine is overloaded", "code": 503}}\n\n'
    assert fault_of(error) is ModelFault.OVERLOAD
    assert fault_of(chunk({"content": "x"}), error) is ModelFault.OVERLOAD
    assert fault_of(chunk({"content": "x"}, "error"), DONE) is ModelFault.OVERLOAD
    assert fault_of('{"error": {"message": "no", "code": "invalid_api_key"}}') is ModelFault.AUTH


def test_refusal_is_what_the_model_says() -> None:
    assert reply_to(chunk({"content": None, "refusal": "I would rather not."}), END).text == "I would rather not."


def test_text_in_parts_is_text_and_thinking_in_parts_is_reasoning() -> None:
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "yes"}]
    reply = reply_to(chunk({"content": parts}), END)
    assert (reply.text, reply.reasoning) == ("yes", "hm")


def test_plain_json_answer_to_a_streaming_request_is_taken() -> None:
    message = {"role": "assistant", "content": "hello"}
    body = {"model": "m-2", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    usage = {"prompt_tokens": 5, "completion_tokens": 1}
    assert decode(json.dumps(body | {"usage": usage}, indent=1)) == [
        TextDelta("hello"),
        ModelReply("hello", usage=Usage(5, 1), model="m-2"),
    ]


@pytest.mark.parametrize("usage", [{}, {"prompt_tokens": -3}, {"prompt_tokens": "many"}, {"prompt_tokens": True}, []])
def test_usage_that_was_not_counted_is_unknown(usage: object) -> None:
    assert reply_to(chunk({"content": "x"}, "stop", usage=usage), DONE).usage is None


def test_last_usage_counts() -> None:
    growing = [chunk({"content": "x"}, usage={"prompt_tokens": 9, "completion_tokens": n}) for n in (1, 2)]
    assert reply_to(*growing, END).usage == Usage(9, 2)


@pytest.mark.parametrize(
    "odd",
    [
        {"choices": None},
        {"choices": [None]},
        {"choices": [{"index": 0, "delta": None, "finish_reason": 3}]},
        {"choices": [{"index": 1, "delta": {"content": "other"}}]},
        {"choices": [{"index": 0, "delta": {"content": 7, "tool_calls": [None, {"function": 3, "index": "x"}]}}]},
        {"choices": [{"index": 0, "delta": {"tool_calls": "none"}}], "usage": 3, "model": 4},
        {},
    ],
)
def test_odd_shapes_are_passed_over(odd: object) -> None:
    assert reply_to("data: " + json.dumps(odd) + "\n\n", chunk({"content": "x"}), END).text == "x"
