"""Document text, extracted by a separate process."""

import asyncio
import json
import sys
from contextlib import suppress
from typing import Any

from hob.core.content.documents import Document, DocumentSection, DocumentUnreadable
from hob.core.libraries import install_command
from hob.tools.documents.media_types import DOCUMENTS, document_kind
from hob.tools.documents.worker import MISSING, SECONDS

_SAFELY = ("-I", "-m")  # isolated mode: imports do not depend on the caller's folder or environment
_PATIENCE = 3 * SECONDS  # wall-clock seconds, generous for busy machines
_MAX_ANSWER = 64 << 20


class DocumentReader:
    """Implements `Documents`. The worker process waits `linger` seconds for the next document before it ends."""

    def __init__(self, linger: float = 0.0) -> None:
        self._linger = linger
        self._process: asyncio.subprocess.Process | None = None
        self._one_at_a_time = asyncio.Lock()
        self._ending: asyncio.TimerHandle | None = None

    def kind(self, data: bytes, name: str = "") -> str:
        """Return the media type of a readable document, or an empty string."""
        return document_kind(data, name)

    async def read(self, data: bytes, kind: str, *, charset: str = "", base: str = "") -> Document:
        """Extract a document's text. Raises DocumentUnreadable."""
        asked = {"size": len(data), "kind": kind, "charset": charset, "base": base}
        async with self._one_at_a_time:
            answer = await self._answer(asked, data)
        if answer.get("error") == MISSING:
            how = install_command(str(answer.get("library", "")))
            raise DocumentUnreadable(f"to read a {DOCUMENTS[kind]} document a library is missing; the owner can: {how}")
        if "error" in answer:
            raise DocumentUnreadable(f"this {DOCUMENTS[kind]} document cannot be read: {answer['error']}")
        sections = tuple(DocumentSection(text, heading, page) for text, heading, page in answer["sections"])
        return Document(sections, answer["title"], kind, cut=answer["cut"])

    async def close(self) -> None:
        """Stop the worker process."""
        if self._ending is not None:
            self._ending.cancel()
        process, self._process = self._process, None
        if process is None:
            return
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
        await process.wait()

    async def _answer(self, asked: dict[str, Any], data: bytes) -> dict[str, Any]:
        if self._ending is not None:
            self._ending.cancel()
            self._ending = None
        done = False
        try:
            process = await self._started()
            async with asyncio.timeout(_PATIENCE):
                answer = await _exchange(process, json.dumps(asked).encode() + b"\n" + data)
            done = "error" not in answer
        except (OSError, ValueError, EOFError, TimeoutError):
            answer = {"error": f"gave up after {SECONDS} s or for want of memory"}
        finally:
            if not done or not self._linger:
                await self.close()
        if done and self._linger:
            self._ending = asyncio.get_running_loop().call_later(self._linger, self._end)
        return answer

    def _end(self) -> None:
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()  # the worker exits at end of input

    async def _started(self) -> asyncio.subprocess.Process:
        if self._process is not None and self._process.stdin is not None and not self._process.stdin.is_closing():
            return self._process
        await self.close()
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, *_SAFELY, "hob.tools.documents.worker"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env={},
            cwd="/",
        )
        return self._process


async def _exchange(process: asyncio.subprocess.Process, asked: bytes) -> dict[str, Any]:
    """Send a request and return the answer. Raises OSError, ValueError or EOFError if the worker has died."""
    if process.stdin is None or process.stdout is None:
        raise EOFError
    process.stdin.write(asked)
    await process.stdin.drain()
    size = int(await process.stdout.readline() or b"0")
    if not 0 < size <= _MAX_ANSWER:
        raise EOFError
    answer = json.loads(await process.stdout.readexactly(size))
    return answer if isinstance(answer, dict) else {"error": ""}
