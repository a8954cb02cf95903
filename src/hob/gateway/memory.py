"""The API of the owner's memory: its requests and answers."""

from collections.abc import Mapping
from typing import Any, NamedTuple, TypedDict

from hob.core.memory import FactAnswer, GoalAnswer, MemoryItemAnswer
from hob.core.trust.labels import Origin
from hob.core.values import dataclass
from hob.gateway.http.fields import field

MAX_QUOTES = 20
"""Maximum items of a request for which repeating messages are searched, and maximum messages erased for that."""


class EmbeddingModelAnswer(TypedDict):
    """The embedding model.

    dimension: 0 until the first vector
    fingerprint: a change re-embeds everything; for a local model it includes a hash of its files
    """

    enabled: bool
    provider: str
    model: str
    dimension: int
    normalize: bool
    fingerprint: str


class EmbeddingRuntimeAnswer(TypedDict):
    """State of the embedder.

    ready: whether the last call succeeded
    detail: why it fails
    checkedAt: time of the last call; null if there was none
    """

    ready: bool
    status: str
    detail: str
    checkedAt: float | None


class EmbeddingIndexAnswer(TypedDict):
    """Number of items with and without vectors."""

    embeddedChunks: int
    waitingChunks: int


class EmbeddingStatusAnswer(TypedDict):
    """Status of search by meaning.

    status: `disabled`, `indexing`, `ready` or `error`
    """

    status: str
    embedding: EmbeddingModelAnswer
    runtime: EmbeddingRuntimeAnswer
    index: EmbeddingIndexAnswer


class ReindexedAnswer(TypedDict):
    """Number of dropped vectors."""

    status: str
    wipedChunks: int
    reason: str


class InstalledAnswer(TypedDict):
    """The embedding model after a test call.

    status: `ready`, or `error`
    action: `asked`: a local model fetches missing files on the first call
    detail: why it fails
    """

    status: str
    action: str
    model: str
    detail: str


class MemoryItemsAnswer(TypedDict):
    """Items of memory.

    problem: why search by meaning failed; empty if it worked
    unassisted: why a configured model did not help; empty if it did
    """

    items: list[MemoryItemAnswer]
    problem: str
    unassisted: str


class LayerAnswer(TypedDict):
    """A layer of memory.

    ttl_days: 0 if its items never expire
    """

    name: str
    source_prefix: str
    description: str
    ttl_days: float
    chunk_count: int
    color: str


class MemoryTotals(TypedDict):
    """Totals over all layers.

    max_chunks: maximum number of expiring items
    permanent_chunks: items that never expire; `hob memory stats` warns if they exceed `max_chunks`
    """

    total_chunks: int
    max_chunks: int
    permanent_chunks: int
    oldest: float | None
    newest: float | None


class DerivedAnswer(TypedDict):
    """Derived memories.

    facts: that hold now
    observations: that are current
    goals: that are open
    """

    facts: int
    observations: int
    goals: int


class WaitingAnswer(TypedDict):
    """Items waiting for background work.

    vectors: items not yet found by meaning
    facts: your messages that no facts were extracted from yet
    observations: messages not yet observed
    """

    vectors: int
    facts: int
    observations: int


class ObservedAnswer(TypedDict):
    """What memory derives from conversations."""

    working_memory: dict[str, Any]
    observer: dict[str, Any]
    observations: list[dict[str, Any]]


class OverflowFigures(TypedDict):
    """How often memories did not fit the prompt since Hob started.

    events: in total
    per_1000: per thousand turns
    lanes: by part: `working`, `observation` and `rag` (recalled memories)
    """

    events: int
    per_1000: float
    lanes: dict[str, int]


class MemoryStatusAnswer(ObservedAnswer):
    """Status of memory.

    queue: items waiting for background work
    derived: derived memories
    watched: files and folders that are indexed again when they change
    later: those of them that are only checked after turns, at most every five minutes, and why
    decisions: how often each decision about a proposed fact was made, ever
    led: `grey`: empty; `purple`; `amber`: more than 70 % full; `red`: more than 90 %
    """

    layers: list[LayerAnswer]
    totals: MemoryTotals
    queue: WaitingAnswer
    derived: DerivedAnswer
    watched: list[str]
    later: dict[str, str]
    er1: dict[str, Any]
    overflow: OverflowFigures
    decisions: Mapping[str, int]
    led: str
    embedding: Mapping[str, Any]
    background: Mapping[str, Any]
    expertise: list[dict[str, Any]]
    config: dict[str, Any]


class FactFigures(TypedDict):
    """Number of current facts.

    unsure: facts that do not count until you confirm them
    ended: facts that no longer hold
    unanswered: ended facts that were never confirmed
    """

    all: int
    unsure: int
    ended: int
    unanswered: int


