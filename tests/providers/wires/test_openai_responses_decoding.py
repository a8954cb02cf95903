"""Answers of OpenAI Responses."""

import json
from typing import Any

import pytest

from hob.core.errors import ModelFault
from hob.core.models import CallStarted, ModelReply, ReasoningDelta, StopReason, TextDelta, Usage
from hob.providers.wires.openai_responses.wire import ResponsesDecoder
from tests.providers.hearing import failure, hear, last, sse

Event = dict[str, Any]
REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2VhbGVk"}


def event(kind: str, **fields: Any) -> Event:
    return {"type": f"response.{kind}", **fields}


def begin(index: int, **item: Any) -> Event:
    return event("output_item.added", output_index=index, item=item)


def done(index: int, **item: Any) -> Event:
    return event("output_item.done", output_index=index, item=item)


def text(index: int, *pieces: str, **item: Any) -> list[Event]:
    deltas = [event("output_text.delta", output_index=index, delta=piece, obfuscation="xx") for piece in pieces]
    return [begin(index, type="message", content=[], **item), *deltas]


def call(index: int, id: str, *pieces: str, name: str = "clock") -> list[Event]:
    item = {"type": "function_call", "id": f"fc_{index}", "call_id": id, "name": name}
    deltas = [event("function_call_arguments.delta", output_index=index, delta=piece) for piece in pieces]
    return [begin(index, **item, arguments=""), *deltas, done(index, **item, arguments="".join(pieces))]


def end(kind: str = "completed", **response: Any) -> Event:
    return event(kind, response={"model": "gpt-x", "status": kind, **response})


def reply_to(*events: Event) -> ModelReply:
    return last(hear(ResponsesDecoder(salt="s"), sse(*events)))


def fault_of(*events: Event) -> ModelFault:
    return failure(ResponsesDecoder(), sse(*events)).fault


def test_text_is_told_as_it_comes() -> None:
    pieces = [sse(each) for each in (event("created", response={}), *text(0, "A", "B"), end())]
    events = hear(ResponsesDecoder(), *pieces)
    assert events == [TextDelta("A"), TextDelta("B"), ModelReply("AB", model="gpt-x")]


def test_calls_come_in_pieces_and_mixed() -> None:
    first, second = call(0, "a", '{"x": "\\', 'n"}'), call(1, "b", "{", "}")
    mixed = [each for pair in zip(first, second, strict=True) for each in pair]
    events = hear(ResponsesDecoder(), sse(*mixed, end()))
    reply = last(events)
    assert [(one.id, one.name, one.arguments) for one in reply.calls] == [
        ("a", "clock", '{"x": "\\n"}'),
        ("b", "clock", "{}"),
    ]
    assert reply.stop is StopReason.TOOLS
    assert events[:2] == [CallStarted("clock")] * 2


@pytest.mark.parametrize("told", ["done event", "item"])
def test_arguments_may_come_whole_at_the_end(told: str) -> None:
    item = {"type": "function_call", "call_id": "a", "name": "clock", "arguments": '{"x": 1}'}
    last_word = (
        done(0, **item)
        if told == "item"
        else event("function_call_arguments.done", output_index=0, arguments='{"x": 1}')
    )
    (one,) = reply_to(begin(0, **{**item, "arguments": ""}), last_word, end()).calls
    assert one.arguments == '{"x": 1}'


def test_server_that_does_not_count_is_understood_by_ids() -> None:
    item = {"type": "function_call", "id": "fc_1", "call_id": "a", "name": "clock", "arguments": ""}
    piece = event("function_call_arguments.delta", item_id="fc_1", delta="{}")
    (one,) = reply_to(event("output_item.added", item=item), piece, end()).calls
    assert one.arguments == "{}"


def test_summary_of_the_reasoning_is_told_part_by_part() -> None:
    thoughts = [
        begin(0, type="reasoning", summary=[]),
        event("reasoning_summary_part.added", output_index=0, summary_index=0),
        event("reasoning_summary_text.delta", output_index=0, delta="First this."),
        event("reasoning_summary_part.added", output_index=0, summary_index=1),
        event("reasoning_summary_text.delta", output_index=0, delta="Then that."),
    ]
    events = hear(ResponsesDecoder(), *(sse(each) for each in (*thoughts, *text(1, "So."), end())))
    assert last(events).reasoning == "First this.\n\nThen that."
    assert events[0] == ReasoningDelta("First this.")


def test_open_models_show_the_reasoning_itself() -> None:
    thought = event("reasoning_text.delta", output_index=0, delta="Hm.")
    assert reply_to(begin(0, type="reasoning"), thought, *text(1, "So."), end()).reasoning == "Hm."


def test_sealed_reasoning_is_kept_in_its_place_while_the_turn_goes_on() -> None:
    said = text(1, "I ", "look.", id="msg_1", phase="commentary")
    reply = reply_to(begin(0, type="reasoning"), done(0, **REASONING), *said, *call(2, "a", "{}"), end())
    assert reply.continuation is not None
    assert reply.continuation.wire == "openai_responses"
    assert json.loads(reply.continuation.data) == [
        REASONING,
        {"said": 7, "id": "msg_1", "phase": "commentary"},
        {"call": True, "id": "fc_2"},
    ]


def test_answer_without_a_call_keeps_nothing() -> None:
    assert reply_to(done(0, **REASONING), *text(1, "So."), end()).continuation is None
    assert reply_to(*call(0, "a", "{}"), end()).continuation is None


