"""Journalled steps of a turn, and their stored form.

Replaying the steps gives the turn's state. The stored form is `(kind, version, JSON)`. `VERSION` increases when the
fields of a kind change their meaning; readers accept every older version (`tests/core/journals/` holds one journal per
release).
"""

import json
from typing import Any

from hob.core.ids import ApprovalId, BlobId, CallId, InboundId, digest
from hob.core.messages import Attachment, OutboundKind, Quoted
from hob.core.models import Continuation, Image, StopReason, Usage
from hob.core.tools import Restart, ToolCall, ToolResult
from hob.core.translation.language import Translatable, pack_text, unpack_text
from hob.core.translation.remarks import Remark
from hob.core.trust.labels import Label, Origin, Trust
from hob.core.values import dataclass

VERSION = 1


@dataclass(frozen=True, slots=True)
class RecalledMemory:
    """A memory included or named in a prompt: id prefix, score, and components of the score."""

    id: str
    score: float
    parts: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class ModelAsked:
    """A model call is about to start. `reserved` is its maximum cost in micro-dollars, None if unknown.

    `trust` is that of the whole request, and the upper limit for the model's next output. `models` are the references
    that may answer, best first, if known. `remarks` are shown to the owner in any case, one line each, in the owner's
    language. `sections` are the parts of the request: name, bytes, tokens, and whether a provider can cache them.
    `recalled` are the memories in the prompt; they are listed once and stay in it until the turn waits. `ends` mark
    where the request's messages pass from one section to the next.
    """

    model: str
    request_hash: str
    input_estimate: int
    reserved: int | None = None
    trust: Trust = Trust.UNTRUSTED
    models: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    sections: tuple[tuple[str, int, int, bool], ...] = ()
    recalled: tuple[RecalledMemory, ...] = ()
    ends: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class ModelReplied:
    """The model answered. `cost` is in micro-dollars, None if unknown.

    `ref` is the reference of the model that answered, `model` the server's own name for it. `remarks` are notes on the
    answer for its reader, one line each, in the owner's language. `sent` is the SHA-256 of the request body, empty if
    none was sent.
    """

    text: str
    calls: tuple[ToolCall, ...] = ()
    stop: StopReason = StopReason.END
    usage: Usage | None = None
    model: str = ""
    cost: int | None = None
    reasoning: str = ""
    attempts: int = 1
    ref: str = ""
    continuation: Continuation | None = None
    remarks: tuple[str, ...] = ()
    sent: str = ""


@dataclass(frozen=True, slots=True)
class ModelFailed:
    """The model call failed; `fault` is a `ModelFault`.

    `retry_after` is the delay requested by the provider, in seconds; `retry_at` (Unix seconds) is when background work
    tries again. An unusable answer that was charged (empty, filtered) has `usage` and `cost`.
    """

    fault: str
    detail: str
    attempts: int = 1
    retry_at: float | None = None
    retry_after: float | None = None
    usage: Usage | None = None
    cost: int | None = None
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Waited:
    """The turn is parked until a time (Unix seconds), then calls the model again."""

    until: float
    reason: str


@dataclass(frozen=True, slots=True)
class ToolIntended:
    """A call is about to be made with these arguments, allowed by this rule."""

    call: ToolCall
    restart: Restart
    rule: str


@dataclass(frozen=True, slots=True)
class ToolReceived:
    """The outcome of a call: made, refused or unknown. `result` is shown to the model.

    `status` is machine-readable: `ok`, `error`, or why the call was not made or not finished. `remarks` are lines for
    the owner.
    """

    result: ToolResult
    seconds: float = 0.0
    status: str = "ok"
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ApprovalAsked:
    """The owner was asked to approve a call. `reason` is stored with its values, so that it can be shown in any
    language.
    """

    approval: ApprovalId
    call: CallId
    reason: str


@dataclass(frozen=True, slots=True)
class ApprovalAnswered:
    """The owner answered the approval request, or it expired."""

    approval: ApprovalId
    call: CallId
    allowed: bool
    by: str = ""


