"""In-memory state of one run of a turn; none of it is needed to resume after a crash."""

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
from hob.core.ports.turns import TurnControl
from hob.core.steps import ModelAsked, ModelFailed, ModelReplied, Steered, Step, ToolIntended
from hob.core.trust.labels import SenderClass
from hob.core.turns import Finish, Session, TranscriptView, Turn
from hob.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Unsaved:
    """Steps that could not be written, and the length of the journal before them.

    `steps` contains reports only: an effect whose announcement was not written did not happen, and the fold would take
    the announcement for the trace of a crash.
    """

    saved: int
    steps: tuple[Step, ...]
    events: tuple[TimelineEvent, ...]


class Record:
    """The journal of a running turn: `steps` are all its steps, written or not, and `state` is their fold.

    Steps are folded at once and written together, right before the next effect.
    """

    def __init__(self, journal: Journal, turn: Turn, steps: Sequence[Step]) -> None:
        self._journal = journal
        self._turn = turn
        self._saved = 0
        self._in_flight = (0, 0)
        self._events: list[TimelineEvent] = []
        self._load(steps)

    def _load(self, steps: Sequence[Step]) -> None:
        self.steps: list[Step] = list(steps)
        self._saved = len(self.steps)
        self.state: FoldedTurn = start(self._turn)
        for step in self.steps:
            self.state = fold(self.state, step)

    def add(self, step: Step, event: TimelineEvent | None = None) -> None:
        """Add a step; it is durable after the next `flush` or with the turn's finish."""
        self.steps.append(step)
        self.state = fold(self.state, step)
        if event is not None:
            self._events.append(event)

    def pending(self) -> tuple[tuple[Step, ...], tuple[TimelineEvent, ...]]:
        """Return the steps and events that are not written yet."""
        return tuple(self.steps[self._saved :]), tuple(self._events)

    def unsaved(self) -> Unsaved:
        """Return what a later run needs after a failed write."""
        steps, events = self.pending()
        reports = tuple(step for step in steps if not isinstance(step, ModelAsked | ToolIntended))
        return Unsaved(self._saved, reports, events)

    def resume(self, unsaved: Unsaved) -> None:
        """Add the steps an earlier run could not write, unless the write succeeded after all."""
        if unsaved.saved != self._saved:
            return
        for step in unsaved.steps:
            self.add(step)
        self._events.extend(unsaved.events)

    async def flush(self, request: ModelRequest | None = None) -> None:
        """Write all pending steps, and the request that is about to be sent. Raises StoreErrors; then nothing was
        written.
        """
        steps, events = self.pending()
        if not steps and not events:
            return
        self._in_flight = (len(steps), len(events))
        await self._journal.append(self._turn.id, steps, events, request)
        self._mark_saved()

    def _mark_saved(self) -> None:
        steps, events = self._in_flight
        self._in_flight = (0, 0)
        self._saved += steps  # more may have been added meanwhile
        del self._events[:events]

    async def flush_costs(self) -> None:
        """Write the cost of the last model call, so that its reservation is released. Raises StoreErrors."""
        if any(isinstance(step, ModelReplied | ModelFailed) for step in self.pending()[0]):
            await self.flush()

    async def steer(self, offered: Collection[InboundId]) -> tuple[Inbound, ...]:
        """Add those of these messages that are still waiting; the journal writes their steps itself."""
        await self.flush()
        inbounds = await self._journal.steer(self._turn.id, offered)
        for inbound in inbounds:
            self.add(Steered(inbound.id, inbound.text, inbound.label, inbound.quoted, inbound.attachments))
        self._saved = len(self.steps)
        return inbounds

    async def resync(self) -> None:
        """Reload the steps after a cancellation, which leaves open whether a pending write took place.

        Writes run in the order they were requested, so the empty one below completes after any pending write.
        """
        await self._journal.append(self._turn.id, ())
        written = await self._journal.load_steps(self._turn.id)
        if len(written) == self._saved + self._in_flight[0]:
            self._mark_saved()  # steps added during the write are still pending
        elif len(written) != self._saved:
            self._events.clear()
            self._load(written)


@dataclass(slots=True)
class TurnRun:
    """One run of one turn.

    `model` is the name chosen by message, session or hook; `requested_model` is its reference, or the one called last.
    `chain` contains the models chosen by a route of this turn, so that the turn continues with them.
    """

    deps: TurnDependencies
    turn: Turn
    control: TurnControl
    record: Record
    session: Session
    model: str
    watch: Stopwatch
    requested_model: str = ""
    chain: tuple[str, ...] = ()
    view: TranscriptView | None = None
    prompt_tokens: int = 0
    joined: list[Inbound] = field(default_factory=list)
    finish: Finish | None = None
    streamed: list[str] = field(default_factory=list)
    """Text of the newest reply that was streamed to clients but is in no step yet."""

    @property
    def seconds_left(self) -> float:
        """Remaining seconds of this run."""
        return self.deps.settings.run_seconds - self.watch.seconds

    def chunks_for(self, to: Address, text: str) -> tuple[str, ...]:
        """Split the text into chunks this chat accepts, with personal data masked if a stranger reads it."""
        writers = {inbound.sender.cls for inbound in (*self.turn.inbounds, *self.joined) if inbound.origin == to}
        if SenderClass.STRANGER in writers and to.channel != WEBHOOK_CHANNEL:  # webhook senders receive no reply
            text = self.deps.mask_personal(text)
        return split_text(text, self.deps.limit_of(to))

    async def steer(self) -> None:
        """Let waiting messages join the turn if the session queue has any."""
        offered = self.control.joinable()
        if not offered:
            return
        inbounds = await self.record.steer(offered)
        self.joined.extend(inbounds)
        self.control.mark_joined([inbound.id for inbound in inbounds])


def request_hash(request: ModelRequest) -> str:
    """Return the hash of a request's model, system text and messages."""
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
