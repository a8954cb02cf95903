"""Answers of Gemini generateContent."""

import json
from typing import Any

import pytest

from hob.core.errors import ModelFault
from hob.core.ids import CallId
from hob.core.models import CallStarted, ModelReply, ReasoningDelta, StopReason, TextDelta, Usage
from hob.core.tools import ToolCall
from hob.providers.wires.gemini.wire import GeminiDecoder
from tests.providers.hearing import failure, hear, last, sse

Part = dict[str, Any]


def chunk(*parts: Part, finish: str | None = None, **more: Any) -> Part:
    candidate: Part = {"content": {"role": "model", "parts": list(parts)}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    return {"candidates": [candidate], "modelVersion": "gemini-x", **more}


def text(words: str, **more: Any) -> Part:
    return {"text": words, **more}


def call(name: str, args: Part | None = None, id: str | None = None, **more: Any) -> Part:
    made: Part = {"name": name}
    if args is not None:
        made["args"] = args
    return {"functionCall": {**made, **({"id": id} if id else {})}, **more}


END = chunk(text(""), finish="STOP")


def test_key_in_the_words_at_the_end_is_not_shown() -> None:
    for reason in ("MALFORMED_FUNCTION_CALL", "SAFETY"):
        candidate = {"finishReason": reason, "finishMessage": "What is hush-hush?"}
        error = failure(GeminiDecoder(secrets=("hush-hush",)), sse({"candidates": [candidate]}))
        assert "What is •••?" in str(error)


def reply_to(*chunks: Part) -> ModelReply:
    return last(hear(GeminiDecoder(salt="s"), sse(*chunks)))


def test_text_is_told_as_it_comes_and_thoughts_beside_it() -> None:
    chunks = (chunk(text("Hm.", thought=True)), chunk(text("A")), chunk(text("B")), END)
    assert hear(GeminiDecoder(), *(sse(event) for event in chunks)) == [
        ReasoningDelta("Hm."),
        TextDelta("A"),
        TextDelta("B"),
        ModelReply("AB", reasoning="Hm.", model="gemini-x"),
    ]


def test_last_count_stands_and_thoughts_are_output() -> None:
    early = {"promptTokenCount": 10, "candidatesTokenCount": 1}
    late = {"promptTokenCount": 10, "cachedContentTokenCount": 4, "candidatesTokenCount": 6, "thoughtsTokenCount": 90}
    reply = reply_to(
        chunk(text("A"), usageMetadata=early),
        chunk(text("B"), usageMetadata=early),
        chunk(text(""), finish="STOP", usageMetadata=late),
    )
    assert reply.usage == Usage(10, 96, cache_read=4, reasoning=90)


def test_count_may_come_after_the_end() -> None:
    assert reply_to(chunk(text("A"), finish="STOP"), {"usageMetadata": {"promptTokenCount": 3}}).usage == Usage(3)
    assert reply_to(chunk(text("A"), finish="STOP")).usage is None


def test_calls_of_one_response_keep_the_ids_they_have() -> None:
    parts = (call("look", {"at": "ü", "n": 1}, "fc1"), call("clock"))
    events = hear(GeminiDecoder(salt="s"), sse(chunk(*parts), END))
    reply = last(events)
    assert events[:2] == [CallStarted("look"), CallStarted("clock")]
    assert reply.stop is StopReason.TOOLS
    assert reply.calls[0] == ToolCall(CallId("fc1"), "look", '{"at": "ü", "n": 1}')
    assert (reply.calls[1].name, reply.calls[1].arguments) == ("clock", "{}")
    assert reply.calls[1].id


def test_signatures_are_kept_with_the_parts_they_came_on() -> None:
    chunks = (
        chunk(text("Let "), call("look", {}, "a", thoughtSignature="s1"), call("look", {}, "b")),
        chunk(text("me "), text("see", thoughtSignature="s2")),
        chunk(text("", thoughtSignature="s3"), finish="STOP"),
    )
    reply = reply_to(*chunks)
    assert reply.text == "Let me see"
    assert reply.continuation is not None
    assert reply.continuation.wire == "gemini"
    assert json.loads(reply.continuation.data) == [[4, None], [None, "s1"], [None, None], [6, "s2"], [0, "s3"]]


def test_answer_without_signatures_has_nothing_to_go_on_with() -> None:
    assert reply_to(chunk(text("x"), call("look", {})), END).continuation is None


def test_other_candidates_and_strange_parts_mean_nothing() -> None:
    other = {"candidates": [{"index": 1, "content": {"parts": [text("no")]}}]}
    strange = chunk({"inlineData": {"data": "x"}}, {"executableCode": {}}, {"text": 5}, {"thoughtSignature": 5})
    none = {"candidates": [{"content": {}}, 5]}
    assert reply_to(other, strange, none, {"candidates": "x"}, chunk(text("yes")), other, END).text == "yes"


@pytest.mark.parametrize("reason", ["SAFETY", "RECITATION", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII", "LANGUAGE"])
def test_withheld_answer_is_no_answer(reason: str) -> None:
    candidate = {"content": {"parts": [text("Half")]}, "finishReason": reason, "finishMessage": "Because."}
    error = failure(GeminiDecoder(), sse({"candidates": [candidate]}))
    assert error.fault is ModelFault.FILTERED
    assert reason.lower() in str(error)
    assert "Because." in str(error)


def test_prompt_that_is_blocked_says_why() -> None:
    stream = sse({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {"promptTokenCount": 9}})
    error = failure(GeminiDecoder(), stream)
    assert error.fault is ModelFault.FILTERED
    assert "prohibited_content" in str(error)


@pytest.mark.parametrize("reason", ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "OTHER", "BRAND_NEW"])
def test_answer_that_the_server_gave_up_may_be_asked_for_again(reason: str) -> None:
    error = failure(GeminiDecoder(), sse({"candidates": [{"finishReason": reason, "finishMessage": "print(x)"}]}))
    assert error.fault is ModelFault.EMPTY
    assert "print(x)" in str(error)


def test_answer_at_the_limit_is_told_as_such() -> None:
    assert reply_to(chunk(text("Half a"), finish="MAX_TOKENS")).stop is StopReason.LENGTH
    assert failure(GeminiDecoder(), sse({"candidates": [{"finishReason": "MAX_TOKENS"}]})).fault is ModelFault.EMPTY


def test_answer_without_anything_in_it_is_empty() -> None:
    assert failure(GeminiDecoder(), sse(END)).fault is ModelFault.EMPTY
    nothing = sse({"candidates": [], "usageMetadata": {"promptTokenCount": 5}})
    assert failure(GeminiDecoder(), nothing).fault is ModelFault.EMPTY


def test_stream_that_ends_before_its_reason_was_cut() -> None:
    assert failure(GeminiDecoder(), sse(chunk(text("Half")))).fault is ModelFault.CUT


def test_error_after_text_is_an_error() -> None:
    error = {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}
    assert failure(GeminiDecoder(), sse(chunk(text("Half")), {"error": error})).fault is ModelFault.OVERLOAD


@pytest.mark.parametrize("lines", [False, True])
def test_array_instead_of_events_is_understood(lines: bool) -> None:
    data = json.dumps([chunk(text("A")), chunk(call("look", {"n": 1})), END], indent=2 if lines else None).encode()
    reply = last(hear(GeminiDecoder(), data[:20], data[20:]))
    assert (reply.text, reply.calls[0].arguments) == ("A", '{"n": 1}')
    assert failure(GeminiDecoder(), data[:-30]).fault is ModelFault.CUT
    failed = json.dumps([{"error": {"code": 429, "message": "slow"}}]).encode()
    assert failure(GeminiDecoder(), failed).fault is ModelFault.RATE_LIMIT


def test_call_counts_whatever_new_word_the_server_ends_with() -> None:
    reply = reply_to(chunk(call("look", {"at": "x"})), chunk(text(""), finish="BRAND_NEW"))
    assert (reply.stop, [each.name for each in reply.calls]) == (StopReason.TOOLS, ["look"])
    spoilt = sse(chunk(call("look", {"at": "x"})), chunk(text(""), finish="MALFORMED_FUNCTION_CALL"))
    assert failure(GeminiDecoder(), spoilt).fault is ModelFault.EMPTY
