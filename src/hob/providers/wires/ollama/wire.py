"""Ollama's own API, which tells more and hides less than its OpenAI-compatible one.

Format: https://docs.ollama.com/api
"""

from collections.abc import Mapping
from typing import Any

from hob.core.ids import BlobId
from hob.core.models import ModelRequest
from hob.providers.http.addresses import with_scheme
from hob.providers.http.wire import Listed, Wire
from hob.providers.wires.ollama.decoding import Decoder
from hob.providers.wires.ollama.encoding import encode_request


class OllamaChat(Wire):
    """Implements `Wire`. `context_tokens` is the context to load models with; None takes what a request needs."""

    name = "ollama"
    decodes = Decoder

    def __init__(self, context_tokens: int | None = None) -> None:
        self._context_tokens = context_tokens

    def chat_url(self, base_url: str, model: str) -> str:
        return f"{server_root(base_url)}/api/chat"

    def models_url(self, base_url: str) -> str:
        return f"{server_root(base_url)}/api/tags"

    def encode(self, request: ModelRequest, *, model: str, images: Mapping[BlobId, bytes]) -> bytes:
        return encode_request(request, model=model, images=images, context_tokens=self._context_tokens)

    def read_models(self, listing: Any) -> tuple[Listed, ...] | None:
        rows = listing.get("models") if isinstance(listing, dict) else None
        if not isinstance(rows, list):
            return None
        names = (row.get("model") or row.get("name") for row in rows if isinstance(row, dict))
        return tuple(Listed(name) for name in names if isinstance(name, str) and name)


def server_root(base_url: str) -> str:
    """Where the server is, for a base URL written with or without scheme, `/v1`, `/api` and trailing slash."""
    return with_scheme(base_url).rstrip("/").removesuffix("/v1").removesuffix("/api")
