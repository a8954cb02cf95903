"""Stopping everything at once (`/stop all`), and keeping it stopped over restarts until a person lifts it.

What Hob sends itself (sub-agents' tasks, jobs) is held meanwhile: accepted and kept, but not begun. People are served.
"""

import logging

from hob.bus.session_queues import SessionQueues
from hob.bus.turn_runner import BusContext
from hob.store.store import Store

log = logging.getLogger(__name__)

_CHANNEL, _KEY = "hob", "halted"


async def halt(queues: SessionQueues, reason: str) -> int:
    """End every turn and whatever people wait for, and hold what is self-made; how many ended. Raises StoreErrors.

    That it holds is durable before anything ends.
    """
    context = queues.context
    now = context.clock.now().timestamp()
    await context.store.channel_state.put(_CHANNEL, "", {_KEY: repr(now)})
    context.halted = now
    ended: list[bool] = []  # what waits comes first, or it would begin when a turn before it ends
    for session in await context.store.inbox.busy_sessions():
        waiting = [row.inbound.id for row in await context.load_waiting(session)]
        ended += [await queues.cancel(id, reason) for id in waiting]
    ended += [await queues.cancel(turn, reason) for turn in await context.store.turns.resting(now)]
    ended += [running.stop(reason) for running in tuple(context.running_turns.values())]
    log.info("everything was stopped (%d turns and messages); what is self-made is held", sum(ended))
    return sum(ended)


async def lift(queues: SessionQueues) -> bool:
    """Let what is self-made go on; False where nothing was held. Raises StoreErrors."""
    context = queues.context
    if context.halted is None:
        return False
    await context.store.channel_state.put(_CHANNEL, "", {_KEY: ""})
    context.halted = None
    for session in await context.store.inbox.busy_sessions():
        queues.wake_session(session)
    return True


async def load_halt(context: BusContext) -> None:
    """Whether an earlier run was stopped so. Raises StoreErrors."""
    context.halted = await halted_since(context.store)


async def halted_since(store: Store) -> float | None:
    """Since when everything self-made is held (Unix seconds); None: it is not. Raises StoreErrors."""
    kept = (await store.channel_state.get(_CHANNEL, "")).get(_KEY)
    return float(kept) if kept else None


async def end_halted(queues: SessionQueues, reason: str) -> None:
    """After a restart: end what a crash kept from ending when everything was stopped. Raises StoreErrors."""
    halted = queues.context.halted
    if halted is not None:
        for turn in await queues.context.store.turns.resting(halted):
            await queues.cancel(turn, reason)
