"""Stopping everything at once (`/stop all`), across restarts, until a person resumes it.

Meanwhile Hob's messages to itself (sub-agents' tasks, jobs) are held: accepted and stored, but not started. People's
messages are served.
"""

import logging

from hob.bus.session_queues import SessionQueues
from hob.bus.turn_runner import BusContext
from hob.store.store import Store

log = logging.getLogger(__name__)

_CHANNEL, _KEY = "hob", "halted"


async def halt(queues: SessionQueues, reason: str) -> int:
    """Stop every turn and waiting message and hold autonomous work; return the number stopped. Raises StoreErrors.

    The halt is durable before anything is stopped, and no turn starts until everything is.
    """
    context = queues.context
    now = context.clock.now().timestamp()
    ended: list[bool] = []
    async with context.stopping:
        await context.store.channel_state.put(_CHANNEL, "", {_KEY: repr(now)})
        context.halted = now
        ended += [running.stop(reason) for running in context.running_turns.values()]
        await context.store.subagents.end_all("killed")
        for session in await context.store.inbox.busy_sessions():
            waiting = [row.inbound.id for row in await context.load_waiting(session)]
            ended += [await queues.cancel(id, reason) for id in waiting]
        ended += [await queues.cancel(turn, reason) for turn in await context.store.turns.unfinished_since(now)]
        # one of them may have been starting
        ended += [running.stop(reason) for running in context.running_turns.values()]
    log.info("everything was stopped (%d turns and messages); what is self-made is held", sum(ended))
    return sum(ended)


async def lift_halt(queues: SessionQueues) -> bool:
    """Resume autonomous work; return False if it was not held. Raises StoreErrors."""
    context = queues.context
    if context.halted is None:
        return False
    await context.store.channel_state.put(_CHANNEL, "", {_KEY: ""})
    context.halted = None
    for session in await context.store.inbox.busy_sessions():
        queues.wake_session(session)
    return True


async def load_halt(context: BusContext) -> None:
    """Load whether an earlier process was halted. Raises StoreErrors."""
    context.halted = await halted_since(context.store)


async def halted_since(store: Store) -> float | None:
    """Return the time since which autonomous work is held (Unix seconds), or None. Raises StoreErrors."""
    kept = (await store.channel_state.get(_CHANNEL, "")).get(_KEY)
    return float(kept) if kept else None


async def cancel_halted(queues: SessionQueues, reason: str) -> None:
    """Stop what a halt could not stop because of a crash; runs at startup. Raises StoreErrors."""
    halted = queues.context.halted
    if halted is not None:
        for turn in await queues.context.store.turns.unfinished_since(halted):
            await queues.cancel(turn, reason)
