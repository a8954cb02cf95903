"""What the routes below `/api/v1` answer beyond what the API has under other names."""

from collections.abc import Mapping
from typing import Annotated, Any, NotRequired, TypedDict

from answers import ANSWERS as OF_API
from answers import ApprovalAnswer, EventAnswer, TaskAnswer


class Problem(TypedDict):
    """What went wrong, as RFC 9457 has it."""

    type: str
    title: str
    status: int
    detail: Annotated[str, "for people"]
    code: Annotated[str, "for programs"]
    param: NotRequired[Annotated[str, "the field that is wrong, where it is one"]]


class AliveAnswer(TypedDict):
    """Whether messages can be accepted."""

    ok: bool


class JobAnswer(TypedDict):
    """Work that goes on as long as Hob runs."""

    name: str
    state: str
    restarts: int
    problem: str | None


class StatusAnswer(TypedDict):
    """How Hob is. Without a token only the first three."""

    version: str
    mode: Annotated[str, "`remote`: other machines reach Hob; `full`: it is in chats too; else `standalone`"]
    ready: Annotated[bool, "messages are accepted"]
    agent_id: NotRequired[str]
    uptime_seconds: NotRequired[int]
    group_enabled: NotRequired[bool]
    orchestrator_enabled: NotRequired[bool]
    model: NotRequired[Annotated[str, "the model in use, and where it was chosen"]]
    running: NotRequired[int]
    waiting: NotRequired[int]
    parked: NotRequired[int]
    halted: NotRequired[Annotated[float | None, "since when everything self-made is held (Unix seconds)"]]
    for_approval: NotRequired[int]
    for_leave: NotRequired[Annotated[int, "`for_approval`, its name until 1.0"]]
    for_answer: NotRequired[int]
    pending: NotRequired[Annotated[int, "replies that are to be sent"]]
    owed: NotRequired[Annotated[int, "`pending`, its name until 1.0"]]
    undeliverable: NotRequired[int]
    store: NotRequired[str]
    jobs: NotRequired[list[JobAnswer]]
    unaccepted: NotRequired[list[str]]


class VerifiedAnswer(TypedDict):
    """Whether the caller is known."""

    valid: bool
    auth_required: bool
    who: NotRequired[str]
    scopes: NotRequired[list[str]]


class LoginAnswer(TypedDict):
    """A login. The cookie that comes with it is its other half."""

    who: str
    scopes: list[str]
    csrf: Annotated[str, "what `X-CSRF-Token` takes, and the `token` of `hello` at `/ws`"]


class LogoutAnswer(TypedDict):
    """The login holds no more."""

    valid: bool


class PhoneChoice(TypedDict):
    """Where the dashboard could be open to phones."""

    at: Annotated[str, "what `dashboard.phone` would be"]
    name: Annotated[str, "by which name phones would call it"]
    problem: Annotated[str, "why it cannot be opened there now; empty where it can"]


class PhoneAnswer(TypedDict):
    """Where phones reach the dashboard."""

    wanted: Annotated[str, "the setting `dashboard.phone`"]
    address: Annotated[str, "where it is open; empty where it is not"]
    authority: Annotated[str, "the SHA-256 of the certificate that phones have to install first; empty: none"]
    problem: Annotated[str, "why it is not open where it should be"]
    choices: list[PhoneChoice]


class PhoneLinkAnswer(TypedDict):
    """A link that signs a phone's browser in, once."""

    url: str
    address: str
    qr: Annotated[list[str], "its QR code: rows of 0 (light) and 1 (dark)"]
    seconds: Annotated[float, "how long it is good"]
    authority: Annotated[str, "as in `GET`"]


class PlacedEvent(EventAnswer):
    """An event and its place."""

    cursor: int
    span_type: Annotated[str, "INBOUND, OUTBOUND, LLM, TOOL, POLICY, APPROVAL or EVENT"]


class PageAnswer(TypedDict):
    """A page of the timeline, newest first."""

    events: list[PlacedEvent]
    before: Annotated[int | None, "leads to the next page; null where there is none"]
    newest: Annotated[int, "the place of the newest event of all"]


