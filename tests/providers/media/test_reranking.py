"""Rated texts: what is asked, and what of a server's answer is believed."""

import json
from collections.abc import Mapping
from contextlib import aclosing
from typing import Any

import pytest

from hob.core.content.media import RelevanceScores
from hob.core.errors import ModelError, ModelFault
from hob.core.models import Usage
from hob.providers.wires.openai_media.reranking import HttpReranker
from hob.testing.model_server import ModelServer
from tests.providers.canned import client_of, saying

TEXTS = ["The boiler was repaired.", "Leeks grow in the garden.", ""]


async def test_texts_are_rated_in_their_order_and_tokens_are_counted() -> None:
    async with ModelServer() as server, aclosing(client_of(server.url)) as client:
        rated = await HttpReranker(client, "fake-rerank").rerank("Who repaired the boiler?", TEXTS)
        assert await HttpReranker(client, "fake-rerank").rerank("Who?", []) == RelevanceScores((), "")
        (asked,) = server.requests
    assert json.loads(asked.body) == {
        "model": "fake-rerank", "query": "Who repaired the boiler?", "documents": [*TEXTS[:2], " "],
    }  # fmt: skip
    assert rated.scores[0] > rated.scores[1]
    assert (len(rated.scores), rated.model, rated.usage) == (3, "fake-rerank", Usage(21))


async def test_answer_without_usage_and_by_the_other_name_is_read() -> None:
    rows = [{"index": 1, "relevance_score": -2.5}, {"index": 0, "relevance_score": 1}]
    async with saying({"object": "list", "data": rows}) as client:
        assert await HttpReranker(client, "m").rerank("q", ["a", "b"]) == RelevanceScores((1.0, -2.5), "m", None)


@pytest.mark.parametrize(
    "answer",
    [
        [],
        {},
        {"results": {}},
        {"results": [{"index": 0, "relevance_score": 1}]},
        {"results": [{"index": 0, "relevance_score": 1}, {"index": 0, "relevance_score": 1}]},
        {"results": [{"index": 0, "relevance_score": 1}, {"index": 2, "relevance_score": 1}]},
        {"results": [{"index": 0, "relevance_score": 1}, {"index": 1, "relevance_score": "1"}]},
        {"results": [{"index": 0, "relevance_score": 1}, {"index": True, "relevance_score": 1}]},
        {"results": [{"index": 0, "relevance_score": 1}, {"index": 1, "relevance_score": float("nan")}]},
        {"results": [1, 2]},
    ],
)
async def test_answer_that_does_not_rate_every_text_is_garbage(answer: Mapping[str, Any]) -> None:
    async with saying(answer) as client:
        with pytest.raises(ModelError) as caught:
            await HttpReranker(client, "m").rerank("q", ["a", "b"])
    assert caught.value.fault is ModelFault.GARBAGE
