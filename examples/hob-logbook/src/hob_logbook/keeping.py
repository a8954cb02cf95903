"""Opening of the logbook."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from hob.core.memory import Memory
from hob.core.trust.labels import Label, Origin, Trust
from hob.plugin.opened import Contribution, Job, Kernel, RunningServices
from hob_logbook import LogbookSettings

_PAUSE = 300.0


@asynccontextmanager
async def open_logbook(kernel: Kernel) -> AsyncIterator[Contribution]:
    """Open the layer, which follows the file every five minutes. Its text is untrusted, like all files."""
    file, layer = kernel.config[LogbookSettings].file, kernel.layer("logbook")

    async def look(_: RunningServices) -> None:
        while True:
            with suppress(FileNotFoundError):
                lines = (await asyncio.to_thread(file.read_text, "utf-8")).splitlines()
                label = Label(Origin.FILE, Trust.UNTRUSTED)
                await layer.replace(file.name, [Memory(line, "", label) for line in lines if line.strip()])
            await kernel.clock.sleep(_PAUSE)

    yield Contribution(jobs=(Job("look", look),))
