"""From settings to a model that can be asked."""

import random
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING

from hob.core.clock import Clock
from hob.core.errors import ModelError, ModelFault
from hob.core.models import Beat, ModelEvent, ModelRequest
from hob.core.ports.model import Model
from hob.core.ports.tools import Blobs
from hob.providers.openai_chat.settings import Dialect
from hob.providers.openai_chat.wire import ChatCompletions
from hob.providers.retrying import Retrying
from hob.providers.server import Server
from hob.providers.settings import OFFICIAL, ModelSettings, is_connected, model_name

if TYPE_CHECKING:
    from hob.providers.transport import HttpModel


class NotConnected:
    """Implements `Model` where none is configured: every request fails and says so."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        """Raises ModelError (NOT_CONFIGURED)."""
        yield Beat()
        raise ModelError(ModelFault.NOT_CONFIGURED, "no model is connected; set OPENAI_API_KEY or model.base_url")


class OnDemand:
    """Implements `Model`: `HttpModel`, whose HTTP library is loaded when the first request is made."""

    def __init__(self, server: Server, name: str, clock: Clock, blobs: Blobs | None) -> None:
        self._server = server
        self._name = name
        self._clock = clock
        self._blobs = blobs
        self._model: HttpModel | None = None

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        """As `HttpModel.stream`; a request that names no model goes to `default_model`."""
        if not request.model:
            request = replace(request, model=await self.default_model())
        async with aclosing(self.load().stream(request)) as events:
            async for event in events:
                yield event

    async def default_model(self) -> str:
        """The configured model, else the first one the server lists (asked once). Raises ModelError."""
        if not self._name:
            models = await self.load().list_models()
            if not models:
                raise ModelError(ModelFault.NOT_FOUND, "the server has no model; load one, or set model.name")
            self._name = models[0].name
        return self._name

    def load(self) -> "HttpModel":
        """Load it now: 80 ms of imports that a command without a model never pays."""
        if self._model is None:
            from hob.providers.transport import HttpModel  # heavy, see above

            wire = ChatCompletions(Dialect())
            self._model = HttpModel(wire, self._server, self._clock, self._blobs)
        return self._model

    async def aclose(self) -> None:
        """Close all connections."""
        if self._model is not None:
            await self._model.aclose()


def load_libraries() -> None:
    """Load now what the first request would load, a tenth of a second of CPU: a daemon has time before anybody asks."""
    import_module("hob.providers.transport")


@asynccontextmanager
async def open_model(
    settings: ModelSettings,
    clock: Clock,
    *,
    blobs: Blobs | None = None,
    draw: Callable[[], float] = random.random,
) -> AsyncIterator[Model]:
    """The configured model with its retries, or `NotConnected`. Opens nothing before the first request."""
    if not is_connected(settings):
        yield NotConnected()
        return
    server = Server(
        base_url=settings.base_url or OFFICIAL,
        api_key=settings.api_key,
        headers=settings.headers,
        connect_seconds=settings.connect_seconds,
        read_seconds=settings.read_seconds,
    )
    model = OnDemand(server, model_name(settings), clock, blobs)
    try:
        yield Retrying(model, clock, settings.max_attempts, draw)
    finally:
        await model.aclose()
