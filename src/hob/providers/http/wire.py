"""Interface between wires and the transport: one vendor's protocol, without a socket."""

from collections.abc import Collection, Mapping
from typing import Any, Protocol

from hob.core.ids import BlobId
from hob.core.models import ModelRequest
from hob.core.values import dataclass
from hob.providers.http.decoder import Decoder
from hob.providers.http.fields import Object


@dataclass(frozen=True, slots=True)
class ListedModel:
    """A model as listed by its server. None means unknown; prices are dollars per million tokens."""

    name: str
    context_tokens: int | None = None
    output_tokens: int | None = None
    images: bool | None = None
    tools: bool | None = None
    thinking: bool | None = None
    input_price: float | None = None
    output_price: float | None = None


class Wire(Protocol):
    """One protocol as one server speaks it. Pure: no socket, no clock, no environment."""

    name: str
    """Name of the wire, as in `Continuation.wire`."""
    decodes: type[Decoder]
    """Decoder for its answers."""
    models_field: str = "data"
    """Name of the list of models in the server's listing."""

    def chat_url(self, base_url: str, model: str) -> str:
        """Return the URL of a chat request. Raises ValueError if the base URL is invalid."""

    def models_url(self, base_url: str) -> str:
        """Return the URL of the model list. Raises ValueError."""

    def headers(self, key: str) -> Mapping[str, str]:
        """Return the headers of every request, with the key if there is one."""
        return {"authorization": f"Bearer {key}"} if key else {}

    def max_output(self, model: str, request: ModelRequest) -> int:
        """Return the maximum output tokens of the request, including thinking only if the model thinks."""
        return request.max_output

    def encode(self, request: ModelRequest, *, model: str, images: Mapping[BlobId, bytes]) -> bytes:
        """Return the body. It is deterministic, and content that changes from turn to turn comes last."""

    def decoder(self, *, host: str, salt: str, taken: Collection[str], secrets: tuple[str, ...]) -> Decoder:
        """Return a decoder for one answer; see `PartialAnswer` for `salt` and `taken`."""
        return self.decodes(host=host, salt=salt, taken=taken, secrets=secrets)

    def read_models(self, listing: Any) -> tuple[ListedModel, ...] | None:
        """Return the chat models of a listing (parsed JSON); None if it is not one."""
        rows = listing.get(self.models_field) if isinstance(listing, dict) else None
        if not isinstance(rows, list):
            return None
        return tuple(model for row in rows if isinstance(row, dict) and (model := self._read_model(row)) is not None)

    def _read_model(self, row: Object) -> ListedModel | None:
        """Return the model of a row; None if it has no name, or is no chat model."""
        return None
