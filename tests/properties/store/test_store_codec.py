"""Stored values round-trip."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from hob.core.ids import BlobId, CallId, InboundId, SessionKey, TraceId
from hob.core.messages import Address, Attachment, Inbound, Quoted, Sender
from hob.core.models import Image, TranscriptEntry
from hob.core.tools import ToolCall
from hob.core.trust.labels import Label, Origin, SenderClass, Trust
from hob.core.trust.scopes import TokenScope
from hob.store.codec import INBOUND_VERSION, dump_extra, dump_inbound, load_entry, load_inbound
from hob.store.titles import title_of

text = st.text(max_size=40)
labels = st.builds(Label, st.sampled_from(Origin), st.sampled_from(Trust))
maybe_blobs = st.none() | text.map(BlobId)
attachments = st.builds(Attachment, text, text, maybe_blobs, text, st.integers(0, 10**12))
moments = st.datetimes(datetime(1970, 1, 1), datetime(2200, 1, 1)).map(lambda at: at.replace(tzinfo=UTC, microsecond=0))  # noqa: DTZ001
inbounds = st.builds(
    Inbound,
    id=text.map(InboundId),
    key=text,
    origin=st.builds(Address, text, text, text, text),
    sender=st.builds(Sender, text, text, st.sampled_from(SenderClass)),
    text=text,
    label=labels,
    trace=text.map(TraceId),
    attachments=st.lists(attachments, max_size=2).map(tuple),
    quoted=st.lists(st.builds(Quoted, text, labels), max_size=2).map(tuple),
    session=st.none() | text.map(SessionKey),
    model=st.none() | text,
    sent_at=moments,
    hops=st.integers(0, 9),
    background=st.booleans(),
    group=st.booleans(),
    mentioned=st.booleans(),
    scopes=st.none() | st.frozensets(st.sampled_from(TokenScope)),
)
entries = st.builds(
    TranscriptEntry,
    n=st.integers(1, 10**9),
    role=st.sampled_from(["user", "assistant", "tool"]),
    text=text,
    label=labels,
    turn=text,
    at=st.floats(0, 1e10),
    calls=st.lists(st.builds(ToolCall, text.map(CallId), text, text), max_size=2).map(tuple),
    call=st.none() | text.map(CallId),
    is_error=st.booleans(),
    images=st.lists(st.builds(Image, text.map(BlobId), text), max_size=2).map(tuple),
)


@given(inbounds)
def test_inbound_round_trips(inbound: Inbound) -> None:
    assert load_inbound(INBOUND_VERSION, inbound.text, dump_inbound(inbound)) == inbound


@given(entries)
def test_entry_round_trips(entry: TranscriptEntry) -> None:
    label = entry.label
    row = (
        entry.n, 1, entry.role, entry.turn, entry.at, label.origin.value, label.trust.value, entry.text,
        dump_extra(entry) or None,
    )  # fmt: skip
    assert load_entry(row) == entry


@given(st.text(max_size=300))
def test_title_is_one_short_line(words: str) -> None:
    title = title_of(words)
    assert len(title) <= 60
    assert title.splitlines() == ([title] if title else [])
    assert bool(title) == bool(words.strip())
