"""Values of memory: layers, scopes, items, facts, goals."""

import hashlib
from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import Any, Final, NamedTuple, NotRequired, TypedDict

from hob.core.ids import SessionKey
from hob.core.trust.labels import Label
from hob.core.values import dataclass

OWNER = "owner"
"""Owner of the memory shared by all of the owner's sessions. It cannot be a session key: those contain a colon."""
PRIVATE = "private-"
"""Prefix of thread names whose sessions are never remembered."""

SECTION = "section"
"""Kind of an item that holds a document's section."""


class Layer(StrEnum):
    """Kind of memory that an item belongs to, and prefix of its source."""

    SOUL = "soul"
    """Sections of the identity files."""
    CONVERSATION = "conversation"
    TOOL = "tool"
    GROUP = "group"
    """Memories shared by other agents."""
    ER1 = "er1"
    OBSERVATION = "observation"
    FACT = "fact"
    """Facts the owner stated about themselves and their world, and things Hob was asked to remember."""
    DOCUMENT = "document"
    """Sections of documents, daily notes and `MEMORY.md`."""


class MemoryLayer(NamedTuple):
    """A kind of memory as shown to users, Hob's own or a plug-in's. `name` is the source prefix of its items.

    `days` is how long its items are kept; 0 keeps them forever.
    """

    name: str
    description: str
    days: float = 0.0
    colour: str = "#8b949e"


_OWN: Final = {each.value: each for each in Layer}


def layer_named(name: str) -> str:
    """Return Hob's own layer of this name; otherwise the name itself, which belongs to a plug-in."""
    return _OWN.get(name, name)


@dataclass(frozen=True, slots=True)
class Scope:
    """Owner of a memory: a person, or a group (by its session key). A query covers exactly one owner.

    `session` narrows it to one conversation.
    """

    person: str
    agent: str = ""
    session: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryItem:
    """One remembered piece of text, said or derived, with its provenance.

    The id is a hash of the content and its place, so nothing is stored twice. `seq` is its row number, 0 before it is
    stored.
    """

    scope: Scope
    layer: str
    """A `Layer`, or the name of a plug-in's layer."""
    source: str
    text: str
    label: Label
    at: float
    """When it was said or written (Unix seconds)."""
    session: str = ""
    position: int = 0
    """Position in its session or document."""
    turn: str = ""
    speaker: str = ""
    role: str = ""
    kind: str = ""
    valid_from: float | None = None
    valid_to: float | None = None
    superseded_by: str = ""
    evidence: tuple[str, ...] = ()
    """Ids of the items and events it was derived from."""
    importance: float = 0.5
    expires_at: float | None = None
    seq: int = 0
    id: str = ""

    def __post_init__(self) -> None:
        if not self.id:
            scope = self.scope
            parts = (scope.person, scope.agent, self.source, self.session, self.turn, str(self.position), self.text)
            whole = "\0".join(parts).encode("utf-8", "replace")
            object.__setattr__(self, "id", hashlib.sha256(whole).hexdigest()[:32])


@dataclass(frozen=True, slots=True)
class Recalled:
    """An item found for a query. `parts` are the components of the score, `asked` is the question that the item
    answers.

    `share` is the fraction of the query that the item covers, from 0 to 1.
    """

    item: MemoryItem
    score: float
    parts: Mapping[str, float] = field(default_factory=dict)
    asked: MemoryItem | None = None
    share: float = 1.0


class FactState(StrEnum):
    """Basis of a fact."""

    SAID = "said"
    """Stated by the owner."""
    CORRECTED = "corrected"
    """Corrected by the owner: only a later statement of theirs changes it."""
    ASKED = "asked"
    """Uncertain: not used until the owner confirms it."""


class FactAction(StrEnum):
    """What the owner can do with a fact."""

    CORRECT = "correct"
    """Replace the object, or without a new one, mark the fact as false."""
    CONFIRM = "confirm"
    UNDO = "undo"
    """Restore what was known before the change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One fact. `valid_*` is when it holds in the world, `recorded_*` when Hob believed it (Unix seconds).

    None means unknown or still open.
    """

    subject: str
    predicate: str
    object: str
    at: float
    """When its evidence was said."""
    quote: str = ""
    """The words it was extracted from."""
    valid_from: float | None = None
    valid_to: float | None = None
    recorded_from: float = 0.0
    recorded_to: float | None = None
    confidence: float = 1.0
    state: FactState = FactState.SAID
    evidence: tuple[str, ...] = ()
    """Ids of the items it was extracted from."""
    change: str = ""
    """Id of the change that recorded it, by which it can be undone."""
    closed: str = ""
    """Id of the change that closed its record."""
    id: str = ""
    """Id of the item that stores it."""

    @property
    def key(self) -> tuple[str, str, str]:
        """Key that is equal for two facts that state the same."""
        return self.subject.casefold(), self.predicate, " ".join(self.object.casefold().split())


