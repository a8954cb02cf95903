"""From settings to what models do besides answering: vectors, hearing, speaking, seeing.

What nobody configured is taken from the usual model's provider where it has it. Loads no HTTP library before one of
them is first taken.
"""

import random
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from functools import cached_property
from typing import Final, Protocol, TypeVar

from hob.core.clock import Clock
from hob.core.errors import ModelError, ModelFault
from hob.core.ports.media import Describer, Embedder, Speaker, Transcriber
from hob.providers.catalog.catalog import provider_at
from hob.providers.http.server import Server, server_of
from hob.providers.media.vision import HeldPictures, VisionDescriber
from hob.providers.routing.choice import Choice, Ref
from hob.providers.routing.failover_model import Failover
from hob.providers.routing.model_routes import ModelRoutes
from hob.providers.settings import ModelSettings

EMBEDDING: Final = "embedding"
TRANSCRIPTION: Final = "transcription"
SPEECH: Final = "speech"
VISION: Final = "vision"
KINDS: Final = (EMBEDDING, TRANSCRIPTION, SPEECH, VISION)
"""Each is also the setting of `[model]` that names the model for it."""

_USUAL: Mapping[tuple[str, str], str] = {
    ("openai", EMBEDDING): "text-embedding-3-small",
    ("openai", TRANSCRIPTION): "gpt-4o-mini-transcribe",
    ("openai", SPEECH): "gpt-4o-mini-tts",
    ("ollama", EMBEDDING): "nomic-embed-text",
}
"""What is asked where nothing is configured, by the usual model's provider."""
_SIGHTED: Final = ("anthropic", "gemini", "openai")
"""Providers all of whose usual models see."""
_WIRES: Mapping[str, tuple[str, ...]] = {
    EMBEDDING: ("openai", "responses", "ollama"),
    TRANSCRIPTION: ("openai", "responses"),
    SPEECH: ("openai", "responses"),
}
"""Who can be asked for it, by what they speak; every model may see."""
_EXAMPLES: Mapping[str, str] = {
    EMBEDDING: "openai/text-embedding-3-small or ollama/nomic-embed-text",
    TRANSCRIPTION: "openai/gpt-4o-mini-transcribe or groq/whisper-large-v3",
    SPEECH: "openai/gpt-4o-mini-tts",
    VISION: "openai/gpt-5-mini or ollama/gemma3",
}


class _Closes(Protocol):
    async def aclose(self) -> None: ...


_C = TypeVar("_C", bound=_Closes)


class Media:
    """What is connected. None is not; `reason` says why."""

    def __init__(self, settings: ModelSettings, choice: Choice, clock: Clock, draw: Callable[[], float]) -> None:
        self._settings = settings
        self._choice = choice
        self._clock = clock
        self._pictures = HeldPictures()
        self._lanes = ModelRoutes(choice, settings, clock, self._pictures)
        self._failover = Failover(
            self._lanes.of, self._lanes.open, clock, max_attempts=settings.max_attempts, draw=draw
        )
        self._closing = AsyncExitStack()

    @cached_property
    def embedder(self) -> Embedder | None:
        """Texts to vectors."""
        ref = self.find(EMBEDDING)
        if isinstance(ref, ModelError):
            return None
        from hob.providers.http.client import Client

        client = self._kept(Client(self._servers(ref), self._clock, self._failover.patiently))
        provider = self._choice.connect(ref.provider).provider
        if provider.wire == "ollama":
            from hob.providers.wires.ollama.embeddings import OllamaEmbedder

            return OllamaEmbedder(client, ref.model)
        from hob.providers.wires.openai_media.embeddings import OpenAIEmbedder

        return OpenAIEmbedder(client, ref.model, packed=provider.id == "openai")

    @cached_property
    def transcriber(self) -> Transcriber | None:
        """Speech to text."""
        ref = self.find(TRANSCRIPTION)
        if isinstance(ref, ModelError):
            return None
        from hob.providers.http.client import Client
        from hob.providers.wires.openai_media.transcription import OpenAITranscriber

        client = self._kept(Client(self._servers(ref), self._clock, self._failover.patiently))
        return OpenAITranscriber(client, ref.model)

    @cached_property
    def speaker(self) -> Speaker | None:
        """Text to speech."""
        ref = self.find(SPEECH)
        if isinstance(ref, ModelError):
            return None
        from hob.providers.http.client import Client
        from hob.providers.wires.openai_media.speech import OpenAISpeaker

        client = self._kept(Client(self._servers(ref), self._clock, self._failover.patiently))
        voice = self._settings.voice or "nova"
        return OpenAISpeaker(client, ref.model, voice=voice, packing=self._settings.speech_format)

    @cached_property
    def describer(self) -> Describer | None:
        """Pictures to words."""
        ref = self.find(VISION)
        if isinstance(ref, ModelError):
            return None
        return VisionDescriber(self._failover, self._lanes.name(ref), self._pictures)

    def reason(self, kind: str) -> str:
        """Why there is none of this kind, for people; empty where there is."""
        found = self.find(kind)
        return str(found) if isinstance(found, ModelError) else ""

    def find(self, kind: str) -> Ref | ModelError:
        """The model for it, or why there is none."""
        try:
            name: str = getattr(self._settings, kind)
            ref = self._choice.resolve(name) if name else self._usual(kind)
            connected = self._choice.connect(ref.provider)
        except ModelError as error:
            return error
        if not ref.model or connected.provider.wire not in _WIRES.get(kind, (connected.provider.wire,)):
            return self._missing(kind, f"{ref} cannot be asked for it")
        return ref

    async def aclose(self) -> None:
        """Close all connections."""
        await self._closing.aclose()
        await self._lanes.aclose()

    def _usual(self, kind: str) -> Ref:
        usual = self._choice.default()
        if usual is None:
            raise self._missing(kind, "no model is connected")
        connected = self._choice.connect(usual.provider)
        known = provider_at(connected.base_url) or connected.provider
        if kind == VISION and known.id in _SIGHTED:
            return usual
        name = _USUAL.get((known.id, kind))
        if name is None:
            raise self._missing(kind, f"nothing is known of {known.id} that does it")
        return Ref(usual.provider, name)

    def _missing(self, kind: str, why: str) -> ModelError:
        return ModelError(ModelFault.NOT_CONFIGURED, f"{why}; set model.{kind}, for example to {_EXAMPLES[kind]}")

    def _servers(self, ref: Ref) -> list[Server]:
        connected = self._choice.connect(ref.provider)
        return [server_of(connected, key, self._settings) for key in connected.keys]

    def _kept(self, client: _C) -> _C:
        self._closing.push_async_callback(client.aclose)
        return client


@asynccontextmanager
async def open_media(
    settings: ModelSettings, choice: Choice, clock: Clock, *, draw: Callable[[], float] = random.random
) -> AsyncIterator[Media]:
    """All of it. Opens nothing before the first request."""
    media = Media(settings, choice, clock, draw)
    try:
        yield media
    finally:
        await media.aclose()
