"""The journalled events of a turn, and their stored form.

A turn's state is a fold over these. Stored form: `(kind, version, JSON)`. `VERSION` rises when a kind's fields change
their meaning; readers accept every older version for ever (`tests/core/journals/` holds one journal per release).
"""

import json
from typing import Any

from hob.core.ids import ApprovalId, BlobId, CallId, InboundId, digest
from hob.core.messages import Attachment, OutboundKind, Quoted
from hob.core.models import Continuation, Image, Stop, Usage
from hob.core.tools import Restart, ToolCall, ToolResult
from hob.core.translation.language import Translatable, packed, unpacked
from hob.core.translation.remarks import Remark
from hob.core.trust.labels import Label, Origin, Trust
from hob.core.values import dataclass

VERSION = 1


@dataclass(frozen=True, slots=True)
class RecalledMemory:
    """A memory that a prompt shows or names: the beginning of its id, its score, and what that is made of."""

    id: str
    score: float
    parts: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class ModelAsked:
    """The model is about to be asked. `reserved` is the worst-case cost in micro-dollars, None if unknown.

    `trust` is that of everything in the request: what the model writes next is trusted no more than that. `models` are
    the references that may answer, best first, where they are known. `remarks` are what is told beside whatever comes
    of it, one line each, in the owner's language. `sections` are the parts of the request: name, bytes, tokens, and
    whether a provider's cache can hold it. `recalled` are the memories of the prompt; they are told
    once and stay until the turn waits. `ends` tell where the messages of the request go from one of its parts to the
    next.
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
    """The model answered. `cost` in micro-dollars, None if unknown.

    `ref` is the reference of the model that answered, `model` the server's own name for it. `remarks` are what its
    reader should know about the answer, one line each, in the owner's language. `sent` is the SHA-256 of what its
    server was sent, empty where none was.
    """

    text: str
    calls: tuple[ToolCall, ...] = ()
    stop: Stop = Stop.END
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
    """The model did not answer; `fault` is a `ModelFault`.

    `retry_after` is what the model's side asked for, in seconds; `retry_at` (Unix seconds) is when background work will
    ask again. An answer that was paid for and is none (empty, filtered) has `usage` and `cost`.
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
    """The turn parks until a time (Unix seconds), then asks again."""

    until: float
    reason: str


@dataclass(frozen=True, slots=True)
class ToolIntended:
    """The call is about to be made, with these arguments, by this rule's approval."""

    call: ToolCall
    restart: Restart
    rule: str


@dataclass(frozen=True, slots=True)
class ToolReceived:
    """The call was made, refused, or its outcome is unknown: this is what the model is told.

    `status` is the machine-readable reason: `ok`, `error`, or why the call was not made or not finished. `remarks` are
    the lines that its owner is told.
    """

    result: ToolResult
    seconds: float = 0.0
    status: str = "ok"
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ApprovalAsked:
    """The owner was asked whether one call may be made. `reason` is stored with its values, for any language."""

    approval: ApprovalId
    call: CallId
    reason: str


@dataclass(frozen=True, slots=True)
class ApprovalAnswered:
    """The owner answered, or the question expired."""

    approval: ApprovalId
    call: CallId
    allowed: bool
    by: str = ""


@dataclass(frozen=True, slots=True)
class UserAsked:
    """A call put a question to the user; the answer will be the call's result.

    `again`: it will not, the call is made again, with the answer among the messages of its turn.
    """

    call: CallId
    question: str
    again: bool = False


@dataclass(frozen=True, slots=True)
class UserAnswered:
    """The user answered the question of a call."""

    call: CallId
    inbound: InboundId
    text: str
    label: Label


@dataclass(frozen=True, slots=True)
class ResultAwaited:
    """A call's result comes later, before `until` (Unix seconds); `on` is the `WaitsFor` that says from whom."""

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
    """A recording that came with a message was written down; where that failed, `problem` is the fault's code."""

    inbound: InboundId
    blob: BlobId
    text: str
    label: Label
    model: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Noted:
    """Hob itself tells the model something, e.g. that it repeats itself; `about` names it for machines."""

    text: str
    about: str = ""


