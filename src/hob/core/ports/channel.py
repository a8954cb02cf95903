"""Port of channels: receiving and sending on one platform."""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from enum import StrEnum
from typing import Protocol

from hob.core.messages import Outbound
from hob.core.ports.accept import Accept
from hob.core.values import dataclass


class Repeats(StrEnum):
    """Effect of sending the same message twice: a channel's delivery guarantee (architecture, promise 4)."""

    SHOWN_ONCE = "shown_once"  # the channel takes an idempotency key, or sent messages can be read back
    SHOWN_AGAIN = "shown_again"  # a duplicate is possible after a crash
    NEVER = "never"  # park the message rather than risk a duplicate


@dataclass(frozen=True, slots=True)
class Delivered:
    """Confirmation of delivery. `receipt` is the platform's message id, if it gives one."""

    receipt: str = ""


class Channel(Protocol):
    """One account on one platform."""

    name: str
    account: str
    repeats: Repeats
    text_limit: int
    """Maximum characters per message."""

    def run(self, accept: Accept) -> AbstractAsyncContextManager[None]:
        """Receive messages while the block is open."""

    async def send(self, message: Outbound) -> Delivered:
        """Send one chunk; `message.id` is the idempotency key. Raises SendFailed."""


class ChannelState(Protocol):
    """Durable key-value state of one channel account (cursors, platform tokens)."""

    async def get(self, channel: str, account: str) -> Mapping[str, str]:
        """Return all values."""

    async def put(self, channel: str, account: str, values: Mapping[str, str]) -> None:
        """Set these keys in one transaction; an empty value removes its key."""
