"""Being Hob for one message: `hob ask` without a daemon."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable
from typing import Any

from hob.app.client import ConnectionLost
from hob.app.draining import drain
from hob.app.home import own, socket_of
from hob.app.opening import App, open_app
from hob.app.sections import read_config
from hob.bus import BusSettings
from hob.core.ids import InboundId
from hob.gateway.events import Event
from hob.gateway.following import follow, follow_again
from hob.gateway.inbound import owners_inbound
from hob.gateway.sockets import bind_unix


async def one_shot(body: dict[str, Any], key: str, resume: str | None, show: Callable[[Event], None]) -> None:
    """Own the home, run this message (or resume that one) and nothing older, and show its life.

    Others may attach to `hob.sock` meanwhile; what they send is run too. A daemon that starts is handed the home as
    soon as the work in hand has ended, or after `bus.drain_seconds`: then ConnectionLost is raised, and the daemon
    resumes the turn. Raises HomeTaken, ConfigInvalid, StoreErrors.
    """
    logging.basicConfig(level=logging.ERROR)
    config = read_config()
    handed_over = asyncio.Event()
    with own(config.home, "ask"):
        async with (
            open_app(config.home, config, own_only=True, on_hand_over=handed_over.set) as app,
            on_demand(app),
        ):
            told = await _tell(app, await _life(app, body, key, resume), show, handed_over)
            await drain(app, asyncio.Event())
    if not told:
        raise ConnectionLost  # whoever takes the home over resumes the turn and knows the key


async def _tell(
    app: App, events: AsyncIterator[Event], show: Callable[[Event], None], handed_over: asyncio.Event
) -> bool:
    """Show the events to their end; False when the home had to be handed over before that."""

    async def tell() -> None:
        async for event in events:
            show(event)

    async with asyncio.TaskGroup() as group:
        telling = group.create_task(tell())
        called = group.create_task(handed_over.wait())
        await asyncio.wait({telling, called}, return_when=asyncio.FIRST_COMPLETED)
        if not telling.done():
            # the turn may still end within the drain; what is shown after it would be no outcome
            await app.bus.lanes.drain(app.config[BusSettings].drain_seconds)
            await asyncio.wait({telling}, timeout=0.5)
        called.cancel()
        told = telling.done()
        telling.cancel()
    return told


async def _life(app: App, body: dict[str, Any], key: str, resume: str | None) -> AsyncIterator[Event]:
    wait = app.api.settings.wait_seconds
    if resume is None:
        return follow(app.api, owners_inbound(body, key, app.api.clock), wait)
    await app.bus.lanes.adopt(InboundId(resume))
    return follow_again(app.api, InboundId(resume), wait)


@contextlib.asynccontextmanager
async def on_demand(app: App) -> AsyncIterator[None]:
    """Listen on `hob.sock`, and load the HTTP server only when somebody knocks: most one-shots are alone."""
    path = socket_of(app.home)
    listener = bind_unix(path)
    loop = asyncio.get_running_loop()
    knocked = asyncio.Event()
    loop.add_reader(listener, knocked.set)

    async def open_door() -> None:
        await knocked.wait()
        loop.remove_reader(listener)
        from hob.gateway.asgi import build_api  # 60 ms that a lonely one-shot saves
        from hob.gateway.listener import serve

        async with serve(build_api(app.api, local=True), [listener], grace=2):
            await done.wait()

    done = asyncio.Event()
    try:
        async with asyncio.TaskGroup() as group:
            door = group.create_task(open_door())
            yield
            done.set()
            if not knocked.is_set():
                door.cancel()
    finally:
        if not knocked.is_set():
            loop.remove_reader(listener)
        listener.close()
        path.unlink(missing_ok=True)
