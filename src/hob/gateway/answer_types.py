"""Answers of the owner's operations, field by field; times are Unix seconds."""

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict


class SpentAnswer(TypedDict):
    """What was spent on something.

    key: on what
    cost_usd: as far as it is known
    held_usd: held for calls that run
    unknown_calls: calls without a price, which are not in the cost
    """

    key: NotRequired[str]
    cost_usd: float
    held_usd: float
    calls: int
    unknown_calls: int
    input_tokens: int
    cached_tokens: int
    output_tokens: int


class LimitAnswer(TypedDict):
    """A limit of spending."""

    key: str
    limit_usd: float
    spent_usd: float
    held_usd: float
    left_usd: float


class SpendingAnswer(TypedDict):
    """What was spent, on what, and what is left."""

    days: int
    by: str
    since: float
    total: SpentAnswer
    rows: list[SpentAnswer]
    limits: list[LimitAnswer]


class SessionAnswer(TypedDict):
    """A session.

    permission: what may be done in it (`/permission`); null: as configured
    entries: messages, answers and results of tools, counted together
    """

    session: str
    title: str
    model: str | None
    permission: str | None
    paused: bool
    archived: bool
    entries: int
    updated: float


class SaidAnswer(TypedDict):
    """Something that was said.

    role: `user`, `assistant` or `tool`
    """

    role: str
    at: float
    text: str


class SessionDetailsAnswer(SessionAnswer):
    """A session with its spending and the last that was said.

    cost_usd: as far as it is known
    calls: of models
    waiting: messages that wait in it
    """

    cost_usd: float
    calls: int
    waiting: int
    last: list[SaidAnswer]


class SessionDeletedAnswer(TypedDict):
    """What a deleted session held.

    erased: pieces
    """

    session: str
    erased: int


class ForkedAnswer(SessionAnswer):
    """A session that goes on from another one.

    copied: entries that were taken over
    of: the session it comes from
    """

    copied: int
    of: str


class SessionsAnswer(TypedDict):
    """Sessions, the latest first."""

    sessions: list[SessionAnswer]


class SettingAnswer(TypedDict):
    """A setting.

    value: null where there is none, and for secrets
    origin: where the value comes from, in words
    changeable: at run time, by `PATCH /api/v1/settings`
    """

    key: str
    value: Any
    secret: bool
    origin: str
    layer: str
    doc: str
    changeable: bool
    one_of: list[str]
    at_least: float | None
    at_most: float | None
    kind: str


class SettingsAnswer(TypedDict):
    """Every setting."""

    settings: Sequence[SettingAnswer]


class ReloadedAnswer(TypedDict):
    """What came of reading settings and secrets again.

    at: when they were last read; null: at the start alone
    waiting: settings that hold from the next start on
    problem: what is wrong with them; they stay as they were
    """

    at: float | None
    waiting: list[str]
    problem: str | None


class BackupAnswer(TypedDict):
    """A backup that was written."""

    file: str
    bytes: int


class CopiesAnswer(TypedDict):
    """Other copies of the database.

    erased: those in which the person is erased too
    deleted: those that go, because nothing can be erased in them
    """

    erased: list[str]
    deleted: list[str]


class LeftAnswer(TypedDict):
    """What is left of a person.

    events: of the timeline: ids, sender, times and costs, without a text
    mentions: messages of others that name them, by session
    sessions: those whose own keys name them
    backups: files that still hold everything; a restore erases it again
    """

    events: int
    mentions: dict[str, int]
    sessions: list[str]
    backups: list[str]


class ErasedAnswer(TypedDict):
    """What there is of a person, and what is left.

    person: null: nobody with an id
    memories: what is remembered that names them
    notes: working notes that name them
    erased: pieces; not in a preview
    """

    person: str | None
    name: str
    addresses: list[str]
    messages: int
    turns: int
    conversations: int
    memories: list[str]
    notes: list[str]
    copies: CopiesAnswer
    left: LeftAnswer
    erased: NotRequired[int]


class KeptFile(TypedDict):
    """A file that was left as it is."""

    path: str
    reason: str


class UndoneAnswer(TypedDict):
    """What was put back, or would be.

    words: the first words of the message that the turn was for
    running: what the turn has started and still runs
    back: the `id` that takes this back
    diff: only with `preview`
    """

    turn: str
    words: str
    restored: list[str]
    unchanged: list[str]
    kept: list[KeptFile]
    running: list[str]
    back: str
    diff: NotRequired[str]


