"""Requests to language models and their answers: messages, tools, usage, prices and costs."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from typing import Literal, TypedDict

from hob.core.content.images import Image as Image
from hob.core.ids import CallId, SessionKey, TurnId
from hob.core.tools import ToolCall, ToolSpec
from hob.core.translation.remarks import Remark as Remark
from hob.core.trust.labels import Label, SenderClass
from hob.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Usage:
    """Token usage of one call. `input` includes cached reads and writes; `output` includes reasoning.

    `cache_write_1h` is the part of `cache_write` that is cached for an hour; it affects the price and is not stored.
    """

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0
    cache_write_1h: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            self.reasoning + other.reasoning,
            self.cache_write_1h + other.cache_write_1h,
        )


@dataclass(frozen=True, slots=True)
class Spending:
    """Spending of one scope in micro-dollars, including `reserved` amounts for open calls."""

    cost: int
    unknown_calls: int
    usage: Usage
    calls: int
    reserved: int = 0

    def __add__(self, other: "Spending") -> "Spending":
        return Spending(
            self.cost + other.cost,
            self.unknown_calls + other.unknown_calls,
            self.usage + other.usage,
            self.calls + other.calls,
            self.reserved + other.reserved,
        )


NO_SPENDING = Spending(0, 0, Usage(), 0)


class CallFilter(TypedDict, total=False):
    """Filter for model calls: since a Unix time, of one session, turn, sender class, task, or of several tasks.

    `model` is matched as in `hob.core.model_names`. An amount reserved for a call counts for every model that may
    answer it.
    """

    since: float
    session: SessionKey
    turn: TurnId
    sender: SenderClass
    task: str
    tasks: Sequence[str]
    model: str


@dataclass(frozen=True, slots=True)
class Price:
    """Micro-dollars per million tokens, and per call. An unknown price is None at the port, never zero.

    `above` pairs an input size in tokens with the price of the whole call beyond it, in ascending order.
    """

    input: int
    output: int
    cache_read: int
    cache_write: int
    cache_write_1h: int | None = None
    call: int = 0
    above: tuple[tuple[int, "Price"], ...] = ()

    def cost(self, usage: Usage) -> int:
        """Return the cost in micro-dollars, rounded up."""
        price = next((price for start, price in reversed(self.above) if usage.input > start), self)
        plain = max(0, usage.input - usage.cache_read - usage.cache_write)
        hour = min(usage.cache_write_1h, usage.cache_write)
        total = (
            plain * price.input
            + usage.cache_read * price.cache_read
            + (usage.cache_write - hour) * price.cache_write
            + hour * (price.cache_write if price.cache_write_1h is None else price.cache_write_1h)
            + usage.output * price.output
        )
        return price.call - (-total // 1_000_000)


@dataclass(frozen=True, slots=True)
class UserMessage:
    """One or more labelled texts from the user's side, already rendered by the prompt."""

    text: str
    images: tuple[Image, ...] = ()


@dataclass(frozen=True, slots=True)
class Continuation:
    """Opaque data that a provider wants back with a model's answer within a turn: signed or sealed reasoning.

    Only the named wire understands `data` (JSON); all others drop it. `prefix` identifies the preceding messages, since
    some providers accept the data only after exactly the same ones; `by` is who sealed it and alone can open it. Empty
    means unknown.
    """

    wire: str
    data: str
    prefix: str = ""
    by: str = ""


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """An earlier message of the model, with its tool calls."""

    text: str
    calls: tuple[ToolCall, ...] = ()
    continuation: Continuation | None = None


@dataclass(frozen=True, slots=True)
class ToolMessage:
    """The result of one call."""

    call: CallId
    text: str
    is_error: bool = False


ModelMessage = UserMessage | AssistantMessage | ToolMessage


class Thinking(StrEnum):
    """How long a model should think before it answers."""

    OFF = "off"
    MINIMAL = "minimal"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    XHIGH = "xhigh"


