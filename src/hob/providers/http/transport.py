"""A model behind HTTP: a `Wire` and a `ServerConnection` make a `Model`."""

import hashlib
import os
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, aclosing
from dataclasses import replace

import httpx2

from hob.core.clock import Clock
from hob.core.errors import ModelError, ModelFault, NotFound
from hob.core.ids import BlobId
from hob.core.models import AssistantMessage, CallStarted, KeepAlive, ModelEvent, ModelReply, ModelRequest, UserMessage
from hob.core.ports.tools import Blobs
from hob.core.translation.language import translatable
from hob.providers.http.connection import ServerConnection, drain, iter_bytes
from hob.providers.http.sealed_reasoning import drop_foreign_reasoning, prefix_digest
from hob.providers.http.server import Server
from hob.providers.http.wire import ListedModel, Wire
from hob.providers.schemas.dialects import ToolNames, make_safe_names

_KEEP_ALIVE = KeepAlive()


class HttpModel:
    """Implements `Model`. Makes one request per call of `stream`, without retries.

    `request.model` is the server's name for the model. `identity` identifies this server and key: reasoning sealed by
    another one is not sent. Opens nothing before the first request.
    """

    def __init__(
        self, wire: Wire, server: Server, clock: Clock, blobs: Blobs | None = None, *, identity: str = ""
    ) -> None:
        self._wire = wire
        self._server = server
        self._blobs = blobs
        self._identity = identity
        self._connection = ServerConnection(server, clock)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        """Yield the answer in pieces. Raises ModelError; `request.patience` limits the time to connect."""
        connection, wire = self._connection, self._wire
        request, names = with_safe_names(drop_foreign_reasoning(request, self._identity))
        body = await self._body(request)
        sent = hashlib.sha256(body).hexdigest()
        key = await connection.key()
        url = connection.address(lambda base: wire.chat_url(base, request.model))
        secrets = connection.secrets(key)
        taken = {call.id for said in request.messages if isinstance(said, AssistantMessage) for call in said.calls}
        decoder = wire.decoder(host=connection.host, salt=os.urandom(8).hex(), taken=taken, secrets=secrets)
        broken = False
        try:
            async with AsyncExitStack() as opened:
                response = await self._post(opened, url, body, key, request.patience)
                yield _KEEP_ALIVE
                async with aclosing(iter_bytes(response)) as pieces:
                    async for data in pieces:
                        for event in decoder.feed(data):
                            yield _translate_event(event, request, names, self._identity, sent)
                        if decoder.done:
                            await drain(pieces)
                            return
        except ModelError as error:
            if error.fault is not ModelFault.CUT:
                raise
            broken = True
        for event in decoder.finish(broken=broken):
            yield _translate_event(event, request, names, self._identity, sent)

    async def body(self, request: ModelRequest) -> bytes:
        """Return the body that would be sent, without sending it. Raises ModelError."""
        return await self._body(with_safe_names(drop_foreign_reasoning(request, self._identity))[0])

    async def _body(self, request: ModelRequest) -> bytes:
        return self._wire.encode(request, model=request.model, images=await self._images(request))

    async def _post(self, opened: AsyncExitStack, url: str, body: bytes, key: str, patience: float) -> httpx2.Response:
        """Return the successful response to this body; a key rotated since it was read is read again, once."""
        connection = self._connection

        async def post(key: str) -> httpx2.Response:
            answer = connection.open(
                "POST",
                url,
                headers=self._headers(key),
                content=body,
                patience=patience,
                secrets=connection.secrets(key),
            )
            return await opened.enter_async_context(answer)

        return await connection.with_key(key, post)

    async def list_models(self) -> tuple[ListedModel, ...]:
        """Return the server's models. Raises ModelError."""
        connection = self._connection
        key = await connection.key()
        url = connection.address(self._wire.models_url)
        listing = await connection.fetch_json(
            "GET", url, headers=self._headers(key), read_seconds=10.0, secrets=connection.secrets(key)
        )
        models = self._wire.read_models(listing)
        if models is None:
            raise ModelError(
                ModelFault.GARBAGE,
                translatable(
                    "{host} does not list its models; check {advice}", host=connection.host, advice=self._server.advice
                ),
            )
        return models

    async def aclose(self) -> None:
        """Close all connections."""
        await self._connection.aclose()

    def _headers(self, key: str) -> dict[str, str]:
        return {
            "accept": "text/event-stream, application/json",
            "content-type": "application/json",
            **self._wire.headers(key),
        }

    async def _images(self, request: ModelRequest) -> dict[BlobId, bytes]:
        wanted = {image.blob for said in request.messages if isinstance(said, UserMessage) for image in said.images}
        if wanted and self._blobs is None:
            raise ModelError(ModelFault.BAD_REQUEST, translatable("images cannot be sent here"))
        try:
            return {blob: await self._blobs.load(blob) for blob in sorted(wanted)} if self._blobs else {}
        except NotFound as error:
            raise ModelError(
                ModelFault.BAD_REQUEST, translatable("an image of the conversation is gone: {error}", error=str(error))
            ) from error


def with_safe_names(request: ModelRequest) -> tuple[ModelRequest, ToolNames | None]:
    """Return the request with tool names that every server accepts, and the mapping; None if nothing had to change."""
    specs, said = request.tools, request.messages
    spoken = {call.name for message in said if isinstance(message, AssistantMessage) for call in message.calls}
    names = make_safe_names(specs)
    if all(names.to_wire(name) == name for name in (*names.outgoing, *spoken)):
        return request, None
    messages = tuple(
        replace(message, calls=tuple(replace(call, name=names.to_wire(call.name)) for call in message.calls))
        if isinstance(message, AssistantMessage) and message.calls
        else message
        for message in said
    )
    tools = tuple(replace(spec, name=names.to_wire(spec.name)) for spec in specs)
    return replace(request, tools=tools, messages=messages), names


def _translate_event(
    event: ModelEvent, request: ModelRequest, names: ToolNames | None, identity: str, sent: str
) -> ModelEvent:
    """Return the event with our tool names, and a reply with the digest of its prefix."""
    if isinstance(event, CallStarted) and names is not None:
        return CallStarted(names.to_tool(event.name))
    if isinstance(event, ModelReply):
        event = replace(event, sent=sent)
        if names is not None:
            event = replace(event, calls=tuple(replace(call, name=names.to_tool(call.name)) for call in event.calls))
        if event.continuation is not None:
            event = replace(event, continuation=replace(event.continuation, prefix=prefix_digest(request), by=identity))
    return event