class RetriedAnswer(TypedDict):
    """A message that was brought back.

    turn: null for what no turn had to say
    message: what `GET /chat/{id}` takes; null for a reply that is sent again
    """

    id: str
    turn: str | None
    message: str | None
    state: str


class AllRetriedAnswer(TypedDict):
    """What was brought back, the oldest first."""

    retried: list[RetriedAnswer]


class RebuiltAnswer(TypedDict):
    """A model call of a turn, and whether its request can be built again.

    step: the number of its step in the journal
    sent: the SHA-256 of the body that was sent; empty where that was not noted
    identical: the same bytes would be sent again; null: that cannot be told
    why: why not, or why it cannot be told
    """

    step: int
    model: str
    sent: str
    identical: bool | None
    why: str


class ReplayedCall(TypedDict):
    """A tool that a model called.

    arguments: JSON, as the model wrote it
    recorded: it was answered with what the turn's tool gave; else with that it was not made
    """

    name: str
    arguments: str
    recorded: bool


class ReplayBill(TypedDict):
    """What one side took."""

    cost_usd: float | None
    input_tokens: int
    output_tokens: int


class ReplaySide(ReplayBill):
    """What came of a turn with one model.

    rounds: how often the model was asked
    seconds: the model's time, without that of the tools
    trouble: why it has no end, if it has none
    """

    model: str
    text: str
    calls: list[ReplayedCall]
    rounds: int
    seconds: float
    trouble: str


class ReplayAnswer(TypedDict):
    """A turn, and the same with another model.

    now: null where no model was named
    difference: of the texts: the lines of a unified diff
    """

    turn: str
    trace: str
    rebuilt: list[RebuiltAnswer]
    then: ReplaySide
    now: ReplaySide | None
    difference: list[str]


class ViewAnswer(TypedDict):
    """A page of a plug-in.

    asks: the paths that it may get
    """

    name: str
    title: str
    asks: list[str]


class JobAnswer(TypedDict):
    """Work that goes on as long as Hob runs."""

    name: str
    state: str
    restarts: int
    problem: str | None


class PublicStatusAnswer(TypedDict):
    """How Hob is, for everybody.

    mode: `headless`: it listens on all addresses; `remote`: other machines reach it; `full`: it is in chats too; else
        `standalone`
    ready: messages are accepted
    """

    version: str
    mode: str
    ready: bool


class StatusAnswer(PublicStatusAnswer, total=False):
    """How Hob is. Without a token only version, mode and readiness are told; features add more by their names.

    since: when it was started
    address: where the API can be reached, `hob.sock` apart; null where it listens nowhere else
    model: the model in use, and where it was chosen
    halted: since when everything self-made is held
    for_approval: turns that wait for approval
    for_leave: the former name of `for_approval`, kept until 1.0
    for_answer: turns that wait for an answer
    pending: replies that are to be sent
    owed: the former name of `pending`, kept until 1.0
    stuck: those that could not be delivered
    unread: replies that nobody has fetched yet
    oldest_owed_seconds: the former name of `oldest_pending_seconds`, kept until 1.0
    writer_queue: what waits to be written
    settings: when they were read, what waits for a start, what is wrong with them
    resting: models that are not asked for a while, and why
    unaccepted: identity files that are new or changed
    store: `ok`, or what is wrong with it
    jobs: work that goes on as long as Hob runs
    connected: WebSockets that are open
    """

    pid: int
    since: float
    agent_id: str
    uptime_seconds: int
    group_enabled: bool
    orchestrator_enabled: bool
    address: str | None
    model: str
    halted: float | None
    running: int
    waiting: int
    parked: int
    for_approval: int
    for_leave: int
    for_answer: int
    pending: int
    owed: int
    undeliverable: int
    stuck: list[dict[str, Any]]
    unread: int
    oldest_pending_seconds: float
    oldest_owed_seconds: float
    oldest_waiting_seconds: float
    writer_queue: int
    settings: Mapping[str, Any]
    resting: list[Mapping[str, Any]]
    unaccepted: list[str]
    store: str
    store_health: Mapping[str, Any]
    jobs: list[JobAnswer]
    connected: list[dict[str, Any]]
