"""Serving an ASGI application on sockets that are already open, for as long as a block is."""

import asyncio
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import uvicorn
from starlette.types import ASGIApp


@asynccontextmanager
async def serve(app: ASGIApp, sockets: Sequence[socket.socket], *, grace: float) -> AsyncIterator[None]:
    """Serve while the block is open; then stop listening and give open requests `grace` seconds to end."""
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        lifespan="off",
        server_header=False,
        date_header=False,
        ws="none",
        timeout_graceful_shutdown=max(1, round(grace)),
        http="httptools",
        loop="asyncio",
    )
    config.load()
    server = uvicorn.Server(config)
    server.lifespan = config.lifespan_class(config)
    # uvicorn's own main loop wakes ten times a second for a date header and a counter that are off here; without
    # it an idle daemon is idle
    await server.startup(list(sockets))
    try:
        yield
    finally:
        for connection in list(server.server_state.connections):
            connection.shutdown()
        await asyncio.shield(server.shutdown(list(sockets)))
