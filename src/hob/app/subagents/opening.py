"""Opening the sub-agents of a kernel."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from hob.app.contribution import Contribution, Effects, Follower, Job
from hob.app.kernel import Kernel
from hob.app.models.catalog import ModelNames
from hob.app.subagents.runs import SelfChannel, SubagentRuns
from hob.app.subagents.settings import SubagentSettings
from hob.app.subagents.tools import SubagentToolset
from hob.bus.settings import SELF_MADE
from hob.core.events.timeline import EventKind, TimelineEvent
from hob.core.states import FINAL_TURNS, TurnState
from hob.providers.settings import ModelSettings

GATHER_SECONDS = 0.25
"""Seconds within which ended turns are handled together."""


@asynccontextmanager
async def open_subagents(kernel: Kernel) -> AsyncIterator[Contribution]:
    """Open the tools, the supervising job, and the follower that wakes it when turns wait or end."""
    settings = kernel.config[SubagentSettings]
    runs = SubagentRuns(kernel.store, kernel.hub, kernel.clock, settings, kernel.language)

    async def turned(events: Sequence[tuple[int, TimelineEvent]]) -> Effects | None:
        states = {event.classification for _, event in events}
        if TurnState.PARKED in states or (runs.busy and not states.isdisjoint(FINAL_TURNS)):
            runs.wake()
        return None

    with kernel.session_queues.stopped.subscribed(lambda _: runs.wake()):
        yield Contribution(
            channels=tuple(
                SelfChannel(name, kernel.store, kernel.hub, kernel.signals.outbox) for name in sorted(SELF_MADE)
            ),
            toolsets=(SubagentToolset(runs, ModelNames(kernel.config[ModelSettings], kernel.choice)).toolset,),
            followers=(Follower("subagents", turned, kinds=(EventKind.TURN,), pause=GATHER_SECONDS),),
            jobs=(Job("subagents", runs.run),),
            status=runs.view,
        )
