"""Whatever stands in whichever field of an answer: it ends in a reply that can be kept, or in a ModelError."""

import copy
import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hob.core.errors import ModelError, ModelFault
from hob.core.models import AssistantMessage, KeepAlive, ModelEvent, ModelReply, ModelRequest, ToolMessage, UserMessage
from hob.providers.cli.events import classify_fault
from hob.providers.http.faults import classify, parse_error_body, read_retry_after, read_stream_error
from tests.growth import grows_with_its_size
from tests.properties.providers.test_wire_streams import WIRES

Chunk = dict[str, Any]

CHAT: list[Chunk] = [
    {
        "model": "m",
        "choices": [
            {
                "index": 0,
                "delta": {
                    "content": "hi",
                    "reasoning_content": "r",
                    "refusal": "no",
                    "reasoning_details": [{"index": 0, "type": "t", "text": "a"}],
                    "tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}],
                    "function_call": {"name": "f", "arguments": "{}"},
                },
                "finish_reason": "stop",
            }
        ],
        "usage": {
            "prompt_tokens": 1,
            "completion_tokens": 1,
            "cost": 0.1,
            "prompt_tokens_details": {"cached_tokens": 1},
            "completion_tokens_details": {"reasoning_tokens": 1},
        },
    },
    {"choices": [{"delta": {"reasoning_details": [{"index": 0, "type": "t", "text": "b"}]}}]},
    {
        "choices": [
            {"message": {"content": [{"text": "x"}, {"thinking": [{"text": "k"}]}]}, "finish_reason": "tool_calls"}
        ],
        "error": {"message": "m", "code": "429", "details": [1]},
    },
]
ANTHROPIC: list[Chunk] = [
    {
        "type": "message_start",
        "message": {
            "model": "m",
            "usage": {"input_tokens": 1, "output_tokens": 1, "cache_creation": {"ephemeral_1h_input_tokens": 1}},
        },
    },
    {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "a"}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "x"}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "x"}},
    {"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "id": "i", "name": "n"}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": "{}"}},
    {
        "type": "content_block_start",
        "index": 2,
        "content_block": {"type": "tool_use", "id": "i", "name": "n", "input": {"a": 1}},
    },
    {"type": "content_block_delta", "index": 3, "delta": {"type": "text_delta", "text": "hi"}},
    {
        "type": "message_delta",
        "delta": {"stop_reason": "end_turn", "stop_details": {"explanation": "e"}},
        "usage": {"output_tokens": 3, "output_tokens_details": {"thinking_tokens": 1}},
    },
    {"type": "message_stop"},
]
GEMINI: list[Chunk] = [
    {
        "candidates": [
            {
                "index": 0,
                "content": {
                    "parts": [
                        {"text": "a", "thoughtSignature": "s"},
                        {"text": "t", "thought": True},
                        {"functionCall": {"name": "f", "id": "1", "args": {"a": 1}}, "thoughtSignature": "q"},
                    ]
                },
            }
        ],
        "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1},
        "modelVersion": "m",
    },
    {"candidates": [{"content": {"parts": [{"text": "b"}]}}]},
    {"candidates": [{"content": {"parts": [{"text": "b"}]}, "finishReason": "STOP", "finishMessage": "x"}]},
    {"promptFeedback": {"blockReason": "SAFETY", "blockReasonMessage": "m"}, "error": {"code": 400, "message": "m"}},
]
OLLAMA: list[Chunk] = [
    {"model": "m", "message": {"role": "assistant", "content": "x"}, "done": False},
    {
        "message": {
            "role": "assistant",
            "content": "x",
            "thinking": "t",
            "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": {"a": 1}}}],
        },
        "done": False,
    },
    {
        "message": {"role": "assistant", "content": ""},
        "done": True,
        "done_reason": "stop",
        "prompt_eval_count": 1,
        "eval_count": 1,
    },
]
RESPONSES: list[Chunk] = [
    {"type": "response.created", "response": {"model": "m"}},
    {
        "type": "response.output_item.added",
        "output_index": 0,
        "item": {"type": "reasoning", "id": "r", "summary": [{"text": "s"}], "encrypted_content": "e"},
    },
    {"type": "response.reasoning_summary_part.added"},
    {"type": "response.reasoning_summary_text.delta", "delta": "d"},
    {
        "type": "response.output_item.done",
        "output_index": 0,
        "item": {"type": "reasoning", "id": "r", "encrypted_content": "e", "summary": [{"text": "s"}]},
    },
    {
        "type": "response.output_item.added",
        "output_index": 1,
        "item": {"type": "message", "id": "m", "phase": "p", "content": [{"text": "t"}]},
    },
    {"type": "response.output_text.delta", "delta": "hi"},
    {"type": "response.output_item.done", "output_index": 1, "item": {"type": "message", "content": [{"text": "t"}]}},
    {
        "type": "response.output_item.added",
        "output_index": 2,
        "item": {"type": "function_call", "call_id": "c", "name": "n"},
    },
    {"type": "response.function_call_arguments.delta", "output_index": 2, "delta": "{}"},
    {"type": "response.function_call_arguments.done", "output_index": 2, "arguments": "{}"},
    {
        "type": "response.completed",
        "response": {
            "model": "m",
            "output": [{"type": "message", "content": [{"text": "t"}]}],
            "incomplete_details": {"reason": "x"},
            "error": {"code": "x", "message": "m"},
            "usage": {"input_tokens": 1, "output_tokens": 1, "input_tokens_details": {"cached_tokens": 1}},
        },
    },
]
ANSWERS: Mapping[str, list[Chunk]] = {
    "openai_chat": CHAT,
    "anthropic": ANTHROPIC,
    "gemini": GEMINI,
    "ollama": OLLAMA,
    "openai_responses": RESPONSES,
}
ERROR: Chunk = {
    "error": {"message": "m", "code": "c", "type": "t", "status": "s", "details": [1], "detail": "d", "msg": "x"},
    "message": "m",
}
LISTINGS: Mapping[str, Chunk] = {
    "openai_chat": {
        "data": [
            {
                "id": "a",
                "context_length": 1,
                "pricing": {"prompt": "0.1", "completion": "0.1"},
                "architecture": {"input_modalities": ["image"]},
                "supported_parameters": ["tools"],
                "top_provider": {"max_completion_tokens": 1},
            }
        ]
    },
    "anthropic": {"data": [{"id": "a", "max_tokens": 1, "capabilities": {"thinking": {"supported": True}}}]},
    "gemini": {
        "models": [
            {
                "name": "models/a",
                "inputTokenLimit": 1,
                "supportedGenerationMethods": ["generateContent"],
                "thinking": True,
            }
        ]
    },
    "ollama": {"models": [{"name": "a", "model": "b"}]},
    "openai_responses": {"data": [{"id": "a"}]},
}
FLAT = [None, True, False, 0, -1, 1, 3.5, 10**20, 10**400, float("inf"), float("nan"), "", "x", "0", "429", "\ud800"]
NESTED = [[], [1], ["a"], [[]], [None], {}, {"a": 1}, [{}], {"type": []}, {"text": []}, {"type": "text", "text": "x"}]
ODD: list[Any] = [*FLAT, *NESTED]
on_every_wire = pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.name)
Path = tuple[Any, ...]


