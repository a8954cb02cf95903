"""Answer types of the owner's operations; times are Unix seconds."""

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict


class SpentAnswer(TypedDict):
    """Spending on one item.

    key: the item
    cost_usd: known cost
    held_usd: reserved for running calls
    unknown_calls: calls without a known price, not included in the cost
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
    """A spending limit."""

    key: str
    limit_usd: float
    spent_usd: float
    held_usd: float
    left_usd: float


class TokenLimitAnswer(TypedDict):
    """A daily limit of tokens."""

    key: str
    limit: int
    used: int
    left: int


class SpendingAnswer(TypedDict):
    """Spending by item, and the limits in dollars and tokens."""

    days: int
    by: str
    since: float
    total: SpentAnswer
    rows: list[SpentAnswer]
    limits: list[LimitAnswer]
    token_limits: list[TokenLimitAnswer]


class SessionAnswer(TypedDict):
    """A session.

    permission: its permission mode (`/permission`); null: as configured
    entries: number of messages, answers and tool results
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
    """An entry of a conversation.

    role: `user`, `assistant` or `tool`
    """

    role: str
    at: float
    text: str


class SessionDetailsAnswer(SessionAnswer):
    """A session with its spending and latest entries.

    cost_usd: known cost
    calls: model calls
    waiting: queued messages
    """

    cost_usd: float
    calls: int
    waiting: int
    last: list[SaidAnswer]


class SessionDeletedAnswer(TypedDict):
    """A deleted session.

    erased: number of erased items
    """

    session: str
    erased: int


class ForkedAnswer(SessionAnswer):
    """A fork of a session.

    copied: copied entries
    of: the session it was forked from
    """

    copied: int
    of: str


class SessionsAnswer(TypedDict):
    """Sessions, the latest first."""

    sessions: list[SessionAnswer]


class SettingAnswer(TypedDict):
    """A setting.

    value: null if not set, and for secrets
    origin: a description of the value's origin
    changeable: whether `PATCH /api/v1/settings` can change it at run time
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
    """All settings."""

    settings: Sequence[SettingAnswer]


class SettingsFileAnswer(TypedDict):
    """The settings file.

    text: with `•••` for each secret; null if there is no file
    """

    path: str
    text: str | None


class ReloadedAnswer(TypedDict):
    """The result of reloading settings and secrets.

    at: time of the last reload; null if they were only read at the start
    waiting: changed settings that take effect with the next start
    problem: why the new settings are invalid; the old ones stay in effect
    """

    at: float | None
    waiting: list[str]
    problem: str | None


class BackupAnswer(TypedDict):
    """A written backup."""

    file: str
    bytes: int


class CopiesAnswer(TypedDict):
    """Other copies of the database.

    erased: copies in which the person is erased too
    deleted: copies that are deleted because nothing can be erased in them
    """

    erased: list[str]
    deleted: list[str]


class LeftAnswer(TypedDict):
    """Remaining traces of a person.

    events: timeline events with ids, sender, times and costs, but no text
    mentions: messages from others that name the person, by session
    sessions: sessions with the person in their key
    backups: files that still hold everything; restoring one erases the person again
    """

    events: int
    mentions: dict[str, int]
    sessions: list[str]
    backups: list[str]


class ErasedAnswer(TypedDict):
    """The data of a person, and what remains after erasure.

    person: null if no one has such an id
    memories: memories that name the person
    notes: working notes that name the person
    erased: number of erased items; not in a preview
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
    """A file that was left unchanged."""

    path: str
    reason: str


class UndoneAnswer(TypedDict):
    """Files restored by an undo, or its preview.

    words: the beginning of the turn's message
    running: processes of the turn that are still running
    back: the `id` that undoes this undo
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
    """A retried message.

    turn: null if no turn is needed
    message: the id for `GET /chat/{id}`; null for a reply that is sent again
    """

    id: str
    turn: str | None
    message: str | None
    state: str


class AllRetriedAnswer(TypedDict):
    """Retried messages, oldest first."""

    retried: list[RetriedAnswer]


class RebuiltAnswer(TypedDict):
    """A model call of a turn, and whether its request can be rebuilt.

    step: the number of its step in the journal
    sent: the SHA-256 of the sent body; empty if it was not recorded
    identical: whether the same bytes would be sent again; null if unknown
    why: why they differ, or why that is unknown
    """

    step: int
    model: str
    sent: str
    identical: bool | None
    why: str


class ReplayedCall(TypedDict):
    """A tool call of a model.

    arguments: JSON, as written by the model
    recorded: whether the turn's recorded result answered it; otherwise it was not executed
    """

    name: str
    arguments: str
    recorded: bool


class ReplayBill(TypedDict):
    """Tokens, cost and time of one side."""

    cost_usd: float | None
    input_tokens: int
    output_tokens: int


class ReplaySide(ReplayBill):
    """The outcome of a turn with one model.

    rounds: model calls
    seconds: model time, without tools
    trouble: why it did not finish, if it did not
    """

    model: str
    text: str
    calls: list[ReplayedCall]
    rounds: int
    seconds: float
    trouble: str


class ReplayAnswer(TypedDict):
    """A turn, and its replay with another model.

    now: null if no model was named
    difference: unified diff of the answers, by line
    """

    turn: str
    trace: str
    rebuilt: list[RebuiltAnswer]
    then: ReplaySide
    now: ReplaySide | None
    difference: list[str]


class ViewAnswer(TypedDict):
    """A plug-in's page.

    asks: the paths it may request
    """

    name: str
    title: str
    asks: list[str]


class JobAnswer(TypedDict):
    """A background job."""

    name: str
    state: str
    restarts: int
    problem: str | None


class PublicStatusAnswer(TypedDict):
    """The public status.

    mode: `headless`: listens on all addresses; `remote`: reachable from other machines; `full`: connected to chats;
        else `standalone`
    ready: whether messages are accepted
    """

    version: str
    mode: str
    ready: bool


class StatusAnswer(PublicStatusAnswer, total=False):
    """Hob's status. Without a token: only version, mode and readiness. Features add fields of their own.

    since: start time
    address: address of the API besides `hob.sock`; null if there is none
    model: the model in use, and where it was chosen
    halted: since when Hob's own activity is paused
    for_approval: turns that wait for approval
    for_leave: the former name of `for_approval`, kept until 1.0
    for_answer: turns that wait for an answer
    pending: replies to deliver
    owed: the former name of `pending`, kept until 1.0
    stuck: replies that could not be delivered
    unread: replies that were not fetched yet
    oldest_owed_seconds: the former name of `oldest_pending_seconds`, kept until 1.0
    writer_queue: queued database writes
    settings: when they were read, which take effect at the next start, and their problem, if any
    resting: models that are paused, and why
    unaccepted: new or changed identity files
    store: `ok`, or the problem
    jobs: background jobs
    connected: open WebSockets
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
