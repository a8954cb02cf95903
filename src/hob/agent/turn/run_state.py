"""What one run of a turn holds in memory; nothing of it is needed to go on after a crash."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import field

from hob.agent.turn.dependencies import Stopwatch, TurnDependencies
from hob.agent.turn.turn import FoldedTurn, fold, start
from hob.core.content.chunks import split_text
from hob.core.events.timeline import TimelineEvent
from hob.core.ids import InboundId, digest
from hob.core.messages import WEBHOOK_CHANNEL, Address, Inbound
from hob.core.models import ModelMessage, ModelRequest
from hob.core.ports.journal import Journal
from hob.core.ports.turns import Control
from hob.core.steps import ModelAsked, ModelFailed, ModelReplied, Steered, Step, ToolIntended
from hob.core.trust.labels import SenderClass
from hob.core.turns import Finish, Session, Turn, View
from hob.core.values import dataclass

# A running turn's journal: steps are folded at once and written together, right before the next effect.


@dataclass(frozen=True, slots=True)
class Unsaved:
    """What could not be written, and how many steps the journal had before it.

    `steps` only report. A promise that was not written was not acted on: for the fold it would be a crash's trace.
    """

    saved: int
    steps: tuple[Step, ...]
    events: tuple[TimelineEvent, ...]


class Record:
    """`steps` are all steps of the turn, written or not; `state` is their fold."""

    def __init__(self, journal: Journal, turn: Turn, steps: Sequence[Step]) -> None:
        self._journal = journal
        self._turn = turn
        self._saved = 0
        self._under_way = (0, 0)
        self._events: list[TimelineEvent] = []
        self._load(steps)

    def _load(self, steps: Sequence[Step]) -> None:
        self.steps: list[Step] = list(steps)
        self._saved = len(self.steps)
        self.state: FoldedTurn = start(self._turn)
        for step in self.steps:
            self.state = fold(self.state, step)

    def add(self, step: Step, event: TimelineEvent | None = None) -> None:
        """Take in a step; it is durable after the next `flush` or the turn's finish."""
        self.steps.append(step)
        self.state = fold(self.state, step)
        if event is not None:
            self._events.append(event)

    def rest(self) -> tuple[tuple[Step, ...], tuple[TimelineEvent, ...]]:
        """The steps and events that are not written yet."""
        return tuple(self.steps[self._saved :]), tuple(self._events)

    def unsaved(self) -> Unsaved:
        """What a later run has to know after a write failed."""
        steps, events = self.rest()
        reports = tuple(step for step in steps if not isinstance(step, ModelAsked | ToolIntended))
        return Unsaved(self._saved, reports, events)

    def resume(self, unsaved: Unsaved) -> None:
        """Take up what an earlier run could not write, unless it was written after all."""
        if unsaved.saved != self._saved:
            return
        for step in unsaved.steps:
            self.add(step)
        self._events.extend(unsaved.events)

    async def flush(self, request: ModelRequest | None = None) -> None:
        """Make all steps so far durable, and what the model is given. Raises StoreErrors; then nothing was written."""
        steps, events = self.rest()
        if not steps and not events:
            return
        self._under_way = (len(steps), len(events))
        await self._journal.append(self._turn.id, steps, events, request)
        self._note_saved()

    def _note_saved(self) -> None:
        steps, events = self._under_way
        self._under_way = (0, 0)
        self._saved += steps  # others may have added more meanwhile
        del self._events[:events]

    async def settle(self) -> None:
        """Make durable what the last model call has cost, so that nothing is held back for it any more.

        Raises StoreErrors.
        """
        if any(isinstance(step, ModelReplied | ModelFailed) for step in self.rest()[0]):
            await self.flush()

    async def steer(self, offered: Collection[InboundId]) -> tuple[Inbound, ...]:
        """Take in those of these messages that still wait; the journal writes their steps itself."""
        await self.flush()
        inbounds = await self._journal.steer(self._turn.id, offered)
        for inbound in inbounds:
            self.add(Steered(inbound.id, inbound.text, inbound.label, inbound.quoted, inbound.attachments))
        self._saved = len(self.steps)
        return inbounds

    async def resync(self) -> None:
        """After a cancellation it is unknown whether a write that was under way took place: look.

        Writes happen in the order in which they were asked for, so an empty one comes after whatever was under way.
        """
        await self._journal.append(self._turn.id, ())
        written = await self._journal.load_steps(self._turn.id)
        if len(written) == self._saved + self._under_way[0]:
            self._note_saved()  # what came while it was written is still to be
        elif len(written) != self._saved:
            self._events.clear()
            self._load(written)


@dataclass(slots=True)
class TurnRun:
    """One run of one turn.

    `model` is the name that message, session or hook chose, `requested_model` its reference (or that asked last),
    `chain` what a route of this turn has chosen: it goes on with the models it began with.
    """

    parts: TurnDependencies
    turn: Turn
    control: Control
    record: Record
    session: Session
    model: str
    watch: Stopwatch
    requested_model: str = ""
    chain: tuple[str, ...] = ()
    view: View | None = None
    prompt_tokens: int = 0
    joined: list[Inbound] = field(default_factory=list)
    finish: Finish | None = None
    streamed: list[str] = field(default_factory=list)
    """The newest answer's text as far as people have seen it, while no step holds it."""

    @property
    def seconds_left(self) -> float:
        """How long this run may still take."""
        return self.parts.settings.run_seconds - self.watch.seconds

    def chunks_for(self, to: Address, text: str) -> tuple[str, ...]:
        """The text in pieces that this chat takes, without personal data where a stranger reads it."""
        writers = {inbound.sender.cls for inbound in (*self.turn.inbounds, *self.joined) if inbound.origin == to}
        if SenderClass.STRANGER in writers and to.channel != WEBHOOK_CHANNEL:  # whose senders are sent nothing
            text = self.parts.mask_personal(text)
        return split_text(text, self.parts.limit_of(to))

    async def steer(self) -> None:
        """Take in messages that arrived meanwhile, if the session queue hints at any."""
        offered = self.control.joinable()
        if not offered:
            return
        inbounds = await self.record.steer(offered)
        self.joined.extend(inbounds)
        self.control.mark_joined([inbound.id for inbound in inbounds])


def request_hash(request: ModelRequest) -> str:
    """What a model call is bound to: model, system text and every message."""
    return digest("\0".join(_texts(request)).encode("utf-8", "replace"))[:16]


def _texts(request: ModelRequest) -> Iterator[str]:
    yield request.model
    yield request.system
    for message in request.messages:
        yield from _message_texts(message)


def _message_texts(message: ModelMessage) -> Iterator[str]:
    yield message.text
    for call in getattr(message, "calls", ()):
        yield f"{call.id} {call.name} {call.arguments}"
