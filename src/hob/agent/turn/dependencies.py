"""Dependencies of the turn driver, provided by the composition root."""

from collections.abc import Callable, Coroutine
from dataclasses import field
from typing import Any

from hob.agent.budget.budget import Budget
from hob.agent.compaction.compaction import Compactor
from hob.agent.ports import Approvals, LateResults, LimitOf, Transcribe, UnawaitedSubagents
from hob.agent.prompt.builder import PromptBuilder
from hob.agent.prompt.context_room import ContextRoom
from hob.agent.settings import AgentSettings
from hob.agent.turn.hooks import Hooks
from hob.core.clock import Clock
from hob.core.events.timeline import EventKind, TimelineEvent
from hob.core.ids import SpanId, new_event_id, new_span_id
from hob.core.models import Usage
from hob.core.ports.guard import Judge
from hob.core.ports.journal import Journal, Sessions, Transcript
from hob.core.ports.model import Model
from hob.core.ports.notices import Notices
from hob.core.ports.tools import Blobs, Toolset
from hob.core.steps import Step
from hob.core.turns import Turn
from hob.core.values import dataclass


@dataclass(frozen=True, slots=True)
class TurnDependencies:
    """Ports of the turn driver. `default_model` names the model if neither message nor session chose one.

    `background_tasks` runs follow-up work of a finished turn; without it the session queue waits for that work. `mask`
    removes known secrets from tool output, `mask_personal` personal data from text sent to strangers.
    """

    model: Model
    journal: Journal
    transcript: Transcript
    sessions: Sessions
    toolset: Toolset
    judge: Judge
    prompts: PromptBuilder
    notices: Notices
    budget: Budget
    blobs: Blobs
    clock: Clock
    hooks: Hooks
    limit_of: LimitOf
    settings: AgentSettings = field(default_factory=AgentSettings)
    default_model: Callable[[], str] = str
    approvals: Approvals | None = None
    late_results: LateResults | None = None
    compactor: Compactor | None = None
    context_room: ContextRoom = field(default_factory=ContextRoom)
    background_tasks: Callable[[Coroutine[Any, Any, None]], None] | None = None
    transcribe: Transcribe | None = None
    unawaited: UnawaitedSubagents | None = None
    mask: Callable[[str], str] = str
    mask_personal: Callable[[str], str] = str


@dataclass(frozen=True, slots=True)
class Stopwatch:
    """Timing of one part of a turn, by the wall clock and the monotonic clock."""

    clock: Clock
    at: float
    began: float
    span: SpanId

    @classmethod
    def start(cls, clock: Clock) -> "Stopwatch":
        """Start now, with a new span."""
        return cls(clock, clock.now().timestamp(), clock.monotonic(), new_span_id())

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return self.clock.monotonic() - self.began

    def event(
        self, turn: Turn, kind: EventKind, name: str, status: str, usage: Usage | None = None, cost: int | None = None
    ) -> TimelineEvent:
        """Return a timeline event for this part, ending now."""
        return TimelineEvent(
            id=new_event_id(),
            trace=turn.trace,
            span=self.span,
            parent=turn.span,
            at=self.at,
            kind=kind,
            name=name,
            status=status,
            session=turn.session,
            turn=turn.id,
            seconds=self.seconds,
            usage=usage,
            cost=cost,
        )


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """A step and its timeline event."""

    step: Step
    event: TimelineEvent | None = None