THINKING_TOKENS: Mapping[Thinking, int] = {
    Thinking.OFF: 0,
    Thinking.MINIMAL: 1_024,
    Thinking.LOW: 4_096,
    Thinking.MEDIUM: 8_192,
    Thinking.HIGH: 16_384,
    Thinking.XHIGH: 32_768,
}
"""Output tokens that a thinking level may use in addition to the answer."""
DEFAULT_THINKING_TOKENS = THINKING_TOKENS[Thinking.LOW]
"""The same if no level was chosen, since many models think by default."""


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One model call. `system` is the stable prefix; `cache_key` tells a provider which calls share it.

    `model` is a reference (`provider/model` or an alias); if empty, the model configured for `task` is used. A
    non-empty `models` lists the references that may answer, best first, as chosen by `RoutesRequests`. `thinking` is
    None if no level was chosen. `patience` is the time in seconds for retries of the whole call: short if a person
    waits, long for background work. `placeholders` are the placeholders in the request with the values they stand for,
    which are restored in the answer and never sent. If `local_only`, nothing of the request, including images, may
    leave the owner's machines.
    """

    model: str
    system: str
    messages: tuple[ModelMessage, ...]
    tools: tuple[ToolSpec, ...] = ()
    max_tokens: int = 4096
    cache_key: SessionKey | None = None
    patience: float = 8.0
    task: str = "chat"
    thinking: Thinking | None = None
    models: tuple[str, ...] = ()
    placeholders: tuple[tuple[str, str], ...] = ()
    local_only: bool = False

    @property
    def first(self) -> str:
        """The reference that is tried first."""
        return self.models[0] if self.models else self.model

    @property
    def max_output(self) -> int:
        """Output tokens that may be charged: the answer and the thinking."""
        return self.max_tokens + (DEFAULT_THINKING_TOKENS if self.thinking is None else THINKING_TOKENS[self.thinking])


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """A piece of the model's reasoning."""

    text: str


@dataclass(frozen=True, slots=True)
class CallStarted:
    """The model has begun to write a call; its arguments follow."""

    name: str


@dataclass(frozen=True, slots=True)
class KeepAlive:
    """Bytes without content (a comment, a ping): the model is alive."""


@dataclass(frozen=True, slots=True)
class ExtraCall:
    """A finished, billable call other than the one that answers: it failed, or it described an image.

    `status` is `ok` or a `ModelFault`; `usage` and `cost` (micro-dollars) are as far as known. The consumer records it.
    If `has_next`, another request follows, but not before the next event is requested: to stop spending, close the
    stream.
    """

    ref: str
    status: str
    usage: Usage | None = None
    cost: int | None = None
    has_next: bool = True


@dataclass(frozen=True, slots=True)
class Route:
    """The chosen route of a request: as it will be sent, with the references that may answer it in `request.models`."""

    request: ModelRequest
    remarks: tuple[Remark, ...] = ()


class StopReason(StrEnum):
    """Reason why the model stopped."""

    END = "end"
    TOOLS = "tools"
    LENGTH = "length"
    FILTER = "filter"


@dataclass(frozen=True, slots=True)
class ModelReply:
    """The whole answer; always the last event of a successful stream.

    `usage` is None if the provider does not report it. `attempts` counts the requests. `ref` is the reference of the
    model that answered, `model` the server's own name for it; either may be empty. `cost` (micro-dollars) is the
    provider's own figure, if any. `sent` is the SHA-256 of the request body, if one was sent.
    """

    text: str
    calls: tuple[ToolCall, ...] = ()
    reasoning: str = ""
    stop: StopReason = StopReason.END
    usage: Usage | None = None
    model: str = ""
    attempts: int = 1
    ref: str = ""
    cost: int | None = None
    continuation: Continuation | None = None
    sent: str = ""


ModelEvent = TextDelta | ReasoningDelta | CallStarted | KeepAlive | Remark | ExtraCall | ModelReply


@dataclass(frozen=True, slots=True)
class ModelProfile:
    """Known properties of a model; None means unknown. `small` asks for a short prompt and few tools."""

    context_tokens: int | None = None
    output_tokens: int | None = None
    images: bool | None = None
    tools: bool | None = None
    small: bool = False


Role = Literal["user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class TranscriptEntry:
    """One message of a session's transcript as stored: raw texts with labels, never a rendered prompt.

    `n` orders the session. `calls` belong to an assistant entry, `call` to a tool entry. `continuation` is present only
    during the running turn and is not stored.
    """

    n: int
    role: Role
    text: str
    label: Label
    turn: str
    at: float
    calls: tuple[ToolCall, ...] = ()
    call: CallId | None = None
    is_error: bool = False
    images: tuple[Image, ...] = field(default=())
    continuation: Continuation | None = None


class SectionAnswer(TypedDict):
    """A section of a prompt.

    seed: `Identity`, `Bootstrap`, `Working Memory`, `Observations`, `Skills Summary`, `RAG`, `Conversation`
    """

    name: str
    seed: str
    bytes: int
    tokens: int
    cached: bool


class PromptAnswer(TypedDict):
    """The contents of a session's next request.

    limit: maximum number of tokens
    """

    session: str
    model: str
    sections: list[SectionAnswer]
    bytes: int
    tokens: int
    limit: int
