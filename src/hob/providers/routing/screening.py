"""Port for screening requests to models, and their answers."""

from collections.abc import AsyncIterator, Mapping
from typing import Protocol

from hob.core.errors import ModelError
from hob.core.models import ModelEvent, ModelRequest
from hob.core.translation.remarks import Remark


class ScreenedRequest(Protocol):
    """A screened request, and what was found in it."""

    @property
    def request(self) -> ModelRequest:
        """The request as it may be sent."""

    @property
    def restore(self) -> Mapping[str, str]:
        """Placeholders and their values."""

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """Notes for people."""

    @property
    def local_only(self) -> bool:
        """Whether only a local model may receive it; it is then unchanged."""

    def refusal(self) -> ModelError:
        """Return the error for such a request if there is no local model."""


class Screening(Protocol):
    """Screens requests and answers."""

    @property
    def local_model(self) -> str:
        """The model for requests that must stay local; empty for any of the chain."""

    def screen(self, request: ModelRequest) -> ScreenedRequest:
        """Return the request as a remote model may receive it. Raises ModelError if it may not be sent."""

    def clean(self, request: ModelRequest, events: AsyncIterator[ModelEvent]) -> AsyncIterator[ModelEvent]:
        """Yield the cleaned answer with placeholders replaced by their values."""
