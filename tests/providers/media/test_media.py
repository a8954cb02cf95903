"""Which models embed, listen, speak and look: configured, usual, or none for a reason."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from hob.core.settings import Secret
from hob.providers.media.media import EMBEDDING, IMAGES, KINDS, SPEECH, TRANSCRIPTION, VISION, Media, open_media
from hob.providers.routing.choice import ModelChoice
from hob.providers.settings import ModelSettings, ProviderSettings
from hob.testing.clock import ManualClock
from hob.testing.model_server import ModelServer


@asynccontextmanager
async def opened(environ: Mapping[str, str], **settings: Any) -> AsyncIterator[Media]:
    made = ModelSettings(**settings)
    choice = ModelChoice(made, environ, which=lambda _: None, is_reachable=lambda _: False)
    async with open_media(made, choice, ManualClock()) as media:
        yield media


async def found(environ: Mapping[str, str], **settings: Any) -> dict[str, str]:
    async with opened(environ, **settings) as media:
        return {kind: "" if media.reason(kind) else str(media.find(kind)) for kind in KINDS}


async def test_openai_key_provides_all_media_models() -> None:
    assert await found({"OPENAI_API_KEY": "sk-x"}) == {
        EMBEDDING: "openai/text-embedding-3-small",
        TRANSCRIPTION: "openai/gpt-4o-mini-transcribe",
        SPEECH: "openai/gpt-4o-mini-tts",
        VISION: "openai/gpt-6.1-terra",
        IMAGES: "openai/gpt-image-1-mini",
    }


async def test_ollama_embeds() -> None:
    models = await found({}, name="ollama/qwen3:8b")
    assert models == {EMBEDDING: "ollama/nomic-embed-text", TRANSCRIPTION: "", SPEECH: "", VISION: "", IMAGES: ""}


async def test_anthropic_key_provides_only_vision() -> None:
    models = await found({"ANTHROPIC_API_KEY": "sk-x"})
    assert models == {EMBEDDING: "", TRANSCRIPTION: "", SPEECH: "", VISION: "anthropic/claude-sonnet-5-5", IMAGES: ""}


async def test_configured_media_models_are_used() -> None:
    models = await found(
        {"ANTHROPIC_API_KEY": "sk-x", "GROQ_API_KEY": "gsk-x"},
        name="anthropic/claude-sonnet-5-5",
        embedding="ollama/bge-m3",
        transcription="ears",
        vision="anthropic/claude-haiku-4-5",
        aliases={"ears": "groq/whisper-large-v3"},
    )
    assert models[EMBEDDING] == "ollama/bge-m3"
    assert models[TRANSCRIPTION] == "groq/whisper-large-v3"
    assert models[VISION] == "anthropic/claude-haiku-4-5"


@pytest.mark.parametrize("kind", KINDS)
async def test_kinds_without_a_model_each_say_what_to_set(kind: str) -> None:
    async with opened({}) as media:
        assert f"set model.{kind}" in media.reason(kind)
        assert (media.embedder, media.transcriber, media.speaker, media.describer) == (None, None, None, None)


@pytest.mark.parametrize(
    ("kind", "name", "words"),
    [
        (EMBEDDING, "anthropic/claude", "cannot be asked for it"),
        (TRANSCRIPTION, "ollama/whisper", "cannot be asked for it"),
        (SPEECH, "openai/tts-1", "OPENAI_API_KEY"),
        (SPEECH, "nobody/voice", "nobody"),
    ],
)
async def test_model_that_cannot_do_it_says_why(kind: str, name: str, words: str) -> None:
    async with opened({"ANTHROPIC_API_KEY": "sk-x"}, **{kind: name}) as media:
        assert words in media.reason(kind)


async def test_voice_and_the_packing_are_settings() -> None:
    async with ModelServer() as server:
        own = {"openai": ProviderSettings(base_url=server.url, api_key=Secret.of("k"))}
        async with opened({}, providers=own, speech="openai/tts-1", voice="onyx", speech_format="opus") as media:
            assert media.speaker is not None
            assert media.speaker.media_type == "audio/ogg"
            assert b"".join([piece async for piece in media.speaker.speak("Hi.")]).startswith(b"OggS")
        assert json.loads(server.requests[-1].body)["voice"] == "onyx"


async def test_openai_itself_alone_is_asked_for_packed_vectors() -> None:
    async with ModelServer() as server:
        own = {name: ProviderSettings(base_url=server.url, api_key=Secret.of("k")) for name in ("openai", "own")}
        for name in own:
            async with opened({}, providers=own, embedding=f"{name}/m") as media:
                assert media.embedder is not None
                await media.embedder.embed(["x"])
        forms = [json.loads(asked.body)["encoding_format"] for asked in server.requests]
    assert forms == ["base64", "float"]