class SpanAnswer(TypedDict):
    """One timed part of a trace."""

    id: str
    span_id: str
    parent_span_id: str | None
    type: Annotated[str, "as an event's `span_type`"]
    kind: str
    title: str
    time: float
    started_at: float
    seconds: float | None
    duration: str | None
    status: str
    output: str
    event: EventAnswer
    metadata: Annotated[dict[str, Any], "what the journal knows of a model's or a tool's call"]


class DecisionAnswer(TypedDict):
    """A verdict on one call."""

    tool: str
    tier: int | None
    allowed: bool
    verdict: Annotated[str, "`allow`, `ask` or `deny`"]
    rule: str
    reason: str
    call: str
    turn: str
    time: float


class DecisionsAnswer(TypedDict):
    """Verdicts in order."""

    policy_decisions: list[DecisionAnswer]


class TraceAnswer(TypedDict):
    """One message's journey."""

    trace_id: str
    spans: list[SpanAnswer]
    task: TaskAnswer | None
    policy_decisions: list[DecisionAnswer]
    approvals: list[ApprovalAnswer]
    turns: list[str]


class NodeAnswer(TypedDict):
    """A span as a node."""

    id: str
    span_id: str
    parent_span_id: str | None
    type: str
    title: str
    start_time: float
    end_time: float
    duration_ms: int
    agent_id: str
    output: str


class EdgeAnswer(TypedDict):
    """What a span is a part of."""

    source: str
    target: str


class GraphAnswer(TypedDict):
    """A trace as a graph."""

    nodes: list[NodeAnswer]
    edges: list[EdgeAnswer]
    task: TaskAnswer | None
    policy_decisions: list[DecisionAnswer]
    approvals: list[ApprovalAnswer]


class SessionAnswer(TypedDict):
    """A session."""

    session: str
    title: str
    model: str | None
    paused: bool
    archived: bool
    entries: int
    updated: float


class ForkedAnswer(SessionAnswer):
    """A session that goes on from another one."""

    copied: Annotated[int, "entries that were taken over"]
    of: Annotated[str, "the session it comes from"]


class SessionsAnswer(TypedDict):
    """Sessions, the latest first."""

    sessions: list[SessionAnswer]


class CallAnswer(TypedDict):
    """A call of a tool."""

    id: str
    name: str
    arguments: str


class PictureAnswer(TypedDict):
    """A picture that came along."""

    id: str
    media_type: str


class EntryAnswer(TypedDict):
    """Something that was said, or that a tool gave."""

    n: int
    role: str
    text: str
    at: float
    turn: str
    trace_id: str | None
    trust: str
    origin: str
    calls: list[CallAnswer]
    images: list[PictureAnswer]


class HistoryAnswer(TypedDict):
    """A part of a session, oldest first."""

    session: str
    entries: list[EntryAnswer]
    before: int | None


class SettingAnswer(TypedDict):
    """A setting."""

    key: str
    value: Annotated[Any, "null where there is none, and for secrets"]
    secret: bool
    origin: Annotated[str, "where the value comes from, in words"]
    layer: str
    doc: str
    changeable: Annotated[bool, "at run time, by `PATCH /api/v1/settings`"]
    one_of: list[str]
    at_least: float | None
    at_most: float | None
    kind: str


class SettingsAnswer(TypedDict):
    """Every setting."""

    settings: list[SettingAnswer]


class AuditAnswer(TypedDict):
    """An entry of the audit log."""

    seq: int
    at: float
    kind: str
    name: str
    outcome: str
    rule: str
    sender: str
    turn: str
    trace_id: str
    detail: str | None
    hash: str


class AuditsAnswer(TypedDict):
    """Entries, the newest last."""

    entries: list[AuditAnswer]


class LayerAnswer(TypedDict):
    """A layer of memory."""

    name: str
    source_prefix: str
    description: str
    ttl_days: Annotated[float, "0: its items stay"]
    chunk_count: int
    color: str


class MemoryTotals(TypedDict):
    """All layers together."""

    total_chunks: int
    max_chunks: Annotated[int, "most items of the layers that expire"]
    oldest: float | None
    newest: float | None


