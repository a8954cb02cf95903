"""Gemini generateContent. Format: https://ai.google.dev/api/generate-content, https://ai.google.dev/api/models"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from hob.core.ids import BlobId
from hob.core.models import ModelRequest
from hob.providers.http.addresses import versioned
from hob.providers.http.decoder import count_of
from hob.providers.http.wire import Listed, Wire
from hob.providers.wires.gemini.decoding import Decoder
from hob.providers.wires.gemini.encoding import WIRE, encode_request

_MOST_MODELS = 1_000  # of one page; there are some dozens


class GenerateContent(Wire):
    """Implements `Wire`."""

    name = WIRE
    decodes = Decoder

    def chat_url(self, base_url: str, model: str) -> str:
        name = model if model.startswith(("models/", "tunedModels/")) else f"models/{model}"
        return f"{versioned(base_url, '/v1beta')}/{quote(name, safe='/@')}:streamGenerateContent?alt=sse"

    def models_url(self, base_url: str) -> str:
        return f"{versioned(base_url, '/v1beta')}/models?pageSize={_MOST_MODELS}"

    def headers(self, key: str) -> Mapping[str, str]:
        return {"x-goog-api-key": key} if key else {}

    def encode(self, request: ModelRequest, *, model: str, images: Mapping[BlobId, bytes]) -> bytes:
        return encode_request(request, model=model, images=images)

    def read_models(self, listing: Any) -> tuple[Listed, ...] | None:
        """As `Wire.read_models`: those that answer, not those that embed or draw."""
        rows = listing.get("models") if isinstance(listing, dict) else None
        if not isinstance(rows, list):
            return None
        return tuple(
            Listed(
                row["name"].removeprefix("models/"),
                context_tokens=count_of(row, "inputTokenLimit") or None,
                output_tokens=count_of(row, "outputTokenLimit") or None,
                thinking=row["thinking"] if isinstance(row.get("thinking"), bool) else None,
            )
            for row in rows
            if isinstance(row, dict) and isinstance(row.get("name"), str) and _answers(row)
        )


def _answers(row: Mapping[str, Any]) -> bool:
    methods = row.get("supportedGenerationMethods")
    return not isinstance(methods, list) or "generateContent" in methods
