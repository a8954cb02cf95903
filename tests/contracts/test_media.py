"""Every adapter for vectors, hearing, speaking and seeing keeps its port's promises, and does what the SDK does."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import openai
import pytest

from hob.core.content.media import Embeddings
from hob.core.errors import ModelFault
from hob.core.ports.media import Embedder
from hob.core.settings import Secret
from hob.providers.media.media import Media, open_media
from hob.providers.routing.choice import ModelChoice
from hob.providers.settings import ModelSettings, ProviderSettings
from hob.testing.clock import ManualClock
from hob.testing.media_check import (
    check_describer,
    check_embedder,
    check_image_generator,
    check_speaker,
    check_transcriber,
)
from hob.testing.model_server import Fault, ModelServer, Reply

FAULTS = {
    ModelFault.AUTH: Fault.UNAUTHORIZED,
    ModelFault.BILLING: Fault.QUOTA,
    ModelFault.RATE_LIMIT: Fault.RATE_LONG,
}
PNG = b"\x89PNG\r\n\x1a\n" + bytes(16)
MODELS = {
    "openai": "openai/gpt-5",
    "ollama": "ollama/gemma3",
    "anthropic": "anthropic/claude-sonnet-5-5",
    "own": "own/m",
}


@asynccontextmanager
async def opened(server: ModelServer, provider: str = "openai", **more: Any) -> AsyncIterator[Media]:
    provided = {provider: ProviderSettings(base_url=server.root, api_key=Secret.of("k"))}
    settings = ModelSettings(name=MODELS[provider], providers=provided, **more)
    async with open_media(settings, ModelChoice(settings, {}), ManualClock(jump=True)) as media:
        yield media


def made(
    take: Callable[[Media], Any], provider: str = "openai", **more: Any
) -> Callable[[ModelFault | None], AbstractAsyncContextManager[Any]]:
    @asynccontextmanager
    async def make(fault: ModelFault | None) -> AsyncIterator[Any]:
        spoilt = {"k": Reply(fault=FAULTS[fault])} if fault else None
        async with ModelServer(by_key=spoilt) as server, opened(server, provider, **more) as media:
            adapter = take(media)
            assert adapter is not None
            yield adapter

    return make


@pytest.mark.parametrize("provider", ["openai", "ollama"])
async def test_embedders_keep_their_promises(provider: str) -> None:
    await check_embedder(made(lambda media: media.embedder, provider))


async def test_embedder_of_plain_numbers_keeps_its_promises() -> None:
    await check_embedder(made(lambda media: media.embedder, "own", embedding="own/bge-m3"))


@pytest.mark.parametrize("model", ["", "openai/whisper-1"])
async def test_transcribers_keep_their_promises(model: str) -> None:
    make = made(lambda media: media.transcriber, transcription=model)
    await check_transcriber(make, "Grüß dich".encode(), "audio/ogg", "Grüß dich")


@pytest.mark.parametrize("packing", ["mp3", "opus", "aac", "pcm"])
async def test_speakers_keep_their_promises(packing: str) -> None:
    await check_speaker(made(lambda media: media.speaker, speech_format=packing))


@pytest.mark.parametrize("provider", ["openai", "anthropic", "ollama"])
async def test_describers_keep_their_promises(provider: str) -> None:
    make = made(lambda media: media.describer, provider, vision=MODELS[provider])
    await check_describer(make, PNG, "image/png")


async def test_check_notices_vectors_in_the_wrong_order() -> None:
    class Turned:
        def __init__(self, embedder: Embedder | None) -> None:
            assert embedder is not None
            self._embedder = embedder

        async def embed(self, texts: Sequence[str]) -> Embeddings:
            found = await self._embedder.embed(texts)
            return Embeddings(found.vectors[::-1], found.model)

    with pytest.raises(AssertionError, match="broken promise"):
        await check_embedder(made(lambda media: Turned(media.embedder)))


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server


@pytest.fixture
async def sdk(server: ModelServer) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(base_url=server.url, api_key="k", max_retries=0) as client:
        yield client


async def test_vectors_are_those_of_the_sdk(server: ModelServer, sdk: openai.AsyncOpenAI) -> None:
    texts = ["the cat sleeps", "Grüß dich"]
    theirs = await sdk.embeddings.create(model="text-embedding-3-small", input=texts)
    async with opened(server) as media:
        assert media.embedder is not None
        ours = await media.embedder.embed(texts)
    assert ours.usage is not None
    assert ours.usage.input == theirs.usage.prompt_tokens
    for vector, row in zip(ours.vectors, theirs.data, strict=True):
        assert list(vector) == pytest.approx(row.embedding, abs=1e-6)


async def test_transcript_is_that_of_the_sdk(server: ModelServer, sdk: openai.AsyncOpenAI) -> None:
    file = ("note.ogg", b"hello there", "audio/ogg")
    theirs = await sdk.audio.transcriptions.create(
        model="whisper-1", file=file, response_format="verbose_json", language="de"
    )
    async with opened(server, transcription="openai/whisper-1") as media:
        assert media.transcriber is not None
        ours = await media.transcriber.transcribe(b"hello there", "audio/ogg", "de")
    assert (ours.text, ours.seconds, ours.language) == (theirs.text, theirs.duration, "de")


async def test_speech_is_that_of_the_sdk(server: ModelServer, sdk: openai.AsyncOpenAI) -> None:
    theirs = await sdk.audio.speech.create(model="gpt-4o-mini-tts", voice="nova", input="Grüß dich")
    async with opened(server) as media:
        assert media.speaker is not None
        ours = b"".join([piece async for piece in media.speaker.speak("Grüß dich")])
    assert ours == theirs.content


@pytest.mark.parametrize("model", ["", "openai/dall-e-3"])
async def test_image_generators_keep_their_promises(model: str) -> None:
    await check_image_generator(made(lambda media: media.image_generator, image_generation=model))
