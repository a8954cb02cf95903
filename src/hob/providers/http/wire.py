"""What a wire is to the transport: one vendor's protocol, without a socket."""

from collections.abc import Collection, Mapping
from typing import Any, Protocol

from hob.core.ids import BlobId
from hob.core.models import ModelRequest
from hob.core.values import dataclass
from hob.providers.http.decoder import Decoder


@dataclass(frozen=True, slots=True)
class ListedModel:
    """A model as its server lists it. None is not told; prices are dollars per million tokens."""

    name: str
    context_tokens: int | None = None
    output_tokens: int | None = None
    images: bool | None = None
    tools: bool | None = None
    thinking: bool | None = None
    input_price: float | None = None
    output_price: float | None = None


class Wire(Protocol):
    """One protocol, as one server speaks it. Pure: no socket, no clock, no environment."""

    name: str
    """Which wire it is; `Continuation.wire` of what it says."""
    decodes: type[Decoder]
    """What reads its answers."""

    def chat_url(self, base_url: str, model: str) -> str:
        """Where a request goes. Raises ValueError for a base URL that is no address."""

    def models_url(self, base_url: str) -> str:
        """Where the models are listed. Raises ValueError."""

    def headers(self, key: str) -> Mapping[str, str]:
        """Headers of every request, with the key where there is one."""
        return {"authorization": f"Bearer {key}"} if key else {}

    def max_output(self, model: str, request: ModelRequest) -> int:
        """The most tokens that the model may write for the request: with room for thinking only where it thinks."""
        return request.max_output

    def encode(self, request: ModelRequest, *, model: str, images: Mapping[BlobId, bytes]) -> bytes:
        """The body. The same request gives the same bytes, and what grows from turn to turn stands last."""

    def decoder(self, *, host: str, salt: str, taken: Collection[str], secrets: tuple[str, ...]) -> Decoder:
        """A decoder for one answer; see `answer.Answer` for `salt` and `taken`."""
        return self.decodes(host=host, salt=salt, taken=taken, secrets=secrets)

    def read_models(self, listing: Any) -> tuple[ListedModel, ...] | None:
        """The models of a listing (parsed JSON); None if it is no listing."""
