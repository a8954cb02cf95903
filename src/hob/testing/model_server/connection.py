"""One HTTP connection of the fake model server."""

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator

from hob.testing.model_server.hypertext import MAX_BODY, Action, End, HttpRequest, make_response

Respond = Callable[[HttpRequest], Iterable[Action]]


class Connection(asyncio.Protocol):
    """Handles requests one at a time, in order."""

    def __init__(self, respond: Respond, among: set["Connection"], loop: asyncio.AbstractEventLoop) -> None:
        self._respond = respond
        self._among = among
        self._loop = loop
        self._buffer = b""
        self._actions: Iterator[Action] | None = None
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101
        self._transport = transport
        self._among.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._among.discard(self)
        self._transport = None

    def abort(self) -> None:
        """Close the connection at once."""
        if self._transport is not None:
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while self._actions is None and (asked := self._next_request()):
            self._actions = iter(self._respond(asked))
            self._perform()

    def _next_request(self) -> HttpRequest | None:
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            return None
        first, *lines = self._buffer[:end].decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        length = int(headers.get("content-length", "0"))
        if length > MAX_BODY or "transfer-encoding" in headers:
            self._write(make_response(413, b'{"error":{"message":"The length must be given, and be small."}}'))
            self._drop()
            return None
        if len(self._buffer) < end + 4 + length:
            return None
        body = self._buffer[end + 4 : end + 4 + length]
        self._buffer = self._buffer[end + 4 + length :]
        method, path, _ = first.split(" ", 2)
        return HttpRequest(time.monotonic(), method, path, headers, body)

    def _perform(self) -> None:
        """Perform actions until one needs time; consecutive bytes are sent together."""
        assert self._actions is not None  # noqa: S101
        ready: list[bytes] = []
        for action in self._actions:
            if isinstance(action, bytes):
                ready.append(action)
                continue
            self._write(b"".join(ready))
            if action is End.DROP:
                self._drop()
            elif action is not End.HANG and isinstance(action, float | int):
                self._loop.call_later(action, self._resume)
            return
        self._write(b"".join(ready))
        self._actions = None

    def _resume(self) -> None:
        if self._transport is None:
            return
        self._perform()
        if self._actions is None:
            self.data_received(b"")

    def _write(self, data: bytes) -> None:
        if data and self._transport is not None:
            self._transport.write(data)

    def _drop(self) -> None:
        if self._transport is not None:
            self._transport.close()
