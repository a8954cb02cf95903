"""A message as the API and the terminal hand it in."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hob.core.clock import Clock
from hob.core.errors import InvalidRequest, NotAllowed
from hob.core.ids import SessionKey, new_inbound_id, new_trace_id
from hob.core.labels import OWNER_LABEL, Label, Origin, SenderClass, Trust
from hob.core.messages import FETCHED_CHANNELS, Address, Inbound, Quoted, Sender
from hob.gateway.callers import AT_THE_SOCKET, Caller
from hob.gateway.fields import field, read

_LABELS = {
    SenderClass.OWNER: OWNER_LABEL,
    SenderClass.MEMBER: Label(Origin.MEMBER, Trust.UNTRUSTED),
    SenderClass.STRANGER: Label(Origin.STRANGER, Trust.UNTRUSTED),
}


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A message, and how it is to be answered."""

    message: str = field("the text; required", default="")
    session: str | None = field(
        "a conversation by name (`work`), or a whole key (`local:main`); without it the channel's main one",
        None,
        characters=(1, 200),
    )
    model: str | None = field("the model that answers, instead of the session's", None)
    quoted: str | None = field("text that comes along as data: it is marked as untrusted and not obeyed", None)
    channel: str = field(
        "who speaks: `api` (a program) or `local` (a person at this machine's terminal)",
        "api",
        one_of=sorted(FETCHED_CHANNELS),
    )
    wait: float | None = field(
        "how long to wait for the answer; at most and by default `gateway.wait_seconds`",
        None,
        at_least=0,
        unit="seconds",
    )


def owners_inbound(fields: Mapping[str, Any], key: str | None, clock: Clock) -> Inbound:
    """The owner's message made of these fields. Raises InvalidRequest, naming what is wrong."""
    return inbound_of(read(ChatRequest, fields), key, clock, AT_THE_SOCKET)


def inbound_of(asked: ChatRequest, key: str | None, clock: Clock, caller: Caller) -> Inbound:
    """The message of this caller. `key` is the idempotency key; without one the message is new.

    The owner's programs share the owner's conversations; whoever else holds a token has conversations of their own.
    Raises InvalidRequest and NotAllowed.
    """
    if not asked.message.strip():
        raise InvalidRequest("message is missing or empty")
    if key is not None and not (1 <= len(key) <= 255 and key.isprintable()):
        raise InvalidRequest("Idempotency-Key must have 1 to 255 characters")
    session, chat, sender = asked.session, asked.session or "main", Sender("owner")
    if not caller.owner:
        sender = Sender(f"token:{caller.name}", caller.name, caller.cls)
    whole = session is not None and ":" in session
    if caller.cls is not SenderClass.OWNER:
        if whole or asked.channel != "api":
            raise NotAllowed("this token has conversations of its own only: name one without a colon")
        chat = f"{caller.name}/{chat}"
        key = f"{caller.name}/{key}" if key else None
    id = new_inbound_id()
    return Inbound(
        id=id,
        key=key or id,
        # a bare name is a conversation of this channel; a whole key, such as another channel's, is taken as it is
        origin=Address(channel=asked.channel, chat="main" if whole else chat),
        sender=sender,
        text=asked.message,
        label=_LABELS[caller.cls],
        trace=new_trace_id(),
        quoted=(Quoted(asked.quoted, Label(Origin.STDIN, Trust.UNTRUSTED)),) if asked.quoted else (),
        session=SessionKey(session) if session and whole else None,
        model=asked.model,
        sent_at=clock.now(),
    )
