"""Words to pictures."""

import asyncio
import base64
import json
from contextlib import aclosing

import pytest

from hob.core.errors import ModelError, ModelFault
from hob.core.models import Usage
from hob.core.settings import Secret
from hob.providers.settings import ProviderSettings
from hob.providers.wires.gemini.images import GeminiImages
from hob.providers.wires.openai_media.images import OpenAIImages
from hob.testing.model_server import ModelServer
from tests.providers.canned import client_of, listening, saying
from tests.providers.media.test_media import opened

PNG = b"\x89PNG\r\n\x1a\n"


async def test_request_as_documented_and_the_picture_with_what_it_took() -> None:
    async with ModelServer() as server, aclosing(client_of(server.url)) as client:
        made = await OpenAIImages(client, "gpt-image-1-mini").generate("A red hat", "1536x1024")
        other = await OpenAIImages(client, "flux").generate("A red hat")
        bodies = [json.loads(asked.body) for asked in server.requests]
    assert bodies[0] == {"model": "gpt-image-1-mini", "prompt": "A red hat", "n": 1, "size": "1536x1024"}
    assert bodies[1] == {"model": "flux", "prompt": "A red hat", "n": 1, "response_format": "b64_json"}
    assert made.data.startswith(PNG)
    assert (made.media_type, made.usage, other.usage) == ("image/png", Usage(3, 272), None)


@pytest.mark.parametrize(
    "answer", [{}, {"data": []}, {"data": [{"url": "https://x.example/a.png"}]}, {"data": [{"b64_json": "aGVsbG8="}]}]
)
async def test_answer_without_a_picture_is_an_error(answer: object) -> None:
    async with saying(json.dumps(answer).encode()) as client:
        with pytest.raises(ModelError) as failed:
            await OpenAIImages(client, "m").generate("x")
    assert failed.value.fault is ModelFault.GARBAGE


GEMINI = {
    "candidates": [
        {
            "content": {
                "parts": [
                    {"inlineData": {"mimeType": "image/png", "data": "aGVsbG8="}, "thought": True},
                    {"text": "Here it is."},
                    {"inlineData": {"mimeType": "image/png", "data": base64.b64encode(PNG).decode()}},
                ]
            }
        }
    ],
    "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 1290},
}


async def test_gemini_is_asked_for_a_picture_in_its_own_words() -> None:
    heard: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        size = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
        heard.extend((head.decode(), (await reader.readexactly(size)).decode()))
        body = json.dumps(GEMINI).encode()
        writer.write(b"HTTP/1.1 200 x\r\ncontent-type: application/json\r\nconnection: close\r\n")
        writer.write(b"content-length: %d\r\n\r\n" % len(body) + body)
        await writer.drain()

    async with listening(serve) as address:
        own = {"gemini": ProviderSettings(base_url=address, api_key=Secret.of("k-1"))}
        async with opened({}, providers=own, image_generation="gemini/gemini-2.5-flash-image") as media:
            assert media.image_generator is not None
            made = await media.image_generator.generate("A red hat", "1536x1024")
    assert (made.data, made.media_type, made.usage) == (PNG, "image/png", Usage(3, 1290))
    head, body = heard
    assert head.startswith("POST /v1beta/models/gemini-2.5-flash-image:generateContent ")
    assert "x-goog-api-key: k-1" in head.lower()
    assert json.loads(body) == {
        "contents": [{"role": "user", "parts": [{"text": "A red hat"}]}],
        "generationConfig": {"responseModalities": ["IMAGE"], "imageConfig": {"aspectRatio": "3:2"}},
    }


@pytest.mark.parametrize("answer", [{}, {"candidates": [{"content": {"parts": [{"text": "No."}]}}]}, [1]])
async def test_gemini_without_a_picture_is_an_error(answer: object) -> None:
    async with saying(answer) as client:
        with pytest.raises(ModelError) as failed:
            await GeminiImages(client, "m").generate("x")
    assert failed.value.fault is ModelFault.GARBAGE
