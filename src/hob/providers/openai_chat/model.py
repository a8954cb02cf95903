"""A server that speaks chat completions, as a `Model`: the driver of `wire.py` on httpx2.

Importing this module costs 80 ms of CPU for httpx2; `hob.providers.opening` does so when the first request is made.
"""

import asyncio
import json
import os
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from urllib.parse import urlsplit

import httpx2

from hob import __version__
from hob.core.clock import Clock
from hob.core.errors import ModelError, ModelFault, NotConfigured, NotFound
from hob.core.ids import BlobId
from hob.core.models import AssistantMessage, Beat, ModelEvent, ModelRequest, UserMessage
from hob.core.ports.tools import Blobs
from hob.providers.addresses import endpoint, is_loopback
from hob.providers.faults import read_failure
from hob.providers.openai_chat.settings import OpenAIChatSettings, dialect_of
from hob.providers.openai_chat.wire import Decoder, encode_request

_MOST_ERROR_BODY = 64 * 1024
_DRAIN_SECONDS = 0.25
_LIMITS = httpx2.Limits(max_connections=64, max_keepalive_connections=16)


class OpenAIChat:
    """Implements `Model`. Makes one request per call of `stream`; who wants more wraps it in `Retrying`.

    Nothing is opened before the first request.
    """

    def __init__(self, settings: OpenAIChatSettings, clock: Clock, blobs: Blobs | None = None) -> None:
        self._settings = settings
        self._clock = clock
        self._blobs = blobs
        self._client: httpx2.AsyncClient | None = None
        self._first_model = ""
        self._dialect = dialect_of(settings.base_url)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        """Answer, piece by piece. Raises ModelError; `request.patience` bounds the time to connect."""
        key = await self._key()
        model = request.model or await self.default_model()
        body = encode_request(request, model=model, dialect=self._dialect, images=await self._images(request))
        taken = {call.id for said in request.messages if isinstance(said, AssistantMessage) for call in said.calls}
        decoder = Decoder(host=self._host, salt=os.urandom(8).hex(), taken=taken, secret=key)
        try:
            async with self._open_client().stream(
                "POST",
                self._url("/chat/completions"),
                content=body,
                headers=self._headers(key),
                timeout=self._timeout(request.patience, self._settings.read_seconds),
            ) as response:
                if response.status_code != 200:
                    raise await self._read_failure(response, key)
                yield _BEAT
                async with aclosing(_bytes_of(response)) as pieces:
                    async for data in pieces:
                        for event in decoder.feed(data):
                            yield event
                        if decoder.done:
                            await _drain(pieces)
                            return
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            failure = self._unreachable(error)
            if failure.fault is not ModelFault.CUT:
                raise failure from error
            last = decoder.finish(broken=True)
        else:
            last = decoder.finish()
        for event in last:
            yield event

    async def list_models(self) -> tuple[str, ...]:
        """The names of the models the server has. Raises ModelError."""
        key = await self._key()
        try:
            response = await self._open_client().get(
                self._url("/models"), headers=self._headers(key), timeout=self._timeout(10.0, 10.0)
            )
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise self._unreachable(error) from error
        if response.status_code != 200:
            raise await self._read_failure(response, key)
        return _model_names(response.content, self._host)

    async def default_model(self) -> str:
        """The configured model, else the first one the server lists (asked once). Raises ModelError."""
        if self._settings.model:
            return self._settings.model
        if not self._first_model:
            names = await self.list_models()
            if not names:
                raise ModelError(ModelFault.NOT_FOUND, f"{self._host} has no model; load one, or set model.name")
            self._first_model = names[0]
        return self._first_model

    async def aclose(self) -> None:
        """Close all connections."""
        if self._client is not None:
            client, self._client = self._client, None
            await client.aclose()

    @property
    def _host(self) -> str:
        try:
            return urlsplit(endpoint(self._settings.base_url, "")).netloc.rpartition("@")[2] or "the model server"
        except ValueError:
            return "the model server"

    def _url(self, path: str) -> str:
        try:
            return endpoint(self._settings.base_url, path)
        except ValueError as error:
            raise ModelError(ModelFault.SETTINGS, f"model.base_url is no address: {error}") from error

    def _headers(self, key: str) -> dict[str, str]:
        headers = {
            "user-agent": f"hob/{__version__}",
            "accept": "text/event-stream, application/json",
            "accept-encoding": "identity",
            "content-type": "application/json",
        }
        if key:
            headers["authorization"] = f"Bearer {key}"
        headers.update(self._settings.headers)
        return headers

    async def _key(self) -> str:
        secret = self._settings.api_key
        if secret is None:
            return ""
        try:
            if secret.reference.startswith(("command:", "keyring:")):  # these may ask a person and take seconds
                key = (await asyncio.to_thread(secret.reveal)).strip()
            else:
                key = secret.reveal().strip()
        except NotConfigured as error:
            raise ModelError(ModelFault.SETTINGS, f"the API key cannot be read: {error}") from error
        if not key.isascii() or not key.isprintable():
            raise ModelError(ModelFault.AUTH, "the API key holds characters that no key has; check model.api_key")
        return key

    async def _images(self, request: ModelRequest) -> dict[BlobId, bytes]:
        wanted = {image.blob for said in request.messages if isinstance(said, UserMessage) for image in said.images}
        if wanted and self._blobs is None:
            raise ModelError(ModelFault.BAD_REQUEST, "images cannot be sent here")
        try:
            return {blob: await self._blobs.load(blob) for blob in sorted(wanted)} if self._blobs else {}
        except NotFound as error:
            raise ModelError(ModelFault.BAD_REQUEST, f"an image of the conversation is gone: {error}") from error

    def _timeout(self, patience: float, read: float) -> httpx2.Timeout:
        connect = min(self._settings.connect_seconds, max(0.5, patience))
        return httpx2.Timeout(read, connect=connect, write=60.0, pool=60.0)

    def _open_client(self) -> httpx2.AsyncClient:
        if self._client is None:
            # a model server on this machine is never behind the proxy that the environment may name
            self._client = httpx2.AsyncClient(limits=_LIMITS, trust_env=not is_loopback(self._url("")))
        return self._client

    async def _read_failure(self, response: httpx2.Response, key: str) -> ModelError:
        body = b""
        async with aclosing(response.aiter_bytes()) as pieces:
            async for data in pieces:
                body += data
                if len(body) > _MOST_ERROR_BODY:
                    break
        status = response.status_code
        if status in (401, 403) and self._settings.api_key is not None:
            self._settings.api_key.forget()  # it may have been rotated; the next request reads it anew
        return read_failure(status, response.headers, body, host=self._host, now=self._clock.now(), secret=key)

    def _unreachable(self, error: Exception) -> ModelError:
        host = self._host
        match error:
            case httpx2.ConnectTimeout() | httpx2.PoolTimeout():
                return ModelError(ModelFault.NETWORK, f"{host} cannot be reached in time; is it running?")
            case httpx2.TimeoutException():
                return ModelError(ModelFault.TIMEOUT, f"{host} said nothing for too long")
            case httpx2.ConnectError() | httpx2.ProxyError():
                return ModelError(ModelFault.NETWORK, f"{host} cannot be reached; is it running? ({error})")
            case httpx2.InvalidURL() | httpx2.UnsupportedProtocol():
                return ModelError(ModelFault.SETTINGS, f"model.base_url is no address: {error}")
            case httpx2.LocalProtocolError():
                return ModelError(ModelFault.BAD_REQUEST, f"the request cannot be sent; check model.headers ({error})")
            case httpx2.DecodingError():
                return ModelError(ModelFault.GARBAGE, f"{host} sent bytes that cannot be unpacked")
            case _:
                return ModelError(ModelFault.CUT, f"{host} closed the connection")


_BEAT = Beat()


def _bytes_of(response: httpx2.Response) -> AsyncGenerator[bytes]:
    # We ask for plain bytes; a server that packs them all the same is heard, at the price of a slower path.
    return response.aiter_bytes() if "content-encoding" in response.headers else response.aiter_raw()


async def _drain(pieces: AsyncIterator[bytes]) -> None:
    """Read what is left after the answer, so that the connection can be used again; a server that dawdles loses it."""
    try:
        async with asyncio.timeout(_DRAIN_SECONDS):
            async for _ in pieces:
                pass
    except TimeoutError:
        pass


def _model_names(body: bytes, host: str) -> tuple[str, ...]:
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        data = None
    rows = data.get("data", data.get("models")) if isinstance(data, dict) else data
    if not isinstance(rows, list):
        raise ModelError(ModelFault.GARBAGE, f"{host} does not list its models; check model.base_url")
    names = (row.get("id") or row.get("name") for row in rows if isinstance(row, dict))
    return tuple(name for name in names if isinstance(name, str))
