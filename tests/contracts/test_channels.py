"""Every channel keeps the contract, and the contract finds those that do not."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from hob.channels.webhooks.channel import OutgoingWebhooks
from hob.channels.webhooks.settings import WebhookOutSettings
from hob.core.clock import SystemClock
from hob.core.content.capabilities import Capabilities
from hob.core.errors import SendFailed
from hob.core.messages import Outbound, OutboundAction
from hob.core.ports.channel import Delivered, Repeats
from hob.core.settings import Secret
from hob.testing.channel import MemoryChannel
from hob.testing.channel_check import Platform, ShownMessage, check_channel
from tests.channels.receiving import SECRET, Receiver, receiving

EVERYTHING = Capabilities(replies=True, edits=True, deletes=True, reactions=True, polls=True, buttons=8, files=4)


class MemoryPlatform:
    def __init__(self, channel: MemoryChannel) -> None:
        self.channel = channel

    def shown(self) -> Sequence[ShownMessage]:
        found: dict[str, ShownMessage] = {}
        for each in self.channel.sent:
            match each.action:
                case OutboundAction.EDIT:
                    found[each.about] = replace(found[each.about], text=each.text)
                case OutboundAction.DELETE:
                    del found[each.about]
                case OutboundAction.REACT:
                    found[each.about] = replace(found[each.about], reactions=(each.text,))
                case OutboundAction.SEND:
                    buttons = tuple(button.label for button in each.buttons)
                    files = tuple(file.name for file in each.attachments)
                    key = each.id if each.id not in found else f"{each.id} again"
                    found[key] = ShownMessage(each.to.chat, each.text, buttons, files, each.poll, answers=each.about)
        return list(found.values())

    def break_down(self, fault: SendFailed) -> None:
        self.channel.faults.append(fault)

    async def write(self, text: str, key: str) -> None:
        await self.channel.say(text, key=key)


@asynccontextmanager
async def once() -> AsyncIterator[Platform]:
    yield MemoryPlatform(MemoryChannel())


@asynccontextmanager
async def again() -> AsyncIterator[Platform]:
    yield MemoryPlatform(MemoryChannel(repeats=Repeats.SHOWN_AGAIN))


@asynccontextmanager
async def capable() -> AsyncIterator[Platform]:
    yield MemoryPlatform(MemoryChannel(capabilities=EVERYTHING))


class Boastful(MemoryChannel):
    """Says that it shows buttons, and does not."""

    async def send(self, message: Outbound) -> Delivered:
        return await super().send(replace(message, buttons=()))


@asynccontextmanager
async def boastful() -> AsyncIterator[Platform]:
    yield MemoryPlatform(Boastful(capabilities=EVERYTHING))


async def test_channel_that_can_everything_keeps_the_contract() -> None:
    await check_channel(capable)


async def test_channel_that_claims_what_it_does_not_show_is_found() -> None:
    with pytest.raises(AssertionError, match="buttons"):
        await check_channel(boastful)


class Forgetful(MemoryChannel):
    """Says that it shows a key once, and does not."""

    async def send(self, message: Outbound) -> Delivered:
        self.sent.append(message)
        return Delivered()


@asynccontextmanager
async def forgetful() -> AsyncIterator[Platform]:
    yield MemoryPlatform(Forgetful())


async def test_channel_that_takes_keys_keeps_the_contract() -> None:
    await check_channel(once)


async def test_channel_that_repeats_keeps_the_contract() -> None:
    await check_channel(again)


async def test_channel_that_lies_about_repeats_is_found() -> None:
    with pytest.raises(AssertionError, match="SHOWN_ONCE"):
        await check_channel(forgetful)


async def test_directory_channel_shows_one_key_once(tmp_path: Path) -> None:
    from hob.core.ids import TurnId, new_trace_id, outbox_id
    from hob.core.messages import Address, OutboundKind
    from hob.testing.channel import SpoolChannel

    channel = SpoolChannel(tmp_path / "spool")
    id = outbox_id(TurnId("t_1"), 0)
    message = Outbound(id, Address("spool", "chat"), "hi", OutboundKind.REPLY, None, new_trace_id())
    async with channel.run(None):  # type: ignore[arg-type]
        await channel.send(message)
        await channel.send(message)
    assert [shown["text"] for shown in channel.shown()] == ["hi"]


class WebhookPlatform:
    """A receiver of webhooks that follows `docs/how-to/send-webhooks.md`: it takes each `webhook-id` once."""

    def __init__(self, receiver: Receiver) -> None:
        settings = WebhookOutSettings(receiver.url, Secret.of(SECRET), allow_private=True)
        self.channel = OutgoingWebhooks({"chat": settings}, SystemClock())
        self._receiver = receiver

    def shown(self) -> Sequence[ShownMessage]:
        taken = {told.id: told.json for told in self._receiver.told if told.answer.startswith("2")}
        found: dict[str, ShownMessage] = {}
        for id, event in taken.items():
            data = event["data"]
            text, about = data.get("text", ""), data.get("about", "")
            match data["action"]:
                case OutboundAction.EDIT:
                    found[about] = replace(found[about], text=text)
                case OutboundAction.DELETE:
                    del found[about]
                case OutboundAction.REACT:
                    found[about] = replace(found[about], reactions=(text,))
                case OutboundAction.SEND:
                    buttons = tuple(each["label"] for each in data.get("buttons", ()))
                    found[id] = ShownMessage("chat", text, buttons, poll=tuple(data.get("poll", ())), answers=about)
        return list(found.values())

    def break_down(self, fault: SendFailed) -> None:
        self._receiver.answers.append("503 Service Unavailable")

    async def write(self, text: str, key: str) -> None:
        raise AssertionError("receivers do not write back")


@asynccontextmanager
async def webhooks() -> AsyncIterator[Platform]:
    async with receiving() as receiver:
        yield WebhookPlatform(receiver)


async def test_outgoing_webhooks_keep_the_contract() -> None:
    await check_channel(webhooks, receives=False)
