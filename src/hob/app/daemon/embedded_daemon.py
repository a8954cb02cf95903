"""A daemon inside a command's process, for the plain chat when none is running."""

import asyncio
import contextlib
import logging
import queue
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from hob.app.composition import open_app
from hob.app.daemon.daemon import serve_api
from hob.app.daemon.drain import commands_notice, drain
from hob.app.home import own
from hob.app.logs.log_file import log_file
from hob.app.maintenance.settings import LogSettings
from hob.app.settings.sections import read_config


@contextlib.contextmanager
def embedded_daemon(home: Path) -> Iterator[None]:
    """Own the home and serve `hob.sock` from a thread while the block is open, or until a daemon takes over.

    Raises HomeInUse, ConfigInvalid, StoreErrors.
    """
    logging.basicConfig(level=logging.ERROR, format="%(message)s")
    said: queue.SimpleQueue[_Stopper | Future[None]] = queue.SimpleQueue()
    with ThreadPoolExecutor(1, thread_name_prefix="hob") as pool:
        living = pool.submit(_run_embedded, home, said)
        living.add_done_callback(said.put)
        first = said.get()
        if isinstance(first, Future):
            first.result()  # raises the reason if it could not start
            return
        try:
            yield
        except KeyboardInterrupt:
            first.force()
            raise
        finally:
            first.stop()
            try:
                living.exception()  # waits for the current work
            except KeyboardInterrupt:
                first.force()
                raise
        living.result()


class _Stopper:
    """Stops the thread's event loop from another thread."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.stop_requested = asyncio.Event()
        self.forced = asyncio.Event()

    def stop(self) -> None:
        self._set(self.stop_requested)

    def force(self) -> None:
        """Stop without waiting; the next owner continues the work."""
        self._set(self.forced)

    def _set(self, event: asyncio.Event) -> None:
        with contextlib.suppress(RuntimeError):  # a daemon took over: the loop has already ended
            self.loop.call_soon_threadsafe(event.set)


def _run_embedded(home: Path, said: "queue.SimpleQueue[_Stopper | Future[None]]") -> None:
    config = read_config()

    async def live() -> None:
        stopper = _Stopper()
        async with (
            open_app(home, config, on_handover=stopper.stop_requested.set) as app,
            serve_api(app),
        ):
            said.put(stopper)
            await stopper.stop_requested.wait()
            await drain(app, stopper.forced)
            if text := commands_notice(app.services.tool_runtime.running):
                print(text, file=sys.stderr)

    with own(home, "chat"), log_file(home, config[LogSettings]):
        asyncio.run(live())
