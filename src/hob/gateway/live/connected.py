"""Open WebSocket connections (`/ws`), and how many there may be."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from hob.core.values import dataclass
from hob.gateway.auth.callers import ApiCaller
from hob.gateway.http.failures import HttpRefusal

MAX_CONNECTED = 256
MAX_UNAUTHENTICATED = 64
"""Limit for connections that have not shown a token yet; beyond it, the oldest makes room."""


@dataclass(slots=True)
class LiveClient:
    """One connection. `since` is in Unix seconds; `leave` ends it, as long as it has shown no token."""

    address: str
    since: float
    caller: ApiCaller | None = None
    leave: Callable[[], None] = lambda: None
    leaves: bool = False

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
        if len(self._clients) >= MAX_CONNECTED:
            raise HttpRefusal("too_many_connections", "too many WebSockets are open; close some, or come again", 10)
        if client.caller is None:
            self._make_room()
        self._clients.append(client)
        try:
            yield
        finally:
            self._clients = [each for each in self._clients if each is not client]

    def _make_room(self) -> None:
        """End the oldest connection without a token, of the address that has most of them: a page shows its token at
        once, so others cannot keep it out.
        """
        unknown = [each for each in self._clients if each.caller is None and not each.leaves]
        if len(unknown) >= MAX_UNAUTHENTICATED:
            of_address = Counter(each.address for each in unknown)
            chosen = max(unknown, key=lambda each: of_address[each.address])
            chosen.leaves = True
            chosen.leave()

    def view(self) -> list[dict[str, Any]]:
        """List the authenticated connections, oldest first."""
        return [each.view() for each in self._clients if each.caller is not None]
