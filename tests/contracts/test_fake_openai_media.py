"""The fake server is what the official OpenAI SDK takes for the real one: embeddings, hearing, speaking, drawing."""

import base64
import math
import struct
from collections.abc import AsyncIterator
from typing import Literal

import openai
import pytest

from hob.testing.model_server import ModelServer

from .plain import PLAIN


@pytest.fixture
async def client() -> AsyncIterator[openai.AsyncOpenAI]:
    async with (
        ModelServer() as server,
        openai.AsyncOpenAI(
            base_url=server.url,
            api_key="any",
            max_retries=0,
            timeout=10,
            http_client=openai.DefaultAsyncHttpxClient(verify=PLAIN),
        ) as client,
    ):
        yield client


def wav(seconds: float) -> bytes:
    sound = bytes(int(16_000 * seconds) * 2)
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, 16_000, 32_000, 2, 16)
    head = struct.pack("<4sI4s", b"RIFF", 36 + len(sound), b"WAVE")
    return head + form + struct.pack("<4sI", b"data", len(sound)) + sound


@pytest.mark.parametrize("coded", [openai.omit, "float"])  # by default the SDK asks for base64 and decodes it
async def test_texts_with_words_in_common_lie_near_each_other(
    client: openai.AsyncOpenAI, coded: Literal["float"] | openai.Omit
) -> None:
    texts = ["the cat sleeps", "The cat eats", "taxes are due"]
    answer = await client.embeddings.create(model="m", input=texts, encoding_format=coded)
    cat, other_cat, taxes = (row.embedding for row in answer.data)
    assert math.hypot(*cat) == pytest.approx(1.0, abs=1e-6)
    assert math.dist(cat, other_cat) < math.dist(cat, taxes)
    assert answer.usage.prompt_tokens == 9


async def test_embeddings_have_the_length_that_is_asked_for(client: openai.AsyncOpenAI) -> None:
    answer = await client.embeddings.create(model="m", input="x", dimensions=8)
    assert len(answer.data[0].embedding) == 8
    with pytest.raises(openai.BadRequestError, match="empty string"):
        await client.embeddings.create(model="m", input=["x", ""])


async def test_sound_is_heard(client: openai.AsyncOpenAI) -> None:
    answer = await client.audio.transcriptions.create(model="m", file=("note.wav", wav(1.5)))
    assert answer.text == "You spoke for 1.5 seconds."
    whole = await client.audio.transcriptions.create(
        model="m", file=("note.wav", wav(0.5)), response_format="verbose_json", language="de"
    )
    assert (whole.duration, whole.language) == (0.5, "german")


async def test_file_of_text_says_that_text(client: openai.AsyncOpenAI) -> None:
    answer = await client.audio.transcriptions.create(model="m", file=("note.ogg", "Grüß dich".encode()))
    assert answer.text == "Grüß dich"
    text = await client.audio.transcriptions.create(model="m", file=("note.ogg", b"hello"), response_format="text")
    assert text.strip() == "hello"


async def test_file_that_is_no_sound_is_refused(client: openai.AsyncOpenAI) -> None:
    with pytest.raises(openai.BadRequestError, match="Invalid file format"):
        await client.audio.transcriptions.create(model="m", file=("note.txt", b"hello"))
    with pytest.raises(openai.BadRequestError, match="too short"):
        await client.audio.transcriptions.create(model="m", file=("note.wav", b""))


@pytest.mark.parametrize(("kind", "magic"), [("mp3", b"\xff\xf3"), ("wav", b"RIFF"), ("opus", b"OggS"), ("pcm", b"\0")])
async def test_text_is_spoken_piece_by_piece(client: openai.AsyncOpenAI, kind: str, magic: bytes) -> None:
    async with client.audio.speech.with_streaming_response.create(
        model="m",
        voice="nova",
        input="Grüß dich",
        response_format=kind,  # type: ignore[arg-type]
    ) as response:
        pieces = [piece async for piece in response.iter_bytes(64)]
    assert pieces[0].startswith(magic)
    assert response.headers["transfer-encoding"] == "chunked"


async def test_voice_that_is_not_there_is_refused(client: openai.AsyncOpenAI) -> None:
    with pytest.raises(openai.BadRequestError, match="Supported values"):
        await client.audio.speech.create(model="m", voice="darth", input="x")


async def test_faults_are_asked_for_in_the_text(client: openai.AsyncOpenAI) -> None:
    with pytest.raises(openai.RateLimitError):
        await client.embeddings.create(model="m", input="FAULT rate_short")
    with pytest.raises(openai.AuthenticationError):
        await client.audio.speech.create(model="m", voice="nova", input="FAULT unauthorized")
    with pytest.raises(openai.InternalServerError):
        await client.audio.transcriptions.create(model="m", file=("a.wav", wav(0.1)), prompt="FAULT error_503")
    with pytest.raises(openai.APIConnectionError):
        await client.audio.speech.create(model="m", voice="nova", input="FAULT cut_middle")


async def test_one_model_is_told_by_its_name(client: openai.AsyncOpenAI) -> None:
    assert (await client.models.retrieve("fake-1")).object == "model"
    with pytest.raises(openai.NotFoundError):
        await client.models.retrieve("fake-9")


async def test_picture_is_made_of_words(client: openai.AsyncOpenAI) -> None:
    made = await client.images.generate(model="gpt-image-1-mini", prompt="a red hat", size="1024x1024")
    assert made.data is not None
    assert made.usage is not None
    assert base64.b64decode(made.data[0].b64_json or "").startswith(b"\x89PNG")
    assert made.usage.total_tokens == made.usage.input_tokens + made.usage.output_tokens
    with pytest.raises(openai.BadRequestError, match="response_format"):
        await client.images.generate(model="gpt-image-1-mini", prompt="x", response_format="b64_json")
    with pytest.raises(openai.BadRequestError, match="Supported values"):
        await client.images.generate(model="gpt-image-1-mini", prompt="x", size="12x12")
