"""Messages as the API and the terminal submit them."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hob.core.clock import Clock
from hob.core.content.media_types import HEAD_BYTES, detect_media_type
from hob.core.errors import InvalidRequest, NotAllowed, NotFound
from hob.core.ids import ONE_TURN_PREFIX, BlobId, SessionKey, new_inbound_id, new_trace_id
from hob.core.messages import POLLED_CHANNELS, TOKEN_SENDER_PREFIX, Address, Attachment, Inbound, Quoted, Sender
from hob.core.ports.tools import Blobs
from hob.core.trust.labels import OWNER_LABEL, Label, Origin, SenderClass, Trust
from hob.core.trust.scopes import TokenScope
from hob.core.values import dataclass
from hob.gateway.auth.callers import AT_THE_SOCKET, ApiCaller
from hob.gateway.http.fields import field, read

# What clients see of a message.


@dataclass(frozen=True, slots=True)
class ClientEvent:
    """One event: accepted, delta, reasoning, retracted, progress, message, question, and last result or error."""

    name: str
    data: dict[str, Any]

    @property
    def is_waiting(self) -> bool:
        """Whether nothing follows until a person answers or resumes the conversation."""
        return self.name == "question" or (self.name == "progress" and self.data.get("what") == "paused")


_LABELS = {
    SenderClass.OWNER: OWNER_LABEL,
    SenderClass.MEMBER: Label(Origin.MEMBER, Trust.UNTRUSTED),
    SenderClass.STRANGER: Label(Origin.STRANGER, Trust.UNTRUSTED),
}


@dataclass(frozen=True, slots=True)
class AttachmentReference:
    """A file of a message."""

    id: str = field("the `id` from `POST /attachments`")
    name: str = field("the file's name", "", characters=(0, 200))
    voice: bool = field("whether the sender spoke it as this message: its words then count as the sender's", False)


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """A message."""

    message: str = field("the text; required", default="")
    session: str | None = field(
        "a conversation by name (`work`) or full key (`local:main`); without one, the channel's main one",
        None,
        characters=(1, 200),
    )
    model: str | None = field(
        "the model that answers, instead of the session's; only the owner may choose", None, characters=(0, 300)
    )
    quoted: str | None = field("text sent along as data: it is marked as untrusted and not followed", None)
    attachments: tuple[AttachmentReference, ...] = field(
        "images and other files, uploaded before; texts go into `quoted`", ()
    )
    channel: str = field(
        "who speaks: `api` (a program) or `local` (a person at this machine's terminal)",
        "api",
        one_of=sorted(POLLED_CHANNELS),
    )


@dataclass(frozen=True, slots=True)
class ChatRequest(ChatMessage):
    """A message, and how long to wait for its answer."""

    wait: float | None = field(
        "how long to wait for the answer; at most and by default `gateway.wait_seconds`",
        None,
        at_least=0,
        unit="seconds",
    )


def owners_inbound(fields: Mapping[str, Any], key: str | None, clock: Clock) -> Inbound:
    """Return the owner's message with these fields. Raises InvalidRequest."""
    return inbound_of(read(ChatRequest, fields), key, clock, AT_THE_SOCKET)


def own_chat(caller: ApiCaller, session: str | None = None) -> str:
    """Return the chat of a caller who is not the owner, or a named thread beside it."""
    return f"@{caller.name}/{session}" if session else f"@{caller.name}"


async def load_attachments(message: ChatMessage, blobs: Blobs) -> tuple[Attachment, ...]:
    """Return the message's files, with media types by content. Raises InvalidRequest."""
    files = []
    for file in message.attachments:
        try:
            data = await blobs.load(BlobId(file.id))
        except NotFound:
            raise InvalidRequest(f"no file {file.id[:80]!r} was handed in; `POST /attachments` takes one") from None
        files.append(
            Attachment(
                detect_media_type(data[:HEAD_BYTES]), file.name, BlobId(file.id), size=len(data), voice=file.voice
            )
        )
    return tuple(files)


def sender_of(caller: ApiCaller) -> Sender:
    """Return the sender: the owner, or the person who holds the token."""
    return Sender("owner") if caller.owner else Sender(f"{TOKEN_SENDER_PREFIX}{caller.name}", caller.name, caller.cls)


def is_own(caller: ApiCaller, session: SessionKey) -> bool:
    """Return whether the caller may use this session; the owner may use all."""
    own, passing = f"api:{own_chat(caller)}", f"{ONE_TURN_PREFIX}{own_chat(caller)}"
    return caller.cls is SenderClass.OWNER or session == own or session.startswith((f"{own}/", f"{passing}/"))


def in_own_session(caller: ApiCaller, inbound: Inbound) -> Inbound:
    """Return the message in a session of its own, which ends with the answer and is not listed."""
    chat = inbound.id if caller.cls is SenderClass.OWNER else own_chat(caller, inbound.id)
    return replace(inbound, origin=Address("api", f"once/{chat}"), session=SessionKey(f"{ONE_TURN_PREFIX}{chat}"))


def inbound_of(
    message: ChatMessage, key: str | None, clock: Clock, caller: ApiCaller, files: tuple[Attachment, ...] = ()
) -> Inbound:
    """Return this caller's message. `key` is the idempotency key; without one the message is new.

    The owner's programs share the owner's conversations; other token holders have their own. Raises InvalidRequest and
    NotAllowed.
    """
    if not (message.message.strip() or (message.quoted or "").strip() or files):
        raise InvalidRequest("message is missing or empty")
    if key is not None and not (1 <= len(key) <= 255 and key.isprintable()):
        raise InvalidRequest("Idempotency-Key must have 1 to 255 characters")
    session, chat = message.session, message.session or "main"
    whole = session is not None and ":" in session
    if caller.cls is not SenderClass.OWNER:
        if whole or message.channel != "api":
            raise NotAllowed("this token has conversations of its own only: name one without a colon")
        chat = own_chat(caller, session)
        key = f"@{caller.name}/{key}" if key else None
    id = new_inbound_id()
    return Inbound(
        id=id,
        key=key or id,
        # a bare name is a conversation of this channel; a full key, e.g. of another channel, is used as it is
        origin=Address(channel=message.channel, chat="main" if whole else chat),
        sender=sender_of(caller),
        text=message.message,
        label=_LABELS[caller.cls],
        trace=new_trace_id(),
        attachments=files,
        quoted=(Quoted(message.quoted, Label(Origin.STDIN, Trust.UNTRUSTED)),) if message.quoted else (),
        session=SessionKey(session) if session and whole else None,
        model=message.model or None,
        sent_at=clock.now(),
        scopes=None if caller.may(TokenScope.ADMIN) else caller.scopes,
    )
