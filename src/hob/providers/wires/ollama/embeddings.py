"""Vectors from `POST /api/embed`.

Format: https://docs.ollama.com/api/embed
"""

from collections.abc import Sequence

from hob.core.media import Embeddings
from hob.core.models import Usage
from hob.providers.http.client import Client
from hob.providers.http.decoder import count_of
from hob.providers.media.vectors import Batch, embed_all, numbers_of
from hob.providers.wires.ollama.wire import server_root


class OllamaEmbedder:
    """Implements `Embedder`. A text that is longer than the model reads is cut by the server."""

    def __init__(self, client: Client, model: str) -> None:
        self._client = client
        self._model = model

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        return await embed_all(texts, self._embed, self._client.host)

    async def _embed(self, texts: list[str]) -> Batch:
        answer = await self._client.fetch_json(
            lambda base_url: f"{server_root(base_url)}/api/embed", {"model": self._model, "input": texts}
        )
        rows = answer.get("embeddings") if isinstance(answer, dict) else None
        if not isinstance(rows, list):
            raise self._client.garbage("JSON that holds no vectors")
        tokens = count_of(answer, "prompt_eval_count")
        vectors: list[Sequence[float]] = [numbers_of(row, self._client.host) for row in rows]
        return vectors, self._model, Usage(tokens) if tokens else None
