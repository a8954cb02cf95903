"""Ports of language models."""

from collections.abc import AsyncIterator, Sequence
from typing import Protocol, runtime_checkable

from hob.core.models import ModelEvent, ModelProfile, ModelRequest, Price, Route


class Model(Protocol):
    """A model that answers requests."""

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Yield the answer in pieces; the last event is the whole `ModelReply`.

        Raises ModelError. After an error, no part of the stream is an answer. Closing the iterator early ends the
        request.
        """


@runtime_checkable
class HasDefaultModel(Protocol):
    """A model that knows which model it uses if a request names none (empty if unknown). Raises ModelError."""

    async def default_model(self) -> str: ...


@runtime_checkable
class RoutesRequests(Protocol):
    """A model that decides who answers before anything is reserved or sent."""

    async def route(self, request: ModelRequest) -> Route:
        """Return the route without calling a model. Content that may not be sent is removed. Raises ModelError."""


class Profiles(Protocol):
    """Model capabilities."""

    def find_profile(self, model: str) -> ModelProfile:
        """Return what is known of the model, possibly nothing. Never raises, never waits."""


class Prices(Protocol):
    """Model prices."""

    def find_price(self, model: str) -> Price | None:
        """Return the model's price, or None if unknown. Never waits."""

    def max_output(self, model: str, request: ModelRequest) -> int:
        """Return the maximum output tokens that the request could ask of this model."""

    async def prepare(self, models: Sequence[str]) -> None:
        """Return once everything available about these models' prices is loaded. Never raises."""
