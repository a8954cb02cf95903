"""The port of channels: receiving and sending on one platform."""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from enum import StrEnum
from typing import Protocol

from hob.core.messages import Outbound
from hob.core.ports.accept import Accept
from hob.core.values import dataclass


class Repeats(StrEnum):
    """What sending the same message twice does; a channel's delivery class (architecture, promise 4)."""

    SHOWN_ONCE = "shown_once"  # the channel takes a key, or what was sent can be read back
    SHOWN_AGAIN = "shown_again"  # a repeat is possible after a crash
    NEVER = "never"  # rather park than repeat


@dataclass(frozen=True, slots=True)
class Delivered:
    """The channel has it. `receipt` is the platform's id of the message, if it gives one."""

    receipt: str = ""


class Channel(Protocol):
    """One account on one platform."""

    name: str
    account: str
    repeats: Repeats
    text_limit: int
    """The most characters one message may have."""

    def run(self, accept: Accept) -> AbstractAsyncContextManager[None]:
        """Receive while the block is open."""

    async def send(self, message: Outbound) -> Delivered:
        """Send one chunk; `message.id` is the idempotency key. Raises SendFailed."""


class ChannelState(Protocol):
    """Durable key-value state of one account of one channel (cursors, tokens of the platform)."""

    async def get(self, channel: str, account: str) -> Mapping[str, str]:
        """All of it."""

    async def put(self, channel: str, account: str, values: Mapping[str, str]) -> None:
        """Set these keys in one transaction; an empty value removes its key."""
