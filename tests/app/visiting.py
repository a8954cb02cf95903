"""Hob with its admission: the real application, two channels in memory, and people who write to it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hob.app.composition import App, open_app
from hob.app.contribution import Wraps
from hob.app.settings.sections import SECTIONS
from hob.app.subsystem import Subsystem
from hob.config.loading import load_config
from hob.core.errors import NotAllowed
from hob.core.messages import Inbound
from hob.core.ports.accept import Accepted
from hob.core.ports.tools import Toolset
from hob.testing.channel import MemoryChannel
from hob.testing.clock import ManualClock
from hob.testing.model import Line, ScriptedModel
from tests.guard.admission_bench import written
from tests.stand_ins import stand_ins

ME, ANNA, EVE = "1", "2", "9"
"""The owner's id on Telegram, that of a member, and that of somebody nobody knows."""


@dataclass
class Visited:
    """One run of Hob."""

    app: App
    model: ScriptedModel
    clock: ManualClock
    channels: dict[str, MemoryChannel]

    @property
    def seen(self) -> str:
        """All that the model was shown with the last request."""
        request = self.model.requests[-1]
        return "\n".join((request.system, *(entry.text for entry in request.messages)))

    async def comes(
        self, text: str = "hello", sender: str = EVE, channel: str = "telegram", **changes: Any
    ) -> Accepted:
        """A message comes in; NotAllowed and the like are raised."""
        made = changes.pop("made", None) or written(text, sender, channel, **changes)
        return await self.channels[channel].receive(made)

    async def refused(self, text: str = "hello", sender: str = EVE, **changes: Any) -> str:
        """What somebody is told whose message is not taken."""
        try:
            await self.comes(text, sender, **changes)
        except NotAllowed as refused:
            return refused.line
        raise AssertionError("it was taken")

    async def answer(self, text: str, sender: str, **changes: Any) -> str:
        """What is sent back, whole."""
        channel = self.channels[changes.get("channel", "telegram")]
        before = len(channel.sent)
        await self.comes(text, sender, **changes)
        await until(lambda: len(channel.sent) > before)
        return channel.sent[-1].text

    def sent(self, chat: str, channel: str = "telegram") -> list[str]:
        """What was sent to a chat."""
        return [each.text for each in self.channels[channel].sent if each.to.chat == chat]

    async def knows(self) -> None:
        """The owner links their own address and Anna's."""
        await self.app.api.people.link(f"telegram:{ME}", "owner", "")
        await self.app.api.people.link(f"telegram:{ANNA}", "anna", "Anna")


@asynccontextmanager
async def visited(
    home: Path,
    *script: Line,
    clock: ManualClock | None = None,
    own_id: str = "",
    toolset: Toolset | None = None,
    further: Sequence[Subsystem] = (),
    **environ: str,
) -> AsyncIterator[Visited]:
    """A run over this home with these settings, given as in the environment, and with further features."""
    settings = {
        "HOB_MODEL_BASE_URL": "http://127.0.0.1:9/v1",
        "HOB_MODEL_NAME": "scripted",
        "HOB_WORKSPACE_PATH": str(home / "workspace"),
    }
    state = home / "state"  # beside the workspace: what lies in it is closed to tools
    config = load_config(SECTIONS, home=state, environ=settings | environ)
    model = ScriptedModel(*script, otherwise="Yes.")
    time = clock or ManualClock()
    channels = {name: MemoryChannel(name, own_id=own_id) for name in ("telegram", "signal", "email")}
    wraps: Wraps = {} if toolset is None else {Toolset: lambda _: toolset}
    subsystems = stand_ins(model, channels=tuple(channels.values()), wraps=wraps)
    async with open_app(state, config, subsystems=(*subsystems, *further), clock=time) as app:
        yield Visited(app, model, time, channels)


async def until(condition: Callable[[], bool]) -> None:
    """Wait for what real threads bring about. Raises TimeoutError after ten seconds."""
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110 - the condition is the test's, nobody sets an event for it
            await asyncio.sleep(0.002)


def in_group(text: str, sender: str = ANNA, chat: str = "-100", **changes: Any) -> Inbound:
    """A message in a group."""
    made = written(text, sender, chat=chat, group=True, **changes)
    return replace(made, origin=replace(made.origin, chat=chat))
