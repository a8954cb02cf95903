"""Values of memory: layers, items, facts, scopes."""

import hashlib
from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import Any, Final, NamedTuple, NotRequired, TypedDict

from hob.core.ids import SessionKey
from hob.core.trust.labels import Label
from hob.core.values import dataclass

OWNER = "owner"
"""Whose the owner's own memory is, whatever the session; no session's key is without a colon."""
PRIVATE = "private-"
"""How the name of a thread begins from which nothing enters memory."""


class Layer(StrEnum):
    """Which kind of memory an item is. It is also how the item's source begins."""

    SOUL = "soul"
    """Sections of the identity files."""
    CONVERSATION = "conversation"
    TOOL = "tool"
    GROUP = "group"
    """What other agents share."""
    ER1 = "er1"
    OBSERVATION = "observation"
    FACT = "fact"
    """What the owner said of themselves and their world, and what Hob was asked to remember."""
    DOCUMENT = "document"
    """Sections of documents, daily notes and `MEMORY.md`."""


class MemoryLayer(NamedTuple):
    """A kind of memory as it is shown, Hob's own or a plug-in's: its name is the prefix of its items' sources.

    What is kept in it goes after so many days (0: it stays).
    """

    name: str
    description: str
    days: float = 0.0
    colour: str = "#8b949e"


_OWN: Final = {each.value: each for each in Layer}


def layer_named(name: str) -> str:
    """Hob's own layer of this name, or the name, where a plug-in brings the layer."""
    return _OWN.get(name, name)


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose memory: a person's, or a group's (then the key of its session). Every query is of exactly one.

    `session` narrows it to one conversation.
    """

    person: str
    agent: str = ""
    session: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryItem:
    """One remembered piece: what was said, or what was made of it, with where it came from.

    The id is a hash of what the item is, so that the same is never kept twice. `seq` is its row, 0 before it has one.
    """

    scope: Scope
    layer: str
    """One of `Layer`, or what a plug-in calls its own."""
    source: str
    text: str
    label: Label
    at: float
    """When it was said or written (Unix seconds)."""
    session: str = ""
    position: int = 0
    """The place in its session or document."""
    turn: str = ""
    speaker: str = ""
    role: str = ""
    kind: str = ""
    valid_from: float | None = None
    valid_to: float | None = None
    superseded_by: str = ""
    evidence: tuple[str, ...] = ()
    """The items and events it was made of."""
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
    """An item that helps with a query; `parts` tells what its score is made of, `asked` which question it answers.

    `share` is how much of the query it holds, from 0 to 1.
    """

    item: MemoryItem
    score: float
    parts: Mapping[str, float] = field(default_factory=dict)
    asked: MemoryItem | None = None
    share: float = 1.0


class FactState(StrEnum):
    """What a fact rests on."""

    SAID = "said"
    """The owner said so."""
    CORRECTED = "corrected"
    """The owner put it right: only what they say later changes it."""
    ASKED = "asked"
    """Not sure: it counts for nothing until the owner confirms it."""


class FactAction(StrEnum):
    """What the owner does about a fact."""

    CORRECT = "correct"
    """Put it right, or without an object: it is not so."""
    CONFIRM = "confirm"
    UNDO = "undo"
    """What was known before is known again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One fact. `valid_` is when it is so in the world, `recorded_` when Hob held it to be so (Unix seconds; None: not
    known, or it goes on)."""

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
    """The items it was taken from."""
    change: str = ""
    """What recorded it, by which it is undone."""
    closed: str = ""
    """What closed its record."""
    id: str = ""
    """Its item."""

    @property
    def key(self) -> tuple[str, str, str]:
        """By which two facts say the same."""
        return self.subject.casefold(), self.predicate, " ".join(self.object.casefold().split())


class GoalState(StrEnum):
    """What has become of a goal."""

    OPEN = "open"
    DONE = "done"
    DROPPED = "dropped"
    STALLED = "stalled"
    """It is open, and for a week nothing was noted of it. It is never stored."""


STALLED_SECONDS = 7 * 86_400.0


@dataclass(frozen=True, slots=True)
class GoalNote:
    """What shows how far a goal has come, and the item that holds it."""

    text: str
    at: float = 0.0
    id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """What somebody wants to reach. Times are Unix seconds."""

    text: str
    label: Label
    state: GoalState = GoalState.OPEN
    due: float | None = None
    created: float = 0.0
    changed: float = 0.0
    """When its state or day was changed, or something was noted of it."""
    session: str = ""
    turn: str = ""
    evidence: tuple[GoalNote, ...] = ()
    id: str = ""
    """Its item."""

    def state_at(self, now: float) -> GoalState:
        """Its state; stalled where nothing came of it for a week."""
        stalled = self.state is GoalState.OPEN and now - self.changed > STALLED_SECONDS
        return GoalState.STALLED if stalled else self.state


@dataclass(frozen=True, slots=True)
class GoalMove:
    """What a message tells of a goal: a new one, or what has become of the one that has this id."""

    goal: Goal
    said: GoalNote
    """The words, and the item that holds them."""


@dataclass(frozen=True, slots=True)
class FactChange:
    """One change of what is known: what is recorded no longer, what is recorded instead, and further evidence."""

    closed: tuple[str, ...] = ()
    added: tuple[Fact, ...] = ()
    confirmed: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Items of facts, with those that say the same."""


@dataclass(frozen=True, slots=True)
class Memory:
    """One remembered piece as a memory source gives it; `id` is by which it can be read again."""

    text: str
    source: str
    label: Label
    at: float = 0.0
    relevance: float = 1.0
    id: str = ""
    parts: tuple[tuple[str, float], ...] = ()
    """What its relevance is made of."""


@dataclass(frozen=True, slots=True)
class WorkingNote:
    """What a session is at, in its own words, and whether it was written in a context that may be trusted."""

    text: str
    label: Label
    at: float = 0.0
    """When it was put, in Unix seconds."""
    turn: str = ""
    """Which turn wrote it."""


def is_private(session: SessionKey) -> bool:
    """Whether nothing of this session enters memory: its key tells, so that a rebuild knows it too."""
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
