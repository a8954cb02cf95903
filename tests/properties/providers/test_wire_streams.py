"""Whoever sends the bytes on whichever wire, and however they are cut: the same events, or one ModelError."""

import itertools
import json
import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hob.core.errors import ModelError
from hob.core.models import (
    CallStarted,
    KeepAlive,
    ModelEvent,
    ModelReply,
    ModelRequest,
    ReasoningDelta,
    TextDelta,
    Thinking,
    UserMessage,
)
from hob.providers.http.wire import Wire
from hob.providers.wires.anthropic.wire import AnthropicMessages
from hob.providers.wires.gemini.wire import GenerateContent
from hob.providers.wires.ollama.wire import OllamaChat
from hob.providers.wires.openai_chat.wire import ChatCompletions
from hob.providers.wires.openai_responses.wire import Responses
from hob.testing.model_server import ODDITIES, Fault, HttpRequest, ModelServer, Reply

WIRES: tuple[Wire, ...] = (ChatCompletions(), AnthropicMessages(), GenerateContent(), OllamaChat(), Responses())
on_every_wire = pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.name)
MODEL = "gemini-2.5-flash"  # one that Gemini's wire asks for its thoughts; the others take any name

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
NAMES = st.text("abc_", min_size=1, max_size=8)
ARGUMENTS = st.builds(
    lambda found, plain: json.dumps(found, ensure_ascii=plain),
    st.dictionaries(TEXTS, TEXTS | st.integers() | st.booleans() | st.none(), max_size=3),
    st.booleans(),
)
REPLIES = st.builds(
    Reply,
    text=TEXTS,
    calls=st.lists(st.tuples(NAMES, ARGUMENTS), max_size=3).map(tuple),
    reasoning=TEXTS,
    fault=st.sampled_from([None, *sorted(ODDITIES - {Fault.DRIP})]),
)


def stream_of(wire: Wire, reply: Reply) -> bytes:
    """The stream's bytes without HTTP around them."""
    request = ModelRequest(MODEL, "", (UserMessage("hi"),), thinking=Thinking.LOW)
    body = wire.encode(request, model=MODEL, images={})
    address = urlsplit(
        wire.chat_url("http://127.0.0.1:1/v1beta" if wire.name == "gemini" else "http://127.0.0.1:1", MODEL)
    )
    asked = HttpRequest(0.0, "POST", f"{address.path}?{address.query}", dict(wire.headers("k")), body)
    actions = ModelServer(reply).respond(asked)
    head, _, sent = b"".join(part for part in actions if isinstance(part, bytes)).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200"), sent
    if b"transfer-encoding: chunked" not in head.lower():
        return sent
    found = b""
    while sent:
        size, _, sent = sent.partition(b"\r\n")
        found += sent[: int(size, 16)]
        sent = sent[int(size, 16) + 2 :]
    return found


def cut(data: bytes, places: Iterable[int]) -> list[bytes]:
    edges = [0, *sorted({place % (len(data) + 1) for place in places}), len(data)]
    return [data[start:end] for start, end in itertools.pairwise(edges)]


def decode(wire: Wire, pieces: Iterable[bytes]) -> list[ModelEvent] | str:
    """The events without beats, neighbouring texts joined; or the fault."""
    decoder = wire.decoder(host="h", salt="s", taken=(), secrets=())
    events: list[ModelEvent] = []
    try:
        for piece in pieces:
            events += decoder.feed(piece)
        events += decoder.finish()
    except ModelError as error:
        return error.fault
    return _joined(events)


def _joined(events: Iterable[ModelEvent]) -> list[ModelEvent]:
    found: list[ModelEvent] = []
    for event in events:
        last = found[-1] if found else None
        if isinstance(event, TextDelta) and isinstance(last, TextDelta):
            found[-1] = TextDelta(last.text + event.text)
        elif isinstance(event, ReasoningDelta) and isinstance(last, ReasoningDelta):
            found[-1] = ReasoningDelta(last.text + event.text)
        elif not isinstance(event, KeepAlive):
            found.append(event)
    return found


@on_every_wire
@given(reply=REPLIES, places=st.lists(st.integers(min_value=0), max_size=30))
def test_same_bytes_mean_the_same_wherever_they_are_cut(wire: Wire, reply: Reply, places: list[int]) -> None:
    data = stream_of(wire, reply)
    assert decode(wire, cut(data, places)) == decode(wire, [data])


@on_every_wire
@given(reply=REPLIES)
def test_stream_that_comes_byte_by_byte_means_the_same(wire: Wire, reply: Reply) -> None:
    data = stream_of(wire, reply)
    assert decode(wire, (bytes([byte]) for byte in data)) == decode(wire, [data])


@on_every_wire
@given(reply=REPLIES)
def test_server_text_arrives_however_it_is_cut(wire: Wire, reply: Reply) -> None:
    events = decode(wire, [stream_of(wire, reply)])
    if isinstance(events, str):
        nothing = not reply.text.strip() and not reply.calls
        assert nothing or (wire.name == "gemini" and reply.fault is Fault.NO_FINISH)  # nothing else ends it there
        return
    got = events[-1]
    assert isinstance(got, ModelReply)
    assert got.text == reply.text
    if reply.reasoning and reply.fault is not Fault.REDACTED:  # else models that always think say something
        assert got.reasoning == reply.reasoning
    assert [meaning(call.name, call.arguments) for call in got.calls] == [meaning(*call) for call in reply.calls]
    assert len({call.id for call in got.calls}) == len(got.calls)
    assert [event.name for event in events if isinstance(event, CallStarted)] == [name for name, _ in reply.calls]


