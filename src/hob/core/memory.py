"""Values of memory: layers, items, facts, goals and scopes."""

import hashlib
from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import Any, Final, NamedTuple, NotRequired, TypedDict

from hob.core.ids import SessionKey
from hob.core.trust.labels import Label
from hob.core.values import dataclass

OWNER = "owner"
"""Person of the owner's own memory in any session. Session keys contain a colon, so none equals it."""
PRIVATE = "private-"
"""Prefix of thread names that nothing enters memory from."""


class Layer(StrEnum):
    """Kind of an item; also the prefix of its source."""

    SOUL = "soul"
    """Sections of the identity files."""
    CONVERSATION = "conversation"
    TOOL = "tool"
    GROUP = "group"
    """Shared by other agents."""
    ER1 = "er1"
    OBSERVATION = "observation"
    FACT = "fact"
    """What the owner said about themselves and their world, and what Hob was asked to remember."""
    DOCUMENT = "document"
    """Sections of documents, daily notes and `MEMORY.md`."""


class MemoryLayer(NamedTuple):
    """A layer as it is shown, Hob's own or a plug-in's. Its name prefixes the sources of its items.

    Items expire after `days` (0: never).
    """

    name: str
    description: str
    days: float = 0.0
    colour: str = "#8b949e"


_OWN: Final = {each.value: each for each in Layer}


def layer_named(name: str) -> str:
    """Return Hob's layer of this name, or the name itself if a plug-in brings the layer."""
    return _OWN.get(name, name)


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose memory: a person's, or a group's (then its session key). Every query names exactly one.

    `session` narrows it to one conversation.
    """

    person: str
    agent: str = ""
    session: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryItem:
    """A remembered piece, verbatim or derived, with its origin.

    The id is a content hash, so that nothing is stored twice. `seq` is its row, 0 before it has one.
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
    """Items and events it was derived from."""
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
    """A search result; `parts` are the components of its score, `asked` the question it answers.

    `share` is how much of the query it holds, from 0 to 1.
    """

    item: MemoryItem
    score: float
    parts: Mapping[str, float] = field(default_factory=dict)
    asked: MemoryItem | None = None
    share: float = 1.0


class FactState(StrEnum):
    """What a fact is based on."""

    SAID = "said"
    """The owner said so."""
    CORRECTED = "corrected"
    """The owner corrected it; only what they say later changes it."""
    ASKED = "asked"
    """Unconfirmed: it does not count until the owner confirms it."""


class FactAction(StrEnum):
    """The owner's verdict on a fact."""

    CORRECT = "correct"
    """Correct it; without an object it is withdrawn."""
    CONFIRM = "confirm"
    UNDO = "undo"
    """Restore what was known before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A fact in two times: `valid_` is when it holds in the world, `recorded_` when Hob held it to be so (Unix seconds;
    None: unknown or open).
    """

    subject: str
    predicate: str
    object: str
    at: float
    """When its evidence was said."""
    quote: str = ""
    """The words it was taken from."""
    valid_from: float | None = None
    valid_to: float | None = None
    recorded_from: float = 0.0
    recorded_to: float | None = None
    confidence: float = 1.0
    state: FactState = FactState.SAID
    evidence: tuple[str, ...] = ()
    """Items it was taken from."""
    change: str = ""
    """The change that recorded it, for undo."""
    closed: str = ""
    """The change that closed its record."""
    id: str = ""
    """Id of its item."""

    @property
    def key(self) -> tuple[str, str, str]:
        """Key that is equal for facts saying the same."""
        return self.subject.casefold(), self.predicate, " ".join(self.object.casefold().split())


class GoalState(StrEnum):
    """State of a goal."""

    OPEN = "open"
    DONE = "done"
    DROPPED = "dropped"
    STALLED = "stalled"
    """Open without news for a week. Never stored."""


STALLED_SECONDS = 7 * 86_400.0


@dataclass(frozen=True, slots=True)
class GoalNote:
    """A note on a goal's progress, and the item that holds it."""

    text: str
    at: float = 0.0
    id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """Something a person wants to achieve. Times are Unix seconds."""

    text: str
    label: Label
    state: GoalState = GoalState.OPEN
    due: float | None = None
    created: float = 0.0
    changed: float = 0.0
    """When its state or due date changed, or a note was added."""
    session: str = ""
    turn: str = ""
    evidence: tuple[GoalNote, ...] = ()
    id: str = ""
    """Id of its item."""

    def state_at(self, now: float) -> GoalState:
        """Return its state, which is stalled after a week without news."""
        stalled = self.state is GoalState.OPEN and now - self.changed > STALLED_SECONDS
        return GoalState.STALLED if stalled else self.state


@dataclass(frozen=True, slots=True)
class GoalMove:
    """A message about a goal: a new one, or a change to the one with this id."""

    goal: Goal
    said: GoalNote
    """The words, and the item that holds them."""


@dataclass(frozen=True, slots=True)
class FactChange:
    """A change of knowledge: records to close, records to add, and further evidence."""

    closed: tuple[str, ...] = ()
    added: tuple[Fact, ...] = ()
    confirmed: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Items of facts, each with the items that confirm it."""


@dataclass(frozen=True, slots=True)
class Memory:
    """A memory as a source returns it; `id` is for reading it again."""

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
    """A session's note on its current state, and whether it was written in a trusted context."""

    text: str
    label: Label
    at: float = 0.0
    """When it was written (Unix seconds)."""
    turn: str = ""
    """The turn that wrote it."""


def is_private(session: SessionKey) -> bool:
    """Return whether nothing of this session enters memory. The key says so, which a rebuild also sees."""
    return session.replace("/", ":").rpartition(":")[2].startswith(PRIVATE)


class FactAnswer(TypedDict):
    """A fact. Times are Unix seconds.

    valid_from: since when it is so; null: not known
    valid_to: until when it was so; null: it goes on
    recorded_from: since when Hob holds it to be so
    recorded_to: until when Hob did; null: it still does
    state: `said`, `corrected` or `asked` (not sure)
    said_at: when its newest evidence was said
    evidence: the items it was taken from
    change: by which it is undone
    contradicts: ids of the facts of this answer that cannot be so at the same time
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


class GoalNoteAnswer(TypedDict):
    """What shows how far a goal has come."""

    id: str
    text: str
    at: float


class GoalAnswer(TypedDict):
    """A goal. Times are Unix seconds.

    state: `open`, `done`, `dropped`, or `stalled` after a week without news
    due: by when; null: nobody said
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
    """Something that is remembered.

    score: only where something was looked for
    parts: what the score consists of
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