@dataclass(frozen=True, slots=True)
class UserAsked:
    """A call asked the user a question; the answer becomes its result.

    With `again`, the call is repeated instead, and the answer is among the messages of its turn.
    """

    call: CallId
    question: str
    again: bool = False


@dataclass(frozen=True, slots=True)
class UserAnswered:
    """The user answered a call's question."""

    call: CallId
    inbound: InboundId
    text: str
    label: Label


@dataclass(frozen=True, slots=True)
class ResultAwaited:
    """A call's result arrives later, but before `until` (Unix seconds); `on` is the `WaitsFor` that provides it."""

    call: CallId
    on: str
    until: float | None = None


@dataclass(frozen=True, slots=True)
class Steered:
    """A message arrived during the turn and joined it."""

    inbound: InboundId
    text: str
    label: Label
    quoted: tuple[Quoted, ...] = ()
    attachments: tuple[Attachment, ...] = ()


@dataclass(frozen=True, slots=True)
class Transcribed:
    """A recording in a message was transcribed; `problem` is the fault code if that failed."""

    inbound: InboundId
    blob: BlobId
    text: str
    label: Label
    model: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Noted:
    """A note from Hob to the model, e.g. that it repeats itself; `about` is its machine-readable subject."""

    text: str
    about: str = ""


@dataclass(frozen=True, slots=True)
class Shortened:
    """The context was too long: from now on the prompt includes at most this many history entries."""

    keep: int


@dataclass(frozen=True, slots=True)
class Cancelled:
    """A person stopped the turn."""

    reason: str


@dataclass(frozen=True, slots=True)
class Stopped:
    """The turn was ended by `run_timeout`, `budget` or `hook`; `detail` is for people."""

    reason: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    """The last step: the text for the user, and whether it is an answer or an error.

    `reason` is the code of a failure or defect of the answer, or says why the turn is silent.
    """

    text: str
    kind: OutboundKind
    reason: str = ""


Step = (
    ModelAsked
    | ModelReplied
    | ModelFailed
    | Waited
    | ToolIntended
    | ToolReceived
    | ApprovalAsked
    | ApprovalAnswered
    | UserAsked
    | UserAnswered
    | ResultAwaited
    | Steered
    | Transcribed
    | Noted
    | Shortened
    | Cancelled
    | Stopped
    | Said
)

_KINDS: dict[str, type[Any]] = {
    "model_asked": ModelAsked,
    "model_replied": ModelReplied,
    "model_failed": ModelFailed,
    "waited": Waited,
    "tool_intended": ToolIntended,
    "tool_received": ToolReceived,
    "approval_asked": ApprovalAsked,
    "approval_answered": ApprovalAnswered,
    "user_asked": UserAsked,
    "user_answered": UserAnswered,
    "result_awaited": ResultAwaited,
    "steered": Steered,
    "transcribed": Transcribed,
    "noted": Noted,
    "shortened": Shortened,
    "cancelled": Cancelled,
    "stopped": Stopped,
    "said": Said,
}
_NAMES = {cls: name for name, cls in _KINDS.items()}

_KEYS: dict[type[Any], str] = {
    ModelAsked: "model request_hash input_estimate reserved trust models remarks sections recalled ends",
    ModelReplied: "text calls stop usage model cost reasoning attempts ref continuation remarks sent",
    ModelFailed: "fault detail attempts retry_at retry_after usage cost remarks",
    Waited: "until reason",
    ToolIntended: "call restart rule",
    ToolReceived: "result seconds status remarks",
    ApprovalAsked: "approval call reason",
    ApprovalAnswered: "approval call allowed by",
    UserAsked: "call question again",
    UserAnswered: "call inbound text label",
    ResultAwaited: "call on until",
    Steered: "inbound text label quoted attachments",
    Transcribed: "inbound blob text label model problem",
    Noted: "text about",
    Shortened: "keep",
    Cancelled: "reason",
    Stopped: "reason detail",
    Said: "text kind reason",
    ToolCall: "id name arguments",
    ToolResult: "call text label is_error rest remarks images",
    Usage: "input output cache_read cache_write reasoning cache_write_1h",
    Continuation: "wire data prefix by",
    Image: "blob media_type",
    Label: "origin trust",
    Quoted: "text label",
    Attachment: "media_type name blob link size voice",
    Remark: "sentence values",
    RecalledMemory: "id score parts",
}
"""Stored keys of each value; `key:field` if the Python field has another name."""
_FIELDS = {
    cls: {key: field or key for key, _, field in (name.partition(":") for name in names.split())}
    for cls, names in _KEYS.items()
}


