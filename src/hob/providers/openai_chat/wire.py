"""OpenAI chat completions, the wire that most servers speak.

Format: https://platform.openai.com/docs/api-reference/chat
"""

from collections.abc import Collection, Mapping
from typing import Any

from hob.core.ids import BlobId
from hob.core.models import ModelRequest
from hob.providers.addresses import endpoint
from hob.providers.openai_chat.decoding import Decoder
from hob.providers.openai_chat.encoding import encode_request
from hob.providers.openai_chat.settings import Dialect
from hob.providers.wire import Listed


class ChatCompletions:
    """Implements `Wire` in one server's dialect."""

    name = "openai_chat"

    def __init__(self, dialect: Dialect | None = None) -> None:
        self._dialect = dialect or Dialect()

    def chat_url(self, base_url: str, model: str) -> str:
        """As `Wire.chat_url`."""
        return endpoint(base_url, "/chat/completions")

    def models_url(self, base_url: str) -> str:
        """As `Wire.models_url`."""
        return endpoint(base_url, "/models")

    def headers(self, key: str) -> Mapping[str, str]:
        """As `Wire.headers`."""
        return {"authorization": f"Bearer {key}"} if key else {}

    def encode(self, request: ModelRequest, *, model: str, images: Mapping[BlobId, bytes]) -> bytes:
        """As `Wire.encode`."""
        return encode_request(request, model=model, dialect=self._dialect, images=images)

    def decoder(self, *, host: str, salt: str, taken: Collection[str], secret: str) -> Decoder:
        """As `Wire.decoder`."""
        return Decoder(host=host, salt=salt, taken=taken, secret=secret)

    def read_models(self, listing: Any) -> tuple[Listed, ...] | None:
        """As `Wire.read_models`."""
        rows = listing.get("data", listing.get("models")) if isinstance(listing, dict) else listing
        if not isinstance(rows, list):
            return None
        names = (row.get("id") or row.get("name") for row in rows if isinstance(row, dict))
        return tuple(Listed(name) for name in names if isinstance(name, str) and name)