def paths(value: Any, path: Path = ()) -> Iterator[Path]:
    """Where something stands in it."""
    yield path
    if isinstance(value, dict):
        for name in value:
            yield from paths(value[name], (*path, name))
    elif isinstance(value, list):
        for place in range(len(value)):
            yield from paths(value[place], (*path, place))


def changed(value: Any, path: Path, odd: Any) -> Any:
    """A copy with something odd at this place."""
    if not path:
        return odd
    found = copy.deepcopy(value)
    place = found
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = odd
    return found


def listen(name: str, *pieces: bytes) -> list[ModelEvent]:
    """The events, but for beats; what is kept of them can be kept. Raises ModelError."""
    wire = next(wire for wire in WIRES if wire.name == name)
    decoder = wire.decoder(host="h", salt="s", taken=(), secrets=())
    events = [event for piece in pieces for event in decoder.feed(piece)] + decoder.finish()
    reply = events[-1]
    assert isinstance(reply, ModelReply)
    if reply.usage is not None:
        used = (reply.usage.input, reply.usage.output, reply.usage.cache_read, reply.usage.cache_write)
        assert all(0 <= tokens < 2**40 for tokens in (*used, reply.usage.reasoning, reply.cost or 0))
        with sqlite3.connect(":memory:") as database:
            assert database.execute("SELECT ?, ?, ?, ?", used).fetchone() == used
    return [event for event in events if not isinstance(event, KeepAlive)]


def spoken(name: str, chunks: Sequence[Any]) -> list[bytes]:
    """The chunks as this wire streams them."""
    lines = [json.dumps(chunk).encode() for chunk in chunks]
    return [line + b"\n" if name == "ollama" else b"data: " + line + b"\n\n" for line in lines]


def end_well(name: str, *pieces: bytes) -> None:
    with suppress(ModelError):
        listen(name, *pieces)


@on_every_wire
def test_no_field_may_be_of_a_kind_that_breaks_anything(wire: Any) -> None:
    name, chunks = wire.name, ANSWERS[wire.name]
    for path in paths(chunks):
        for odd in ODD:
            answer = changed(chunks, path, odd)
            end_well(name, *spoken(name, answer if isinstance(answer, list) else [answer]))
            if path:
                end_well(name, json.dumps(answer[path[0]]).encode())


