"""Hob in conversation with its owner: `remembering.py HOME MODEL_URL ROUND`.

The owner owns another kite with each message, and each is printed once Hob has accepted it. With each round it is an
hour later, so that the conversation before it has ended.
"""

import asyncio
import itertools
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2]))  # this is run by its path
from hob.app.composition import App, open_app
from hob.app.settings.sections import SECTIONS
from hob.config.loading import load_config
from hob.core.clock import SystemClock
from hob.core.ports.guard import Admission
from hob.testing.channel import MemoryChannel
from tests.journeys.harness import OwnerEverywhere
from tests.stand_ins import stand_ins

AT_ONCE = 3
"""Messages that are sent before the answers are waited for."""


class LaterClock(SystemClock):
    """The machine's clock, some hours ahead."""

    def __init__(self, hours: int) -> None:
        self._ahead = timedelta(hours=hours)

    def now(self) -> datetime:
        return super().now() + self._ahead


@asynccontextmanager
async def opened(home: Path, url: str, hours: int) -> AsyncIterator[tuple[App, MemoryChannel]]:
    """Hob with an embedder and work in the background, at this hour."""
    settings = {
        "HOB_MODEL_BASE_URL": url,
        "HOB_MODEL_NAME": "fake-1",
        "HOB_MODEL_EMBEDDING": "fake-embed",
        "HOB_WORKSPACE_PATH": str(home / "workspace"),
        "HOB_MEMORY_BACKGROUND_TOKENS": "1000000000",
        "HOB_MEMORY_OBSERVE_AFTER": "10",
        "HOB_MEMORY_MAX_OBSERVATIONS": str(20 + hours),  # there is more and more to condense
        "HOB_BUS_SUSPECT_SECONDS": "1",
    }
    channel, state = MemoryChannel(), home / "state"
    features = stand_ins(channels=(channel,), wraps={Admission: lambda _: OwnerEverywhere()})
    config = load_config(SECTIONS, home=state, environ=settings)
    async with open_app(state, config, subsystems=features, clock=LaterClock(hours)) as app:
        yield app, channel


async def talk(home: Path, url: str, round_: int) -> None:
    """Talk for ever."""
    async with opened(home, url, round_) as (_, channel):
        for n in itertools.count():
            name = f"kite{round_}x{n}"
            await channel.say(f"I own {name} and fly it in the garden.", key=name)
            print(name, flush=True)
            while n % AT_ONCE == 0 and not any(name in each.text for each in channel.sent):  # noqa: ASYNC110
                await asyncio.sleep(0.005)


if __name__ == "__main__":
    asyncio.run(talk(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
