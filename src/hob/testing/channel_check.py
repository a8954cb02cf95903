"""The promises of `hob.core.ports.channel.Channel`, as a function that any implementation is run through."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from hob.core.errors import SendFailed
from hob.core.ids import SessionKey, TurnId, new_trace_id, outbox_id
from hob.core.messages import Address, Inbound, Outbound, OutboundKind
from hob.core.ports.accept import Accepted
from hob.core.ports.channel import Channel, Repeats
from hob.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Shown:
    """One message as the people on the platform see it."""

    chat: str
    text: str


class Platform(Protocol):
    """The other side of a channel, faithful enough to test against; `channel` is the adapter connected to it."""

    @property
    def channel(self) -> Channel: ...

    def shown(self) -> Sequence[Shown]:
        """Everything people were shown, in order."""

    def break_down(self, fault: SendFailed) -> None:
        """The next send fails so."""

    async def write(self, text: str, key: str) -> None:
        """Somebody writes in chat `chat`; the platform's id of the message is `key`."""


Make = Callable[[], AbstractAsyncContextManager[Platform]]


class _Box:
    """An `Accept` that keeps what it was given."""

    def __init__(self) -> None:
        self.inbounds: list[Inbound] = []

    async def __call__(self, inbound: Inbound) -> Accepted:
        self.inbounds.append(inbound)
        return Accepted(inbound.id, inbound.trace, SessionKey(inbound.origin.key()))


async def check_channel(make: Make) -> None:
    """Raises AssertionError, naming the promise that was broken."""
    for check in _CHECKS:
        async with make() as platform:
            box = _Box()
            async with platform.channel.run(box):
                await check(platform, box)


async def _sends_the_text(platform: Platform, _: _Box) -> None:
    await platform.channel.send(_outbound(platform, "Grüß Gott, 你好 😀\n\nsecond line", 0))
    texts = [shown.text for shown in platform.shown()]
    _require(texts == ["Grüß Gott, 你好 😀\n\nsecond line"], f"a text arrives as it was sent, not as {texts!r}")


async def _keeps_its_class(platform: Platform, _: _Box) -> None:
    message = _outbound(platform, "once", 0)
    await platform.channel.send(message)
    await platform.channel.send(message)
    count = len(platform.shown())
    if platform.channel.repeats is Repeats.SHOWN_ONCE:
        _require(count == 1, f"a channel that is SHOWN_ONCE showed one key {count} times")
    else:
        _require(count == 2, f"a channel that shows repeats showed {count}: its class is wrong")


async def _keeps_the_order(platform: Platform, _: _Box) -> None:
    for n in range(3):
        await platform.channel.send(_outbound(platform, f"part {n}", n))
    _require([shown.text for shown in platform.shown()] == ["part 0", "part 1", "part 2"], "chunks arrive in order")


async def _fails_as_send_failed(platform: Platform, _: _Box) -> None:
    platform.break_down(SendFailed("as asked"))
    message = _outbound(platform, "later", 0)
    try:
        await platform.channel.send(message)
    except SendFailed:
        pass
    else:
        raise AssertionError("a failed send raises SendFailed")
    await platform.channel.send(message)
    _require([shown.text for shown in platform.shown()] == ["later"], "after a failure the same message can be sent")


async def _takes_the_longest_text(platform: Platform, _: _Box) -> None:
    text = "x" * min(platform.channel.text_limit, 50_000)
    await platform.channel.send(_outbound(platform, text, 0))
    _require(platform.shown()[-1].text == text, "a text of `text_limit` characters is one message")


async def _hands_messages_in(platform: Platform, box: _Box) -> None:
    await platform.write("hello", "k1")
    await platform.write("hello", "k2")
    texts = [(inbound.text, inbound.key) for inbound in box.inbounds]
    _require(texts == [("hello", "k1"), ("hello", "k2")], f"each message comes in once, with its key, not {texts!r}")
    origin = box.inbounds[0].origin
    _require(origin.channel == platform.channel.name, "the origin names the channel")
    _require(origin.account == platform.channel.account, "the origin names the account")
    _require(bool(origin.chat), "the origin names a chat that can be answered")


_CHECKS: tuple[Callable[[Platform, _Box], Awaitable[None]], ...] = (
    _sends_the_text,
    _keeps_its_class,
    _keeps_the_order,
    _fails_as_send_failed,
    _takes_the_longest_text,
    _hands_messages_in,
)


def _outbound(platform: Platform, text: str, chunk: int) -> Outbound:
    channel = platform.channel
    turn = TurnId("t_check")
    to = Address(channel=channel.name, account=channel.account, chat="chat")
    return Outbound(outbox_id(turn, chunk), to, text, OutboundKind.REPLY, turn, new_trace_id(), chunk)


def _require(holds: bool, promise: str) -> None:
    if not holds:
        raise AssertionError(f"broken promise: {promise}")
