"""Open WebSocket connections (`/ws`), and how many there may be."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hob.core.values import dataclass
from hob.gateway.auth.callers import ApiCaller
from hob.gateway.http.failures import HttpRefusal

MAX_CONNECTED = 256
MAX_UNAUTHENTICATED = 64
"""Limit for connections that have not shown a token yet."""


@dataclass(slots=True)
class LiveClient:
    """One connection. `since` is in Unix seconds."""

    address: str
    since: float
    caller: ApiCaller | None = None

    def view(self) -> dict[str, Any]:
        """Return the connection for the status."""
        return {"who": self.caller.by if self.caller else "", "address": self.address, "since": self.since}


class OpenConnections:
    """Registry of open WebSockets; refuses new ones at the limit."""

    def __init__(self) -> None:
        self._clients: list[LiveClient] = []

    @contextmanager
    def enter(self, client: LiveClient) -> Iterator[None]:
        """Register a connection while the block is open. Raises HttpRefusal at the limit."""
        unknown = sum(each.caller is None for each in self._clients)
        if len(self._clients) >= MAX_CONNECTED or (client.caller is None and unknown >= MAX_UNAUTHENTICATED):
            raise HttpRefusal("too_many_connections", "too many WebSockets are open; close some, or come again", 10)
        self._clients.append(client)
        try:
            yield
        finally:
            self._clients = [each for each in self._clients if each is not client]

    def view(self) -> list[dict[str, Any]]:
        """List the authenticated connections, oldest first."""
        return [each.view() for each in self._clients if each.caller is not None]
