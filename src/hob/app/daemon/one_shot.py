"""Running one message or one answer without a daemon: `hob ask` and `hob approvals allow`."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, aclosing
from socket import socket
from typing import Any

from hob.app.composition import App, open_app
from hob.app.daemon.drain import commands_notice, drain
from hob.app.daemon.unix_http import ConnectionLost
from hob.app.home import own, socket_of
from hob.app.logs.log_file import log_file
from hob.app.maintenance.settings import LogSettings
from hob.app.settings.sections import read_config
from hob.bus.settings import BusSettings
from hob.core.errors import NotConfigured
from hob.core.ids import InboundId
from hob.core.lazy import Lazy
from hob.core.translation.code_words import NO_MODEL
from hob.core.translation.language import translatable
from hob.core.turns import WaitsFor
from hob.gateway.approvals import settled_view
from hob.gateway.chat.inbound import ClientEvent, owners_inbound
from hob.gateway.chat.outcome import follow, follow_again
from hob.gateway.http.sockets import bind_unix
from hob.providers.routing.choice import NO_MODEL_NAME


@Lazy
def _serve() -> Callable[[App, socket], AbstractAsyncContextManager[None]]:
    from hob.app.daemon.daemon import serve_locally

    return serve_locally


EventSource = Callable[[App], AsyncGenerator[ClientEvent, None]]
"""Yields the events of one operation on an open application."""


async def one_shot(live: EventSource, show: Callable[[ClientEvent], None]) -> None:
    """Own the home and show the events of one source, until it ends or asks a question.

    Other clients may attach to `hob.sock` meanwhile, and their messages run too. A starting daemon is handed the home
    as soon as the current work ends, or after `bus.drain_seconds`: then ConnectionLost is raised, and the daemon
    resumes the turn. Raises HomeInUse, ConfigInvalid, StoreErrors.
    """
    logging.basicConfig(level=logging.ERROR, format="%(message)s")
    config = read_config()
    handed_over = asyncio.Event()
    with own(config.home, "ask"), log_file(config.home, config[LogSettings]):
        async with (
            open_app(config.home, config, own_only=True, on_handover=handed_over.set) as app,
            serve_on_demand(app),
        ):
            told = await _show_events(app, live(app), show, handed_over)
            await drain(app, asyncio.Event())
            if text := commands_notice(app.services.tool_runtime.running):
                show(ClientEvent("progress", {"what": "commands", "text": text}))
    if not told:
        raise ConnectionLost  # the next owner resumes the turn and knows the key


async def _show_events(
    app: App, events: AsyncGenerator[ClientEvent, None], show: Callable[[ClientEvent], None], handed_over: asyncio.Event
) -> bool:
    """Show the events to their end. Return False if the home had to be handed over first."""

    async def tell() -> None:
        async with aclosing(events):
            async for event in events:
                show(event)
                if event.is_waiting:  # no process keeps the home while a person thinks
                    return

    async with asyncio.TaskGroup() as group:
        notifier = group.create_task(tell())
        called = group.create_task(handed_over.wait())
        await asyncio.wait({notifier, called}, return_when=asyncio.FIRST_COMPLETED)
        if not notifier.done():
            # the turn may still end during the drain; later events would show no outcome
            await app.bus.session_queues.drain(app.config[BusSettings].drain_seconds)
            await asyncio.wait({notifier}, timeout=0.5)
        called.cancel()
        told = notifier.done()
        notifier.cancel()
    return told


def send_message(body: dict[str, Any], key: str) -> EventSource:
    """Send a message and follow it; if it answers an approval, follow the waiting turn too."""

    async def live(app: App) -> AsyncGenerator[ClientEvent, None]:
        inbound = owners_inbound(body, key, app.api.clock)
        known = await app.store.inbox.find_key(inbound.origin.channel, inbound.origin.account, key)
        if known is not None:
            await _require_model(app, known.id)
        waited = await app.store.turns.parked((WaitsFor.APPROVAL,))
        async for event in follow(app.api, inbound, app.api.settings.wait_seconds):
            yield event
        wait = await app.store.turns.parked((WaitsFor.APPROVAL,)) if waited else ()
        for turn in set(waited).difference(wait):
            first = await app.store.inbox.first_of(turn)
            if first is not None:
                async for event in resume_message(first)(app):
                    yield event

    return live


def resume_message(id: str) -> EventSource:
    """Follow the rest of an earlier message."""

    async def live(app: App) -> AsyncGenerator[ClientEvent, None]:
        await _require_model(app, InboundId(id))
        await app.bus.session_queues.adopt(InboundId(id))
        async for event in follow_again(app.api, InboundId(id), app.api.settings.wait_seconds):
            yield event

    return live


async def _require_model(app: App, id: InboundId) -> None:
    """Raise NotConfigured if no model is set up here: the message is left for a Hob that has one."""
    result = await app.store.results.find(id)
    if result is not None and not result.settled and app.kernel.choice.line().startswith(NO_MODEL_NAME):
        raise NotConfigured(
            translatable(
                "{state} in this environment; the message is kept for a Hob that has one: "
                "start it, then hob ask --resume {id}",
                state=NO_MODEL,
                id=id,
            )
        )


def answer_approval(id: str, *, allowed: bool, scope: str) -> EventSource:
    """Answer a question (event `settled`, with the question afterwards), then follow the turn that waited."""

    async def live(app: App) -> AsyncGenerator[ClientEvent, None]:
        pending_approvals = app.api.pending_approvals()
        settled = await settled_view(app.store, pending_approvals, id, allowed=allowed, scope=scope, by="local:owner")
        yield ClientEvent("settled", dict(settled))
        if settled["message"] is not None:  # not erased
            async for event in resume_message(settled["message"])(app):
                yield event

    return live


@contextlib.asynccontextmanager
async def serve_on_demand(app: App) -> AsyncGenerator[None, None]:
    """Listen on `hob.sock`, loading the HTTP server with the first connection, which few one-shots get."""
    path = socket_of(app.home)
    listener = bind_unix(path)
    loop = asyncio.get_running_loop()
    knocked = asyncio.Event()
    loop.add_reader(listener, knocked.set)

    async def serve_when_called() -> None:
        await knocked.wait()
        loop.remove_reader(listener)
        async with _serve()(app, listener):
            await done.wait()

    done = asyncio.Event()
    try:
        async with asyncio.TaskGroup() as group:
            serving = group.create_task(serve_when_called())
            yield
            done.set()
            if not knocked.is_set():
                serving.cancel()
    finally:
        if not knocked.is_set():
            loop.remove_reader(listener)
        listener.close()
        path.unlink(missing_ok=True)
