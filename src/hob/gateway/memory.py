"""Memory, for its owner: the port behind the routes."""

from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any, NamedTuple, Protocol, TypedDict

from hob.core.memory import FactAction, FactAnswer, GoalAnswer, MemoryItemAnswer
from hob.core.trust.labels import Origin
from hob.core.values import dataclass
from hob.gateway.http.fields import field

MAX_QUOTES = 20
"""Of so many items at most it is looked for who repeats them, and so many messages at most are erased for that."""


class EmbeddingModelAnswer(TypedDict):
    """The model that makes vectors.

    dimension: 0 until the first vector
    fingerprint: another one: all is embedded anew; of a local model with a hash of its files
    """

    enabled: bool
    provider: str
    model: str
    dimension: int
    normalize: bool
    fingerprint: str


class EmbeddingRuntimeAnswer(TypedDict):
    """How the embedder is.

    ready: it was asked, and answered last
    detail: why it fails
    checkedAt: when it was asked last; null for never
    """

    ready: bool
    status: str
    detail: str
    checkedAt: float | None


class EmbeddingIndexAnswer(TypedDict):
    """How many items have vectors."""

    embeddedChunks: int
    waitingChunks: int


class EmbeddingStatusAnswer(TypedDict):
    """How meaning is looked at.

    status: `disabled`, `indexing`, `ready` or `error`
    """

    status: str
    embedding: EmbeddingModelAnswer
    runtime: EmbeddingRuntimeAnswer
    index: EmbeddingIndexAnswer


class ReindexedAnswer(TypedDict):
    """What was dropped."""

    status: str
    wipedChunks: int
    reason: str


class InstalledAnswer(TypedDict):
    """The model that makes vectors, after it was asked for one.

    status: `ready`, or `error`
    action: `asked`: what a local model lacks is fetched when it is asked first
    detail: why it fails
    """

    status: str
    action: str
    model: str
    detail: str


class MemoryItemsAnswer(TypedDict):
    """Items of memory.

    problem: why meaning was not looked at; empty where it was
    unassisted: why a model that should did not help; empty where it did
    """

    items: list[MemoryItemAnswer]
    problem: str
    unassisted: str


class LayerAnswer(TypedDict):
    """A layer of memory.

    ttl_days: 0: its items stay
    """

    name: str
    source_prefix: str
    description: str
    ttl_days: float
    chunk_count: int
    color: str


class MemoryTotals(TypedDict):
    """All layers together.

    max_chunks: most items of the layers that expire
    permanent_chunks: those that never expire; `hob memory stats` warns of more than `max_chunks`
    """

    total_chunks: int
    max_chunks: int
    permanent_chunks: int
    oldest: float | None
    newest: float | None


class DerivedAnswer(TypedDict):
    """What was made of what was said.

    facts: that are so now
    observations: that count
    goals: that are open
    """

    facts: int
    observations: int
    goals: int


class WaitingAnswer(TypedDict):
    """What was kept and is not worked on yet.

    vectors: memories that are not found by meaning yet
    facts: messages of yours that no facts were taken from yet
    observations: messages that were not looked at for what lasts
    """

    vectors: int
    facts: int
    observations: int


class ObservedAnswer(TypedDict):
    """What memory takes from conversations by itself."""

    working_memory: dict[str, Any]
    observer: dict[str, Any]
    observations: list[dict[str, Any]]


class OverflowFigures(TypedDict):
    """How often a part of memory had more to show than its room in the prompt, since Hob started.

    events: of all parts
    per_1000: of so many turns
    lanes: by part: `working`, `observation` and `rag` (what is recalled)
    """

    events: int
    per_1000: float
    lanes: dict[str, int]


