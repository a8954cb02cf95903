"""Model calls within spending limits: the cost of each is recorded before the next one starts."""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import replace

from hob.agent.budget.budget import Budget, Reservation
from hob.core.errors import BudgetExceeded, ModelError, ModelFault
from hob.core.events.timeline import TimelineEvent
from hob.core.models import ExtraCall, KeepAlive, ModelEvent, ModelReply, Usage
from hob.core.ports.model import Model

EventOf = Callable[[str, str], TimelineEvent]
"""Returns the timeline event of a call, given its model and status; usage and cost are added later."""
_BEAT = KeepAlive()


async def stream_in_turn(
    budget: Budget, model: Model, held: Reservation, event_of: EventOf
) -> AsyncGenerator[ModelEvent]:
    """Stream the answer to a reserved request; the turn's journal records its outcome.

    Extra calls are recorded here. If one leaves no room for some of the models, the request is sent again to the
    remaining ones. Raises ModelError, BudgetExceeded, StoreErrors.
    """
    left: Reservation | None = held
    while left is not None:
        held, left = left, None
        stream = model.stream(held.request)
        try:
            async for event in stream:
                if type(event) is not ExtraCall:
                    yield event
                    continue
                cost = budget.cost_of_extra(held, event)
                await _record(budget, held, event_of(event.ref, event.status), event.usage, cost)
                if event.has_next and (still := await budget.renew(held)) is not held:
                    left = still
                    for remark in still.remarks:
                        yield remark
                    break
                yield _BEAT
        finally:
            close = getattr(stream, "aclose", None)
            if close is not None:
                await close()


async def stream_outside(
    budget: Budget, model: Model, held: Reservation, event_of: EventOf
) -> AsyncGenerator[ModelEvent]:
    """Stream an answer outside of any turn, and record the call whatever its outcome."""
    name = held.request.first
    status: str = "unknown_outcome"
    usage: Usage | None = None
    cost = held.worst
    try:
        async with aclosing(stream_in_turn(budget, model, held, event_of)) as events:
            async for event in events:
                if type(event) is ModelReply:
                    name, status, usage = event.ref or name, "ok", event.usage
                    known = budget.cost_of_reply(name, event)
                    cost = held.worst if known is None and usage is None else known
                yield event
    except BudgetExceeded:
        status, usage, cost = ModelFault.BUDGET, None, 0
        raise
    except ModelError as error:
        if status != "ok":
            usage, cost = error.usage, budget.cost_of_failure(held, error)
        status = error.fault
        raise
    finally:
        await _record(budget, held, event_of(name, status), usage, cost)


async def _record(
    budget: Budget, held: Reservation, event: TimelineEvent, usage: Usage | None, cost: int | None
) -> None:
    classification = f"{held.caller.sender}/{held.request.task}"
    await budget.ledger.record(replace(event, classification=classification, usage=usage, cost=cost))