@dataclass(frozen=True, slots=True)
class Shortened:
    """The context was too long: from here on the prompt shows this many entries of history at most."""

    keep: int


@dataclass(frozen=True, slots=True)
class Cancelled:
    """Somebody stopped the turn."""

    reason: str


@dataclass(frozen=True, slots=True)
class Stopped:
    """The turn may not go on: `run_timeout`, `budget` or `hook`; `detail` is for people."""

    reason: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    """The last step: what the user is told, and whether it is an answer or an error. Silence has a reason."""

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
"""What is stored of each value, under which key; `key:field` where Python has another name for it."""
_FIELDS = {
    cls: {key: field or key for key, _, field in (name.partition(":") for name in names.split())}
    for cls, names in _KEYS.items()
}


def kind_of(step: Step) -> str:
    """The stored name of a step's kind."""
    return _NAMES[type(step)]


def command_hash(call: ToolCall) -> str:
    """What a tool intent is bound to: the tool and its exact arguments."""
    return digest(f"{call.name}\n{call.arguments}")


def dump_step(step: Step) -> str:
    """The step's fields as compact JSON."""
    return json.dumps(_plain(step), ensure_ascii=False, separators=(",", ":"))


def load_step(kind: str, version: int, text: str) -> Step:
    """The step that was stored. Raises ValueError for a kind, version or field this Hob does not know."""
    if version > VERSION or kind not in _KINDS:
        raise ValueError(f"step {kind!r} version {version} was written by a newer Hob")
    data = json.loads(text)
    step: Step = _made(_KINDS[kind], {key: _revive(key, value) for key, value in data.items()}, f"step {kind!r}")
    return step


def _made(cls: type[Any], data: dict[str, Any], what: str = "a part of a step") -> Any:
    names = _FIELDS[cls]
    if unknown := data.keys() - names.keys():
        raise ValueError(f"{what} has fields that this Hob does not know: {', '.join(sorted(unknown))}")
    return cls(**{names[key]: value for key, value in data.items()})


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if (names := _FIELDS.get(type(value))) is not None:
        return {key: _field(key, getattr(value, name)) for key, name in names.items()}
    return value


def _field(key: str, value: Any) -> Any:
    # only these are read back as translatable; elsewhere the English text is kept
    return packed(value) if key in _TRANSLATED and isinstance(value, Translatable) else _plain(value)


def _revive(key: str, value: Any) -> Any:
    if value is None:
        return None
    reader = _READERS.get(key)
    return reader(value) if reader else value


def _label(value: dict[str, str]) -> Label:
    return Label(Origin(value["origin"]), Trust(value["trust"]))


def _call(value: Any) -> ToolCall | str:
    # `call` is a whole call in an intent and only its id elsewhere
    return _made(ToolCall, value) if isinstance(value, dict) else CallId(value)


def _result(value: dict[str, Any]) -> ToolResult:
    rest = value.get("rest")
    return ToolResult(
        call=CallId(value["call"]),
        text=value["text"],
        label=_label(value["label"]),
        is_error=value["is_error"],
        rest=BlobId(rest) if rest else None,
        images=tuple(Image(BlobId(image["blob"]), image["media_type"]) for image in value.get("images", ())),
    )


_TRANSLATED = ("detail", "reason")
_READERS: dict[str, Any] = {
    "calls": lambda value: tuple(_made(ToolCall, call) for call in value),
    "usage": lambda value: _made(Usage, value),
    "stop": Stop,
    "continuation": lambda value: _made(Continuation, value),
    "models": tuple,
    "remarks": tuple,
    **dict.fromkeys(("sections", "ends"), lambda value: tuple(tuple(part) for part in value)),
    "recalled": lambda value: tuple(
        RecalledMemory(each["id"], each["score"], tuple((name, part) for name, part in each["parts"])) for each in value
    ),
    "call": _call,
    **dict.fromkeys(_TRANSLATED, lambda value: unpacked(value) if isinstance(value, dict) else value),
    "restart": Restart,
    "result": _result,
    "label": _label,
    "trust": Trust,
    "quoted": lambda value: tuple(Quoted(part["text"], _label(part["label"])) for part in value),
    "attachments": lambda value: tuple(_made(Attachment, each) for each in value),
    "kind": OutboundKind,
}
