"""Contract checks for `hob.core.ports.media`.

Each takes a function that opens an implementation: a working one, or one whose server fails in the requested way.
"""

import asyncio
import math
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, aclosing
from typing import Any, Final, TypeVar, cast

from hob.core.content.media import Embeddings, ImageGenerator
from hob.core.errors import ModelError, ModelFault
from hob.core.ports.media import Describer, Embedder, Speaker, Transcriber
from hob.testing.promises import require

_T = TypeVar("_T")
Make = Callable[[ModelFault | None], AbstractAsyncContextManager[_T]]
"""Opens a working implementation (None), or one that fails with the fault."""

_SECONDS: Final = 30.0
_FAULTS: Final = (ModelFault.AUTH, ModelFault.BILLING, ModelFault.RATE_LIMIT)
_NEAR: Final = 1e-3


async def check_image_generator(make: Make[ImageGenerator]) -> None:
    """Check the contract. Raises AssertionError that names the broken promise."""
    async with make(None) as generator:
        made = await _in_time(generator.generate("A red hat on a chair", "1024x1024"))
    require(made.media_type.startswith("image/") and len(made.data) > 0, "a picture comes, and its kind is told")
    await _check_failures(make, lambda generator: generator.generate("A red hat"))


async def check_embedder(make: Make[Embedder]) -> None:
    """Check the contract. Raises AssertionError that names the broken promise."""
    texts = ["The cat sleeps.", "Grüß dich, 世界 😀", "", "Taxes are due."]
    async with make(None) as embedder:
        require(await _in_time(embedder.embed([])) == Embeddings((), "", None), "no texts have no vectors")
        found = await _in_time(embedder.embed(texts))
        again = await _in_time(embedder.embed([*texts, texts[0]]))
        many = await _in_time(embedder.embed([f"Text {number}." for number in range(600)]))
        alone = await _in_time(embedder.embed(["Text 599."]))
    require(len(found.vectors) == len(texts), "every text has a vector, an empty one too")
    require(len({len(vector) for vector in found.vectors}) == 1, "all vectors have the same length")
    require(all(abs(math.hypot(*vector) - 1) < _NEAR for vector in found.vectors), "vectors are of unit length")
    require(_near(again.vectors[0], again.vectors[4]), "a text means the same wherever it stands")
    require(_near(found.vectors[3], again.vectors[3]), "a text means the same whenever it is asked")
    require(not _near(found.vectors[0], found.vectors[3]), "texts without a common word lie apart")
    require(len(many.vectors) == 600, "many texts are no trouble")
    require(_near(many.vectors[599], alone.vectors[0]), "many vectors stand in the order of their texts")
    require(bool(found.model), "the model that made the vectors is named: others' vectors do not compare")
    await _check_failures(make, lambda embedder: embedder.embed(["hi"]))


async def check_transcriber(make: Make[Transcriber], audio: bytes, media_type: str, says: str) -> None:
    """Check the contract; in the recording `audio` a person says `says`. Raises AssertionError that names the broken
    promise.
    """
    async with make(None) as transcriber:
        found = await _in_time(transcriber.transcribe(audio, media_type))
        told = await _in_time(transcriber.transcribe(audio, f"{media_type}; codecs=opus", "de"))
        nothing = await _failure_of(transcriber.transcribe(b"", media_type))
        picture = await _failure_of(transcriber.transcribe(b"\x89PNG\r\n\x1a\n", "image/png"))
        after = await _in_time(transcriber.transcribe(audio, media_type))
    require(found.text == says, "what is said is written down, and nothing else")
    require(told.text == says, "the language may be told, and the media type may have parameters")
    require(len(found.language) in (0, 2), "the language is an ISO 639-1 code, or empty")
    require(found.seconds >= 0, "the length is in seconds")
    require(nothing is not None, "an empty recording is an error")
    require(picture is not None, "what is no recording is an error")
    require(after.text == says, "the next recording is written down after an error")
    await _check_failures(make, lambda transcriber: transcriber.transcribe(audio, media_type))


async def check_speaker(make: Make[Speaker]) -> None:
    """Check the contract. Raises AssertionError that names the broken promise."""
    sentence = "Der Hase läuft über die Straße. "
    async with make(None) as speaker:
        require(speaker.media_type.startswith("audio/"), "what is spoken has a media type")
        short = await _in_time(_spoken(speaker, sentence))
        long = await _in_time(_spoken(speaker, sentence * 400))
        silence = await _in_time(_spoken(speaker, " \n"))
        async with aclosing(cast("AsyncGenerator[bytes]", speaker.speak(sentence))) as pieces:
            first = await _in_time(anext(pieces))
        after = await _in_time(_spoken(speaker, sentence))
    require(bool(short) and bool(first), "a sentence gives audio")
    require(len(long) > 100 * len(short), "a long text is spoken to its end")
    require(silence == b"", "nothing to be spoken gives no audio")
    require(bool(after), "the next text is spoken after one was left off")
    await _check_failures(make, lambda speaker: _spoken(speaker, sentence))


async def check_describer(make: Make[Describer], image: bytes, media_type: str) -> None:
    """Check the contract with a valid `image`. Raises AssertionError that names the broken promise."""
    async with make(None) as describer:
        found = await _in_time(describer.describe(image, media_type))
        answer = await _in_time(describer.describe(image, media_type, "Is there a cat?"))
        mistaken = await _in_time(describer.describe(image, "application/octet-stream"))
        words = await _failure_of(describer.describe(b"no picture", "text/plain"))
        together = await asyncio.gather(*(_in_time(describer.describe(image, media_type)) for _ in range(3)))
    require(bool(found.text.strip()), "a picture is described in words")
    require(bool(answer.text.strip()), "a question about it is answered")
    require(bool(mistaken.text.strip()), "what a picture is called does not matter")
    require(words is not None, "what is no picture is an error")
    require(all(each.text for each in together), "pictures may be described at once")
    await _check_failures(make, lambda describer: describer.describe(image, media_type))


async def _check_failures(make: Make[_T], ask: Callable[[_T], Awaitable[Any]]) -> None:
    for fault in _FAULTS:
        async with make(fault) as model:
            error = await _failure_of(ask(model))
        require(error is not None, f"a failure ({fault}) is raised as ModelError")
        assert error is not None  # noqa: S101
        require(error.fault is fault, f"a failure is told by its fault: {fault}, not {error.fault}")
        require(bool(str(error)), "a failure says something to people")


async def _in_time(asked: Awaitable[_T]) -> _T:
    async with asyncio.timeout(_SECONDS):
        return await asked


async def _spoken(speaker: Speaker, text: str) -> bytes:
    async with aclosing(cast("AsyncGenerator[bytes]", speaker.speak(text))) as pieces:
        return b"".join([piece async for piece in pieces])


async def _failure_of(asked: Awaitable[Any]) -> ModelError | None:
    try:
        await _in_time(asked)
    except ModelError as error:
        return error
    return None


def _near(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return math.dist(one, other) < _NEAR