class MemoryStatusAnswer(ObservedAnswer):
    """How much is remembered.

    queue: what waits
    derived: what was made of it
    watched: files and folders that are taken up again when they change
    later: those of them that are looked at after turns only, every five minutes at most, and why
    decisions: how often what a model proposed as a fact ended so, ever
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
    """How many facts are recorded now.

    unsure: those that count for nothing until you confirm them
    ended: those that are so no longer
    unanswered: those of them that were never confirmed
    """

    all: int
    unsure: int
    ended: int
    unanswered: int


class MemoryCounts(NamedTuple):
    """What is counted: items in all, by layer and with a vector; decisions by what they were, as `MemoryStatusAnswer`
    has them; facts."""

    totals: MemoryTotals
    layers: Mapping[str, int]
    embedded: int
    overflow: OverflowFigures
    decisions: Mapping[str, int]
    facts: FactFigures
    led: str


class FactsAnswer(TypedDict):
    """What is known as facts."""

    facts: list[FactAnswer]


class SettledFactAnswer(TypedDict):
    """A fact that was changed.

    before: as it was
    after: what is recorded instead; empty where it counts no more
    """

    before: FactAnswer
    after: list[FactAnswer]


class GoalsAnswer(TypedDict):
    """What the owner wants to reach."""

    goals: list[GoalAnswer]


class ForgottenItemAnswer(TypedDict):
    """A memory that a prompt showed, and that is no longer there."""

    id: str
    score: float
    parts: dict[str, float]
    forgotten: bool


class RecalledAnswer(TypedDict):
    """What a turn was shown."""

    turn: str
    items: list[MemoryItemAnswer | ForgottenItemAnswer]


class ForgottenAnswer(TypedDict):
    """What is forgotten, or would be.

    turns: in which it was said, where the conversation goes too
    backups: files that keep a copy until they are replaced
    erased: pieces that are gone; 0 for a preview
    quoted: other messages that repeat it, after forgetting those that still do; null where it is too much to look for
    """

    items: list[MemoryItemAnswer]
    turns: list[str]
    backups: list[str]
    erased: int
    quoted: int | None


class TrustedAnswer(TypedDict):
    """How many items count as their owner's words now, or no longer do."""

    changed: int


class DeletedAnswer(TypedDict):
    """How many items went."""

    status: str
    deleted: int


class FilesAnswer(TypedDict):
    """How far reading documents is.

    files: that could be read
    new: sections that were not remembered before
    seen: files that were looked at so far
    of: files that there are
    problems: what could not be read; told when all files were looked at
    unread: files of kinds that are not read; told when all files were looked at
    kinds: how those end, the most frequent first; empty for a name without an ending
    """

    files: int
    new: int
    seen: int
    of: int
    problems: list[str]
    unread: int
    kinds: list[str]


class ImportedAnswer(TypedDict):
    """How far keeping items is.

    items: that were looked at so far
    new: that were not there before
    of: items that there are
    """

    items: int
    new: int
    of: int


@dataclass(frozen=True, slots=True)
class MemoryQuery:
    """Which items are wanted: by words, or by what they are."""

    query: str = field("words that help to find it; without them the newest", "")
    layer: str = field("one layer, e.g. `conversation`", "")
    source: str = field("a source, e.g. `tool:web_fetch`", "")
    origin: str = field("where it came from", "", one_of=("", *Origin))
    since: float = field("not before this time (Unix seconds)", 0.0, at_least=0)
    limit: int = field("at most so many", 20, at_least=1, at_most=1000)
    as_of: float = field(
        "as memory was then (Unix seconds): nothing later, and what was replaced since", 0.0, at_least=0
    )
    waiting: str = field("what still waits for `vectors`, `facts` or `observations`, the oldest first", "")


@dataclass(frozen=True, slots=True)
class ForgetRequest:
    """What is to be forgotten."""

    id: str = field("the beginning of an item's id", "")
    layer: str = field("one layer", "")
    source: str = field("a source, e.g. `tool:web_fetch`", "")
    origin: str = field("where it came from", "", one_of=("", *Origin))
    since: float = field("not what is older (Unix seconds)", 0.0, at_least=0)
    said: bool = field("the conversation too in which it was said", False)
    preview: bool = field("only show what that is", False)


@dataclass(frozen=True, slots=True)
class FactsQuery:
    """Which facts are wanted."""

    known_at: float = field("as Hob knew them then (Unix seconds); without it now", 0.0, at_least=0)
    valid_at: float = field("what was so then (Unix seconds); without it what is so now", 0.0, at_least=0)
    past: bool = field("also what was so once", False)
    ever: bool = field("also what Hob holds to be so no longer, where `known_at` is not given", False)