class MemoryStatusAnswer(TypedDict):
    """How much is remembered."""

    layers: list[LayerAnswer]
    totals: MemoryTotals
    led: Annotated[str, "`grey`: empty; `purple`; `amber`: more than 70 % full; `red`: more than 90 %"]
    config: dict[str, Any]


class EmbeddingModelAnswer(TypedDict):
    """The model that makes vectors."""

    enabled: bool
    provider: str
    model: str
    dimension: Annotated[int, "0 until the first vector"]
    normalize: bool
    fingerprint: Annotated[str, "another one: all is embedded anew; of a local model with a hash of its files"]


class EmbeddingRuntimeAnswer(TypedDict):
    """How the embedder is."""

    ready: Annotated[bool, "it was asked, and answered last"]
    status: str
    detail: Annotated[str, "why it fails"]
    checkedAt: Annotated[float | None, "when it was asked last; null for never"]


class EmbeddingIndexAnswer(TypedDict):
    """How many items have vectors."""

    embeddedChunks: int
    waitingChunks: int


class EmbeddingStatusAnswer(TypedDict):
    """How meaning is looked at."""

    status: Annotated[str, "`disabled`, `indexing`, `ready` or `error`"]
    embedding: EmbeddingModelAnswer
    runtime: EmbeddingRuntimeAnswer
    index: EmbeddingIndexAnswer


class ReindexedAnswer(TypedDict):
    """What was dropped."""

    status: str
    wipedChunks: int
    reason: str


class MemoryFigures(TypedDict):
    """Memory in figures."""

    chunksTotal: int
    chunksEmbedded: Annotated[int, "those that are found by meaning too"]
    chunks_total: Annotated[int, "the same as `chunksTotal`"]
    chunks_expiring: int
    max_chunks: int
    full: Annotated[float, "part of `max_chunks` that is used"]
    by_layer: dict[str, Any]


class KnowledgeFigures(TypedDict):
    """What is known as facts, in figures."""

    factsLatest: Annotated[int, "all that are recorded now"]
    factsAccepted: Annotated[int, "those that count"]
    factsStale: Annotated[int, "those that are so no longer"]
    factsConflict: Annotated[int, "those that are not sure until you confirm them"]


class MemoryMetricsAnswer(TypedDict):
    """Memory in figures."""

    memory: MemoryFigures
    knowledge: KnowledgeFigures
    led: str


class MemoryItemAnswer(TypedDict):
    """Something that is remembered."""

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
    score: NotRequired[Annotated[float, "only where something was looked for"]]
    parts: NotRequired[Annotated[dict[str, Any], "what the score consists of"]]
    position: NotRequired[int]
    role: NotRequired[str]
    kind: NotRequired[str]
    importance: NotRequired[float]
    valid_from: NotRequired[float | None]
    valid_to: NotRequired[float | None]
    superseded_by: NotRequired[str | None]
    evidence: NotRequired[list[str]]
    expires_at: NotRequired[float | None]


class MemoryItemsAnswer(TypedDict):
    """Items of memory."""

    items: list[MemoryItemAnswer]


class RecalledItemAnswer(MemoryItemAnswer, total=False):
    """A memory that a prompt showed, or named where it is untrusted."""

    forgotten: Annotated[bool, "it is no longer there; then only id, score and parts are told"]


class RecalledAnswer(TypedDict):
    """What a turn was shown."""

    turn: str
    items: list[RecalledItemAnswer]


class ForgottenAnswer(TypedDict):
    """What is forgotten, or would be."""

    items: list[MemoryItemAnswer]
    turns: Annotated[list[str], "in which it was said, where the conversation goes too"]
    backups: Annotated[list[str], "files that keep a copy until they are replaced"]
    erased: Annotated[int, "pieces that are gone; 0 for a preview"]


class DeletedAnswer(TypedDict):
    """How many items went."""

    status: str
    deleted: int


class ViewAnswer(TypedDict):
    """A page of a plug-in."""

    name: str
    title: str
    asks: Annotated[list[str], "the paths that it may get"]


