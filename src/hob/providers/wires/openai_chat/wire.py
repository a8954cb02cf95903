"""OpenAI chat completions, the wire that most servers speak.

Format: https://platform.openai.com/docs/api-reference/chat
"""

from collections.abc import Collection, Mapping
from typing import Any

from hob.core.ids import BlobId
from hob.core.models import ModelRequest
from hob.providers.http.addresses import endpoint
from hob.providers.http.decoder import MOST_TOKENS
from hob.providers.http.wire import Listed, Wire
from hob.providers.wires.openai_chat.decoding import Decoder
from hob.providers.wires.openai_chat.encoding import WIRE, encode_request
from hob.providers.wires.openai_chat.settings import Dialect


class ChatCompletions(Wire):
    """Implements `Wire` in one server's dialect."""

    name = WIRE
    decodes = Decoder

    def __init__(self, dialect: Dialect | None = None) -> None:
        self._dialect = dialect or Dialect()

    def chat_url(self, base_url: str, model: str) -> str:
        return endpoint(base_url, "/chat/completions")

    def models_url(self, base_url: str) -> str:
        return endpoint(base_url, "/models")

    def encode(self, request: ModelRequest, *, model: str, images: Mapping[BlobId, bytes]) -> bytes:
        return encode_request(request, model=model, dialect=self._dialect, images=images)

    def decoder(self, *, host: str, salt: str, taken: Collection[str], secrets: tuple[str, ...]) -> Decoder:
        return Decoder(
            host=host,
            salt=salt,
            taken=taken,
            secrets=secrets,
            returns_reasoning=self._dialect.returns_reasoning,
        )

    def read_models(self, listing: Any) -> tuple[Listed, ...] | None:
        rows = listing.get("data", listing.get("models")) if isinstance(listing, dict) else listing
        if not isinstance(rows, list):
            return None
        return tuple(model for row in rows if isinstance(row, dict) and (model := _listed(row)) is not None)


def _listed(row: Mapping[str, Any]) -> Listed | None:
    """One row. OpenRouter, Groq, Mistral and vLLM tell more than the name, each in its own words."""
    name = row.get("id") or row.get("name")
    if not isinstance(name, str) or not name:
        return None
    top = row.get("top_provider")
    known = row.get("supported_parameters")
    architecture = row.get("architecture")
    inputs = architecture.get("input_modalities") if isinstance(architecture, Mapping) else None
    prices = row.get("pricing")
    prices = prices if isinstance(prices, Mapping) else {}
    return Listed(
        name,
        context_tokens=_first(row, "context_length", "context_window", "max_context_length", "max_model_len"),
        output_tokens=_first(top if isinstance(top, Mapping) else row, "max_completion_tokens"),
        images="image" in inputs if isinstance(inputs, list) else None,
        tools="tools" in known if isinstance(known, list) else None,
        thinking="reasoning" in known if isinstance(known, list) else None,
        input_price=_per_million(prices.get("prompt")),
        output_price=_per_million(prices.get("completion")),
    )


def _first(row: Mapping[str, Any], *names: str) -> int | None:
    values = (row.get(name) for name in names)
    return next((value for value in values if type(value) is int and 0 < value <= MOST_TOKENS), None)


def _per_million(price: object) -> float | None:
    """Dollars per million tokens from dollars per token, written as a text."""
    try:
        dollars = float(price) if isinstance(price, (str, int, float)) else -1.0
    except (ValueError, OverflowError):
        return None
    return dollars * 1_000_000 if 0 <= dollars < 1 else None