@dataclass(frozen=True, slots=True)
class SetGoalRequest:
    """A new goal, or with its id what is changed of one."""

    text: str = field("what is to be reached", "")
    id: str = field("the beginning of the id of the goal that is changed", "")
    state: str = field("`open`, `done` or `dropped`; without it as it was", "")
    due: float | None = field("by when (Unix seconds); without it as it was", None)
    note: str = field("what shows how far it has come", "")


class EmbeddingControl(Protocol):
    """Looks at the vectors of memories and has them made anew."""

    async def status(self) -> EmbeddingStatusAnswer:
        """How meaning is looked at, with KafClaw's fields."""

    async def check(self) -> EmbeddingStatusAnswer:
        """The same, after the embedder was asked for once where it never was."""

    async def install(self, model: str) -> InstalledAnswer:
        """Ask the chosen embedder for a vector, which fetches what it lacks. Raises InvalidRequest for another one."""

    async def reindex(self, reason: str) -> ReindexedAnswer:
        """Drop all vectors; they are made anew in the background. Raises InvalidRequest without an embedder."""


class MemoryControl(Protocol):
    """Looks at memory and changes it."""

    async def status(self) -> MemoryStatusAnswer:
        """The layers and totals, with KafClaw's fields and colours."""

    def overflow(self) -> OverflowFigures:
        """How often prompts had no room for all that memory had."""

    async def counts(self) -> MemoryCounts:
        """How much there is of what."""

    async def items(self, criteria: MemoryQuery) -> MemoryItemsAnswer:
        """The items for which the filter holds: with a query the best first, else the newest."""

    async def recalled(self, turn: str = "", session: str = "") -> RecalledAnswer:
        """What this turn was shown by itself, or the newest turn (of a session) that was shown any. Raises NotFound."""

    async def item(self, id: str) -> MemoryItemAnswer:
        """One item, whole. Raises NotFound."""

    async def add(self, text: str, session: str = "") -> MemoryItemAnswer:
        """Remember what the owner says, in this conversation. Raises InvalidRequest."""

    def add_files(self, path: str) -> AsyncIterator[FilesAnswer]:
        """Remember a file, or a folder of them, by their sections, now and when they change; how far it is after each,
        and at last the whole. Raises NotFound, InvalidRequest."""

    async def facts(self, criteria: FactsQuery) -> FactsAnswer:
        """The facts for which the filter holds, with what they were taken from."""

    async def settle(self, id: str, action: FactAction, right: str = "") -> SettledFactAnswer:
        """Change a fact, by the beginning of its id; `right` is what is so instead. Raises NotFound."""

    async def goals(self, *, closed: bool) -> GoalsAnswer:
        """What the owner wants to reach, with what came of it; `closed`: what is done or dropped too."""

    async def set_goal(self, change: SetGoalRequest) -> GoalAnswer:
        """Keep a goal, or change one. Raises InvalidRequest, NotFound."""

    async def forget(self, request: ForgetRequest) -> ForgottenAnswer:
        """Forget for ever what the filter finds, or tell what that is. Raises InvalidRequest, NotFound."""

    async def trust(self, source: str, *, undo: bool = False) -> TrustedAnswer:
        """Count what is there now of a source as its owner's own words, or no longer. Raises InvalidRequest."""

    async def prune(self) -> DeletedAnswer:
        """Let go of what has expired and of what is too much."""

    async def reset(self, layer: str) -> DeletedAnswer:
        """Empty a layer, the working notes (`working_memory`), or `all`. Raises InvalidRequest."""

    def export(self) -> AsyncIterator[str]:
        """Every item as a line of JSON, the oldest first."""

    def import_items(self, lines: Iterable[str]) -> AsyncIterator[ImportedAnswer]:
        """Keep items that were carried out, each once; how far it is now and then, and at last the whole.

        Raises InvalidRequest for what is none.
        """