def meaning(name: str, arguments: str) -> tuple[str, Any]:
    return name, json.loads(arguments)


@on_every_wire
@given(reply=REPLIES, place=st.integers(min_value=0))
def test_stream_that_ends_early_is_never_taken_for_another_answer(wire: Wire, reply: Reply, place: int) -> None:
    data = stream_of(wire, reply)
    whole, part = decode(wire, [data]), decode(wire, [data[: place % (len(data) + 1)]])
    if not isinstance(part, str) and not isinstance(whole, str):
        early, late = part[-1], whole[-1]
        assert isinstance(early, ModelReply)
        assert isinstance(late, ModelReply)
        assert (early.text, early.calls, early.continuation) == (late.text, late.calls, late.continuation)


LINES = st.one_of(
    st.binary(max_size=30),
    st.sampled_from([b"data: ", b"data:", b"\n", b"\r", b"\r\n", b": ", b"{", b"[", b'"', b"[DONE]", b"\xef\xbb\xbf"]),
    st.sampled_from(
        [
            b'data: {"choices":[{"index":0,"delta":{"content":"x"}}]}\n\n',
            b'data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"a"}}]}}]}\n\n',
            b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n',
            b'data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}\n\n',
            b'data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","name":"a"}}\n\n',
            b'data: {"type":"content_block_delta","delta":{"type":"text_delta","text":"x"}}\n\n',
            b'data: {"type":"content_block_delta","delta":{"type":"input_json_delta","partial_json":"{"}}\n\n',
            b'data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}\n\n',
            b'data: {"type":"message_stop"}\n\n',
            b'data: {"candidates":[{"content":{"parts":[{"text":"x"}]}}]}\n\n',
            b'data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"a"}}]}}]}\n\n',
            b'data: {"candidates":[{"finishReason":"STOP"}]}\n\n',
            b'data: {"type":"response.output_item.added","item":{"type":"message"}}\n\n',
            b'data: {"type":"response.output_item.done","item":{"type":"function_call","name":"a"}}\n\n',
            b'data: {"type":"response.output_text.delta","delta":"x"}\n\n',
            b'data: {"type":"response.completed","response":{}}\n\n',
            b'{"message":{"role":"assistant","content":"x"},"done":false}\n',
            b'{"message":{"tool_calls":[{"function":{"name":"a"}}]}}\n',
            b'{"done":true}\n',
            b'data: {"error":"x"}\n\n',
            b"data: [DONE]\n\n",
        ]
    ),
)
WORDS = re.findall(
    r"\w+",
    """
choices delta message content tool_calls function name arguments index id finish_reason usage error prompt_tokens
prompt_tokens_details refusal reasoning thinking text
type content_block signature partial_json input data stop_reason stop_details input_tokens output_tokens cache_creation
candidates parts thought thoughtSignature functionCall args finishReason finishMessage usageMetadata promptFeedback
blockReason promptTokenCount modelVersion model
item output_index item_id call_id encrypted_content summary phase response output status incomplete_details reason code
done done_reason eval_count prompt_eval_count
""",
)
KINDS = re.findall(
    r"[\w.]+",
    """
message_start content_block_start content_block_delta message_delta message_stop error ping text tool_use
redacted_thinking text_delta thinking_delta signature_delta input_json_delta refusal end_turn STOP SAFETY thinking
response.output_item.added response.output_item.done response.output_text.delta response.refusal.delta
response.reasoning_summary_text.delta response.reasoning_summary_part.added response.function_call_arguments.delta
response.completed response.incomplete response.failed reasoning function_call output_text content_filter
""",
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(KINDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=5),
    max_leaves=20,
)
EVENTS = st.builds(
    lambda kind, inner, more: {"type": kind, **inner, **more},
    st.sampled_from(KINDS),
    st.dictionaries(
        st.sampled_from(["delta", "content_block", "message", "usage", "item", "response"]),
        st.builds(
            lambda kind, fields: {"type": kind, **fields},
            st.sampled_from(KINDS),
            st.dictionaries(st.sampled_from(WORDS), JSON, max_size=4),
        ),
    ),
    st.dictionaries(st.sampled_from(WORDS), JSON, max_size=2),
)
CANDIDATES = st.builds(
    lambda parts, more: {"candidates": [{"content": {"parts": parts}, **more}]},
    st.lists(st.dictionaries(st.sampled_from(WORDS), JSON, max_size=3), max_size=3),
    st.dictionaries(st.sampled_from(WORDS), JSON, max_size=2),
)


@on_every_wire
@given(pieces=st.lists(LINES, max_size=40))
def test_no_bytes_raise_anything_but_a_model_error(wire: Wire, pieces: list[bytes]) -> None:
    end_is_a_reply_or_a_fault(wire, pieces)


@on_every_wire
@given(chunks=st.lists(JSON | EVENTS | CANDIDATES, max_size=5), streamed=st.booleans())
def test_no_json_raises_anything_but_a_model_error(wire: Wire, chunks: list[object], streamed: bool) -> None:
    lines = [json.dumps(chunk).encode() for chunk in chunks]
    end_is_a_reply_or_a_fault(
        wire, [b"data: " + line + b"\n\n" for line in lines] if streamed else [line + b"\n" for line in lines]
    )


def end_is_a_reply_or_a_fault(wire: Wire, pieces: list[bytes]) -> None:
    events = decode(wire, pieces)
    if not isinstance(events, str):
        assert isinstance(events[-1], ModelReply)
        assert sum(isinstance(event, ModelReply) for event in events) == 1
        texts = "".join(event.text for event in events if isinstance(event, TextDelta))
        assert events[-1].text == texts
