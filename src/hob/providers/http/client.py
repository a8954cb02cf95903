"""Requests to providers besides answers (vectors, speech, lists of models): one result, tried again like an answer."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing
from functools import partial
from typing import Any, Protocol, TypeVar

from hob.core.clock import Clock
from hob.core.content.json_text import json_bytes
from hob.core.errors import ModelError, ModelFault
from hob.core.translation.language import translatable
from hob.providers.http.connection import Form, ServerConnection, bytes_of
from hob.providers.http.server import Server

_T = TypeVar("_T")
_OTHER_KEY = frozenset({ModelFault.AUTH, ModelFault.BILLING, ModelFault.RATE_LIMIT})
"""Faults of a key, not of its server."""


class Retrying(Protocol):
    """Asks again what may go better a second time: `Failover.with_retries`."""

    async def __call__(self, ask: Callable[[], Awaitable[_T]]) -> _T: ...


KeyHeaders = Callable[[str], Mapping[str, str]]
"""How a key is shown; an empty one is none."""


def bearer(key: str) -> Mapping[str, str]:
    """As most servers want it."""
    return {"authorization": f"Bearer {key}"} if key else {}


class Client:
    """One provider's server, with each of its keys. Nothing is opened before the first request.

    `url` makes an address of the server's base URL. All raise ModelError.
    """

    def __init__(
        self, servers: Sequence[Server], clock: Clock, with_retries: Retrying, key_headers: KeyHeaders = bearer
    ) -> None:
        self._key_headers = key_headers
        self._connections = [ServerConnection(server, clock) for server in servers]
        self._with_retries = with_retries

    @property
    def host(self) -> str:
        """Who is asked, for people."""
        return self._connections[0].host

    async def fetch_json(self, url: Callable[[str], str], body: Mapping[str, Any] | Form) -> Any:
        """The answer's JSON."""

        async def ask(connection: ServerConnection, key: str) -> Any:
            return await connection.fetch_json(**self._request(connection, key, url, body))

        return await self._ask(ask)

    async def stream(self, url: Callable[[str], str], body: Mapping[str, Any]) -> AsyncGenerator[bytes]:
        """The answer's bytes as they come, of a media type that is no text. Asked again only before the first."""
        async with AsyncExitStack() as stack:
            first, rest = await self._ask(partial(self._begin, stack, url, body))
            yield first
            async for piece in rest:
                yield piece

    def garbage(self, what: str) -> ModelError:
        """The error of a server that sent what it should not."""
        return self._connections[0].garbage(what)

    async def aclose(self) -> None:
        """Close all connections."""
        for connection in self._connections:
            await connection.aclose()

    async def _ask(self, ask: Callable[[ServerConnection, str], Awaitable[_T]]) -> _T:
        """One request with each key while the keys are at fault; then, with one of them, as patiently as ever."""
        *others, last = self._connections
        for connection in others:
            try:
                return await _once(ask, connection)
            except ModelError as error:
                if error.fault not in _OTHER_KEY:
                    last = connection
                    break
        return await self._with_retries(partial(_once, ask, last))

    async def _begin(
        self,
        stack: AsyncExitStack,
        url: Callable[[str], str],
        body: Mapping[str, Any],
        connection: ServerConnection,
        key: str,
    ) -> tuple[bytes, AsyncGenerator[bytes]]:
        request = self._request(connection, key, url, body)
        async with AsyncExitStack() as opened:
            response = await opened.enter_async_context(connection.open(**request))
            if response.headers.get("content-type", "").startswith(("text/", "application/json")):
                raise connection.garbage("words")
            pieces = await opened.enter_async_context(aclosing(bytes_of(response)))
            first = await anext(pieces, b"")
            if not first:
                raise ModelError(ModelFault.EMPTY, translatable("{host} gave an empty answer", host=connection.host))
            stack.push_async_exit(opened.pop_all())
        return first, pieces

    def _request(
        self, connection: ServerConnection, key: str, url: Callable[[str], str], body: Mapping[str, Any] | Form
    ) -> dict[str, Any]:
        """What `ServerConnection.open` takes."""
        headers = dict(self._key_headers(key))
        secrets = connection.secrets(key)
        request = {"method": "POST", "url": connection.address(url), "headers": headers, "secrets": secrets}
        if isinstance(body, Form):
            return {**request, "form": body}
        headers["content-type"] = "application/json"
        return {**request, "content": json_bytes(body)}


async def _once(ask: Callable[[ServerConnection, str], Awaitable[_T]], connection: ServerConnection) -> _T:
    return await connection.with_key(await connection.key(), partial(ask, connection))
