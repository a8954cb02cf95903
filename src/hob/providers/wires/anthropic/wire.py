"""Anthropic Messages. Format: https://platform.claude.com/docs/en/api/messages"""

from collections.abc import Mapping
from typing import Any

from hob.core.ids import BlobId
from hob.core.models import ModelRequest
from hob.providers.http.addresses import versioned
from hob.providers.http.decoder import count_of
from hob.providers.http.wire import Listed, Wire
from hob.providers.wires.anthropic.decoding import WIRE, Decoder
from hob.providers.wires.anthropic.encoding import encode_request

_VERSION = "2023-06-01"
"""Known to all who speak this wire. The next one (2026-10-21) forbids what is never sent here."""
_MOST_MODELS = 1_000  # of one page; there are some dozens


class AnthropicMessages(Wire):
    """Implements `Wire`."""

    name = WIRE
    decodes = Decoder

    def chat_url(self, base_url: str, model: str) -> str:
        return versioned(base_url, "/v1", "/messages") + "/messages"

    def models_url(self, base_url: str) -> str:
        return versioned(base_url, "/v1", "/messages") + f"/models?limit={_MOST_MODELS}"

    def headers(self, key: str) -> Mapping[str, str]:
        return {"anthropic-version": _VERSION, **({"x-api-key": key} if key else {})}

    def encode(self, request: ModelRequest, *, model: str, images: Mapping[BlobId, bytes]) -> bytes:
        return encode_request(request, model=model, images=images)

    def read_models(self, listing: Any) -> tuple[Listed, ...] | None:
        rows = listing.get("data") if isinstance(listing, dict) else None
        if not isinstance(rows, list):
            return None
        named = (row for row in rows if isinstance(row, dict) and isinstance(row.get("id"), str) and row["id"])
        return tuple(
            Listed(
                row["id"],
                context_tokens=count_of(row, "max_input_tokens") or None,
                output_tokens=count_of(row, "max_tokens") or None,
                images=_can(row, "image_input"),
                thinking=_can(row, "thinking"),
            )
            for row in named
        )


def _can(row: Mapping[str, Any], capability: str) -> bool | None:
    match row.get("capabilities"):
        case {**capabilities} if isinstance(found := capabilities.get(capability), dict):
            return found["supported"] if isinstance(found.get("supported"), bool) else None
    return None
