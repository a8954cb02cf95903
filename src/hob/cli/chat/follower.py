"""Threads that read message streams and call back into the prompt's event loop."""

import asyncio
from collections.abc import Callable, Generator
from contextlib import suppress
from threading import Thread
from typing import TypeVar

from hob.core.errors import HobError
from hob.gateway.chat.inbound import ClientEvent

T = TypeVar("T")
Ended = Callable[[HobError | OSError | None], None]
"""Called when a stream ends: with None, or with the error."""


class MessageFollower:
    """Starts daemon threads; they end with their streams or with the process."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    def follow(
        self,
        begin: Callable[[], Generator[ClientEvent, None, None]],
        on_event: Callable[[ClientEvent], None],
        ended: Ended,
    ) -> None:
        """Call `on_event` for each event and `ended` at the end, in the loop."""

        def read() -> None:
            error: HobError | OSError | None = None
            try:
                for event in begin():
                    self._call(on_event, event)
            except (HobError, OSError) as raised:
                error = raised
            self._call(ended, error)

        Thread(target=read, name="follower", daemon=True).start()

    def do(self, work: Callable[[], T], done: Callable[[T], None], failed: Ended = lambda error: None) -> None:
        """Run blocking work in a thread, then call `done` or `failed` in the loop."""

        def run() -> None:
            try:
                result = work()
            except (HobError, OSError) as error:
                self._call(failed, error)
            else:
                self._call(done, result)

        Thread(target=run, name="errand", daemon=True).start()

    def _call(self, what: Callable[[T], None], value: T) -> None:
        with suppress(RuntimeError):  # the loop has closed
            self._loop.call_soon_threadsafe(what, value)
