"""Incoming and outgoing messages: senders, addresses, attachments, buttons."""

from datetime import UTC, datetime
from enum import StrEnum

from hob.core.ids import BlobId, InboundId, OutboxId, SessionKey, TraceId, TurnId
from hob.core.response_options import ResponseOptions
from hob.core.trust.labels import Label, Origin, SenderClass, Trust
from hob.core.trust.scopes import TokenScope
from hob.core.values import dataclass

UNKNOWN_TIME = datetime.fromtimestamp(0, UTC)
LOCAL_CHANNEL = "local"
"""The terminal of this machine."""

POLLED_CHANNELS = frozenset({"api", LOCAL_CHANNEL})
"""The API and the terminal: the sender is the owner, and replies are fetched instead of sent."""

INTERNAL_CHANNEL = "hob"
"""Messages from one session to another: nothing is delivered, and the answer is found with the turn."""

WEBHOOK_CHANNEL = "webhook"
"""Requests to `/hooks/NAME`; the name is the chat, and the webhook's settings classify the sender."""

WEBHOOK_OUT_CHANNEL = "webhook_out"
"""Outgoing webhooks; each is a chat."""

TOKEN_SENDER_PREFIX = "token:"  # noqa: S105 - it opens nothing
"""Prefix of the sender id of a token with limited rights, whose sender class is known."""

_CHAT_SCOPES = frozenset({TokenScope.CHAT})
_ALL_SCOPES = frozenset(TokenScope)


class MediaType(StrEnum):
    """Kind of a timeline event's content."""

    TEXT = "TEXT"
    AUDIO = "AUDIO"
    IMAGE = "IMAGE"
    SYSTEM = "SYSTEM"


@dataclass(frozen=True, slots=True)
class Address:
    """Destination of an answer: channel, account on it, chat, and thread within the chat."""

    channel: str
    chat: str
    account: str = ""
    thread: str = ""

    def key(self) -> str:
        """Return a unique text for the address. Parts are percent-escaped so that no two addresses share a key."""
        parts = (self.channel, self.account, self.chat, self.thread)
        return ":".join(part.replace("%", "%25").replace(":", "%3A") for part in parts)


@dataclass(frozen=True, slots=True)
class Sender:
    """The author of a message, as the channel names them, and how well they are known (set by admission)."""

    id: str
    name: str = ""
    cls: SenderClass = SenderClass.STRANGER


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that came with a message: a stored blob, or a link to be fetched later.

    `media_type` is detected from the bytes if there are any (`hob.core.content.media_types`), never from the name.
    `voice`: the channel says the sender recorded it for this message, so it counts as their own words.
    """

    media_type: str
    name: str = ""
    blob: BlobId | None = None
    link: str = ""
    size: int = 0
    voice: bool = False


@dataclass(frozen=True, slots=True)
class Quoted:
    """Text that came with a message but is not the sender's own: piped input, a quote, a forward."""

    text: str
    label: Label = Label(Origin.STDIN, Trust.UNTRUSTED)


@dataclass(frozen=True, slots=True)
class Inbound:
    """An incoming message before admission.

    `key` is the platform's message id, unique per channel and account; repeating it makes only one turn. `session` is
    the session the sender asked for by name, if any; otherwise the address decides. `hops` counts the self-made
    messages since the last one from a person. `group`: people other than the sender read the answer, so it may not
    contain anything private to the owner. `mentioned`: the platform says Hob is addressed, by a mention of its account
    or a reply to one of its messages. `scopes` are those of the token it came with; None for no token, or the owner's
    own. `terms` are the options of a client program for the answer.
    """

    id: InboundId
    key: str
    origin: Address
    sender: Sender
    text: str
    label: Label
    trace: TraceId
    attachments: tuple[Attachment, ...] = ()
    quoted: tuple[Quoted, ...] = ()
    session: SessionKey | None = None
    model: str | None = None
    sent_at: datetime = UNKNOWN_TIME
    hops: int = 0
    background: bool = False
    group: bool = False
    mentioned: bool = False
    scopes: frozenset[TokenScope] | None = None
    terms: ResponseOptions | None = None

    def may(self, scope: TokenScope) -> bool:
        """Whether the message's token allows this; without a token, only the sender's class limits it."""
        scopes = self.scopes
        if scopes is None:  # a token without declared scopes is valid for chat only
            scopes = _CHAT_SCOPES if self.sender.id.startswith(TOKEN_SENDER_PREFIX) else _ALL_SCOPES
        return scope in scopes or TokenScope.ADMIN in scopes


class OutboundKind(StrEnum):
    """Kind of an outbound message, so that an error is never mistaken for an answer."""

    REPLY = "reply"
    ERROR = "error"
    NOTICE = "notice"
    QUESTION = "question"


class OutboundAction(StrEnum):
    """Operation in a chat."""

    SEND = "send"
    EDIT = "edit"
    DELETE = "delete"
    REACT = "react"


@dataclass(frozen=True, slots=True)
class Button:
    """A choice below a message: its label, and the text that pressing it sends."""

    label: str
    answer: str


@dataclass(frozen=True, slots=True)
class Outbound:
    """One chunk of a message to an address. `id` is the channel's idempotency key.

    `about` is the platform's id of the message that is answered, edited, deleted or reacted to. For a reaction `text`
    is the emoji; an empty one removes it. `poll` holds the options of a poll below the text. `spelled`: the text
    already lists the button choices, so nothing is lost without buttons.
    """

    id: OutboxId
    to: Address
    text: str
    kind: OutboundKind
    turn: TurnId | None
    trace: TraceId
    chunk: int = 0
    previews: bool = True
    action: OutboundAction = OutboundAction.SEND
    about: str = ""
    attachments: tuple[Attachment, ...] = ()
    buttons: tuple[Button, ...] = ()
    poll: tuple[str, ...] = ()
    spelled: bool = False