class ViewsAnswer(TypedDict):
    """Pages of plug-ins."""

    views: list[ViewAnswer]


class CanvasPageAnswer(TypedDict):
    """One version of a page that a session shows."""

    id: str
    name: str
    title: str
    session: str
    version: int
    at: Annotated[float, "when it was presented (Unix seconds)"]
    scripts: Annotated[bool, "they run in it"]
    hidden: bool
    html: NotRequired[Annotated[str, "what it holds; untrusted"]]
    versions: NotRequired[Annotated[list[int], "those that are kept, oldest first"]]


class CanvasAnswer(TypedDict):
    """The pages that are shown."""

    pages: list[CanvasPageAnswer]


class StageAnswer(TypedDict):
    """What one stage of the policy said."""

    stage: str
    verdict: str
    rule: str


class ExplainedAnswer(TypedDict):
    """What the policy would say of a call."""

    verdict: Annotated[str, "`allow`, `ask` or `deny`"]
    rule: str
    reason: str
    acts: Annotated[list[str], "what the call would do"]
    tier: int | None
    stages: list[StageAnswer]
    known: Annotated[bool, "whether there is such a tool; else the strictest rules hold"]
    told: Annotated[list[str], "the same in words"]


class LogLineAnswer(TypedDict):
    """A line of the log."""

    time: str
    level: str
    logger: str
    trace: str | None
    text: str


class LogsAnswer(TypedDict):
    """Lines of the log, the newest last."""

    lines: list[LogLineAnswer]


class FindingAnswer(TypedDict):
    """Something that is wrong."""

    id: str
    severity: Annotated[str, "`critical`, `warn` or `info`"]
    title: str
    advice: str
    where: str


class SkippedAnswer(TypedDict):
    """A check that could not be made."""

    id: str
    reason: str


class DoctorAnswer(TypedDict):
    """What is wrong."""

    checks: int
    findings: list[FindingAnswer]
    skipped: list[SkippedAnswer]


class ModelsAnswer(TypedDict):
    """Models by their references and the owner's names for them."""

    models: list[str]


class ConnectedAnswer(TypedDict):
    """What came of connecting a model."""

    model: str
    ok: bool
    tools: Annotated[bool | None, "whether it calls tools"]
    trouble: Annotated[str, "why not"]
    kept: Annotated[bool, "it is written down, and asked from now on"]


class WebUserAnswer(TypedDict):
    """Somebody who writes in the browser."""

    id: str
    name: str
    force_send: Annotated[bool, "the linked chat is sent to in silent mode too"]
    address: Annotated[str, "the linked chat; empty where none is"]
    created: float
    session: Annotated[str, "their conversation"]


class WebUsersAnswer(TypedDict):
    """Everybody who writes in the browser."""

    web_users: list[WebUserAnswer]


class TriedAnswer(TypedDict):
    """What came of trying a model."""

    model: str
    ok: bool
    tools: Annotated[bool | None, "whether it calls tools"]
    trouble: Annotated[str, "why not"]
    first: NotRequired[Annotated[float, "seconds to the first piece"]]
    seconds: NotRequired[float]
    cost: NotRequired[Annotated[int | None, "in micro-dollars"]]
    answer: NotRequired[str]


class ChannelAnswer(TypedDict):
    """A channel that runs."""

    name: str
    account: str
    text_limit: Annotated[int, "most characters of one message; 0: not known"]
    undelivered: int


class ChannelsAnswer(TypedDict):
    """Channels that run."""

    channels: list[ChannelAnswer]


class PluginAnswer(TypedDict):
    """A plug-in."""

    name: str
    package: str
    version: str
    on: bool
    declares: list[str]
    commands: list[str]


class PluginsAnswer(TypedDict):
    """Plug-ins."""

    plugins: list[PluginAnswer]


PersonAnswer = TypedDict(
    "PersonAnswer",
    {"id": str, "name": str, "class": Annotated[str, "`owner`, `known` or the like"], "addresses": list[str]},
)


