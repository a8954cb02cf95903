"""Messages in and out as values: senders, addresses, attachments, buttons."""

from datetime import UTC, datetime
from enum import StrEnum

from hob.core.client_terms import ClientTerms
from hob.core.ids import BlobId, InboundId, OutboxId, SessionKey, TraceId, TurnId
from hob.core.trust.labels import Label, Origin, SenderClass, Trust
from hob.core.trust.scopes import TokenScope
from hob.core.values import dataclass

UNKNOWN_TIME = datetime.fromtimestamp(0, UTC)
FETCHED_CHANNELS = frozenset({"api", "local"})
"""The API and the terminal: their sender is the owner, and replies wait there to be fetched instead of being sent."""

OWN_CHANNEL = "hob"
"""Of what one session tells another: nobody reads there, and who waits for the answer finds it with the turn."""

WEBHOOK_CHANNEL = "webhook"
"""What machines send to `/hooks/NAME`, which is the chat; their sender was classed by the webhook's settings."""

WEBHOOK_OUT_CHANNEL = "webhook_out"
"""What Hob tells other machines of; a chat is one of them."""

TOKEN_SENDER = "token:"  # noqa: S105 - it opens nothing
"""How a sender's id begins there who is not the owner in everything: a token that was given out. Its class is known."""

_CHAT = frozenset({TokenScope.CHAT})
_EVERYTHING = frozenset(TokenScope)


class MediaType(StrEnum):
    """The kind of a timeline event's content."""

    TEXT = "TEXT"
    AUDIO = "AUDIO"
    IMAGE = "IMAGE"
    SYSTEM = "SYSTEM"


@dataclass(frozen=True, slots=True)
class Address:
    """Enough to answer: which channel, which of its accounts, which chat, which thread in it."""

    channel: str
    chat: str
    account: str = ""
    thread: str = ""

    def key(self) -> str:
        """One text for one address. Parts are percent-escaped so that no two addresses share a key."""
        parts = (self.channel, self.account, self.chat, self.thread)
        return ":".join(part.replace("%", "%25").replace(":", "%3A") for part in parts)


@dataclass(frozen=True, slots=True)
class Sender:
    """Who wrote, as the channel names them, and how well they are known (set by admission)."""

    id: str
    name: str = ""
    cls: SenderClass = SenderClass.STRANGER


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that came with a message: a stored blob, or a link to be fetched later.

    `media_type` is told by the bytes where there are any (`hob.core.content.media_types`), never by the name.
    `voice`: the channel says that the sender spoke it for this message, so that it counts as their words.
    """

    media_type: str
    name: str = ""
    blob: BlobId | None = None
    link: str = ""
    size: int = 0
    voice: bool = False


@dataclass(frozen=True, slots=True)
class Quoted:
    """Text that came along without being the sender's own words: piped input, a quote, a forward."""

    text: str
    label: Label = Label(Origin.STDIN, Trust.UNTRUSTED)


@dataclass(frozen=True, slots=True)
class Inbound:
    """A message someone sent us, before anybody has judged it.

    `key` is the platform's id of the message, unique in (channel, account); the same key twice makes one turn.
    `session` is the session the sender asked for by name, if any; otherwise the address decides.
    `hops` counts how many self-made messages lie between this one and a person's. `group` says that others than the
    sender read the answer too: such a chat never sees what is the owner's alone. `mentioned` says that the platform
    itself tells that Hob is meant: a mention of its account, or a reply to one of its messages. `scopes` are those of
    the token it came with; None where it came without one, or with the owner's own. `terms` are what a program asks of
    the answer.
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
    terms: ClientTerms | None = None

    def may(self, scope: TokenScope) -> bool:
        """Whether the token it came with is valid for this; what came without one is limited by its sender alone."""
        scopes = self.scopes
        if scopes is None:  # a token that no one said more of is valid for chat
            scopes = _CHAT if self.sender.id.startswith(TOKEN_SENDER) else _EVERYTHING
        return scope in scopes or TokenScope.ADMIN in scopes


class OutboundKind(StrEnum):
    """What an outbound message is, so that no failure can pass for an answer."""

    REPLY = "reply"
    ERROR = "error"
    NOTICE = "notice"
    QUESTION = "question"


class OutboundAction(StrEnum):
    """What is done in a chat."""

    SEND = "send"
    EDIT = "edit"
    DELETE = "delete"
    REACT = "react"


@dataclass(frozen=True, slots=True)
class Button:
    """A choice below a message: what stands on it, and what whoever presses it has thereby written."""

    label: str
    answer: str


@dataclass(frozen=True, slots=True)
class Outbound:
    """One chunk of a message to an address. `id` is the idempotency key for the channel.

    `about` is the platform's id of the message that is answered, edited, deleted or reacted to; to react, `text` is the
    sign, and none takes it back. `poll` are what is voted on, under the text. `spelled`: the text names the choices of
    the buttons, so that nothing is lost where there are none.
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
