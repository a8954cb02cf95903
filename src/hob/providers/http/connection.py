"""Requests to one model server over httpx2, and the errors they raise.

This module costs 80 ms of CPU to import because of httpx2; `hob.providers.opening` does so with the first request.
"""

import asyncio
import json
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx2

from hob import __version__
from hob.core.clock import Clock
from hob.core.errors import ModelError, ModelFault, NotConfigured
from hob.core.translation.language import translatable
from hob.core.values import dataclass
from hob.providers.http.addresses import get_password, is_loopback, with_scheme
from hob.providers.http.faults import describe, hide_keys, read_failure
from hob.providers.http.headers import find_invalid_header, find_secrets
from hob.providers.http.server import Server

# Data sent as a form rather than as JSON.


@dataclass(frozen=True, slots=True)
class Form:
    """A form (RFC 7578) with one file: name, bytes, media type."""

    fields: Mapping[str, str]
    file: tuple[str, bytes, str]


_T = TypeVar("_T")
_MAX_ERROR_BODY = 64 * 1024
_MAX_BODY = 64 * 1024 * 1024
_DRAIN_SECONDS = 0.25
_LIMITS = httpx2.Limits(max_connections=64, max_keepalive_connections=16)


class ServerConnection:
    """A connection to one server with one key. Opens nothing before the first request."""

    def __init__(self, server: Server, clock: Clock) -> None:
        self._server = server
        self._clock = clock
        self._client: httpx2.AsyncClient | None = None

    @property
    def host(self) -> str:
        """The server's name for people."""
        try:
            return urlsplit(with_scheme(self._server.base_url)).netloc.rpartition("@")[2] or "the model server"
        except ValueError:
            return "the model server"

    async def key(self) -> str:
        """Return the key; empty if there is none. Raises ModelError."""
        secret = self._server.api_key
        if secret is None:
            return ""
        try:
            if secret.reference.startswith(("command:", "keyring:")):  # these may prompt a person and take seconds
                key = (await asyncio.to_thread(secret.reveal)).strip()
            else:
                key = secret.reveal().strip()
        except NotConfigured as error:
            raise ModelError(
                ModelFault.SETTINGS, translatable("the API key cannot be read: {error}", error=str(error))
            ) from error
        if not key.isascii() or not key.isprintable():
            raise ModelError(
                ModelFault.AUTH,
                translatable(
                    "the API key holds characters that no key has; check {advice}", advice=self._server.advice
                ),
            )
        return key

    async def with_key(self, key: str, ask: Callable[[str], Awaitable[_T]]) -> _T:
        """Make a request with this key, and again if the key turns out to have been rotated since."""
        try:
            return await ask(key)
        except ModelError as error:
            renewed = await self._renewed(key, error)
            if renewed is None:
                raise
            return await ask(renewed)

    async def _renewed(self, key: str, error: ModelError) -> str | None:
        """Return the new key if the server refused this one and it has been rotated."""
        if error.fault is not ModelFault.AUTH or self._server.api_key is None:
            return None
        try:
            new = await self.key()
        except ModelError:  # the reason for the refusal is more useful
            return None
        return new if new and new != key else None

    def address(self, build: Callable[[str], str]) -> str:
        """Return the URL that `build` makes of the base URL. Raises ModelError."""
        try:
            return build(self._server.base_url)
        except ValueError as error:
            raise ModelError(
                ModelFault.SETTINGS,
                translatable(
                    "the base URL is not an address: {error}; check {advice}", error=error, advice=self._server.advice
                ),
            ) from error

    def secrets(self, key: str) -> tuple[str, ...]:
        """Return the values that errors must not reveal: the key, and secrets in the owner's headers and address."""
        return (key, get_password(self._server.base_url), *find_secrets(self._server.headers))

    @asynccontextmanager
    async def open(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        content: bytes | None = None,
        form: Form | None = None,
        patience: float = 10.0,
        read_seconds: float | None = None,
        secrets: tuple[str, ...] = (),
    ) -> AsyncIterator[httpx2.Response]:
        """Yield the server's successful response while the block is open. Raises ModelError.

        `patience` limits the seconds to connect, `read_seconds` those without data. `secrets` are removed from errors.
        """
        wrong = find_invalid_header(self._server.headers)
        if wrong is not None:
            raise ModelError(
                ModelFault.SETTINGS,
                translatable(
                    "the header {name} cannot be sent; check {advice}", name=wrong, advice=self._server.advice
                ),
            )
        read = self._server.read_seconds if read_seconds is None else read_seconds
        try:
            async with self._open_client(url).stream(
                method,
                url,
                content=content,
                data=None if form is None else form.fields,
                files=None if form is None else {"file": form.file},
                headers={"user-agent": f"hob/{__version__}", "accept-encoding": "identity", **headers}
                | dict(self._server.headers),
                timeout=self._timeout(patience, read),
            ) as response:
                if response.status_code != 200:
                    raise await self._read_failure(response, secrets)
                yield response
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise self._unreachable(error, secrets) from error

    async def fetch(self, method: str, url: str, *, content: bytes | None = None, **options: Any) -> bytes:
        """Return the whole body, at most 64 MiB; options as in `open`. Raises ModelError."""
        async with self.open(method, url, content=content, **options) as response:
            pieces = []
            size = 0
            async for piece in response.aiter_bytes():
                size += len(piece)
                if size > _MAX_BODY:
                    raise self.garbage("an answer without end")
                pieces.append(piece)
        return b"".join(pieces)

    async def fetch_json(self, method: str, url: str, *, content: bytes | None = None, **options: Any) -> Any:
        """Return the parsed body of `fetch`. Raises ModelError."""
        body = await self.fetch(method, url, content=content, **options)
        try:
            return json.loads(body)
        except (ValueError, RecursionError) as error:
            raise self.garbage("something that is no JSON") from error

    def garbage(self, what: str) -> ModelError:
        """Return the error for an invalid response."""
        said = describe(ModelFault.GARBAGE, self.host, f"it sent {what}", advice=self._server.advice)
        return ModelError(ModelFault.GARBAGE, said)

    async def aclose(self) -> None:
        """Close all connections."""
        if self._client is not None:
            client, self._client = self._client, None
            await client.aclose()

    def _timeout(self, patience: float, read: float) -> httpx2.Timeout:
        connect = min(self._server.connect_seconds, max(0.5, patience))
        return httpx2.Timeout(read, connect=connect, write=60.0, pool=60.0)

    def _open_client(self, url: str) -> httpx2.AsyncClient:
        if self._client is None:
            # loading the trusted certificates takes longer than a turn; plain HTTP needs none, so this context trusts
            # none
            verify = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if urlsplit(url).scheme == "http" else True
            # a model server on this machine is never behind the environment's proxy
            self._client = httpx2.AsyncClient(limits=_LIMITS, verify=verify, trust_env=not is_loopback(url))
        return self._client

    async def _read_failure(self, response: httpx2.Response, secrets: tuple[str, ...]) -> ModelError:
        body = b""
        async with aclosing(response.aiter_bytes()) as pieces:
            async for data in pieces:
                body += data
                if len(body) > _MAX_ERROR_BODY:
                    break
        status = response.status_code
        if status in (401, 403) and self._server.api_key is not None:
            self._server.api_key.forget()  # it may have been rotated; the next request reads it again
        return read_failure(
            status,
            response.headers,
            body,
            host=self.host,
            now=self._clock.now(),
            secrets=secrets,
            advice=self._server.advice,
        )

    def _unreachable(self, error: Exception, secrets: tuple[str, ...]) -> ModelError:
        host, said = self.host, hide_keys(str(error), secrets)
        match error:
            case httpx2.ConnectTimeout() | httpx2.PoolTimeout():
                return ModelError(
                    ModelFault.NETWORK, translatable("{host} cannot be reached in time; is it running?", host=host)
                )
            case httpx2.TimeoutException():
                return ModelError(ModelFault.TIMEOUT, translatable("{host} said nothing for too long", host=host))
            case httpx2.ConnectError() | httpx2.ProxyError():
                return ModelError(
                    ModelFault.NETWORK,
                    translatable("{host} cannot be reached; is it running? ({said})", host=host, said=said),
                )
            case httpx2.InvalidURL() | httpx2.UnsupportedProtocol():
                return ModelError(
                    ModelFault.SETTINGS,
                    translatable(
                        "{host} is not an address ({said}); check {advice}",
                        host=host,
                        said=said,
                        advice=self._server.advice,
                    ),
                )
            case httpx2.LocalProtocolError():
                return ModelError(
                    ModelFault.BAD_REQUEST, translatable("the request to {host} cannot be sent", host=host)
                )
            case httpx2.DecodingError():
                return ModelError(
                    ModelFault.GARBAGE, translatable("{host} sent bytes that cannot be unpacked", host=host)
                )
            case _:
                return ModelError(ModelFault.CUT, translatable("{host} closed the connection", host=host))


def iter_bytes(response: httpx2.Response) -> AsyncGenerator[bytes]:
    """Yield the response body. We request it uncompressed; compressed bodies are still decoded, more slowly."""
    return response.aiter_bytes() if "content-encoding" in response.headers else response.aiter_raw()


async def drain(pieces: AsyncIterator[bytes]) -> None:
    """Read the rest of a response so that the connection can be reused; a slow server loses it."""
    try:
        async with asyncio.timeout(_DRAIN_SECONDS):
            async for _ in pieces:
                pass
    except TimeoutError:
        pass
