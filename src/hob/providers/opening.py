"""From settings to a model that can be asked."""

import random
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib import import_module
from typing import Protocol

from hob.core.clock import Clock
from hob.core.errors import ModelError, ModelFault
from hob.core.models import Beat, ModelEvent, ModelRequest
from hob.core.ports.model import CanName, Model
from hob.core.ports.tools import Blobs
from hob.providers.openai_chat.settings import OFFICIAL, OpenAIChatSettings
from hob.providers.retrying import Retrying
from hob.providers.settings import ModelSettings, is_connected, model_name


class _Server(Model, CanName, Protocol):
    async def aclose(self) -> None: ...


class NotConnected:
    """Implements `Model` where none is configured: every request fails and says so."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        """Raises ModelError (NOT_CONFIGURED)."""
        yield Beat()
        raise ModelError(ModelFault.NOT_CONFIGURED, "no model is connected; set OPENAI_API_KEY or model.base_url")


class OnDemand:
    """Implements `Model`: `OpenAIChat`, whose HTTP library is loaded when the first request is made."""

    def __init__(self, settings: OpenAIChatSettings, clock: Clock, blobs: Blobs | None) -> None:
        self._settings = settings
        self._clock = clock
        self._blobs = blobs
        self._model: _Server | None = None

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """As `OpenAIChat.stream`."""
        return self.load().stream(request)

    async def default_model(self) -> str:
        """As `OpenAIChat.default_model`; what is configured is known without loading anything."""
        return self._settings.model or await self.load().default_model()

    def load(self) -> _Server:
        """Load it now: 80 ms of imports that a command without a model never pays."""
        if self._model is None:
            from hob.providers.openai_chat.model import OpenAIChat  # heavy, see above

            self._model = OpenAIChat(self._settings, self._clock, self._blobs)
        return self._model

    async def aclose(self) -> None:
        """Close all connections."""
        if self._model is not None:
            await self._model.aclose()


def load_libraries() -> None:
    """Load now what the first request would load, a tenth of a second of CPU: a daemon has time before anybody asks."""
    import_module("hob.providers.openai_chat.model")


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
    server = OpenAIChatSettings(
        base_url=settings.base_url or OFFICIAL,
        api_key=settings.api_key,
        model=model_name(settings),
        headers=settings.headers,
        connect_seconds=settings.connect_seconds,
        read_seconds=settings.read_seconds,
    )
    model = OnDemand(server, clock, blobs)
    try:
        yield Retrying(model, clock, settings.max_attempts, draw)
    finally:
        await model.aclose()
