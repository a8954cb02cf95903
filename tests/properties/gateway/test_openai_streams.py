"""Whatever an answer's text is, and however it is cut: OpenAI's own client reads it back as it was."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

import httpx2
import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hob.core.clock import SystemClock
from hob.core.events.notices import Delta, Notice, Progress, Retracted
from hob.core.ids import InboundId, SessionKey, TraceId
from hob.core.models import Usage
from hob.core.ports.accept import Accepted
from hob.gateway.openai.ask import ChatOutcome, ChatRun
from hob.gateway.openai.completions import ChunkWriter
from hob.gateway.openai.errors import failed
from hob.gateway.openai.responses import ResponseWriter
from hob.gateway.openai.stream import StreamedText, StreamWriter
from hob.gateway.routes.views import ChatAnswer, usage_view

ID = InboundId("m_7f3k9q2x0b1d4h")
TRACE, SESSION = TraceId("t"), SessionKey("api:main")
ASKED = ChatRun(Accepted(ID, TRACE, SESSION), "hob", returns=False)
LINE_ENDS = '\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029\ufeff\x00"\\: '
PIECES = st.lists(
    st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from(LINE_ENDS), min_size=1), max_size=5
)
NOTICES = st.lists(
    st.builds(Delta, st.just(TRACE), st.just(SESSION), st.text("ab ", max_size=4))
    | st.just(Retracted(TRACE, SESSION))
    | st.just(Progress(TRACE, SESSION, "call", "exec"))
)


def outcome(text: str) -> ChatOutcome:
    view: ChatAnswer = {
        "id": ID,
        "session": SESSION,
        "trace_id": TRACE,
        "state": "done",
        "reply": text,
        "notes": [],
        "usage": usage_view(Usage(), 0),
    }
    return ChatOutcome(ID, 0, text, False, Usage(input=2, output=1), view)


def written(writer: StreamWriter, pieces: Sequence[str], *last: bytes) -> bytes:
    parts: list[Iterable[bytes]] = [writer.begin(), *(writer.piece(piece) for piece in pieces)]
    whole = [b for part in parts for b in part]
    return b"".join([*whole, b": working\n\n", *(last or writer.end(outcome("".join(pieces))))])


def client_of(body: bytes) -> openai.OpenAI:
    headers = {"content-type": "text/event-stream"}
    transport = httpx2.MockTransport(lambda _: httpx2.Response(200, headers=headers, content=body))
    return openai.OpenAI(base_url="http://x", api_key="x", http_client=httpx2.Client(transport=transport))


def chat(body: bytes) -> list[Any]:
    messages: Any = [{"role": "user", "content": "hi"}]
    return list(client_of(body).chat.completions.create(model="hob", messages=messages, stream=True))


@given(PIECES)
def test_any_text_comes_through_a_chat(pieces: list[str]) -> None:
    chunks = chat(written(ChunkWriter(ASKED, SystemClock(), tells_usage=True), pieces))
    said = [chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices]
    assert [text for text in said if text] == pieces
    assert chunks[-1].usage.total_tokens == 3


@given(PIECES)
def test_any_text_comes_through_a_response(pieces: list[str]) -> None:
    body = written(ResponseWriter(ASKED, SystemClock()), pieces)
    events: list[Any] = list(client_of(body).responses.create(model="hob", input="hi", stream=True))
    assert [event.delta for event in events if event.type == "response.output_text.delta"] == pieces
    assert events[-1].response.output_text == "".join(pieces)
    assert [event.sequence_number for event in events] == list(range(len(events)))


@given(PIECES)
def test_event_data_is_always_one_line(pieces: list[str]) -> None:
    text = written(ChunkWriter(ASKED, SystemClock(), tells_usage=False), pieces).decode()
    for line in text.splitlines():
        assert line in ("", ": working", "data: [DONE]") or json.loads(line.removeprefix("data: "))


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_failure_in_midstream_is_raised(message: str) -> None:
    problem = failed("overload", message)
    chunks = ChunkWriter(ASKED, SystemClock(), tells_usage=False)
    items = ResponseWriter(ASKED, SystemClock())
    half = written(chunks, ["Half"], *chunks.fail(problem))
    with pytest.raises(openai.APIError) as caught:
        chat(half)
    assert (caught.value.code, caught.value.message) == ("overload", message)
    body = b"".join([*items.begin(), *items.piece("Half"), *items.fail(problem)])
    with pytest.raises(openai.APIError) as caught:
        list(client_of(body).responses.create(model="hob", input="hi", stream=True))
    assert (caught.value.code, caught.value.message) == ("overload", message)


@given(NOTICES, st.text("ab ", max_size=8))
def test_stream_always_ends_with_the_whole_answer(notices: list[Notice], answer: str) -> None:
    notifier = StreamedText()
    sent = "".join(notifier.feed(notice) for notice in notices)
    assert (sent + notifier.finish(answer)).endswith(answer)


@given(st.lists(st.text("ab ", min_size=1, max_size=4)))
def test_streamed_text_is_not_sent_twice(pieces: list[str]) -> None:
    notifier = StreamedText()
    sent = [notifier.feed(Delta(TRACE, SESSION, piece)) for piece in pieces]
    assert "".join([*sent, notifier.finish("".join(pieces))]) == "".join(pieces)
