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
    """Asks again what may go better a second time: `Failover.patiently`."""

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
        self, servers: Sequence[Server], clock: Clock, patiently: Retrying, key_headers: KeyHeaders = bearer
    ) -> None:
        self._key_headers = key_headers
        self._connections = [(server, ServerConnection(server, clock)) for server in servers]
        self._patiently = patiently

    @property
    def host(self) -> str:
        """Who is asked, for people."""
        return self._connections[0][1].host

    async def fetch_json(self, url: Callable[[str], str], body: Mapping[str, Any] | Form) -> Any:
        """The answer's JSON."""

        async def ask(server: Server, connection: ServerConnection) -> Any:
            request = await _prepare(server, connection, url, body, self._key_headers)
            return await connection.fetch_json(**request)

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
        return self._connections[0][1].garbage(what)

    async def aclose(self) -> None:
        """Close all connections."""
        for _, connection in self._connections:
            await connection.aclose()

    async def _ask(self, ask: Callable[[Server, ServerConnection], Awaitable[_T]]) -> _T:
        """One request with each key while the keys are at fault; then, with one of them, as patiently as ever."""
        *others, last = self._connections
        for route in others:
            try:
                return await _once(ask, *route)
            except ModelError as error:
                if error.fault not in _OTHER_KEY:
                    last = route
                    break
        return await self._patiently(partial(_once, ask, *last))

    async def _begin(
        self,
        stack: AsyncExitStack,
        url: Callable[[str], str],
        body: Mapping[str, Any],
        server: Server,
        connection: ServerConnection,
    ) -> tuple[bytes, AsyncGenerator[bytes]]:
        request = await _prepare(server, connection, url, body, self._key_headers)
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


async def _once(
    ask: Callable[[Server, ServerConnection], Awaitable[_T]], server: Server, connection: ServerConnection
) -> _T:
    """One request; one more where its key turns out to have been rotated since it was read."""
    key = await connection.key()
    try:
        return await ask(server, connection)
    except ModelError as error:
        if await connection.renewed(key, error) is None:
            raise
        return await ask(server, connection)


async def _prepare(
    server: Server,
    connection: ServerConnection,
    url: Callable[[str], str],
    body: Mapping[str, Any] | Form,
    key_headers: KeyHeaders,
) -> dict[str, Any]:
    """What `Connection.open` takes."""
    key = await connection.key()
    try:
        address = url(server.base_url)
    except ValueError as error:
        raise ModelError(
            ModelFault.SETTINGS,
            translatable("the base URL is no address: {error}; check {advice}", error=error, advice=server.advice),
        ) from error
    headers = dict(key_headers(key))
    request = {"method": "POST", "url": address, "headers": headers, "secrets": connection.secrets(key)}
    if isinstance(body, Form):
        return {**request, "form": body}
    headers["content-type"] = "application/json"
    return {**request, "content": json_bytes(body)}