class GoalState(StrEnum):
    """State of a goal."""

    OPEN = "open"
    DONE = "done"
    DROPPED = "dropped"
    STALLED = "stalled"
    """Open, but nothing was noted about it for a week. Derived, never stored."""


STALLED_SECONDS = 7 * 86_400.0


@dataclass(frozen=True, slots=True)
class GoalNote:
    """Evidence of progress towards a goal, and the id of the item that contains it."""

    text: str
    at: float = 0.0
    id: str = ""
    trusted: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """Something a person wants to achieve. Times are Unix seconds."""

    text: str
    label: Label
    state: GoalState = GoalState.OPEN
    due: float | None = None
    created: float = 0.0
    changed: float = 0.0
    """When its state or due date changed, or something was last noted about it."""
    session: str = ""
    turn: str = ""
    evidence: tuple[GoalNote, ...] = ()
    id: str = ""
    """Id of the item that stores it."""

    def state_at(self, now: float) -> GoalState:
        """Return the state at this time: `STALLED` if the goal is open and nothing happened for a week."""
        stalled = self.state is GoalState.OPEN and now - self.changed > STALLED_SECONDS
        return GoalState.STALLED if stalled else self.state


@dataclass(frozen=True, slots=True)
class GoalMove:
    """What a message says about a goal: a new goal, or a new state of the one with this id."""

    goal: Goal
    said: GoalNote
    """The words, and the id of the item that contains them."""


@dataclass(frozen=True, slots=True)
class FactChange:
    """A change of known facts: records to close, facts to add, and further evidence for known facts."""

    closed: tuple[str, ...] = ()
    added: tuple[Fact, ...] = ()
    confirmed: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Ids of facts, each with the ids of the items that confirm it."""


@dataclass(frozen=True, slots=True)
class Memory:
    """One remembered piece as returned by a memory source; `id` can be used to read it again."""

    text: str
    source: str
    label: Label
    at: float = 0.0
    relevance: float = 1.0
    id: str = ""
    parts: tuple[tuple[str, float], ...] = ()
    """Components of its relevance."""


@dataclass(frozen=True, slots=True)
class WorkingNote:
    """A session's note on what it is working on; the label says whether its context was trusted."""

    text: str
    label: Label
    at: float = 0.0
    """When it was written (Unix seconds)."""
    turn: str = ""
    """Id of the turn that wrote it."""


def is_private(session: SessionKey) -> bool:
    """Whether nothing of this session is remembered. The key decides, so that a rebuild gets the same result."""
    return session.replace("/", ":").rpartition(":")[2].startswith(PRIVATE)


class FactAnswer(TypedDict):
    """A fact. Times are Unix seconds.

    valid_from: when it became true; null: unknown
    valid_to: when it ceased to be true; null: still true
    recorded_from: when Hob recorded it
    recorded_to: when Hob closed the record; null: still open
    state: `said`, `corrected` or `asked` (uncertain)
    said_at: when its newest evidence was said
    evidence: ids of the items it was extracted from
    change: id of the change that recorded it, for undo
    contradicts: ids of facts in this answer that contradict it
    sentence: the fact in words for the owner, in the language of the request; in lists only
    """

    id: str
    subject: str
    predicate: str
    object: str
    valid_from: float | None
    valid_to: float | None
    recorded_from: float
    recorded_to: float | None
    confidence: float
    state: str
    said_at: float
    quote: str
    evidence: list[str]
    change: str
    contradicts: list[str]
    sentence: NotRequired[str]


class GoalNoteAnswer(TypedDict):
    """Evidence of progress towards a goal."""

    id: str
    text: str
    at: float


class GoalAnswer(TypedDict):
    """A goal. Times are Unix seconds.

    state: `open`, `done`, `dropped`, or `stalled` after a week without progress
    due: when it is due; null: no date was given
    """

    id: str
    text: str
    state: str
    due: float | None
    created: float
    changed: float
    origin: str
    trust: str
    session: str
    turn: str
    evidence: list[GoalNoteAnswer]


class MemoryItemAnswer(TypedDict):
    """A remembered item.

    score: only in search results
    parts: components of the score
    """

    id: str
    layer: str
    source: str
    text: str
    at: float
    origin: str
    trust: str
    speaker: str
    session: str
    turn: str
    color: str
    score: NotRequired[float]
    parts: NotRequired[dict[str, Any]]
    position: NotRequired[int]
    role: NotRequired[str]
    kind: NotRequired[str]
    importance: NotRequired[float]
    valid_from: NotRequired[float | None]
    valid_to: NotRequired[float | None]
    superseded_by: NotRequired[str | None]
    evidence: NotRequired[list[str]]
    expires_at: NotRequired[float | None]
