"""Capabilities of channels: replies, edits, deletes, reactions, polls, buttons, files."""

from typing import Protocol, runtime_checkable

from hob.core.ports.channel import Channel
from hob.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a channel can beyond sending text; what it cannot reaches people in the nearest plain form.

    `buttons` and `files` are how many one message may have.
    """

    replies: bool = False
    edits: bool = False
    deletes: bool = False
    reactions: bool = False
    polls: bool = False
    buttons: int = 0
    files: int = 0


PLAIN = Capabilities()
"""Those of a channel that says nothing of them."""


@dataclass(frozen=True, slots=True)
class ChatLine:
    """A message as it stands in a chat: the platform's id, who wrote it, and what."""

    id: str
    sender: str
    text: str


@runtime_checkable
class Capable(Protocol):
    """A channel that can more than text. A press of a button comes in as a message with the button's answer."""

    @property
    def capabilities(self) -> Capabilities: ...


def capabilities_of(channel: Channel) -> Capabilities:
    """What this channel can."""
    return channel.capabilities if isinstance(channel, Capable) else PLAIN
