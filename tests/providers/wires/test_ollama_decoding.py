"""Answers of Ollama."""

import json
from typing import Any

import pytest

from hob.core.errors import ModelFault
from hob.core.models import CallStarted, KeepAlive, ModelReply, ReasoningDelta, StopReason, TextDelta, Usage
from hob.providers.wires.ollama.wire import OllamaDecoder
from tests.providers.hearing import failure, hear, last


def line(**fields: Any) -> bytes:
    return json.dumps({"model": "qwen3:8b", **fields}, ensure_ascii=False).encode() + b"\n"


def said(text: str, **message: Any) -> bytes:
    return line(message={"role": "assistant", "content": text, **message}, done=False)


def called(name: str, arguments: Any = None, **more: Any) -> bytes:
    return said("", tool_calls=[{"function": {"name": name, "arguments": arguments or {}}, **more}])


def end(reason: str | None = "stop", **fields: Any) -> bytes:
    return line(message={"role": "assistant", "content": ""}, done=True, done_reason=reason, **fields)


def reply_to(*lines: bytes) -> ModelReply:
    return last(hear(OllamaDecoder(salt="s"), *lines))


def test_text_is_told_as_it_comes() -> None:
    assert hear(OllamaDecoder(), said("Grüß "), said("dich"), end()) == [
        TextDelta("Grüß "),
        TextDelta("dich"),
        ModelReply("Grüß dich", model="qwen3:8b"),
    ]


def test_thinking_is_told_apart() -> None:
    events = hear(OllamaDecoder(), said("", thinking="Hm."), said("So."), end())
    assert events[:2] == [ReasoningDelta("Hm."), TextDelta("So.")]
    assert last(events).reasoning == "Hm."


def test_calls_come_whole_and_get_ids_here() -> None:
    events = hear(OllamaDecoder(salt="s"), called("add", {"a": 1}), called("add", {"a": 2}), end())
    reply = last(events)
    assert [json.loads(call.arguments) for call in reply.calls] == [{"a": 1}, {"a": 2}]
    assert len({call.id for call in reply.calls} - {""}) == 2
    assert reply.stop is StopReason.TOOLS
    assert events[0] == CallStarted("add")


def test_id_that_the_server_gave_is_kept() -> None:
    (call,) = reply_to(called("add", id="call_7"), end()).calls
    assert call.id == "call_7"


@pytest.mark.parametrize("calls", [{}, "x", [None], [{}], [{"function": {}}], [{"function": {"name": 7}}]])
def test_malformed_call_is_ignored(calls: Any) -> None:
    assert reply_to(said("So.", tool_calls=calls), end()).calls == ()


def test_usage_is_what_was_evaluated() -> None:
    assert reply_to(said("A"), end(prompt_eval_count=10, eval_count=3)).usage == Usage(10, 3)
    assert reply_to(said("A"), end(prompt_eval_count="10")).usage is None


def test_answer_that_reached_its_limit_says_so() -> None:
    assert reply_to(said("A"), end("length")).stop is StopReason.LENGTH


def test_unknown_stop_reason_counts_as_end() -> None:
    assert reply_to(said("A"), end(None)).stop is StopReason.END
    assert reply_to(said("A"), end("boredom")).stop is StopReason.END


@pytest.mark.parametrize("reason", ["load", "unload"])
def test_model_that_is_being_loaded_is_not_ready(reason: str) -> None:
    assert failure(OllamaDecoder(), end(reason)).fault is ModelFault.OVERLOAD


def test_answer_without_an_end_was_cut() -> None:
    assert failure(OllamaDecoder(), said("A")).fault is ModelFault.CUT
    assert failure(OllamaDecoder(), said("A"), end()[:-9]).fault is ModelFault.CUT


def test_last_line_needs_no_newline() -> None:
    assert reply_to(said("A"), end().rstrip()).text == "A"


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        ("an error was encountered while running the model: unexpected EOF", ModelFault.OVERLOAD),
        ("prompt too long; exceeded max context length by 4096 tokens", ModelFault.CONTEXT_OVERFLOW),
        ("model 'x' not found", ModelFault.NOT_FOUND),
    ],
)
def test_error_midway_says_why(words: str, fault: ModelFault) -> None:
    assert failure(OllamaDecoder(), said("A"), line(error=words)).fault is fault


@pytest.mark.parametrize("data", [b"<html>", b"Ollama is running\n", b"[1]\n", b'{"message": \n'])
def test_malformed_answer_is_garbage(data: bytes) -> None:
    assert failure(OllamaDecoder(), data).fault is ModelFault.GARBAGE


def test_blank_lines_mean_that_the_server_lives() -> None:
    decoder = OllamaDecoder()
    decoder.feed(said("A"))
    assert decoder.feed(b"\n") == [KeepAlive()]


def test_text_after_the_end_is_ignored() -> None:
    assert reply_to(said("A"), end(), said("B")).text == "A"
