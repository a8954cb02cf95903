"""Looking over what goes to models and what comes back."""

from collections.abc import AsyncIterator, Mapping
from typing import Protocol

from hob.core.errors import ModelError
from hob.core.models import ModelEvent, ModelRequest
from hob.core.translation.remarks import Remark


class ScreenedRequest(Protocol):
    """A request as it may be sent, and what was found in it."""

    @property
    def request(self) -> ModelRequest:
        """What may be sent."""

    @property
    def restore(self) -> Mapping[str, str]:
        """The values that marks in it stand for."""

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """What people are told of it."""

    @property
    def stays(self) -> bool:
        """Whether it may go to a local model only; then it is unchanged."""

    def refusal(self) -> ModelError:
        """Why such a request goes to no one where there is no local model."""


class Screening(Protocol):
    """What is done about requests and answers."""

    @property
    def local_model(self) -> str:
        """The model that gets what may not leave the house; empty: one of the chain, if any."""

    def screen(self, request: ModelRequest) -> ScreenedRequest:
        """The request as it may be sent to a model that is not local. Raises ModelError where it may not be sent."""

    def clean(self, request: ModelRequest, events: AsyncIterator[ModelEvent]) -> AsyncIterator[ModelEvent]:
        """The answer, cleaned, with values in place of the marks in the request."""
