"""Ids of messages, turns, sessions, approvals and blobs. Their prefixes are for people."""

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

ONE_TURN_PREFIX = "once:"
"""Key prefix of a session made for a single turn: it is never listed and is deleted after a while."""

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's base 32: no look-alike characters


def _random_text(length: int) -> str:
    return "".join(_ALPHABET[byte & 31] for byte in os.urandom(length))


def new_inbound_id() -> InboundId:
    """Return a new id of 70 random bits, e.g. `m_7f3k9q2x0b1d4h`."""
    return InboundId("m_" + _random_text(14))


def new_turn_id() -> TurnId:
    """Return a new id, e.g. `t_7f3k9q2x0b1d4h`."""
    return TurnId("t_" + _random_text(14))


def new_event_id() -> EventId:
    """Return a new id, e.g. `e_7f3k9q2x0b1d4h`."""
    return EventId("e_" + _random_text(14))


def new_approval_id() -> ApprovalId:
    """Return a new id short enough to type, e.g. `a_7f3k9q2x`. It grants nothing by itself."""
    return ApprovalId("a_" + _random_text(8))


def new_trace_id() -> TraceId:
    """Return 32 hex digits, as in W3C Trace Context, so that traces can be exported unchanged."""
    return TraceId(os.urandom(16).hex())


def new_span_id() -> SpanId:
    """Return 16 hex digits, as in W3C Trace Context."""
    return SpanId(os.urandom(8).hex())


def outbox_id(turn: TurnId, chunk: int) -> OutboxId:
    """Return the id of one chunk of a turn's reply, which is also the channel's idempotency key."""
    return OutboxId(f"{turn}.{chunk}")


def message_id(turn: TurnId, call: CallId, arguments: str) -> OutboxId:
    """Return the id of the message that a call of a turn sends. Models may reuse call ids in later answers."""
    return OutboxId(f"{turn}.{digest(f'{call} {arguments}')[:10]}")


def digest(text: str | bytes) -> str:
    """Return the SHA-256 of a text in hex, for facts that must outlive their content."""
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()


def escape_key_part(part: str) -> str:
    """Escape a part of a key so that no two combinations of parts make the same key."""
    for char in "%:/@":
        part = part.replace(char, f"%{ord(char):02X}")
    return part
