"""Reranking with `POST /rerank`: a cross-encoder reads the question together with each text.

Formats: https://docs.cohere.com/reference/rerank and https://jina.ai/reranker (`results`), as in llama.cpp and vLLM;
https://docs.voyageai.com/reference/reranker-api (`data`).
"""

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

from hob.core.content.media import RelevanceScores
from hob.core.models import Usage
from hob.providers.http.addresses import endpoint_url
from hob.providers.http.client import Client
from hob.providers.http.decoder import read_token_count
from hob.providers.http.fields import get_text


class HttpReranker:
    """Implements `Reranker`."""

    def __init__(self, client: Client, model: str) -> None:
        self._client = client
        self._model = model

    async def rerank(self, question: str, texts: Sequence[str]) -> RelevanceScores:
        if not texts:
            return RelevanceScores((), "")
        body = {"model": self._model, "query": question, "documents": [text or " " for text in texts]}
        answer = await self._client.fetch_json(partial(endpoint_url, path="/rerank"), body)
        rows = (answer.get("results") or answer.get("data")) if isinstance(answer, dict) else None
        scores = dict(map(self._read, rows)) if isinstance(rows, list) else {}
        if scores.keys() != set(range(len(texts))):
            raise self._client.garbage("JSON that does not rate every text")
        tokens = read_token_count(answer.get("usage") or {}, "total_tokens")
        return RelevanceScores(
            tuple(scores[place] for place in range(len(texts))),
            get_text(answer, "model") or self._model,
            Usage(tokens) if tokens else None,
        )

    def _read(self, row: Any) -> tuple[int, float]:
        place: Any = row.get("index") if isinstance(row, dict) else None
        score: Any = row.get("relevance_score") if isinstance(row, dict) else None
        if type(place) is not int or type(score) not in (int, float) or not math.isfinite(score):
            raise self._client.garbage("JSON that rates no text")
        return place, float(score)
