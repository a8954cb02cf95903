"""Running hooks: order, time limits and failures."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from hob.core.clock import Clock, deadline
from hob.core.events.hooks import (
    BeforeModel,
    BeforeTool,
    BeforeTurn,
    Decision,
    Deny,
    Hook,
    HookEvent,
    Proceed,
    Replace,
    UseModel,
)
from hob.core.values import dataclass

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class HookDecision:
    """Combined decision of all hooks: a refusal with its reason, other arguments, or another model."""

    denied: str | None = None
    arguments: Mapping[str, Any] | None = None
    model: str | None = None


_NO_DECISION = HookDecision()


class Hooks:
    """All hooks, in order. The first `Deny` wins; a later hook sees the replacements of earlier ones.

    A hook that raises or times out is logged and counts as `Proceed`.
    """

    def __init__(self, hooks: Sequence[Hook], clock: Clock, seconds: float) -> None:
        self._hooks = tuple(hooks)
        self._clock = clock
        self._seconds = seconds

    def __bool__(self) -> bool:
        return bool(self._hooks)

    async def decide(self, event: HookEvent) -> HookDecision:
        """Ask each hook. Never raises."""
        decided = _NO_DECISION
        for hook in self._hooks:
            match await self._ask(hook, event):
                case Deny(reason):
                    return replace(decided, denied=reason or "no reason given")
                case Replace(arguments):
                    decided = replace(decided, arguments=dict(arguments))
                    event = _with_arguments(event, arguments)
                case UseModel(model):
                    decided = replace(decided, model=model)
                    event = _with_model(event, model)
                case _:
                    pass
        return decided

    async def _ask(self, hook: Hook, event: HookEvent) -> Decision:
        try:
            async with deadline(self._clock, self._seconds):
                return await hook(event)
        except Exception as error:  # noqa: BLE001 - the wall around foreign hooks
            what = "was late" if isinstance(error, TimeoutError) else f"failed: {error!r}"
            log.warning("hook %s %s at %s", getattr(hook, "name", hook), what, type(event).__name__)
            return Proceed()


def _with_arguments(event: HookEvent, arguments: Mapping[str, Any]) -> HookEvent:
    if not isinstance(event, BeforeTool):
        return event
    import json  # hooks that replace arguments are rare

    return replace(event, call=replace(event.call, arguments=json.dumps(dict(arguments), default=str)))


def _with_model(event: HookEvent, model: str) -> HookEvent:
    match event:
        case BeforeTurn():
            return replace(event, model=model)
        case BeforeModel():
            return replace(event, request=replace(event.request, model=model))
        case _:
            return event