class PeopleAnswer(TypedDict):
    """Whom Hob knows."""

    people: list[PersonAnswer]


class PairingRequestAnswer(TypedDict):
    """Somebody who asks to be let in."""

    code: str
    address: str
    name: str
    asked: float
    expires: float


class PairingAnswer(TypedDict):
    """Who asks to be let in."""

    requests: list[PairingRequestAnswer]


class RepoRow(TypedDict):
    """Something in a folder."""

    path: str
    name: str
    type: Annotated[str, "`file`, `folder` or `link`"]
    depth: int
    size: int


class WorkRepoAnswer(TypedDict):
    """Where tools work."""

    path: str


class TreeAnswer(TypedDict):
    """A folder."""

    root: str
    path: str
    rows: list[RepoRow]


class FileAnswer(TypedDict):
    """A file."""

    path: str
    content: str
    size: int
    binary: bool
    cut: Annotated[bool, "only its beginning is told"]


class ChangeAnswer(TypedDict):
    """A file that was changed since the last commit."""

    path: str
    state: Annotated[str, "`new`, `changed`, `gone`, `renamed` or `conflict`"]
    before: Annotated[str, "what a renamed one was called"]


class RepoStatusAnswer(TypedDict):
    """How a repository is."""

    root: str
    repository: bool
    branch: str
    remote: str
    ahead: int
    behind: int
    changes: list[ChangeAnswer]


class MatchAnswer(TypedDict):
    """A line that holds the text."""

    path: str
    line: int
    text: str


class RepoSearchAnswer(TypedDict):
    """What was found."""

    root: str
    repos: list[str]
    matches: list[MatchAnswer]


class GitHubAnswer(TypedDict):
    """How `gh` is."""

    status: str
    detail: str


class BranchesAnswer(TypedDict):
    """Branches."""

    branches: list[str]
    current: str


class CommitAnswer(TypedDict):
    """A commit."""

    hash: str
    author: str
    at: float
    subject: str


class LogAnswer(TypedDict):
    """Commits, the newest first."""

    commits: list[CommitAnswer]


class DiffAnswer(TypedDict):
    """A difference."""

    diff: str


class RepoDoneAnswer(TypedDict):
    """What git said."""

    result: str
    hash: NotRequired[str]


