"""The chosen embedder serves memory, is in the ledger to the token, and is named where it fails."""

import asyncio
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from hob.app.memory.embedding import SESSION
from hob.core.errors import InvalidRequest
from hob.gateway.lazy_ports import EmbeddingControl, MemoryControls
from hob.gateway.memory import MemoryQuery
from hob.testing.model_server import ModelServer
from tests.app.visiting import ME, Visited, visited


def embedding(hob: Visited) -> EmbeddingControl:
    return hob.app.api.port(MemoryControls).embedding


def memory(hob: Visited) -> MemoryControls:
    """What the routes of memory use."""
    return hob.app.api.port(MemoryControls)


async def status(hob: Visited, wanted: Callable[[Mapping[str, Any]], bool]) -> Mapping[str, Any]:
    """How memory is, once this holds."""
    async with asyncio.timeout(10):
        while not wanted(told := await memory(hob).status.status()):  # noqa: ASYNC110 - real threads embed
            await asyncio.sleep(0.005)
    return told


async def test_every_embedding_is_in_the_ledger_as_the_server_counted_it(tmp_path: Path) -> None:
    async with (
        ModelServer() as server,
        visited(tmp_path, "Noted.", HOB_MODEL_BASE_URL=server.url, HOB_MODEL_EMBEDDING="fake-embed") as hob,
    ):
        await hob.knows()
        await hob.answer("My sister Anna grows leeks in her garden.", ME)
        await memory(hob).items.add("The boiler was repaired in March")
        await status(hob, lambda told: told["totals"]["total_chunks"] == told["embedding"]["embedded"] > 2)
        found = (await memory(hob).items.items(MemoryQuery("boiler")))["items"]
        assert found[0]["parts"]["meaning"] > 0
        counted = sum(
            len(text.split())
            for asked in server.requests
            if asked.path == "/v1/embeddings"
            for text in json.loads(asked.body)["input"]
        )
        spent = await hob.app.store.ledger.spent(session=SESSION)
        assert (spent.usage.input, spent.usage.output) == (counted, 0)
        assert counted > 12


async def test_owner_can_reindex_all_vectors(tmp_path: Path) -> None:
    async with (
        ModelServer() as server,
        visited(tmp_path, HOB_MODEL_BASE_URL=server.url, HOB_MODEL_EMBEDDING="fake-embed") as hob,
    ):
        await memory(hob).items.add("The boiler was repaired in March")
        told = await status(hob, lambda told: told["totals"]["total_chunks"] == told["embedding"]["embedded"] > 0)
        count = told["embedding"]["embedded"]
        asked = len(server.requests)
        done = await embedding(hob).reindex("to see")
        assert done["wipedChunks"] >= count
        assert (done["status"], done["reason"]) == ("ok", "to see")
        await status(hob, lambda told: told["totals"]["total_chunks"] == told["embedding"]["embedded"] >= count)
        assert len(server.requests) > asked
        told = await embedding(hob).check()
        assert told["runtime"]["ready"]
        asked = len(server.requests)
        had = await embedding(hob).install("fake-embed")
        assert (had["status"], had["action"], had["detail"]) == ("ready", "asked", "")
        assert len(server.requests) == asked + 1
        with pytest.raises(InvalidRequest, match="chooses one, from the next start on"):
            await embedding(hob).install("other/model")
        assert told["index"]["embeddedChunks"] >= count
        assert told["embedding"]["fingerprint"].endswith(f"|{told['embedding']['dimension']}|true")


async def test_reindex_without_an_embedder_is_refused(tmp_path: Path) -> None:
    async with visited(tmp_path) as hob:
        told = await embedding(hob).check()
        assert (told["status"], told["runtime"]["ready"]) == ("disabled", False)
        with pytest.raises(InvalidRequest, match="no vectors"):
            await embedding(hob).reindex("")
        with pytest.raises(InvalidRequest, match="from the next start on"):
            await embedding(hob).install("")


async def test_failing_embedder_is_reported_and_words_still_find(tmp_path: Path) -> None:
    async with visited(tmp_path, HOB_MODEL_EMBEDDING=str(tmp_path / "nowhere")) as hob:
        await memory(hob).items.add("The boiler was repaired in March")
        found = await memory(hob).items.items(MemoryQuery("boiler"))
        assert found["items"][0]["text"] == "The boiler was repaired in March"
        assert "nowhere" in found["problem"]
        await hob.knows()
        told = await hob.answer("/memory boiler", ME)
        assert "The boiler was repaired in March" in told
        assert "By words alone; the embedder failed: " in told
        assert "nowhere" in told
        await status(
            hob,
            lambda told: (
                bool(told["embedding"]["problem"])
                and told["embedding"]["waiting"] == told["totals"]["total_chunks"] > 0  # no item is left out
            ),
        )
        assert "nowhere" in (await hob.app.operations.status())["memory"]["problem"]
        seen = await embedding(hob).check()
        assert (seen["status"], seen["runtime"]["ready"]) == ("error", False)
        had = await embedding(hob).install("")
        assert (had["status"], "nowhere" in had["detail"]) == ("error", True)
