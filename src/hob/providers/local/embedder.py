"""Embeddings from a model in a local folder."""

import asyncio
import base64
import json
import struct
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from hob.core.content.media import Embeddings
from hob.core.errors import ModelError, ModelFault
from hob.core.libraries import install_command
from hob.core.models import Usage
from hob.core.translation.language import translatable
from hob.providers.catalog.catalog import FASTEMBED
from hob.providers.local.folder import ModelFolder
from hob.providers.local.worker import MISSING

_IDLE_SECONDS = 600.0
"""Seconds the process stays alive after the last text."""
_ANSWER_SECONDS, _DOWNLOAD_SECONDS = 60.0, 900.0
"""Seconds to wait for an answer; fastembed may have to download its model first."""
_BATCH_SIZE = 4
"""Texts per request to the process, so that a query does not wait long during bulk indexing."""
_LONGEST_LINE = 1 << 24
_ENVIRONMENT = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "VECLIB_MAXIMUM_THREADS": "1",
}
"""Environment of the process: one core, and none of Hob's secrets."""


class LocalEmbedder:
    """Implements `Embedder`. Texts longer than the model's limit are cut."""

    _patience = _ANSWER_SECONDS
    _library, _extra = "numpy", "memory"

    def __init__(self, folder: Path, linger: float = _IDLE_SECONDS) -> None:
        self._folder = folder
        self._model = ModelFolder(folder)
        self._version = ""
        self._linger = linger
        self._process: asyncio.subprocess.Process | None = None
        self._one_at_a_time = asyncio.Lock()
        self._ending: asyncio.TimerHandle | None = None

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        vectors: list[tuple[float, ...]] = []
        tokens = 0
        for start in range(0, len(texts), _BATCH_SIZE):
            some = list(texts[start : start + _BATCH_SIZE])
            async with self._one_at_a_time:
                answer = await self._answer(some)
            numbers = base64.b64decode(answer["vectors"])
            size = 4 * answer["dimension"]
            vectors += (struct.unpack(f"<{size // 4}f", numbers[at : at + size]) for at in range(0, len(numbers), size))
            tokens += answer["tokens"]
        return Embeddings(tuple(vectors), self._folder.name, Usage(tokens))

    async def aclose(self) -> None:
        """End the process."""
        if self._ending is not None:
            self._ending.cancel()
        process, self._process = self._process, None
        if process is not None:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    process.kill()
            await process.wait()

    async def _answer(self, texts: Sequence[str]) -> dict[str, Any]:
        if self._ending is not None:
            self._ending.cancel()
        done = False
        try:
            async with asyncio.timeout(self._patience):
                process = await self._started()
                answer: dict[str, Any] = await _exchange(process, texts)
            if "error" in answer:
                raise self._failed(answer["error"])
            done = True
        except (OSError, ValueError, EOFError) as error:  # TimeoutError is an OSError
            raise self._failed("the process that computes vectors was ended") from error
        finally:
            if not done:
                await self.aclose()
        self._ending = asyncio.get_running_loop().call_later(self._linger, self._end)
        return answer

    def _failed(self, why: str) -> ModelError:
        if why == MISSING:
            library, command = self._library, install_command(f"hob[{self._extra}]")
            why = translatable("{library} is not installed; {command}", library=library, command=command)
        return ModelError(
            ModelFault.SETTINGS, translatable("model.embedding = {folder}: {why}", folder=self._folder, why=why), cost=0
        )

    def _end(self) -> None:
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()  # it ends with its input

    async def _started(self) -> asyncio.subprocess.Process:
        process, version = self._process, self._changed()
        whole = process is not None and process.stdin is not None and not process.stdin.is_closing()
        if process is not None and whole and version == self._version:
            return process
        await self.aclose()
        self._check()
        self._version = version
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-m", *self._program()),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=_ENVIRONMENT,
            cwd="/",
            limit=_LONGEST_LINE,
        )
        return self._process

    def _program(self) -> Sequence[str]:
        return "hob.providers.local.worker", str(self._folder)

    def _changed(self) -> str:
        return self._model.version()

    def _check(self) -> None:
        """Raise ModelError if it is already known that the model cannot be used."""
        self._model.check()


class FastembedEmbedder(LocalEmbedder):
    """Embedder with a model that the library `fastembed` downloads from Hugging Face once."""

    _patience = _DOWNLOAD_SECONDS
    _library = _extra = FASTEMBED

    def __init__(self, model: str, linger: float = _IDLE_SECONDS) -> None:
        super().__init__(Path(FASTEMBED, model), linger)
        self._name = model

    def _program(self) -> Sequence[str]:
        cache = Path.home() / ".cache" / "fastembed"
        return "hob.providers.local.fastembed_worker", self._name, str(cache)

    def _check(self) -> None:
        """Accept any model: the library downloads what is missing."""

    def _changed(self) -> str:
        return self._name


async def _exchange(process: asyncio.subprocess.Process, texts: Sequence[str]) -> dict[str, Any]:
    """Return the process's answer. Raises OSError, ValueError or EOFError if the process has ended."""
    if process.stdin is None or process.stdout is None:
        raise EOFError
    with suppress(ConnectionError):  # its answer says why it ended
        process.stdin.write(json.dumps(texts).encode() + b"\n")
        await process.stdin.drain()
    answer = json.loads(await process.stdout.readline())
    if not isinstance(answer, dict):
        raise EOFError
    return answer
