"""Requests to providers other than chat (embeddings, speech, model lists): one result, with retries."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing
from functools import partial
from typing import Any, Protocol, TypeVar

from hob.core.clock import Clock
from hob.core.content.json_text import dump_json
from hob.core.errors import ModelError, ModelFault
from hob.core.translation.language import translatable
from hob.providers.http.connection import Form, ServerConnection, iter_bytes
from hob.providers.http.server import Server

_T = TypeVar("_T")
_KEY_FAULTS = frozenset({ModelFault.AUTH, ModelFault.BILLING, ModelFault.RATE_LIMIT})
"""Faults caused by a key rather than its server."""


class Retry(Protocol):
    """Repeats a failed request if that may help: `Failover.with_retries`."""

    async def __call__(self, ask: Callable[[], Awaitable[_T]]) -> _T: ...


KeyHeaders = Callable[[str], Mapping[str, str]]
"""Makes the headers for a key; an empty key means none."""


def bearer_header(key: str) -> Mapping[str, str]:
    """Return the usual bearer header."""
    return {"authorization": f"Bearer {key}"} if key else {}


class Client:
    """A provider's server with all of its keys. Opens nothing before the first request.

    `url` parameters build a URL from the server's base URL. All methods raise ModelError.
    """

    def __init__(
        self, servers: Sequence[Server], clock: Clock, with_retries: Retry, key_headers: KeyHeaders = bearer_header
    ) -> None:
        self._key_headers = key_headers
        self._connections = [ServerConnection(server, clock) for server in servers]
        self._with_retries = with_retries

    @property
    def host(self) -> str:
        """The server's name for people."""
        return self._connections[0].host

    async def fetch_json(self, url: Callable[[str], str], body: Mapping[str, Any] | Form) -> Any:
        """Return the response's JSON."""

        async def ask(connection: ServerConnection, key: str) -> Any:
            return await connection.fetch_json(**self._request(connection, key, url, body))

        return await self._ask(ask)

    async def stream(self, url: Callable[[str], str], body: Mapping[str, Any]) -> AsyncGenerator[bytes]:
        """Yield the response's bytes; a text response is an error. Retries only before the first byte."""
        async with AsyncExitStack() as stack:
            first, rest = await self._ask(partial(self._begin, stack, url, body))
            yield first
            async for piece in rest:
                yield piece

    def garbage(self, what: str) -> ModelError:
        """Return the error for an invalid response."""
        return self._connections[0].garbage(what)

    async def aclose(self) -> None:
        """Close all connections."""
        for connection in self._connections:
            await connection.aclose()

    async def _ask(self, ask: Callable[[ServerConnection, str], Awaitable[_T]]) -> _T:
        """Try each key once while keys are at fault, then retry with one key as usual."""
        *others, last = self._connections
        for connection in others:
            try:
                return await _ask_with_key(ask, connection)
            except ModelError as error:
                if error.fault not in _KEY_FAULTS:
                    last = connection
                    break
        return await self._with_retries(partial(_ask_with_key, ask, last))

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
            pieces = await opened.enter_async_context(aclosing(iter_bytes(response)))
            first = await anext(pieces, b"")
            if not first:
                raise ModelError(ModelFault.EMPTY, translatable("{host} gave an empty answer", host=connection.host))
            stack.push_async_exit(opened.pop_all())
        return first, pieces

    def _request(
        self, connection: ServerConnection, key: str, url: Callable[[str], str], body: Mapping[str, Any] | Form
    ) -> dict[str, Any]:
        """Return the arguments of `ServerConnection.open`."""
        headers = dict(self._key_headers(key))
        secrets = connection.secrets(key)
        request = {"method": "POST", "url": connection.address(url), "headers": headers, "secrets": secrets}
        if isinstance(body, Form):
            return {**request, "form": body}
        headers["content-type"] = "application/json"
        return {**request, "content": dump_json(body)}


async def _ask_with_key(ask: Callable[[ServerConnection, str], Awaitable[_T]], connection: ServerConnection) -> _T:
    return await connection.with_key(await connection.key(), partial(ask, connection))
