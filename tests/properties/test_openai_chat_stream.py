"""Whoever sends the bytes, and however they are cut: the same events, or one ModelError."""

import itertools
import json
from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from hob.core.errors import ModelError
from hob.core.models import Beat, CallStarted, ModelEvent, ModelReply, ReasoningDelta, TextDelta
from hob.providers.openai_chat.decoding import Decoder
from hob.testing.model_server import ODDITIES, Asked, Fault, ModelServer, Reply

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
NAMES = st.text("abc_", min_size=1, max_size=8)
REPLIES = st.builds(
    Reply,
    text=TEXTS,
    calls=st.lists(st.tuples(NAMES, TEXTS.filter(bool)), max_size=3).map(tuple),
    reasoning=TEXTS,
    fault=st.sampled_from([None, *sorted(ODDITIES - {Fault.DRIP})]),
)
ASKED = {
    "model": "m",
    "messages": [{"role": "user", "content": "hi"}],
    "stream": True,
    "stream_options": {"include_usage": True},
}


def stream_of(reply: Reply) -> bytes:
    """The stream's bytes without HTTP around them."""
    asked = Asked(0.0, "POST", "/v1/chat/completions", {}, json.dumps(ASKED).encode())
    actions = ModelServer(reply).respond(asked)
    body = b"".join(part for part in actions if isinstance(part, bytes)).partition(b"\r\n\r\n")[2]
    if reply.fault is Fault.PLAIN_JSON:
        return body
    found = b""
    while body:
        size, _, body = body.partition(b"\r\n")
        found += body[: int(size, 16)]
        body = body[int(size, 16) + 2 :]
    return found


def cut(data: bytes, places: Iterable[int]) -> list[bytes]:
    edges = [0, *sorted({place % (len(data) + 1) for place in places}), len(data)]
    return [data[start:end] for start, end in itertools.pairwise(edges)]


def decode(pieces: Iterable[bytes]) -> list[ModelEvent] | str:
    """The events without beats, neighbouring texts joined; or the fault."""
    decoder = Decoder(salt="s")
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
        elif not isinstance(event, Beat):
            found.append(event)
    return found


@given(REPLIES, st.lists(st.integers(min_value=0), max_size=30))
def test_the_same_bytes_mean_the_same_wherever_they_are_cut(reply: Reply, places: list[int]) -> None:
    data = stream_of(reply)
    assert decode(cut(data, places)) == decode([data])


@given(REPLIES)
def test_a_stream_that_comes_byte_by_byte_means_the_same(reply: Reply) -> None:
    data = stream_of(reply)
    assert decode(bytes([byte]) for byte in data) == decode([data])


@given(REPLIES)
def test_what_the_server_meant_arrives(reply: Reply) -> None:
    events = decode([stream_of(reply)])
    if isinstance(events, str):
        assert not reply.text.strip()
        assert not reply.calls
        return
    got = events[-1]
    assert isinstance(got, ModelReply)
    assert (got.text, got.reasoning) == (reply.text, reply.reasoning)
    assert tuple((call.name, call.arguments) for call in got.calls) == reply.calls
    assert len({call.id for call in got.calls}) == len(got.calls)
    assert [event.name for event in events if isinstance(event, CallStarted)] == [name for name, _ in reply.calls]


@given(REPLIES, st.integers(min_value=0))
def test_a_stream_that_ends_early_is_never_taken_for_another_answer(reply: Reply, place: int) -> None:
    data = stream_of(reply)
    whole, part = decode([data]), decode([data[: place % (len(data) + 1)]])
    if not isinstance(part, str) and not isinstance(whole, str):
        early, late = part[-1], whole[-1]
        assert isinstance(early, ModelReply)
        assert isinstance(late, ModelReply)
        assert (early.text, early.calls) == (late.text, late.calls)


LINES = st.one_of(
    st.binary(max_size=30),
    st.sampled_from([b"data: ", b"data:", b"\n", b"\r", b"\r\n", b": ", b"{", b"[", b'"', b"[DONE]", b"\xef\xbb\xbf"]),
    st.sampled_from(
        [
            b'data: {"choices":[{"index":0,"delta":{"content":"x"}}]}\n\n',
            b'data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"a"}}]}}]}\n\n',
            b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n',
            b'data: {"error":"x"}\n\n',
            b"data: [DONE]\n\n",
        ]
    ),
)
KEYS = [
    "choices",
    "delta",
    "message",
    "content",
    "tool_calls",
    "function",
    "name",
    "arguments",
    "index",
    "id",
    "finish_reason",
    "usage",
    "error",
    "prompt_tokens",
    "prompt_tokens_details",
    "refusal",
    "reasoning",
    "thinking",
    "text",
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=20,
)


@given(st.lists(LINES, max_size=40))
def test_no_bytes_raise_anything_but_a_model_error(pieces: list[bytes]) -> None:
    end_is_a_reply_or_a_fault(pieces)


@given(st.lists(JSON, max_size=5), st.booleans())
def test_no_json_raises_anything_but_a_model_error(chunks: list[object], streamed: bool) -> None:

    lines = [json.dumps(chunk).encode() for chunk in chunks]
    end_is_a_reply_or_a_fault([b"data: " + line + b"\n\n" for line in lines] if streamed else lines)


def end_is_a_reply_or_a_fault(pieces: list[bytes]) -> None:
    events = decode(pieces)
    if not isinstance(events, str):
        assert isinstance(events[-1], ModelReply)
        assert sum(isinstance(event, ModelReply) for event in events) == 1
        texts = "".join(event.text for event in events if isinstance(event, TextDelta))
        assert events[-1].text == texts
