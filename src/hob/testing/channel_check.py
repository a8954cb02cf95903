"""Contract check for `hob.core.ports.channel.Channel`."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Protocol

from hob.core.content.capabilities import get_capabilities
from hob.core.errors import SendFailed
from hob.core.ids import SessionKey, TurnId, new_trace_id, outbox_id
from hob.core.messages import Address, Attachment, Button, Inbound, Outbound, OutboundAction, OutboundKind
from hob.core.ports.accept import Accepted
from hob.core.ports.channel import Channel, Repeats
from hob.core.values import dataclass
from hob.testing.promises import require


@dataclass(frozen=True, slots=True)
class ShownMessage:
    """One message as users of the platform see it."""

    chat: str
    text: str
    buttons: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    poll: tuple[str, ...] = ()
    reactions: tuple[str, ...] = ()
    answers: str = ""
    """Platform id of the message it replies to."""


class Platform(Protocol):
    """The other side of a channel, faithful enough for tests; `channel` is the adapter connected to it."""

    @property
    def channel(self) -> Channel: ...

    def shown(self) -> Sequence[ShownMessage]:
        """Return everything users see now, in order: with edits, without deleted messages."""

    def break_down(self, fault: SendFailed) -> None:
        """Make the next send fail with this fault."""

    async def write(self, text: str, key: str) -> None:
        """Write a message in `chat`; its platform id is `key`."""


Make = Callable[[], AbstractAsyncContextManager[Platform]]


class _RecordingAccept:
    """An `Accept` that records messages."""

    def __init__(self) -> None:
        self.inbounds: list[Inbound] = []

    async def __call__(self, inbound: Inbound) -> Accepted:
        self.inbounds.append(inbound)
        return Accepted(inbound.id, inbound.trace, SessionKey(inbound.origin.key()))


async def check_channel(make: Make, *, receives: bool = True) -> None:
    """Check the contract. Raises AssertionError that names the broken promise.

    `receives` is False for a channel that only sends.
    """
    for check in (*_CHECKS, _hands_messages_in) if receives else _CHECKS:
        async with make() as platform:
            box = _RecordingAccept()
            async with platform.channel.run(box):
                await check(platform, box)


async def _sends_the_text(platform: Platform, _: _RecordingAccept) -> None:
    await platform.channel.send(_outbound(platform, "Grüß Gott, 你好 😀\n\nsecond line", 0))
    texts = [shown.text for shown in platform.shown()]
    require(texts == ["Grüß Gott, 你好 😀\n\nsecond line"], f"a text arrives as it was sent, not as {texts!r}")


async def _keeps_its_class(platform: Platform, _: _RecordingAccept) -> None:
    message = _outbound(platform, "once", 0)
    await platform.channel.send(message)
    await platform.channel.send(message)
    count = len(platform.shown())
    if platform.channel.repeats is Repeats.SHOWN_ONCE:
        require(count == 1, f"a channel that is SHOWN_ONCE showed one key {count} times")
    else:
        require(count == 2, f"a channel that shows repeats showed {count}: its class is wrong")


async def _keeps_the_order(platform: Platform, _: _RecordingAccept) -> None:
    for n in range(3):
        await platform.channel.send(_outbound(platform, f"part {n}", n))
    require([shown.text for shown in platform.shown()] == ["part 0", "part 1", "part 2"], "chunks arrive in order")


async def _fails_as_send_failed(platform: Platform, _: _RecordingAccept) -> None:
    platform.break_down(SendFailed("as asked"))
    message = _outbound(platform, "later", 0)
    try:
        await platform.channel.send(message)
    except SendFailed:
        pass
    else:
        raise AssertionError("a failed send raises SendFailed")
    await platform.channel.send(message)
    require([shown.text for shown in platform.shown()] == ["later"], "after a failure the same message can be sent")


async def _takes_the_longest_text(platform: Platform, _: _RecordingAccept) -> None:
    text = "x" * min(platform.channel.text_limit, 50_000)
    await platform.channel.send(_outbound(platform, text, 0))
    require(platform.shown()[-1].text == text, "a text of `text_limit` characters is one message")


async def _hands_messages_in(platform: Platform, box: _RecordingAccept) -> None:
    await platform.write("hello", "k1")
    await platform.write("hello", "k2")
    texts = [(inbound.text, inbound.key) for inbound in box.inbounds]
    require(texts == [("hello", "k1"), ("hello", "k2")], f"each message comes in once, with its key, not {texts!r}")
    origin = box.inbounds[0].origin
    require(origin.channel == platform.channel.name, "the origin names the channel")
    require(origin.account == platform.channel.account, "the origin names the account")
    require(bool(origin.chat), "the origin names a chat that can be answered")


async def _shows_what_it_says_it_can(platform: Platform, _: _RecordingAccept) -> None:
    can = get_capabilities(platform.channel)
    plain = _outbound(platform, "Which?", 0)
    first = await platform.channel.send(plain)
    told: list[tuple[str, Outbound, Callable[[ShownMessage], object]]] = [
        ("buttons", replace(plain, buttons=(Button("Tea", "tea"),)), lambda shown: shown.buttons == ("Tea",)),
        (
            "files",
            replace(plain, attachments=(Attachment("text/plain", "a.txt"),)),
            lambda shown: shown.files == ("a.txt",),
        ),
        ("polls", replace(plain, poll=("Tea", "Coffee")), lambda shown: shown.poll == ("Tea", "Coffee")),
        ("replies", replace(plain, about=first.receipt), lambda shown: shown.answers == first.receipt),
    ]
    for n, (name, message, holds) in enumerate(told, start=1):
        if getattr(can, name):
            await platform.channel.send(replace(message, id=outbox_id(TurnId("t_check"), n)))
            require(bool(holds(platform.shown()[-1])), f"a channel with {name} shows them")


async def _changes_what_it_sent(platform: Platform, _: _RecordingAccept) -> None:
    can = get_capabilities(platform.channel)
    plain = _outbound(platform, "old", 0)
    about = (await platform.channel.send(plain)).receipt
    changed = replace(plain, about=about, chunk=1)
    if can.edits:
        edit = replace(changed, id=outbox_id(TurnId("t_check"), 1), action=OutboundAction.EDIT, text="new")
        await platform.channel.send(edit)
        require([each.text for each in platform.shown()] == ["new"], "an edit replaces the text, and adds no message")
    if can.reactions:
        react = replace(changed, id=outbox_id(TurnId("t_check"), 2), action=OutboundAction.REACT, text="\U0001f44d")
        await platform.channel.send(react)
        require(platform.shown()[-1].reactions == ("\U0001f44d",), "a reaction stands at its message")
    if can.deletes:
        await platform.channel.send(
            replace(changed, id=outbox_id(TurnId("t_check"), 3), action=OutboundAction.DELETE, text="")
        )
        require(platform.shown() == [], "what was deleted is seen no more")


_CHECKS: tuple[Callable[[Platform, _RecordingAccept], Awaitable[None]], ...] = (
    _sends_the_text,
    _keeps_its_class,
    _keeps_the_order,
    _fails_as_send_failed,
    _takes_the_longest_text,
    _shows_what_it_says_it_can,
    _changes_what_it_sent,
)


def _outbound(platform: Platform, text: str, chunk: int) -> Outbound:
    channel = platform.channel
    turn = TurnId("t_check")
    to = Address(channel=channel.name, account=channel.account, chat="chat")
    return Outbound(outbox_id(turn, chunk), to, text, OutboundKind.REPLY, turn, new_trace_id(), chunk)
