"""OpenAI Responses, which keeps a model's reasoning between the calls of one turn.

Format: https://developers.openai.com/api/reference/resources/responses
"""

from collections.abc import Mapping
from typing import Any

from hob.core.ids import BlobId
from hob.core.models import ModelRequest
from hob.providers.http.addresses import endpoint
from hob.providers.http.wire import Listed, Wire
from hob.providers.wires.openai_chat.wire import ChatCompletions
from hob.providers.wires.openai_responses.decoding import Decoder
from hob.providers.wires.openai_responses.encoding import WIRE, encode_request

_CHAT = ChatCompletions()


class Responses(Wire):
    """Implements `Wire`. Addresses, key and list of models are those of chat completions."""

    name = WIRE
    decodes = Decoder

    def chat_url(self, base_url: str, model: str) -> str:
        return endpoint(base_url.strip().rstrip("/").removesuffix("/responses"), "/responses")

    def models_url(self, base_url: str) -> str:
        return endpoint(base_url.strip().rstrip("/").removesuffix("/responses"), "/models")

    def encode(self, request: ModelRequest, *, model: str, images: Mapping[BlobId, bytes]) -> bytes:
        return encode_request(request, model=model, images=images)

    def read_models(self, listing: Any) -> tuple[Listed, ...] | None:
        return _CHAT.read_models(listing)
