"""Prompt guard, sanitizer and classifier as one thing, each made when it is first needed.

Their patterns cost tens of milliseconds to compile, which a command that asks no model never pays.
"""

from collections.abc import AsyncIterator
from functools import cached_property
from typing import TYPE_CHECKING

from hob.core.errors import ModelError
from hob.core.models import ModelEvent, ModelRequest
from hob.providers.screening.settings import ClassifierSettings, PromptGuardSettings, SanitizerSettings, ScreeningAction

if TYPE_CHECKING:
    from hob.providers.screening.classifier import Chosen, Classifier
    from hob.providers.screening.prompt_guard import PromptGuard, Screened
    from hob.providers.screening.sanitizer import Sanitizer


class Screening:
    """What is done about requests and answers. `key` is a secret of the home."""

    def __init__(
        self, guard: PromptGuardSettings, sanitizer: SanitizerSettings, classifier: ClassifierSettings, key: bytes
    ) -> None:
        self._guard_settings = guard
        self._sanitizer_settings = sanitizer
        self._classifier_settings = classifier
        self._key = key

    @property
    def local_model(self) -> str:
        """The model that gets what may not leave the house; empty: one of the chain, if any."""
        return self._guard_settings.local_model

    def classify(self, request: ModelRequest) -> "Chosen | None":
        """The model that a rule chooses for this request, if one does."""
        return self._classifier.classify(request) if self._classifier_settings.enabled else None

    def screen(self, request: ModelRequest) -> "Screened":
        """The request as it may be sent to a model that is not local. Raises ModelError where it may not be sent."""
        return self._guard.screen(request)

    def stays(self, screened: "Screened") -> bool:
        """Whether the request may go to a local model only."""
        return screened.action is ScreeningAction.LOCAL

    def refusal(self, screened: "Screened") -> ModelError:
        """Why such a request goes to no one where there is no local model."""
        from hob.providers.screening.prompt_guard import refusal  # loaded already: it has screened the request

        return refusal(screened.kinds, stays=True)

    def clean(self, request: ModelRequest, events: AsyncIterator[ModelEvent]) -> AsyncIterator[ModelEvent]:
        """The answer, cleaned, with values in place of the marks in the request."""
        if self._sanitizer.active:
            events = self._sanitizer.clean(request, events)
        if not request.withheld:
            return events
        from hob.providers.screening.prompt_guard import restored  # as above

        return restored(events, dict(request.withheld))

    @cached_property
    def _guard(self) -> "PromptGuard":
        from hob.providers.screening.prompt_guard import PromptGuard

        return PromptGuard(self._guard_settings, self._key)

    @cached_property
    def _sanitizer(self) -> "Sanitizer":
        from hob.providers.screening.sanitizer import Sanitizer

        return Sanitizer(self._sanitizer_settings)

    @cached_property
    def _classifier(self) -> "Classifier":
        from hob.providers.screening.classifier import Classifier

        return Classifier(self._classifier_settings)
