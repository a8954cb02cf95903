"""Models that help with searches: what they change, what it costs, and what is shown where they fail."""

from dataclasses import replace
from pathlib import Path

import pytest

from hob.app.memory.embedding import SEARCHES
from hob.core.memory import MemoryItem, Scope
from hob.core.models import ModelReply, Usage
from hob.gateway.memory import MemoryQuery
from hob.testing.model_server import ModelServer
from hob.tools.memory.ports import MemorySearch
from tests.app.memory.test_embedding import memory
from tests.app.visiting import ME, Visited, visited

NOTES = ("The boiler was repaired in March", "Anna repaired the boiler with a spare part", "The leeks grow well")


async def found(hob: Visited, query: str) -> tuple[list[str], str]:
    told = await memory(hob).items.items(MemoryQuery(query))
    return [item["text"] for item in told["items"]], told["unassisted"]


async def noted(hob: Visited) -> None:
    for note in NOTES:
        await memory(hob).items.add(note)


async def test_rating_model_reorders_results_and_is_in_the_ledger(tmp_path: Path) -> None:
    async with (
        ModelServer() as server,
        visited(tmp_path, "Noted.", HOB_MODEL_BASE_URL=server.url, HOB_MODEL_RERANKING="fake-rerank") as hob,
    ):
        await hob.knows()
        await noted(hob)
        told = await memory(hob).items.items(MemoryQuery("repaired boiler spare"))
        rated = {item["text"]: item["parts"].get("reranked", 0.0) for item in told["items"]}
        assert told["items"][0]["text"] == NOTES[1]
        assert rated[NOTES[1]] > rated[NOTES[0]]
        spent = await hob.app.store.ledger.spent(session=SEARCHES)
        assert spent.usage.input > 0
        await hob.answer("Who repaired the boiler?", ME)  # what is recalled by itself is rated too
        assert [asked.path for asked in server.requests].count("/v1/rerank") == 2
        texts, unassisted = await found(hob, "FAULT unauthorized\n\nrepaired boiler")
        assert set(NOTES[:2]) <= set(texts)
        assert unassisted
        asked = len(server.requests)
        assert (await found(hob, "repaired boiler"))[1] == unassisted  # it is left alone for a while
        assert len(server.requests) == asked


async def test_language_model_reorders_explicit_searches(tmp_path: Path) -> None:
    async with visited(tmp_path, "Noted.", HOB_MEMORY_ASK_MODEL="true") as hob:
        await hob.knows()
        await noted(hob)
        before, _ = await found(hob, "repaired boiler")
        last = str(before.index(before[-1]) + 1)
        hob.model.background += [ModelReply(f'Most helpful: [{last}, 99, "x"]', usage=Usage(70, 5))]
        texts, unassisted = await found(hob, "repaired boiler")
        assert (texts[0], unassisted) == (before[-1], "")
        assert "Who" not in (asked := hob.model.background_requests[-1]).system
        assert "Question: repaired boiler" in asked.messages[-1].text
        spent = await hob.app.store.ledger.spent(task="reranking")
        assert spent.usage.output >= 5
        calls = len(hob.model.background_requests)
        await hob.answer("Who repaired the boiler?", ME)  # a turn waits for no such model
        assert len(hob.model.background_requests) == calls


async def test_question_is_reworded_only_if_little_is_found(tmp_path: Path) -> None:
    async with visited(tmp_path, HOB_MEMORY_ASK_MODEL="true") as hob:
        await noted(hob)
        hob.model.background += ['["leeks grow", "Anna repaired the boiler"]', "[1]"]
        texts, _ = await found(hob, "What does the vegetable patch yield?")
        assert NOTES[2] in texts
        assert "found little" in hob.model.background_requests[0].system
        hob.model.background += ["[]"]
        await found(hob, "leeks grow well")
        assert "numbered memories" in hob.model.background_requests[-1].system
        assert [("found little" in each.system) for each in hob.model.background_requests].count(True) == 1


@pytest.mark.parametrize(("tokens", "answer"), [("10", "[1]"), ("100000", "I cannot tell")])
async def test_failed_assistance_is_reported_and_loses_no_results(tmp_path: Path, tokens: str, answer: str) -> None:
    async with visited(tmp_path, HOB_MEMORY_ASK_MODEL="true", HOB_MEMORY_BACKGROUND_TOKENS=tokens) as hob:
        await noted(hob)
        hob.model.background += [answer]
        texts, unassisted = await found(hob, "repaired boiler")
        assert set(texts) == set(NOTES[:2])
        assert "reranking" in unassisted
        assert (await hob.app.operations.status())["memory"]["unassisted"] == unassisted


async def test_model_assists_only_searches_of_the_owners_memory(tmp_path: Path) -> None:
    async with visited(tmp_path, HOB_MEMORY_ASK_MODEL="true") as hob:
        group = [replace(note, scope=Scope("telegram:group"), id="") for note in await kept(hob)]
        await hob.app.store.items.add(group)
        service = hob.app.api.port(MemorySearch)
        assert len(await service.search("repaired boiler", Scope("telegram:group"), 5)) == 2
        assert hob.model.background_requests == []
        await service.search("repaired boiler", Scope("owner"), 5)
        assert len(hob.model.background_requests) == 1


async def kept(hob: Visited) -> list[MemoryItem]:
    await noted(hob)
    return await hob.app.store.items.of(Scope("owner")).select("i.layer = 'fact'")
