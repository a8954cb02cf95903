"""The owner's message as the API and the terminal hand it in."""

from collections.abc import Mapping
from typing import Any

from hob.core.clock import Clock
from hob.core.errors import InvalidRequest
from hob.core.ids import SessionKey, new_inbound_id, new_trace_id
from hob.core.labels import OWNER_LABEL, Label, Origin, Trust
from hob.core.messages import FETCHED_CHANNELS, Address, Inbound, Quoted, Sender

FIELDS = frozenset({"message", "session", "model", "quoted", "channel", "wait"})


def owners_inbound(fields: Mapping[str, Any], key: str | None, clock: Clock) -> Inbound:
    """The message made of these fields. `key` is the idempotency key; without one the message is new.

    Raises InvalidRequest, naming what is wrong.
    """
    _check(fields)
    channel = fields.get("channel", "api")
    if channel not in FETCHED_CHANNELS:
        raise InvalidRequest(f"channel must be one of {', '.join(sorted(FETCHED_CHANNELS))}")
    if key is not None and not 1 <= len(key) <= 255:
        raise InvalidRequest("Idempotency-Key must have 1 to 255 characters")
    session = fields.get("session")
    if session is not None and not (1 <= len(session) <= 200 and session.isprintable()):
        raise InvalidRequest("session must have 1 to 200 printable characters")
    whole = session is not None and ":" in session
    id = new_inbound_id()
    quoted = fields.get("quoted")
    return Inbound(
        id=id,
        key=key or id,
        # a bare name is a conversation of this channel; a whole key, such as another channel's, is taken as it is
        origin=Address(channel=channel, chat="main" if whole else session or "main"),
        sender=Sender(id="owner"),
        text=fields.get("message", ""),
        label=OWNER_LABEL,
        trace=new_trace_id(),
        quoted=(Quoted(quoted, Label(Origin.STDIN, Trust.UNTRUSTED)),) if quoted else (),
        session=SessionKey(session) if session and whole else None,
        model=fields.get("model"),
        sent_at=clock.now(),
    )


def _check(fields: Mapping[str, Any]) -> None:
    unknown = sorted(fields.keys() - FIELDS)
    if unknown:
        raise InvalidRequest(f"unknown field {unknown[0]!r}; known are {', '.join(sorted(FIELDS))}")
    for key, value in fields.items():
        if key == "wait":
            read_seconds(value)
        elif not isinstance(value, str):
            raise InvalidRequest(f"{key} must be a string")
    if not (fields.get("message", "").strip() or fields.get("quoted", "").strip()):
        raise InvalidRequest("message is missing or empty")


def read_seconds(value: object) -> float:
    """A number of seconds, 0 or more. Raises InvalidRequest."""
    try:
        seconds = float(value) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else -1.0
    except (ValueError, OverflowError):
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise InvalidRequest("wait must be a number of seconds, 0 or more")
    return seconds
