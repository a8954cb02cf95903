"""Thinking."""

from collections.abc import AsyncIterator
from typing import Protocol

from hob.core.models import ModelEvent, ModelRequest, Price


class Model(Protocol):
    """Something that answers requests."""

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Answer, piece by piece; the last event is the whole `ModelReply`.

        Raises ModelError. After an error nothing of what was streamed is an answer. Closing the iterator early ends
        the request.
        """
        ...


class Prices(Protocol):
    """What models cost."""

    def find_price(self, model: str) -> Price | None:
        """The model's price, or None where it is not known."""
        ...
