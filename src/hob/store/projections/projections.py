"""Tasks, spending and sessions as a fold over immutable facts. No database here.

The facts are the events of the timeline in commit order, and data that the timeline lacks:

* of a message its id, the time the store assigned, and its current turn (a claim writes no event, which would be one
  more per turn; the message's own row has it);
* of a turn when it was claimed and when it ended: an event knows only when its part began, and how long it took by
  the monotonic clock;
* from the journal, append-only like the timeline, when a model was called and what is reserved for open calls. Cost
  and model of a call come from the timeline, since the journal's bodies can be erased;
* the number of entries of a session: the transcript itself.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from hob.core.events.timeline import EventKind
from hob.core.models import Usage
from hob.core.states import FINAL_TURNS, TASK_OF_TURN, TaskState, TurnState
from hob.core.trust.labels import SenderClass, least_trusted
from hob.core.values import dataclass
from hob.store.database.rows import Row
from hob.store.imports import IMPORTED
from hob.store.spending.model_calls import CHAT, HOUR, chain_of, is_extra, tokens_of, was_turned_away, whose

_NO_USAGE = Usage()
_STATES = frozenset(TurnState)


@dataclass(frozen=True, slots=True)
class ProjectedEvent:
    """One event of the timeline. `content` is the row of its text, None if erased or absent."""

    usage: Usage | None
    seq: int
    kind: str
    name: str
    status: str
    at: float
    span: str
    parent: str | None
    session: str | None
    turn: str | None
    value: str
    content: int | None
    cost: int | None


@dataclass(frozen=True, slots=True)
class ProjectedMessage:
    """An accepted message, as in its inbox row. `text` is the row of its content, erased or not.

    `sender` is the class of its author.
    """

    seq: int
    id: str
    session: str
    trace: str
    span: str
    turn: str | None
    at: float
    text: int
    sender: str


@dataclass(frozen=True, slots=True)
class TurnFact:
    """Session of a turn, and the times at which it was claimed or created, and ended."""

    session: str
    created: float
    ended: float | None


@dataclass(frozen=True, slots=True)
class CallStep:
    """A journalled step of a model call: its beginning (`asked`) or its end. Fields from `model` on may be erased."""

    turn: str
    asked: bool
    at: float
    model: str
    reserved: int | None
    models: str | None
    """References that may answer, as JSON."""


@dataclass(frozen=True, slots=True)
class ProjectedFacts:
    """The input of the projections. `entries` is the last entry number per session and turn."""

    events: Iterable[ProjectedEvent]
    messages: Iterable[ProjectedMessage]
    turns: Mapping[str, TurnFact]
    calls: Iterable[CallStep]
    entries: Mapping[tuple[str, str], int]


@dataclass(slots=True)
class _Session:
    chat: str
    title: int | None
    created: float
    updated: float
    model: str | None = None
    mode: str | None = None
    thinking: str | None = None
    permission: str | None = None
    autonomy: str | None = None
    paused: bool = False
    archived: bool = False
    since: int = 0


@dataclass(slots=True)
class _Call:
    turn: str | None
    session: str
    model: str
    at: float
    reserved: int | None
    sender: str
    task: str = CHAT
    chain: str = ""
    turned_away: bool = False
    settled: bool = False
    usage: Usage = _NO_USAGE
    cost: int | None = None

    def settle(self, event: ProjectedEvent) -> None:
        self.model, self.usage, self.cost = event.name, event.usage or _NO_USAGE, event.cost
        self.sender, task = whose(event.value)
        self.task = task if self.turn is None else CHAT
        self.reserved, self.chain, self.settled = None, "", True
        self.turned_away = was_turned_away(event.status, event.usage, event.cost)

    def row(self) -> Row:
        return (
            self.turn, self.session, self.model, self.chain, self.sender, self.task, self.at, self.reserved,
            int(self.settled), *tokens_of(self.usage), self.cost,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Move:
    seq: int
    state: TaskState
    at: float
    reason: str


def project(facts: ProjectedFacts) -> dict[str, list[Row]]:
    """Return the rows of each table, in the columns of `hob.store.projections.rebuild.TABLES`."""
    return _Fold(facts).rows()


class _Fold:
    """Folds the events one by one and looks up the rest."""

    def __init__(self, facts: ProjectedFacts) -> None:
        self._facts = facts
        self._messages = {message.span: message for message in facts.messages}
        self._accepted: list[ProjectedMessage] = []
        self._of_turn: dict[str, _Move] = {}
        self._of_message: dict[str, _Move] = {}
        self._ended_calls: dict[str, list[ProjectedEvent]] = defaultdict(list)
        self._calls_outside: list[_Call] = []
        self._sessions: dict[str, _Session] = {}
        self._chats: dict[str, str] = {}
        for event in facts.events:
            self._apply(event)

    def _apply(self, event: ProjectedEvent) -> None:
        match event.kind:
            case EventKind.INBOUND:
                self._accept(event)
            case EventKind.TURN | EventKind.COMMAND | EventKind.STEER if event.value in _STATES:
                self._move(event)
            case EventKind.MODEL if event.turn is None or is_extra(event.value):
                call = _Call(event.turn, event.session or "", event.name, event.at, None, "")
                call.settle(event)
                self._calls_outside.append(call)
            case EventKind.MODEL if event.turn is not None:
                self._ended_calls[event.turn].append(event)
            case EventKind.SESSION if event.session is not None:
                self._change(event, event.session)

    def _accept(self, event: ProjectedEvent) -> None:
        message = self._messages.get(event.span)
        if message is None:
            return
        self._accepted.append(message)
        if (session := self._sessions.get(message.session)) is not None:
            session.updated = message.at

    def _move(self, event: ProjectedEvent) -> None:
        state, reason = TurnState(event.value), "" if event.status == "ok" else event.status
        at, turn = event.at, self._facts.turns.get(event.turn or "")
        if turn is not None and turn.ended is not None and state in FINAL_TURNS:
            at = turn.ended
            session = self._sessions.get(turn.session)
            if session is not None and (turn.session, event.turn) in self._facts.entries:
                session.updated = at
        move = _Move(event.seq, TASK_OF_TURN[state], at, reason)
        if event.kind == EventKind.STEER:  # a joining message moves alone
            self._of_message[event.parent or ""] = move
        else:
            self._of_turn[event.turn or ""] = move

    def _change(self, event: ProjectedEvent, key: str) -> None:
        if event.name == "created":
            self._sessions[key] = _Session(event.value, event.content, event.at, event.at)
            return
        if event.name == IMPORTED:
            self._import(event, key)
            return
        if event.name == "switched":
            self._chats[event.value] = key
        session = self._sessions.get(key)
        if session is None:
            return
        match event.name:
            case "switched":
                session.chat = session.chat or event.value
            case "reset":
                session.since, session.updated = int(event.value or 0), event.at
            case "title":
                session.title = event.content
            case "model" | "mode" | "thinking" | "permission" | "autonomy":
                setattr(session, event.name, event.value or None)
            case "paused":
                session.paused = event.value == "yes"
            case "archived":
                session.archived = event.value == "yes"

    def _import(self, event: ProjectedEvent, key: str) -> None:
        begun, last = map(float, event.value.split())
        session = self._sessions.setdefault(key, _Session("", event.content, begun, last))
        session.updated = max(session.updated, last)

    def rows(self) -> dict[str, list[Row]]:
        usage = [call for call in (*self._calls(), *self._calls_outside) if not call.turned_away]
        return {
            "tasks": [self._task(message) for message in self._accepted],
            "usage": [call.row() for call in usage],
            "spending": _spending(usage),
            "sessions": list(self._session_rows()),
            "chats": list(self._chats.items()),
        }

    def _task(self, message: ProjectedMessage) -> Row:
        moves = [_Move(-1, TaskState.PENDING, message.at, "")]
        if message.turn is not None:
            claimed = self._facts.turns.get(message.turn)
            moves.append(_Move(0, TaskState.RUNNING, claimed.created if claimed else message.at, ""))
            moves.append(self._of_turn.get(message.turn, moves[-1]))
        moves.append(self._of_message.get(message.span, moves[-1]))
        last = max(moves, key=lambda move: move.seq)
        return (
            message.seq, message.id, message.id, message.turn, message.session, message.trace, last.state.value,
            message.text, last.reason, message.at, last.at,
        )  # fmt: skip

    def _calls(self) -> Iterator[_Call]:
        """Return one row per call made in a turn. An end belongs to the turn's newest open call."""
        open_calls: dict[str, list[_Call]] = defaultdict(list)
        ended: dict[str, Iterator[ProjectedEvent]] = {turn: iter(events) for turn, events in self._ended_calls.items()}
        calls: list[_Call] = []
        senders: dict[str, list[SenderClass]] = defaultdict(list)
        for message in self._messages.values():
            senders[message.turn or ""].append(SenderClass(message.sender))
        for step in self._facts.calls:
            waiting = open_calls[step.turn]
            if step.asked:
                call = _Call(
                    step.turn, self._facts.turns[step.turn].session, step.model, step.at, step.reserved,
                    least_trusted(senders[step.turn]).value, chain=chain_of(json.loads(step.models or "[]")),
                )  # fmt: skip
                waiting.append(call)
                calls.append(call)
            else:
                event = next(ended.get(step.turn, iter(())), None)
                if event is not None and waiting:
                    waiting.pop().settle(event)
        for turn, events in ended.items():
            for event in events:  # settled by the turn's end: the end of these calls was not recorded
                if open_calls[turn]:
                    open_calls[turn].pop().settle(event)
        yield from calls

    def _session_rows(self) -> Iterator[Row]:
        places: dict[str, int] = {}
        for (key, _), place in self._facts.entries.items():
            places[key] = max(place, places.get(key, 0))
        for key, session in self._sessions.items():
            yield (
                key, session.chat, session.title, session.model, session.mode, session.thinking,
                session.permission, session.autonomy, int(session.paused), int(session.archived), places.get(key, 0),
                session.since, session.created, session.updated,
            )  # fmt: skip


def _spending(calls: Iterable[_Call]) -> list[Row]:
    sums: dict[tuple[int, str, str, str, str], list[int]] = defaultdict(lambda: [0] * 8)
    for call in calls:
        if call.settled:
            added = (call.cost or 0, call.cost is None, *tokens_of(call.usage), 1)
            total = sums[int(call.at // HOUR), call.session, call.model, call.sender, call.task]
            total[:] = [old + new for old, new in zip(total, added, strict=True)]
    return [(*key, *total) for key, total in sums.items()]
