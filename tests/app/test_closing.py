"""What is opened last is closed first: jobs stop, turns are put back, then channels close, then features."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from hob.app.composition import open_app
from hob.app.contribution import Contribution, Job
from hob.app.kernel import Kernel
from hob.app.running_app import RunningServices
from hob.app.settings.sections import SECTIONS
from hob.app.subsystem import Open, Subsystem
from hob.config.loading import load_config
from hob.core.errors import ShuttingDown
from hob.core.lazy import Lazy
from hob.core.ports.accept import Accept
from hob.testing.channel import MemoryChannel, message
from hob.testing.model import ScriptedModel
from tests.stand_ins import stand_ins


class Noting(MemoryChannel):
    """Notes when it closes, and whether messages are taken then."""

    def __init__(self, noted: list[str]) -> None:
        super().__init__("noting")
        self.noted = noted

    @asynccontextmanager
    async def run(self, accept: Accept) -> AsyncIterator[None]:
        self.noted.append("channel opens")
        async with super().run(accept):
            yield
        try:
            await accept(message("late", channel="noting"))
        except ShuttingDown:
            self.noted.append("channel closes, nothing is taken")


async def test_jobs_stop_before_channels_close_and_features_close_last(tmp_path: Path) -> None:
    noted: list[str] = []
    begun = asyncio.Event()

    async def run(running: RunningServices) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            noted.append("job stops")

    @asynccontextmanager
    async def opening(_: Kernel) -> AsyncIterator[Contribution]:
        noted.append("feature opens")
        yield Contribution(channels=(Noting(noted),), jobs=(Job("noting", run),))
        noted.append("feature closes")

    def load() -> Open:
        return opening

    feature = Subsystem(name="noting", open=Lazy(load))
    environ = {"HOB_MODEL_BASE_URL": "http://127.0.0.1:9/v1", "HOB_WORKSPACE_PATH": str(tmp_path / "w")}
    config = load_config(SECTIONS, home=tmp_path / "state", environ=environ)
    async with open_app(config.home, config, subsystems=(*stand_ins(ScriptedModel()), feature)) as app:
        await begun.wait()
        assert app.operations.accepting()
    assert noted == [
        "feature opens", "channel opens", "job stops", "channel closes, nothing is taken", "feature closes",
    ]  # fmt: skip
