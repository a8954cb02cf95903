"""Draining: the time that running turns have before the daemon stops (`bus.drain_seconds`)."""

import asyncio

from hob.app.composition import App
from hob.bus.settings import BusSettings
from hob.config.environment import process_environment
from hob.core.translation.language import detect_language, translate_plural


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
    """Return the notice of a Hob that exits before its background commands, in the terminal's language; else ""."""
    if not running:
        return ""
    notice = translate_plural(
        "1 command in the background ends with this command; with `hob serve` running, it would run on",
        "{count} commands in the background end with this command; with `hob serve` running, they would run on",
        running,
        detect_language(process_environment()),
    )
    return notice.format(count=running)
