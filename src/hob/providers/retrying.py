"""Asking again, where that may help: one rule without I/O, one driver."""

import random
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import cast

from hob.core.clock import Clock
from hob.core.errors import ModelError, ModelFault
from hob.core.models import Beat, ModelEvent, ModelReply, ModelRequest
from hob.core.ports.model import CanName, Model

MOST_ATTEMPTS = 4
_FIRST_DELAY = 0.5
_NAMING_PATIENCE = 8.0  # seconds; what a person who waits has for an answer

# An empty answer has cost all its tokens: one more try is fair, three are not.
_TRIES = {
    ModelFault.RATE_LIMIT: MOST_ATTEMPTS,
    ModelFault.OVERLOAD: MOST_ATTEMPTS,
    ModelFault.NETWORK: MOST_ATTEMPTS,
    ModelFault.GARBAGE: MOST_ATTEMPTS,
    ModelFault.CUT: MOST_ATTEMPTS,
    ModelFault.EMPTY: 2,
}


@dataclass(frozen=True, slots=True)
class Tries:
    """What has been tried: requests made, seconds since the first began, whether any of the answer was shown."""

    made: int
    spent: float
    shown: bool = False


def next_delay(tries: Tries, error: ModelError, *, attempts: int, patience: float, draw: float) -> float | None:
    """Seconds until the next request, or None to give up with this error.

    Backs off 0.5 s, 1 s, 2 s, each shortened by up to half at random (`draw`, 0 to 1); a server's own Retry-After
    counts instead when it is longer. Gives up when the next request would begin after `patience` seconds in all.
    """
    if tries.shown or tries.made >= min(attempts, _TRIES.get(error.fault, 1)):
        return None
    delay: float = _FIRST_DELAY * 2 ** (tries.made - 1) * (1 - draw / 2)
    if error.retry_after is not None:
        delay = max(delay, error.retry_after)
    return delay if tries.spent + delay < patience else None


class Retrying:
    """Implements `Model` by asking another one, at most `attempts` (and never more than 4) times per request.

    Nothing is asked again once any of the answer was yielded. How many requests it took stands in the reply, or in the
    error.
    """

    def __init__(
        self,
        model: Model,
        clock: Clock,
        attempts: int = MOST_ATTEMPTS,
        draw: Callable[[], float] = random.random,
    ) -> None:
        self._model = model
        self._clock = clock
        self._attempts = max(1, min(attempts, MOST_ATTEMPTS))
        self._draw = draw

    async def default_model(self) -> str:
        """The name of the model that is asked where a request names none, asked for as patiently as an answer is.

        Empty if the model behind cannot tell. Raises ModelError.
        """
        if not isinstance(self._model, CanName):
            return ""
        began, made = self._clock.monotonic(), 0
        while True:
            made += 1
            try:
                return await self._model.default_model()
            except ModelError as error:
                tries = Tries(made, self._clock.monotonic() - began)
                delay = next_delay(tries, error, attempts=self._attempts, patience=_NAMING_PATIENCE, draw=self._draw())
                error.attempts = made
                if delay is None:
                    raise
            await self._clock.sleep(delay)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        """Answer, piece by piece. Raises the last ModelError, with `retry_after` where the server told it."""
        began = self._clock.monotonic()
        made, shown, asked = 0, False, request
        while True:
            made += 1
            try:
                events = cast("AsyncGenerator[ModelEvent]", self._model.stream(asked))
                async with aclosing(events):
                    async for event in events:
                        if type(event) is ModelReply:
                            yield replace(event, attempts=made)
                            continue
                        shown = shown or type(event) is not Beat
                        yield event
                return
            except ModelError as error:
                spent = self._clock.monotonic() - began
                delay = next_delay(
                    Tries(made, spent, shown),
                    error,
                    attempts=self._attempts,
                    patience=request.patience,
                    draw=self._draw(),
                )
                error.attempts = made
                if delay is None:
                    raise
                left = request.patience - spent - delay
            await self._clock.sleep(delay)
            asked = replace(request, patience=max(0.0, left))
