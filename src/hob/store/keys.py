"""Idempotency keys of messages, by which the same one is never accepted twice."""

import hashlib

import apsw

from hob.core.ids import InboundId, SessionKey, TraceId
from hob.core.ports.accept import Accepted
from hob.store.database.rows import find_row

ARRIVAL_COMMAND = 2
"""The kind of a message that was a command and was answered when it came."""

_FIRST_WITH_KEY = (
    "SELECT i.id, i.trace_id, i.session, i.command, c.text FROM dedup d JOIN inbox i ON i.id = d.inbound"
    " LEFT JOIN turns t ON t.id = i.turn AND i.command = 2 LEFT JOIN content c ON c.id = t.reply WHERE d.hash = ?"
)


def key_hash(channel: str, account: str, key: str) -> bytes:
    """The seal under which a message key is remembered for ever: SHA-256 of channel, account, key with NULs between."""
    return hashlib.sha256("\0".join((channel, account, key)).encode("utf-8", "surrogatepass")).digest()


def find_first(connection: apsw.Connection, seal: bytes) -> Accepted | None:
    """The first message with this key."""
    row = find_row(connection, _FIRST_WITH_KEY, (seal,))
    if row is None:
        return None
    id, trace, session, command, answer = row
    return Accepted(
        InboundId(id), TraceId(trace), SessionKey(session), True, answer if command == ARRIVAL_COMMAND else None
    )