@on_every_wire
@given(data=st.data())
def test_several_odd_fields_in_any_order_break_nothing_either(wire: Any, data: st.DataObject) -> None:
    chunks: list[Any] = data.draw(st.permutations(ANSWERS[wire.name]))
    for _ in range(data.draw(st.integers(1, 4))):
        path = data.draw(st.sampled_from(sorted(paths(chunks), key=repr)[1:]))
        chunks = changed(chunks, path, data.draw(st.sampled_from(ODD)))
        if not chunks:
            return
    end_well(wire.name, *spoken(wire.name, chunks))


@on_every_wire
def test_no_listing_breaks_anything(wire: Any) -> None:
    listing = LISTINGS[wire.name]
    for path in paths(listing):
        for odd in ODD:
            found = wire.read_models(changed(listing, path, odd))
            assert all(0 < (model.context_tokens or 1) < 2**40 for model in found or ())


@pytest.mark.parametrize("status", [0, 400, 429, 500])
def test_no_error_breaks_anything(status: int) -> None:
    for path in paths(ERROR):
        for odd in ODD:
            error = changed(ERROR, path, odd)
            assert classify(status, parse_error_body(json.dumps(error).encode()))
            assert str(read_stream_error(error, host="h"))
            assert classify_fault(f"the CLI said {json.dumps(error, ensure_ascii=False)}")


# -- work: eight times as much to read costs about eight times as much, not sixty-four


