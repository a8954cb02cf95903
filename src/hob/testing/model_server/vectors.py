"""Embeddings without a model: hashed words. Texts with common words have similar vectors."""

import math
import re
from zlib import crc32

DIMENSIONS = 256


def make_vector(text: str, dimensions: int = DIMENSIONS) -> list[float]:
    """Return a vector of unit length."""
    found = [0.0] * dimensions
    for word in re.findall(r"\w+", text.lower()) or [""]:
        digest = crc32(word.encode())
        found[digest % dimensions] += 1.0 if digest & 0x8000_0000 else -1.0
    length = math.sqrt(sum(value * value for value in found))
    if not length:  # words that cancel each other out
        return [1.0, *found[1:]]
    return [value / length for value in found]