def step_kind(step: Step) -> str:
    """Return the stored name of a step's kind."""
    return _NAMES[type(step)]


def command_hash(call: ToolCall) -> str:
    """Return the hash of a tool's name and exact arguments, to which an intent is bound."""
    return digest(f"{call.name}\n{call.arguments}")


def dump_step(step: Step) -> str:
    """Return the step's fields as compact JSON."""
    return json.dumps(_to_plain(step), ensure_ascii=False, separators=(",", ":"))


def load_step(kind: str, version: int, text: str) -> Step:
    """Parse a stored step. Raises ValueError for a kind, version or field unknown to this Hob."""
    if version > VERSION or kind not in _KINDS:
        raise ValueError(f"step {kind!r} version {version} was written by a newer Hob")
    data = json.loads(text)
    step: Step = _build(_KINDS[kind], {key: _decode_field(key, value) for key, value in data.items()}, f"step {kind!r}")
    return step


def _build(cls: type[Any], data: dict[str, Any], what: str = "a part of a step") -> Any:
    names = _FIELDS[cls]
    if unknown := data.keys() - names.keys():
        raise ValueError(f"{what} has fields that this Hob does not know: {', '.join(sorted(unknown))}")
    return cls(**{names[key]: value for key, value in data.items()})


def _to_plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_to_plain(item) for item in value]
    if (names := _FIELDS.get(type(value))) is not None:
        return {key: _field_to_plain(key, getattr(value, name)) for key, name in names.items()}
    return value


def _field_to_plain(key: str, value: Any) -> Any:
    # only these are restored as translatable texts; elsewhere the English text is kept
    return pack_text(value) if key in _TRANSLATED and isinstance(value, Translatable) else _to_plain(value)


def _decode_field(key: str, value: Any) -> Any:
    if value is None:
        return None
    reader = _READERS.get(key)
    return reader(value) if reader else value


def _decode_label(value: dict[str, str]) -> Label:
    return Label(Origin(value["origin"]), Trust(value["trust"]))


def _decode_call(value: Any) -> ToolCall | str:
    # `call` is a whole call in an intent, elsewhere only its id
    return _build(ToolCall, value) if isinstance(value, dict) else CallId(value)


def _decode_result(value: dict[str, Any]) -> ToolResult:
    rest = value.get("rest")
    return ToolResult(
        call=CallId(value["call"]),
        text=value["text"],
        label=_decode_label(value["label"]),
        is_error=value["is_error"],
        rest=BlobId(rest) if rest else None,
        images=tuple(Image(BlobId(image["blob"]), image["media_type"]) for image in value.get("images", ())),
    )


_TRANSLATED = ("detail", "reason")
_READERS: dict[str, Any] = {
    "calls": lambda value: tuple(_build(ToolCall, call) for call in value),
    "usage": lambda value: _build(Usage, value),
    "stop": StopReason,
    "continuation": lambda value: _build(Continuation, value),
    "models": tuple,
    "remarks": tuple,
    **dict.fromkeys(("sections", "ends"), lambda value: tuple(tuple(part) for part in value)),
    "recalled": lambda value: tuple(
        RecalledMemory(each["id"], each["score"], tuple((name, part) for name, part in each["parts"])) for each in value
    ),
    "call": _decode_call,
    **dict.fromkeys(_TRANSLATED, lambda value: unpack_text(value) if isinstance(value, dict) else value),
    "restart": Restart,
    "result": _decode_result,
    "label": _decode_label,
    "trust": Trust,
    "quoted": lambda value: tuple(Quoted(part["text"], _decode_label(part["label"])) for part in value),
    "attachments": lambda value: tuple(_build(Attachment, each) for each in value),
    "kind": OutboundKind,
}
