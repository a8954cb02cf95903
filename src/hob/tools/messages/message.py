"""The tool `message`: writing to chats other than by replying, and changing what was written."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, NamedTuple, Protocol

from hob.core.content.capabilities import Capabilities, ChatLine
from hob.core.content.chunks import split_text
from hob.core.content.fallbacks import apply_fallbacks
from hob.core.content.file_limits import LARGEST_FILE
from hob.core.content.media_types import HEAD_BYTES, detect_media_type
from hob.core.errors import InvalidCall, NotFound, SendFailed, ToolFailed, ToolRefused
from hob.core.events.notices import MESSAGE_SENT, Progress
from hob.core.ids import BlobId, OutboxId, message_id
from hob.core.messages import (
    LOCAL_CHANNEL,
    POLLED_CHANNELS,
    Address,
    Attachment,
    Button,
    Inbound,
    Outbound,
    OutboundAction,
    OutboundKind,
)
from hob.core.ports.notices import Notices
from hob.core.ports.tools import Blobs, CallContext
from hob.core.tools import ToolCall
from hob.core.trust.labels import HOB_LABEL, Label, Origin, Trust
from hob.core.turns import Turn
from hob.tools.filesystem.paths import Roots
from hob.tools.filesystem.whole_files import read_whole
from hob.tools.messages.specs import MESSAGE
from hob.tools.registry.declaration import ToolOutput, Tools, implements

BLOB = "blob:"
_READ = Label(Origin.TOOL, Trust.UNTRUSTED)
_ACTIONS = {
    "send": OutboundAction.SEND,
    "reply": OutboundAction.SEND,
    "poll": OutboundAction.SEND,
    "edit": OutboundAction.EDIT,
    "delete": OutboundAction.DELETE,
    "react": OutboundAction.REACT,
}
_NEEDS = {"reply": "replies", "edit": "edits", "delete": "deletes", "react": "reactions", "poll": "polls"}


class KnownChat(NamedTuple):
    """A chat with a person whom the owner knows. `person` tells namesakes apart."""

    name: str
    to: Address
    person: str = ""


class SentMessage(NamedTuple):
    """A message that Hob sent: its address, the platform's id once delivered, and its delivery state."""

    to: Address
    receipt: str
    state: str


class Messages(Protocol):
    """The chats that the tool can write to."""

    def chats(self) -> Sequence[KnownChat]:
        """Return all chats that may be written to."""

    def capabilities(self, to: Address) -> Capabilities | None:
        """Return the channel's capabilities; None if no channel serves the address."""

    def limit_of(self, to: Address) -> int:
        """Return the maximum characters of a message there."""

    async def enqueue(self, messages: Sequence[Outbound]) -> None:
        """Queue messages for delivery, each only once."""

    async def find(self, id: str) -> SentMessage | None:
        """Return a message that was sent with this tool or as a reply."""

    def can_read(self, to: Address) -> bool:
        """Return whether the channel can read the history there."""

    async def read(self, to: Address, limit: int) -> Sequence[ChatLine]:
        """Read the history. Raises SendFailed."""


class NoMessages:
    """Implements `Messages` without any channel."""

    def chats(self) -> Sequence[KnownChat]:
        return ()

    def capabilities(self, to: Address) -> Capabilities | None:
        return None

    def limit_of(self, to: Address) -> int:
        return 0

    async def enqueue(self, messages: Sequence[Outbound]) -> None:
        raise InvalidCall("no channel runs here")

    async def find(self, id: str) -> SentMessage | None:
        return None

    def can_read(self, to: Address) -> bool:
        return False

    async def read(self, to: Address, limit: int) -> Sequence[ChatLine]:
        return ()


