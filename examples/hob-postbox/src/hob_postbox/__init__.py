"""A channel in one file: letters are text files in `in`, answers are written to `out`."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from hob.core.errors import NotAllowed
from hob.core.ids import new_inbound_id, new_trace_id
from hob.core.messages import Address, Inbound, Outbound, Sender
from hob.core.ports.accept import Accept
from hob.core.ports.channel import Delivered, Repeats
from hob.core.settings import setting
from hob.core.trust.labels import Label, Origin, Trust


@dataclass(frozen=True)
class PostboxSettings:
    """`[postbox]` in config.toml."""

    folder: Path = setting(Path("~/postbox"), "Where letters are put and answers are found.")


class Postbox:
    """Implements `hob.core.ports.channel.Channel`. `hob people link postbox:folder owner` makes you its sender."""

    settings = PostboxSettings
    name = "postbox"
    account = ""
    repeats = Repeats.SHOWN_ONCE
    text_limit = 100_000

    def __init__(self, settings: PostboxSettings) -> None:
        self._in, self._out = settings.folder / "in", settings.folder / "out"

    def run(self, accept: Accept) -> AbstractAsyncContextManager[None]:
        """Receive letters while the block is open."""
        return self._run(accept)

    @asynccontextmanager
    async def _run(self, accept: Accept) -> AsyncIterator[None]:
        for folder in (self._in, self._out):
            folder.mkdir(parents=True, exist_ok=True)
        async with asyncio.TaskGroup() as group:
            receiving = group.create_task(self._receive(accept))
            yield
            receiving.cancel()

    async def _receive(self, accept: Accept) -> None:
        while True:
            for letter in sorted(self._in.glob("*.txt")):
                inbound = Inbound(
                    id=new_inbound_id(),
                    key=letter.stem,  # a letter found again after a crash is answered once
                    origin=Address(channel=self.name, chat="folder"),
                    sender=Sender(id="folder"),
                    text=letter.read_text("utf-8"),
                    label=Label(Origin.STRANGER, Trust.UNTRUSTED),  # Hob decides who the sender is: `hob people link`
                    trace=new_trace_id(),
                )
                try:
                    await accept(inbound)
                except NotAllowed as refused:
                    if refused.line:  # says how to be admitted
                        (self._out / f"{letter.stem}.refused.txt").write_text(refused.line, "utf-8")
                letter.unlink()  # the message is durable: `accept` has returned
            await asyncio.sleep(0.5)

    async def send(self, message: Outbound) -> Delivered:
        """Write the answer to `out`, named by its key."""
        (self._out / f"{message.id}.txt").write_text(message.text, "utf-8")
        return Delivered(message.id)
