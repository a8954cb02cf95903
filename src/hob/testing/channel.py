"""Test channels: one in memory, and one whose platform is a directory that survives a killed process."""

import json
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from hob.core.content.capabilities import TEXT_ONLY, Capabilities, ChatLine
from hob.core.errors import SendFailed
from hob.core.ids import new_inbound_id, new_trace_id
from hob.core.messages import Address, Inbound, Outbound, OutboundAction, Sender
from hob.core.ports.accept import Accept, Accepted
from hob.core.ports.channel import Delivered, Repeats
from hob.core.trust.labels import OWNER_LABEL, SenderClass


def message(text: str, *, key: str = "", channel: str = "memory", chat: str = "chat", sender: str = "owner") -> Inbound:
    """Return an inbound as a channel makes it from the owner's text."""
    id = new_inbound_id()
    return Inbound(
        id=id,
        key=key or id,
        origin=Address(channel=channel, chat=chat),
        sender=Sender(id=sender, cls=SenderClass.OWNER),
        text=text,
        label=OWNER_LABEL,
        trace=new_trace_id(),
    )


class MemoryChannel:
    """Implements `Channel`: `say` receives a message, `sent` holds sent messages, `faults` are raised in turn."""

    def __init__(
        self,
        name: str = "memory",
        *,
        account: str = "",
        repeats: Repeats = Repeats.SHOWN_ONCE,
        text_limit: int = 4000,
        own_id: str = "",
        capabilities: Capabilities = TEXT_ONLY,
    ) -> None:
        self.name = name
        self.capabilities = capabilities
        self.own_id = own_id
        self.account = account
        self.repeats = repeats
        self.text_limit = text_limit
        self.sent: list[Outbound] = []
        self.faults: list[SendFailed] = []
        self._accept: Accept | None = None

    def run(self, accept: Accept) -> AbstractAsyncContextManager[None]:
        return self._run(accept)

    @asynccontextmanager
    async def _run(self, accept: Accept) -> AsyncIterator[None]:
        self._accept = accept
        try:
            yield
        finally:
            self._accept = None

    async def say(self, text: str, *, key: str = "", chat: str = "chat") -> Accepted:
        """Receive a message from the owner. Raises what `accept` raises, and RuntimeError if closed."""
        return await self.receive(message(text, key=key, channel=self.name, chat=chat))

    async def receive(self, inbound: Inbound) -> Accepted:
        """Receive a message from any sender. Raises what `accept` raises, and RuntimeError if closed."""
        if self._accept is None:
            raise RuntimeError("the channel is closed")
        return await self._accept(inbound)

    async def read(self, chat: Address, limit: int) -> Sequence[ChatLine]:
        """Return the messages sent to a chat, the newest last."""
        there = [each for each in self.sent if each.to.chat == chat.chat and each.action is OutboundAction.SEND]
        return [ChatLine(each.id, "hob", each.text) for each in there[-limit:]]

    async def send(self, message: Outbound) -> Delivered:
        if self.faults:
            raise self.faults.pop(0)
        if self.repeats is Repeats.SHOWN_ONCE and any(earlier.id == message.id for earlier in self.sent):
            return Delivered(message.id)
        self.sent.append(message)
        return Delivered(message.id)


class SpoolChannel:
    """Implements `Channel` over a directory: each sent message is a file named by its idempotency key.

    Like a platform with idempotency keys, it keeps one file if a key is sent twice. `sends` counts the attempts in a
    log, which shows what a crash repeated. Receives nothing.
    """

    def __init__(self, directory: Path, name: str = "spool", *, repeats: Repeats = Repeats.SHOWN_ONCE) -> None:
        self.name = name
        self.account = ""
        self.repeats = repeats
        self.text_limit = 4000
        self._directory = directory

    def run(self, accept: Accept) -> AbstractAsyncContextManager[None]:
        return self._run(accept)

    @asynccontextmanager
    async def _run(self, _: Accept) -> AsyncIterator[None]:
        self._directory.mkdir(parents=True, exist_ok=True)
        yield

    async def send(self, message: Outbound) -> Delivered:
        body = {"id": message.id, "chat": message.to.chat, "text": message.text, "kind": message.kind.value}
        fresh = self._directory / f".{message.id}.{os.getpid()}"
        fresh.write_text(json.dumps(body), "utf-8")
        fresh.rename(self._directory / f"{message.id}.json")
        with (self._directory / "sends.log").open("a") as log:
            log.write(f"{message.id}\n")
        return Delivered(message.id)

    def shown(self) -> list[dict[str, str]]:
        """Return what users of this platform see."""
        return [json.loads(file.read_text("utf-8")) for file in sorted(self._directory.glob("*.json"))]