ANSWERS: Mapping[tuple[str, str], tuple[tuple[int, Any], ...]] = {
    ("GET", "/health"): ((200, AliveAnswer), (503, AliveAnswer)),
    ("GET", "/api/v1/status"): ((200, StatusAnswer),),
    ("POST", "/api/v1/auth/verify"): ((200, VerifiedAnswer),),
    ("POST", "/api/v1/auth/login"): ((200, LoginAnswer),),
    ("POST", "/api/v1/auth/logout"): ((200, LogoutAnswer),),
    ("GET", "/api/v1/timeline"): ((200, PageAnswer),),
    ("GET", "/api/v1/trace/{id}"): ((200, TraceAnswer),),
    ("GET", "/api/v1/trace-graph/{id}"): ((200, GraphAnswer),),
    ("GET", "/api/v1/policy-decisions"): ((200, DecisionsAnswer),),
    ("GET", "/api/v1/sessions"): ((200, SessionsAnswer),),
    ("GET", "/api/v1/phone"): ((200, PhoneAnswer),),
    ("POST", "/api/v1/phone"): ((200, PhoneLinkAnswer),),
    ("POST", "/api/v1/sessions/fork"): ((200, ForkedAnswer),),
    ("GET", "/api/v1/sessions/history"): ((200, HistoryAnswer),),
    ("GET", "/api/v1/tasks/{id}"): ((200, TaskAnswer),),
    ("GET", "/api/v1/canvas"): ((200, CanvasAnswer),),
    ("GET", "/api/v1/canvas/{id}"): ((200, CanvasPageAnswer),),
    ("POST", "/api/v1/canvas/{id}"): ((200, CanvasPageAnswer),),
    ("GET", "/api/v1/settings"): ((200, SettingsAnswer),),
    ("PATCH", "/api/v1/settings"): ((200, SettingsAnswer),),
    ("GET", "/api/v1/audit"): ((200, AuditsAnswer),),
    ("GET", "/api/v1/logs"): ((200, LogsAnswer),),
    ("GET", "/api/v1/doctor"): ((200, DoctorAnswer),),
    ("GET", "/api/v1/models"): ((200, ModelsAnswer),),
    ("GET", "/api/v1/webusers"): ((200, WebUsersAnswer),),
    ("POST", "/api/v1/webusers"): ((200, WebUserAnswer),),
    ("POST", "/api/v1/webusers/force"): ((200, WebUserAnswer),),
    ("GET", "/api/v1/weblinks"): ((200, WebUserAnswer),),
    ("POST", "/api/v1/weblinks"): ((200, WebUserAnswer),),
    ("POST", "/api/v1/webchat/send"): OF_API["POST", "/chat"],
    ("POST", "/api/v1/models/connect"): ((200, ConnectedAnswer),),
    ("POST", "/api/v1/models/test"): ((200, TriedAnswer),),
    ("GET", "/api/v1/channels"): ((200, ChannelsAnswer),),
    ("GET", "/api/v1/plugins"): ((200, PluginsAnswer),),
    ("GET", "/api/v1/people"): ((200, PeopleAnswer),),
    ("GET", "/api/v1/pairing"): ((200, PairingAnswer),),
    ("GET", "/api/v1/views"): ((200, ViewsAnswer),),
    ("POST", "/api/v1/policy/explain"): ((200, ExplainedAnswer),),
    ("GET", "/api/v1/memory/status"): ((200, MemoryStatusAnswer),),
    ("GET", "/api/v1/memory/metrics"): ((200, MemoryMetricsAnswer),),
    ("GET", "/api/v1/memory/search"): ((200, MemoryItemsAnswer),),
    ("GET", "/api/v1/memory/embedding/status"): ((200, EmbeddingStatusAnswer),),
    ("GET", "/api/v1/memory/embedding/healthz"): ((200, EmbeddingStatusAnswer), (503, EmbeddingStatusAnswer)),
    ("POST", "/api/v1/memory/embedding/reindex"): ((200, ReindexedAnswer),),
    ("GET", "/api/v1/memory/items"): ((200, MemoryItemsAnswer),),
    ("GET", "/api/v1/memory/items/{id}"): ((200, MemoryItemAnswer),),
    ("GET", "/api/v1/memory/recalled"): ((200, RecalledAnswer),),
    ("POST", "/api/v1/memory/items"): ((200, MemoryItemAnswer),),
    ("POST", "/api/v1/memory/forget"): ((200, ForgottenAnswer),),
    ("POST", "/api/v1/memory/prune"): ((200, DeletedAnswer),),
    ("POST", "/api/v1/memory/reset"): ((200, DeletedAnswer),),
    ("POST", "/api/v1/memory/config"): ((200, SettingsAnswer),),
    ("GET", "/api/v1/workrepo"): ((200, WorkRepoAnswer),),
    ("GET", "/api/v1/repo/tree"): ((200, TreeAnswer),),
    ("GET", "/api/v1/repo/file"): ((200, FileAnswer),),
    ("GET", "/api/v1/repo/status"): ((200, RepoStatusAnswer),),
    ("GET", "/api/v1/repo/search"): ((200, RepoSearchAnswer),),
    ("GET", "/api/v1/repo/gh-auth"): ((200, GitHubAnswer),),
    ("GET", "/api/v1/repo/branches"): ((200, BranchesAnswer),),
    ("GET", "/api/v1/repo/log"): ((200, LogAnswer),),
    ("GET", "/api/v1/repo/diff"): ((200, DiffAnswer),),
    ("GET", "/api/v1/repo/diff-file"): ((200, DiffAnswer),),
    **{
        ("POST", f"/api/v1/repo/{each}"): ((200, RepoDoneAnswer),)
        for each in ("checkout", "commit", "pull", "push", "init", "pr")
    },
}
ALIASES: Mapping[str, str] = {"/approvals/pending": "/approvals"}
"""Routes of the API under another name than theirs after `/api/v1`."""
