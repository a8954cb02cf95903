"""Model calls outside of turns, for background work."""

from collections.abc import Callable
from contextlib import aclosing

from hob.agent.budget.accounting import stream_outside
from hob.agent.budget.budget import Budget
from hob.agent.commands.model_names import chosen_name
from hob.agent.ports import can_route
from hob.agent.prompt.tokens import estimate_tokens
from hob.core.clock import Clock
from hob.core.events.timeline import EventKind, TimelineEvent
from hob.core.ids import SessionKey, new_event_id, new_span_id, new_trace_id
from hob.core.models import ModelReply, ModelRequest, UserMessage
from hob.core.ports.model import Model
from hob.core.trust.labels import HOB_LABEL, SenderClass

_PATIENCE_SECONDS = 60.0


class BackgroundCalls:
    """Implements `BackgroundModel`. Calls are charged to the owner and keep within all spending limits."""

    def __init__(self, model: Model, budget: Budget, clock: Clock, default_model: Callable[[], str]) -> None:
        self._model = model
        self._budget = budget
        self._clock = clock
        self._default_model = default_model

    def estimate(self, text: str) -> int:
        return estimate_tokens(text)

    async def ask(self, task: str, session: SessionKey, system: str, question: str, max_tokens: int) -> str:
        request = ModelRequest(
            chosen_name(self._model, None, self._default_model), system, (UserMessage(question),),
            max_tokens=max_tokens, patience=_PATIENCE_SECONDS, task=task,
        )  # fmt: skip
        if can_route(self._model):
            request = (await self._model.route(request)).request
        trace, began, at = new_trace_id(), self._clock.monotonic(), self._clock.now().timestamp()

        def event_of(name: str, status: str) -> TimelineEvent:
            return TimelineEvent(
                new_event_id(), trace, new_span_id(), None, at, EventKind.MODEL, name, status, session=session,
                label=HOB_LABEL, seconds=self._clock.monotonic() - began,
            )  # fmt: skip

        text = ""
        tokens = estimate_tokens(system + question)
        async with (
            self._budget.reserve(session, SenderClass.OWNER, request, tokens) as held,
            aclosing(stream_outside(self._budget, self._model, held, event_of)) as events,
        ):
            async for event in events:
                if isinstance(event, ModelReply):
                    text = event.text
        return text
