"""Status and maintenance of the vectors of memory."""

import logging
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from hob.core.errors import InvalidRequest, ModelError
from hob.core.translation.language import translatable
from hob.gateway.memory import EmbeddingStatusAnswer, InstalledAnswer, ReindexedAnswer
from hob.memory.embedding import MemoryEmbedder

_log = logging.getLogger(__name__)


class OwnerEmbedding:
    """Implements the gateway's `EmbeddingControl`, with or without an embedder."""

    def __init__(self, embedder: MemoryEmbedder | None) -> None:
        self._embedder = embedder

    @property
    def problem(self) -> str:
        """Why search by meaning fails now; empty if it works or no embedder is configured."""
        return self._embedder.problem if self._embedder else ""

    async def place(self) -> int | None:
        """Return the row up to which every item is embedded; None if no embedder is configured."""
        return await self._embedder.place() if self._embedder else None

    async def counts(self) -> Mapping[str, Any]:
        """Return the model, and how many items have a vector and how many wait for one."""
        if self._embedder is None:
            return {"model": "", "embedded": 0, "waiting": 0, "problem": ""}
        embedded, waiting = await self._embedder.counts()
        return {
            "model": self._embedder.name,
            "embedded": embedded,
            "waiting": waiting,
            "problem": self._embedder.problem,
        }

    async def status(self) -> EmbeddingStatusAnswer:
        known, counts, status = self._embedder, await self.counts(), "disabled"
        problem: str = translatable("model.embedding names no model: memory is found by words")
        if known is not None:
            problem = known.problem
            status = "error" if problem else "indexing" if counts["waiting"] else "ready"
        return {
            "status": status,
            "embedding": {
                "enabled": known is not None,
                "provider": known.provider if known else "",
                "model": known.model if known else "",
                "dimension": known.dimension if known else 0,
                "normalize": True,
                "fingerprint": known.fingerprint if known else "",
            },
            "runtime": {
                "ready": known is not None and bool(known.checked) and not problem,
                "status": status,
                "detail": problem,
                "checkedAt": known.checked or None if known else None,
            },
            "index": {"embeddedChunks": counts["embedded"], "waitingChunks": counts["waiting"]},
        }

    async def check(self) -> EmbeddingStatusAnswer:
        if self._embedder is not None and not self._embedder.checked:
            with suppress(ModelError):
                await self._embedder.embed_question("?")
        return await self.status()

    async def install(self, model: str) -> InstalledAnswer:
        known = self._embedder
        if known is None or model not in ("", known.name, known.model):
            told = translatable(
                "{model} is not model.embedding; `hob config set model.embedding NAME` chooses one, "
                "from the next start on",
                model=model or "-",
            )
            raise InvalidRequest(told)
        with suppress(ModelError):
            await known.embed_question("?")
        now = await self.status()
        status = "ready" if now["runtime"]["ready"] else "error"
        return {"status": status, "action": "asked", "model": known.name, "detail": known.problem}

    async def reindex(self, reason: str) -> ReindexedAnswer:
        if self._embedder is None:
            raise InvalidRequest(translatable("model.embedding names no model: there are no vectors to make anew"))
        _log.info("the vectors of all memories are made anew: %s", reason or "its owner wanted it")
        return {"status": "ok", "wipedChunks": await self._embedder.reindex(), "reason": reason}