class MemoryCounts(NamedTuple):
    """Figures of memory: items in total, by layer and with a vector; decisions as in `MemoryStatusAnswer`; facts."""

    totals: MemoryTotals
    layers: Mapping[str, int]
    embedded: int
    overflow: OverflowFigures
    decisions: Mapping[str, int]
    facts: FactFigures
    led: str


class FactsAnswer(TypedDict):
    """Known facts."""

    facts: list[FactAnswer]


class SettledFactAnswer(TypedDict):
    """A changed fact.

    before: the fact before the change
    after: what is recorded instead; empty if it was withdrawn
    """

    before: FactAnswer
    after: list[FactAnswer]


class GoalsAnswer(TypedDict):
    """The owner's goals."""

    goals: list[GoalAnswer]


class ForgottenItemAnswer(TypedDict):
    """A memory that was shown in a prompt and has been forgotten."""

    id: str
    score: float
    parts: dict[str, float]
    forgotten: bool


class RecalledAnswer(TypedDict):
    """The memories a turn was shown."""

    turn: str
    items: list[MemoryItemAnswer | ForgottenItemAnswer]


class ForgottenAnswer(TypedDict):
    """What was forgotten, or would be.

    items: the newest of them, at most 10,000
    count: number of all of them
    turns: conversation turns of `items` that are erased too
    backups: files that keep a copy until they are replaced
    erased: number of erased texts; 0 for a preview
    quoted: other messages that repeat it, after forgetting those that still do; null if there are too many items to
    search for
    """

    items: list[MemoryItemAnswer]
    count: int
    turns: list[str]
    backups: list[str]
    erased: int
    quoted: int | None


class TrustedAnswer(TypedDict):
    """Number of items whose trust changed."""

    changed: int


class DeletedAnswer(TypedDict):
    """Number of deleted items."""

    status: str
    deleted: int


class FilesAnswer(TypedDict):
    """Progress of reading documents.

    files: files read
    new: sections that were not known before
    seen: files looked at so far
    of: files in total
    problems: files that could not be read; given at the end
    unread: number of files of unsupported kinds; given at the end
    kinds: their endings, most frequent first; empty for a name without an ending
    """

    files: int
    new: int
    seen: int
    of: int
    problems: list[str]
    unread: int
    kinds: list[str]


class ImportedAnswer(TypedDict):
    """Progress of an import.

    items: items processed so far
    new: items that were not known before
    of: items in total
    """

    items: int
    new: int
    of: int


@dataclass(frozen=True, slots=True)
class MemoryQuery:
    """Filter for items, by words or by what they are."""

    query: str = field("search words; without them the newest items", "")
    layer: str = field("a layer, e.g. `conversation`", "")
    source: str = field("a source, e.g. `tool:web_fetch`", "")
    origin: str = field("the origin", "", one_of=("", *Origin))
    since: float = field("nothing older (Unix seconds)", 0.0, at_least=0)
    limit: int = field("maximum number of items", 20, at_least=1, at_most=1000)
    as_of: float = field(
        "search memory as it was then (Unix seconds): without later items, with those replaced since", 0.0, at_least=0
    )
    waiting: str = field("items that wait for `vectors`, `facts` or `observations`, oldest first", "")
    before: str = field("without search words: items older than this one, by its whole id", "")


@dataclass(frozen=True, slots=True)
class ForgetRequest:
    """Selects memories to forget."""

    id: str = field("the beginning of an item's id", "")
    layer: str = field("a layer", "")
    source: str = field("a source, e.g. `tool:web_fetch`", "")
    origin: str = field("the origin", "", one_of=("", *Origin))
    since: float = field("nothing older (Unix seconds)", 0.0, at_least=0)
    said: bool = field("also erase the conversation where it was said", False)
    preview: bool = field("only show what would be forgotten", False)


@dataclass(frozen=True, slots=True)
class FactsQuery:
    """Filter for facts."""

    known_at: float = field("facts as Hob knew them then (Unix seconds); default: now", 0.0, at_least=0)
    valid_at: float = field("facts that held then (Unix seconds); default: now", 0.0, at_least=0)
    past: bool = field("include facts that have ended", False)
    ever: bool = field("include facts that were corrected or withdrawn, unless `known_at` is given", False)


@dataclass(frozen=True, slots=True)
class SetGoalRequest:
    """A new goal, or a change to the one whose id is given."""

    text: str = field("the goal", "")
    id: str = field("the beginning of the id of the goal to change", "")
    state: str = field("`open`, `done` or `dropped`; default: unchanged", "")
    due: float | None = field("due time (Unix seconds); default: unchanged", None)
    note: str = field("a note on its progress", "")