def test_two_messages_of_one_answer_stand_apart() -> None:
    reply = reply_to(*text(0, "I look."), *text(1, "It is ", "noon."), *text(2), end())
    assert reply.text == "I look.\n\nIt is noon."


def test_refusal_is_what_the_model_says() -> None:
    assert reply_to(begin(0, type="message"), event("refusal.delta", output_index=0, delta="No."), end()).text == "No."


def test_usage_counts_what_was_cached_and_thought() -> None:
    usage = {
        "input_tokens": 100,
        "input_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 30},
        "output_tokens": 20,
        "output_tokens_details": {"reasoning_tokens": 15},
    }
    reply = reply_to(*text(0, "A"), end(usage=usage))
    assert reply.usage == Usage(input=100, output=20, cache_read=60, cache_write=30, reasoning=15)


@pytest.mark.parametrize("usage", [None, [], {}, {"input_tokens": -1}, {"input_tokens": "7"}, {"input_tokens": True}])
def test_usage_that_is_none_is_not_told(usage: Any) -> None:
    assert reply_to(*text(0, "A"), end(usage=usage)).usage is None


def test_answer_that_reached_its_limit_says_so() -> None:
    reply = reply_to(*text(0, "A"), end("incomplete", incomplete_details={"reason": "max_output_tokens"}))
    assert reply.stop is StopReason.LENGTH


def test_answer_that_was_withheld_is_none() -> None:
    filtered = end("incomplete", incomplete_details={"reason": "content_filter"})
    assert fault_of(*text(0, "A"), filtered) is ModelFault.FILTERED


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        ({"code": "server_error", "message": "oops"}, ModelFault.OVERLOAD),
        ({"code": "rate_limit_exceeded", "message": "Rate limit reached"}, ModelFault.RATE_LIMIT),
        ({"code": "context_length_exceeded", "message": "x"}, ModelFault.CONTEXT_OVERFLOW),
        ({"code": "insufficient_quota", "message": "You exceeded your current quota"}, ModelFault.BILLING),
        (
            {"code": "invalid_prompt", "message": "flagged as potentially violating our usage policy"},
            ModelFault.FILTERED,
        ),
        ({"code": "bio_policy", "message": "x"}, ModelFault.FILTERED),
        ({"code": "image_too_large", "message": "x"}, ModelFault.BAD_REQUEST),
        ({"code": 7, "message": None}, ModelFault.OVERLOAD),
        (None, ModelFault.OVERLOAD),
        ("x", ModelFault.OVERLOAD),
    ],
)
def test_response_that_failed_says_why(error: Any, fault: ModelFault) -> None:
    assert fault_of(*text(0, "A"), end("failed", error=error)) is fault


@pytest.mark.parametrize(
    "error",
    [
        {"type": "error", "code": "rate_limit_exceeded", "message": "Rate limit reached"},
        {"type": "error", "error": {"code": "rate_limit_exceeded", "message": "Rate limit reached"}},
        {"error": {"code": "rate_limit_exceeded"}},
    ],
)
def test_error_event_is_understood_in_each_of_its_shapes(error: Event) -> None:
    assert fault_of(error) is ModelFault.RATE_LIMIT


@pytest.mark.parametrize("kind", ["created", "in_progress", "output_text.done"])
def test_answer_without_an_end_was_cut(kind: str) -> None:
    assert fault_of(*text(0, "A"), event(kind, response={"status": "in_progress"})) is ModelFault.CUT


WHOLE: Event = {
    "object": "response",
    "status": "completed",
    "model": "gpt-x",
    "error": None,
    "output": [
        {**REASONING, "summary": [{"type": "summary_text", "text": "Hm."}]},
        {"type": "message", "content": [{"type": "output_text", "text": "I look."}]},
        {"type": "web_search_call", "status": "completed"},
        {"type": "function_call", "call_id": "a", "name": "clock", "arguments": "{}"},
    ],
}


def test_whole_answer_is_understood() -> None:
    reply = last(hear(ResponsesDecoder(), json.dumps(WHOLE).encode()))
    assert (reply.text, reply.reasoning, len(reply.calls), reply.model) == ("I look.", "Hm.", 1, "gpt-x")
    assert reply.continuation is not None


def test_stream_that_tells_all_at_its_end_is_understood() -> None:
    assert reply_to(end(**WHOLE)).text == "I look."


def test_items_that_come_whole_are_understood() -> None:
    assert reply_to(*(done(n, **item) for n, item in enumerate(WHOLE["output"])), end()).text == "I look."


@pytest.mark.parametrize("status", ["failed", "cancelled"])
def test_whole_answer_that_failed_is_none(status: str) -> None:
    whole = json.dumps({**WHOLE, "status": status}).encode()
    assert failure(ResponsesDecoder(), whole).fault is ModelFault.OVERLOAD


def test_whole_answer_that_is_not_ready_is_none() -> None:
    whole = json.dumps({**WHOLE, "status": "queued", "output": []}).encode()
    assert failure(ResponsesDecoder(), whole).fault is ModelFault.GARBAGE


def test_call_of_nothing_is_garbage() -> None:
    assert fault_of(begin(0, type="function_call", call_id="a")) is ModelFault.GARBAGE


def test_ids_of_calls_are_made_where_they_are_missing_or_taken() -> None:
    reply = last(hear(ResponsesDecoder(salt="s", taken={"a"}), sse(*call(0, "a", "{}"), *call(1, "", "{}"), end())))
    ids = {one.id for one in reply.calls}
    assert len(ids) == 2
    assert not ids & {"", "a"}
