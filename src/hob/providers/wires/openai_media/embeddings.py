"""Embeddings from `POST /embeddings`.

Format: https://developers.openai.com/api/reference/resources/embeddings/methods/create
"""

import base64
import binascii
import struct
from collections.abc import Sequence
from functools import partial
from typing import Any

from hob.core.content.media import Embeddings
from hob.core.models import Usage
from hob.providers.http.addresses import endpoint_url
from hob.providers.http.client import Client
from hob.providers.http.decoder import read_token_count
from hob.providers.http.fields import get_text
from hob.providers.media.vectors import Batch, embed_all, parse_vector


class OpenAIEmbedder:
    """Implements `Embedder`. `packed` requests base64, a quarter of the bytes, from servers known to support it."""

    def __init__(self, client: Client, model: str, *, packed: bool = False) -> None:
        self._client = client
        self._model = model
        self._format = "base64" if packed else "float"

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        return await embed_all(texts, self._embed, self._client.host)

    async def _embed(self, texts: list[str]) -> Batch:
        body = {"model": self._model, "input": texts, "encoding_format": self._format}
        answer = await self._client.fetch_json(partial(endpoint_url, path="/embeddings"), body)
        rows = answer.get("data") if isinstance(answer, dict) else None
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise self._client.garbage("JSON that holds no vectors")
        tokens = read_token_count(answer.get("usage") or {}, "prompt_tokens")
        vectors = [self._read(row.get("embedding")) for row in self._sorted(rows)]
        return vectors, get_text(answer, "model") or self._model, Usage(tokens) if tokens else None

    def _sorted(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Sort the rows by index, if the server numbers them."""
        places = [row.get("index") for row in rows]
        if all(place is None for place in places):
            return rows
        if sorted(place for place in places if type(place) is int) != list(range(len(rows))):
            raise self._client.garbage("vectors of other texts")
        return sorted(rows, key=lambda row: int(row["index"]))

    def _read(self, value: Any) -> Sequence[float]:
        if not isinstance(value, str):
            return parse_vector(value, self._client.host)
        try:
            packed = base64.b64decode(value, validate=True)
            return struct.unpack(f"<{len(packed) // 4}f", packed)
        except (binascii.Error, struct.error, ValueError) as error:
            raise self._client.garbage("a vector that cannot be unpacked") from error
