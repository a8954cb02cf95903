"""Ids of messages, turns, sessions, approvals, blobs: how they are made; prefixes are for people."""

import hashlib
import os
from typing import NewType

InboundId = NewType("InboundId", str)
TurnId = NewType("TurnId", str)
TaskId = NewType("TaskId", str)
OutboxId = NewType("OutboxId", str)
ApprovalId = NewType("ApprovalId", str)
EventId = NewType("EventId", str)
SessionKey = NewType("SessionKey", str)
CallId = NewType("CallId", str)
BlobId = NewType("BlobId", str)
TraceId = NewType("TraceId", str)
SpanId = NewType("SpanId", str)

ONE_TURN = "once:"
"""How the key of a session begins that is made for one turn: it is listed nowhere, and forgotten after a while."""

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's base 32: nothing that reads as something else


def _random_text(length: int) -> str:
    return "".join(_ALPHABET[byte & 31] for byte in os.urandom(length))


def new_inbound_id() -> InboundId:
    """A fresh id of 70 random bits, e.g. `m_7f3k9q2x0b1d4h`."""
    return InboundId("m_" + _random_text(14))


def new_turn_id() -> TurnId:
    """A fresh id, e.g. `t_7f3k9q2x0b1d4h`."""
    return TurnId("t_" + _random_text(14))


def new_event_id() -> EventId:
    """A fresh id, e.g. `e_7f3k9q2x0b1d4h`."""
    return EventId("e_" + _random_text(14))


def new_approval_id() -> ApprovalId:
    """A fresh id short enough to be typed, e.g. `a_7f3k9q2x`: it opens nothing by itself, its sender does."""
    return ApprovalId("a_" + _random_text(8))


def new_trace_id() -> TraceId:
    """32 hex digits, as in W3C Trace Context, so that traces can leave for other systems unchanged."""
    return TraceId(os.urandom(16).hex())


def new_span_id() -> SpanId:
    """16 hex digits, as in W3C Trace Context."""
    return SpanId(os.urandom(8).hex())


def outbox_id(turn: TurnId, chunk: int) -> OutboxId:
    """The id of one chunk of a turn's reply. It is also the idempotency key a channel is given."""
    return OutboxId(f"{turn}.{chunk}")


def digest(text: str | bytes) -> str:
    """The SHA-256 of a text in hex; hashes of facts that must outlive their content."""
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()


def escaped(part: str) -> str:
    """A part of a key that is nothing but one: no other key and no whole one can be made with it."""
    for char in "%:/@":
        part = part.replace(char, f"%{ord(char):02X}")
    return part
