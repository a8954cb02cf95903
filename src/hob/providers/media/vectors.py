"""Embedding in batches that servers accept, with validated vectors of unit length."""

import math
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any

from hob.core.content.media import Embeddings
from hob.core.errors import ModelError, ModelFault
from hob.core.models import Usage
from hob.core.translation.language import translatable

MAX_TEXTS = 256
"""Texts per request. OpenAI accepts 2,048, but the answer of tens of megabytes would block everything else."""
MAX_BYTES = 600_000
"""UTF-8 bytes per request: certainly within the 300,000 tokens that OpenAI accepts."""
_CLOSE = 1e-6

Batch = tuple[list[Sequence[float]], str, Usage | None]
"""Vectors, the model that made them, and the usage."""


async def embed_all(texts: Sequence[str], embed: Callable[[list[str]], Awaitable[Batch]], host: str) -> Embeddings:
    """Return the vectors of all texts, batch by batch. Raises ModelError."""
    vectors: list[tuple[float, ...]] = []
    model, usage = "", None
    for batch in _batches(texts):
        try:
            found, model, counted = await embed(batch)
        except ModelError as error:
            if error.fault is not ModelFault.CONTEXT_OVERFLOW:
                raise
            words = f"a text is too long for the model that model.embedding names ({error})"
            raise ModelError(error.fault, words) from error
        if len(found) != len(batch):
            raise _garbage(host, translatable("{found} vectors for {asked} texts", found=len(found), asked=len(batch)))
        vectors += (_unit(vector, host) for vector in found)
        if counted is not None:
            usage = counted if usage is None else usage + counted
    if len({len(vector) for vector in vectors}) > 1:
        raise _garbage(host, translatable("vectors of different lengths"))
    return Embeddings(tuple(vectors), model, usage)


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for text in texts:
        needs = len(text.encode("utf-8", "replace"))
        if batch and (len(batch) >= MAX_TEXTS or size + needs > MAX_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(text or " ")  # an empty text is refused
        size += needs
    if batch:
        yield batch


def _unit(vector: Sequence[float], host: str) -> tuple[float, ...]:
    try:
        length = math.hypot(*vector)
    except OverflowError:  # an integer too large for a float
        length = math.inf
    if not math.isfinite(length) or not length:
        raise _garbage(host, translatable("a vector without direction"))
    return tuple(vector) if abs(length - 1) < _CLOSE else tuple(value / length for value in vector)


def parse_vector(value: Any, host: str) -> list[float]:
    """Return a JSON list of numbers as floats. Raises ModelError."""
    if not isinstance(value, list) or not value or not all(type(each) in (float, int) for each in value):
        raise _garbage(host, translatable("a vector that is none"))
    return value


def _garbage(host: str, what: str) -> ModelError:
    return ModelError(
        ModelFault.GARBAGE,
        translatable("{host} sent {what}; check the model that model.embedding names", host=host, what=what),
    )
