"""Taking connections in from a listening socket, never more than there is room for."""

import asyncio
import logging
import socket
import ssl
from collections.abc import Callable, Sized
from functools import partial

log = logging.getLogger(__name__)

BURST = 16
"""As many are taken at once, before those that are open have a turn."""
REST_SECONDS = 1.0
"""How long nobody is taken after the machine could not."""
_TOLD_SECONDS = 60.0


class ConnectionAcceptor:
    """What `asyncio`'s own server does, with a limit: its loop takes all who come, and when the last descriptor is
    gone it tries again, and complains, without end.

    Who comes when `connections` are `most` is let go at once.
    """

    def __init__(
        self,
        listener: socket.socket,
        protocol: Callable[[], asyncio.Protocol],
        group: asyncio.TaskGroup,
        *,
        connections: Sized,
        most: int,
        tls: ssl.SSLContext | None,
        handshake_seconds: float,
    ) -> None:
        """The socket does not block, and stays the caller's to close."""
        self._listener = listener
        self._protocol = protocol
        self._group = group
        self._connections = connections
        self._most = most
        self._tls = tls
        self._handshake = handshake_seconds if tls is not None else None
        self._loop = asyncio.get_running_loop()
        self._arriving: set[asyncio.Task[None]] = set()
        self._resting: asyncio.TimerHandle | None = None
        self._told = float("-inf")
        self._loop.add_reader(listener.fileno(), self._take)

    def close(self) -> None:
        """Take nobody any more, and let go who has not quite arrived."""
        self._loop.remove_reader(self._listener.fileno())
        if self._resting is not None:
            self._resting.cancel()
        for task in self._arriving:
            task.cancel()

    async def wait_closed(self) -> None:
        """Nothing is left to wait for: who has arrived is not the intake's any more."""

    def _take(self) -> None:
        for _ in range(BURST):
            try:
                connection, _ = self._listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:  # no descriptor or no memory is left
                self._rest(error)
                return
            if len(self._connections) + len(self._arriving) >= self._most:
                connection.close()
                continue
            connection.setblocking(False)
            task = self._group.create_task(self._arrive(connection))
            self._arriving.add(task)
            task.add_done_callback(partial(self._arrived, connection))

    async def _arrive(self, connection: socket.socket) -> None:
        try:
            await self._loop.connect_accepted_socket(
                self._protocol, connection, ssl=self._tls, ssl_handshake_timeout=self._handshake
            )
        except OSError:  # it left, or spoke no TLS
            connection.close()

    def _arrived(self, connection: socket.socket, task: asyncio.Task[None]) -> None:
        self._arriving.discard(task)
        if task.cancelled():
            connection.close()

    def _rest(self, error: OSError) -> None:
        self._loop.remove_reader(self._listener.fileno())
        self._resting = self._loop.call_later(REST_SECONDS, self._go_on)
        if self._loop.time() - self._told >= _TOLD_SECONDS:
            self._told = self._loop.time()
            log.error("no connection can be taken: %s; it is tried again every second", error.strerror)

    def _go_on(self) -> None:
        self._resting = None
        self._loop.add_reader(self._listener.fileno(), self._take)
