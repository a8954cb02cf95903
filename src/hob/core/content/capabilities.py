"""Channel capabilities: replies, edits, deletes, reactions, polls, buttons, files."""

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from hob.core.ports.channel import Channel
from hob.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Capabilities:
    """Features of a channel beyond sending text. Anything missing is replaced by the nearest plain form.

    `buttons` and `files` are the maximum per message.
    """

    replies: bool = False
    edits: bool = False
    deletes: bool = False
    reactions: bool = False
    polls: bool = False
    buttons: int = 0
    files: int = 0


TEXT_ONLY = Capabilities()
"""Capabilities of a channel that declares none."""

CLIENTS: Mapping[str, Capabilities] = {
    "api": Capabilities(replies=True, polls=True, buttons=25, files=10),
    "local": Capabilities(replies=True, files=10),
}
"""Capabilities of the API and the terminal, whose clients fetch their messages. What was fetched cannot be changed."""


@dataclass(frozen=True, slots=True)
class ChatLine:
    """A message as it appears in a chat: platform id, author and text."""

    id: str
    sender: str
    text: str


@runtime_checkable
class Capable(Protocol):
    """A channel that supports more than text. A pressed button arrives as a message with the button's answer."""

    @property
    def capabilities(self) -> Capabilities: ...


def get_capabilities(channel: Channel) -> Capabilities:
    """Return the channel's capabilities."""
    return channel.capabilities if isinstance(channel, Capable) else TEXT_ONLY
