"""Draining: the time that running turns have before the daemon stops (`bus.drain_seconds`)."""

import asyncio

from hob.app.composition import App
from hob.bus.settings import BusSettings


async def drain(app: App, forced: asyncio.Event) -> None:
    """Wait for running turns to end, within the configured time or until `forced`."""
    seconds = app.config[BusSettings].drain_seconds
    async with asyncio.TaskGroup() as group:
        draining = group.create_task(app.bus.drain(seconds))
        forcing = group.create_task(forced.wait())
        await asyncio.wait({draining, forcing}, return_when=asyncio.FIRST_COMPLETED)
        if not draining.done():
            await app.bus.drain(0)
        forcing.cancel()


def commands_notice(running: int) -> str:
    """Return the notice for a terminal whose Hob exits before its background commands; empty if there are none."""
    if not running:
        return ""
    what = "1 command in the background ends" if running == 1 else f"{running} commands in the background end"
    return f"{what} with this command; with `hob serve` running, such commands run on"