@pytest.mark.parametrize(
    "unit", [b"<", b"<script ", b"<style></", b"exceed", b"try", b"retry in 1s ", b"model ", b"sk-"], ids=repr
)
def test_long_complaint_is_read_in_time(unit: bytes) -> None:
    def work(size: int) -> None:
        complaint = parse_error_body(unit[:1] * (unit[:1] == b"<") + unit * (size // len(unit)))
        classify(400, complaint)
        error = read_stream_error({"message": complaint.message}, host="h")
        assert len(str(error)) < 500

    grows_with_its_size(work, 8_000)


@pytest.mark.parametrize("word", ["try", "again in ", "retry after 1"])
def test_long_output_of_a_program_is_searched_for_a_wait_in_time(word: str) -> None:
    now = datetime.now(UTC)
    grows_with_its_size(lambda size: read_retry_after({}, word * size, now), 4_000)


def sse(text: str) -> bytes:
    return b"data: " + text.encode() + b"\n\n"


def delta(text: str) -> bytes:
    return sse(json.dumps({"choices": [{"index": 0, "delta": {"content": text}}]}))


def thinking(n: int) -> Iterator[bytes]:
    yield sse('{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}')
    piece = sse(
        '{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"' + "x" * 200 + '"}}'
    )
    for _ in range(n):
        yield piece


def detailed(n: int) -> Iterator[bytes]:
    detail = {"index": 0, "type": "reasoning.text", "text": "x" * 400}
    piece = sse(json.dumps({"choices": [{"index": 0, "delta": {"reasoning_details": [detail]}}]}))
    for _ in range(n):
        yield piece


def summarised(n: int) -> Iterator[bytes]:
    yield sse(json.dumps({"type": "response.reasoning_text.delta", "delta": "x" * 100_000}))
    for _ in range(n):
        yield sse(json.dumps({"type": "response.reasoning_summary_part.added"}))
        yield sse(json.dumps({"type": "response.reasoning_text.delta", "delta": "x" * 200}))


def unfinished(n: int) -> Iterator[bytes]:
    yield b"data: [{}\n"
    for _ in range(n):
        yield b"data: ,{}\n"


STREAMS: list[tuple[str, Callable[[int], Iterator[bytes]]]] = [
    ("openai_chat", unfinished),
    ("openai_chat", detailed),
    ("anthropic", thinking),
    ("openai_responses", summarised),
]


@pytest.mark.parametrize(("name", "stream"), STREAMS, ids=lambda value: getattr(value, "__name__", value))
def test_each_piece_costs_the_same_however_many_came_before(
    name: str, stream: Callable[[int], Iterator[bytes]]
) -> None:
    grows_with_its_size(lambda size: end_well(name, *stream(size)), 1_000)


BIG = "x" * 1_000_000
ENDLESS: list[tuple[str, str, bytes]] = [
    ("text", "openai_chat", delta(BIG)),
    ("reasoning", "openai_chat", sse(json.dumps({"choices": [{"delta": {"reasoning": BIG}}]}))),
    ("details", "openai_chat", sse(json.dumps({"choices": [{"delta": {"reasoning_details": [{"a": [BIG]}]}}]}))),
    (
        "arguments",
        "openai_chat",
        sse(json.dumps({"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": BIG}}]}}]})),
    ),
    (
        "names",
        "openai_chat",
        sse(
            json.dumps({"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"name": "never"}}]}}]})
        ).replace(b"never", BIG.encode()),
    ),
    ("lines of one event", "openai_chat", b"data: [" + BIG.encode() + b"\n"),
    (
        "signatures",
        "anthropic",
        sse(json.dumps({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking"}}))
        + sse(json.dumps({"type": "content_block_delta", "delta": {"type": "signature_delta", "signature": BIG}})),
    ),
    (
        "sealed blocks",
        "anthropic",
        sse(json.dumps({"type": "content_block_start", "content_block": {"type": "redacted_thinking", "data": BIG}})),
    ),
    ("signed parts", "gemini", sse(json.dumps({"candidates": [{"content": {"parts": [{"thoughtSignature": BIG}]}}]}))),
    ("text", "ollama", json.dumps({"message": {"content": BIG}, "done": False}).encode() + b"\n"),
    (
        "items",
        "openai_responses",
        sse(json.dumps({"type": "response.output_item.done", "item": {"type": "reasoning", "encrypted_content": BIG}})),
    ),
]


@pytest.mark.parametrize(("what", "name", "piece"), ENDLESS, ids=[f"{what} of {name}" for what, name, _ in ENDLESS])
def test_endless_answer_is_given_up_after_some_megabytes(what: str, name: str, piece: bytes) -> None:
    decoder = next(wire for wire in WIRES if wire.name == name).decoder(host="h", salt="s", taken=(), secrets=())
    fed = 0
    with pytest.raises(ModelError) as caught:  # noqa: PT012 - how much was read counts
        while fed < 40_000_000:
            decoder.feed(piece)
            fed += len(piece)
    assert caught.value.fault is ModelFault.GARBAGE


def test_items_without_number_are_given_up() -> None:
    decoder = next(wire for wire in WIRES if wire.name == "openai_responses").decoder(
        host="h", salt="s", taken=(), secrets=()
    )
    with pytest.raises(ModelError, match="without end"):  # noqa: PT012
        for n in range(100_000):
            event = {"type": "response.output_item.added", "output_index": n, "item": {"type": "message"}}
            decoder.feed(sse(json.dumps(event)))


@on_every_wire
@pytest.mark.parametrize("depth", [90, *range(900, 1_000, 7), 100_000])
def test_no_depth_breaks_the_reading_or_the_next_request(wire: Any, depth: int) -> None:
    """What could just be read must not be too deep to be sent back."""
    arguments = '{"a":' * depth + "1" + "}" * depth
    for chunk in DEEP[wire.name]:
        line = json.dumps(chunk).replace('"DEEP"', arguments).replace("TEXT", arguments.replace('"', '\\"')).encode()
        line = line + b"\n" if wire.name == "ollama" else b"data: " + line + b"\n\n"
        try:
            reply = listen(wire.name, line, *spoken(wire.name, ENDS[wire.name]))[-1]
        except ModelError as error:
            assert error.fault is not ModelFault.EMPTY  # noqa: PT017
            continue
        assert isinstance(reply, ModelReply)
        assert reply.calls
        message = AssistantMessage(reply.text, reply.calls, reply.continuation)
        request = ModelRequest("m", "", (UserMessage("hi"), message, ToolMessage(reply.calls[0].id, "done")))
        assert wire.encode(request, model="m", images={})


DEEP: Mapping[str, list[Any]] = {
    "openai_chat": [
        {
            "choices": [
                {"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": each}}]}}
            ]
        }
        for each in ("DEEP", "TEXT")
    ],
    "anthropic": [
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "tool_use", "id": "a", "name": "f", "input": "DEEP"},
        }
    ],
    "gemini": [{"candidates": [{"content": {"parts": [{"functionCall": {"name": "f", "args": "DEEP"}}]}}]}],
    "ollama": [
        {"message": {"tool_calls": [{"function": {"name": "f", "arguments": each}}]}} for each in ("DEEP", "TEXT")
    ],
    "openai_responses": [
        {
            "type": "response.output_item.done",
            "output_index": 0,
            "item": {"type": "function_call", "call_id": "c", "name": "n", "arguments": each},
        }
        for each in ("DEEP", "TEXT")
    ],
}
ENDS: Mapping[str, list[Any]] = {
    "openai_chat": [{"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}],
    "anthropic": [{"type": "message_stop"}],
    "gemini": [{"candidates": [{"finishReason": "STOP"}]}],
    "ollama": [{"done": True}],
    "openai_responses": [{"type": "response.completed", "response": {}}],
}