class MessageTool:
    """The tool, for chats with people whom the owner knows."""

    def __init__(self, messages: Messages, roots: Roots, blobs: Blobs, notices: Notices) -> None:
        self._messages = messages
        self._roots = roots
        self._blobs = blobs
        self._notices = notices
        self.toolset = Tools(self.message)

    @implements(MESSAGE, HOB_LABEL)
    async def message(
        self,
        action: Literal["send", "reply", "edit", "delete", "react", "poll", "read"],
        call: ToolCall,
        context: CallContext,
        to: str = "",
        text: str = "",
        channel: str = "",
        message: str = "",
        file: str = "",
        options: Sequence[str] = (),
        limit: int = 20,
    ) -> ToolOutput:
        address = self._find(to, channel) if to else context.turn.inbounds[0].origin
        can = self._capabilities(address)
        self._check_possible(action, address, context.turn, message, file)
        if action == "read":
            return await self._read(address, limit)
        about = await self._about(action, context.turn, address, message)
        text = text.strip()
        if action != "delete" and not (text or file):
            raise InvalidCall(f"{action} needs a text")
        if action == "poll" and len(options) < 2:
            raise InvalidCall("a poll needs two options at least")
        turn = context.turn
        id = message_id(turn.id, call.id, call.arguments)
        whole = Outbound(
            id, address, text, OutboundKind.REPLY, turn.id, turn.trace, previews=context.trust is Trust.TRUSTED,
            action=_ACTIONS[action], about=about,
            attachments=(await self._file(file, address),) if file else (),
            poll=tuple(options) if action == "poll" else (),
            buttons=() if action == "poll" else tuple(Button(each, each) for each in options),
        )  # fmt: skip
        parts = parts_of(whole, can, self._messages.limit_of(address))
        await self._messages.enqueue(parts)
        if address.channel in POLLED_CHANNELS:
            for each in parts:
                self._notices.publish(Progress(turn.trace, turn.session, MESSAGE_SENT, each.id))
        return ToolOutput(f"On its way to {address.channel}:{address.chat}; its id is {id}.0")

    def check(self, call: ToolCall, turn: Turn) -> None:
        """Raise ToolRefused for a message that could not be delivered even if approved."""
        if call.name != MESSAGE.name:
            return
        arguments = json.loads(call.arguments or "{}")
        to = str(arguments.get("to") or "")
        try:
            address = self._find(to, str(arguments.get("channel") or "")) if to else turn.inbounds[0].origin
            about, file = str(arguments.get("message") or ""), str(arguments.get("file") or "")
            self._check_possible(str(arguments.get("action")), address, turn, about, file)
        except ToolFailed as why:
            raise ToolRefused(str(why)) from why

    def _check_possible(self, action: str, to: Address, turn: Turn, message: str, file: str) -> None:
        """Raise ToolFailed for what cannot be done there."""
        can = self._capabilities(to)
        if action in ("edit", "delete") and not getattr(can, _NEEDS[action]):
            raise InvalidCall(f"{to.channel} cannot {action} messages; send another one")
        if action == "read" and not self._messages.can_read(to):
            raise ToolFailed(f"{to.channel} cannot tell what was said there")
        if file and not can.files:
            raise ToolFailed(f"{to.channel} takes no files; write what they need to know as text")
        if message in ("", "last"):
            if action in ("edit", "delete"):
                raise InvalidCall(f"{action} needs the id of a message that you sent")
            if (message or action in ("reply", "react")) and _newest_from(to, turn) is None:
                raise InvalidCall("nobody wrote there in this turn; give the message's id")

    def _capabilities(self, to: Address) -> Capabilities:
        can = self._messages.capabilities(to)
        if can is None:
            raise ToolFailed(f"{to.channel} is not connected; known chats: {self._known()}")
        return can

    def _find(self, to: str, channel: str) -> Address:
        known, wanted = self._messages.chats(), to.strip().casefold()
        found = [each for each in known if each.name.casefold() == wanted]
        if len({each.person for each in found}) > 1:
            spelled = ", ".join(_spelled(each.to) for each in found)
            raise ToolFailed(f"several are called {to}; give an address instead: {spelled}")
        found = found or [each for each in known if wanted in (each.to.chat.casefold(), _spelled(each.to))]
        named = [each for each in found if channel in ("", each.to.channel)]
        if len({each.to for each in named}) == 1:
            return named[0].to
        if named:
            raise ToolFailed(
                f"{to} has several chats; name the channel: {', '.join(_spelled(each.to) for each in named)}"
            )
        raise ToolFailed(
            f"{to!r} is nobody whom the owner has let in, so nothing is sent there. Known: {self._known()}. "
            "The owner links people with `hob people link`."
        )

    def _known(self) -> str:
        return ", ".join(f"{each.name} ({_spelled(each.to)})" for each in self._messages.chats()) or "nobody"

    async def _about(self, action: str, turn: Turn, to: Address, message: str) -> str:
        """Return the platform's id of the message in question, at clients Hob's own; empty if there is none."""
        polled = to.channel in POLLED_CHANNELS
        if not message or message == "last":
            inbound = _newest_from(to, turn)
            if inbound is None or not (message or action in ("reply", "react")):
                return ""
            return inbound.id if polled else inbound.key
        sent = await self._messages.find(message)
        if sent is None and action in ("edit", "delete"):
            raise InvalidCall(f"no message of yours is called {message!r}")
        if sent is None:
            return message
        if sent.to != to:
            raise ToolFailed(f"{message} is in another chat: {_spelled(sent.to)}")
        if not (sent.receipt or polled):
            raise InvalidCall(f"{message} has not arrived yet ({sent.state})")
        return sent.receipt or message

    async def _file(self, name: str, to: Address) -> Attachment:
        if name.startswith(BLOB):
            return await self._kept_file(name)
        data, place = read_whole(self._roots, name, LARGEST_FILE), self._roots.find(name)
        media_type = detect_media_type(data[:HEAD_BYTES])
        blob: BlobId = await self._blobs.put(data, media_type)
        link = place.path if to.channel == LOCAL_CHANNEL else ""
        return Attachment(media_type, place.name, blob, link, len(data))

    async def _kept_file(self, name: str) -> Attachment:
        blob = BlobId(name.removeprefix(BLOB))
        try:
            data = await self._blobs.load(blob)
        except NotFound as error:
            raise ToolFailed(str(error)) from error
        media_type = detect_media_type(data[:HEAD_BYTES])
        return Attachment(media_type, media_type.replace("/", "."), blob, size=len(data))

    async def _read(self, to: Address, limit: int) -> ToolOutput:
        try:
            lines = await self._messages.read(to, limit)
        except SendFailed as error:
            raise ToolFailed(str(error)) from error
        told = "\n".join(f"[{each.id}] {each.sender}: {each.text}" for each in lines)
        return ToolOutput(told or "Nothing was said there.", _READ)


def parts_of(whole: Outbound, can: Capabilities, limit: int) -> tuple[Outbound, ...]:
    """Split a message into chunks that its channel can send. The first one is the reply, the last one has the
    attachments.
    """
    whole = apply_fallbacks(whole, can)
    texts = split_text(whole.text, limit) if limit else (whole.text,)
    last = len(texts or ("",)) - 1
    return tuple(
        replace(
            whole,
            id=OutboxId(f"{whole.id}.{n}"),
            text=text,
            chunk=n,
            about="" if n and whole.action is OutboundAction.SEND else whole.about,
            attachments=whole.attachments if n == last else (),
            buttons=whole.buttons if n == last else (),
            poll=whole.poll if n == last else (),
        )
        for n, text in enumerate(texts or ("",))
    )


def _newest_from(to: Address, turn: Turn) -> Inbound | None:
    return next((each for each in reversed((*turn.inbounds, *turn.joined)) if each.origin == to), None)


def _spelled(to: Address) -> str:
    return f"{to.channel}:{to.chat}".casefold()
