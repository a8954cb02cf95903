"""Prompt guard and sanitizer combined, each created on first use.

Their patterns take tens of milliseconds to compile; commands that call no model do not pay for that.
"""

from collections.abc import AsyncIterator, Callable
from typing import Protocol

from hob.core.lazy import Lazy
from hob.core.models import ModelEvent, ModelRequest
from hob.guard.screening.model_calls.screened import Screened
from hob.guard.screening.model_calls.settings import PromptGuardSettings, SanitizerSettings

Events = AsyncIterator[ModelEvent]


class _Guarding(Protocol):
    def screen(self, request: ModelRequest) -> Screened: ...


class _Cleaning(Protocol):
    @property
    def active(self) -> bool: ...

    def clean(self, request: ModelRequest, events: Events) -> Events: ...


@Lazy
def _prompt_guard() -> Callable[[PromptGuardSettings, bytes], _Guarding]:
    from hob.guard.screening.model_calls.prompt_guard import PromptGuard

    return PromptGuard


@Lazy
def _sanitizer() -> Callable[[SanitizerSettings], _Cleaning]:
    from hob.guard.screening.model_calls.sanitizer import Sanitizer

    return Sanitizer


@Lazy
def _restore_events() -> Callable[[Events, dict[str, str]], Events]:
    from hob.guard.screening.model_calls.prompt_guard import restore_events

    return restore_events


class ModelScreening:
    """Implements the providers' `Screening`. `key` is a secret of the home."""

    def __init__(self, guard: PromptGuardSettings, sanitizer: SanitizerSettings, key: bytes) -> None:
        self.local_model = guard.local_model
        self._guard = Lazy(lambda: _prompt_guard()(guard, key))
        self._sanitizer = Lazy(lambda: _sanitizer()(sanitizer))

    def screen(self, request: ModelRequest) -> Screened:
        return self._guard().screen(request)

    def clean(self, request: ModelRequest, events: Events) -> Events:
        if self._sanitizer().active:
            events = self._sanitizer().clean(request, events)
        return _restore_events()(events, dict(request.placeholders)) if request.placeholders else events
