"""The port of language models."""

from collections.abc import AsyncIterator, Sequence
from typing import Protocol, runtime_checkable

from hob.core.models import ModelEvent, ModelProfile, ModelRequest, Price, Route


class Model(Protocol):
    """Something that answers requests."""

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Answer, piece by piece; the last event is the whole `ModelReply`.

        Raises ModelError. After an error nothing of what was streamed is an answer. Closing the iterator early ends
        the request.
        """


@runtime_checkable
class CanName(Protocol):
    """A model that can name the one it asks when a request names none (empty if not). Raises ModelError."""

    async def default_model(self) -> str: ...


@runtime_checkable
class Routes(Protocol):
    """A model that chooses who answers before anything is reserved or sent."""

    async def route(self, request: ModelRequest) -> Route:
        """The route. Asks no model. What may not leave is out of its request. Raises ModelError."""


class Profiles(Protocol):
    """What models can do."""

    def find_profile(self, model: str) -> ModelProfile:
        """What is known of the model, perhaps nothing. Never raises, never waits."""


class Prices(Protocol):
    """What models cost."""

    def find_price(self, model: str) -> Price | None:
        """The model's price, or None where it is not known. Never waits."""

    def max_output(self, model: str, request: ModelRequest) -> int:
        """The most tokens of output that this model could be asked for by the request."""

    async def prepare(self, models: Sequence[str]) -> None:
        """Return when all is at hand that can be known of these models' prices. Never raises."""
