"""Requests to language models and their answers as values: messages, tools, usage, prices and what a call costs."""

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
    """Tokens of one call. `input` counts all input, cached reads and writes included; `output` reasoning too.

    `cache_write_1h` is the part of `cache_write` that is kept for an hour; it is priced, not stored.
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
class Spent:
    """What one scope has spent so far, in micro-dollars, with what is held back for open calls (`reserved`)."""

    cost: int
    unknown_calls: int
    usage: Usage
    calls: int
    reserved: int = 0

    def __add__(self, other: "Spent") -> "Spent":
        return Spent(
            self.cost + other.cost,
            self.unknown_calls + other.unknown_calls,
            self.usage + other.usage,
            self.calls + other.calls,
            self.reserved + other.reserved,
        )


NOTHING_SPENT = Spent(0, 0, Usage(), 0)


class CallScope(TypedDict, total=False):
    """Which calls are meant: from `since` on (Unix seconds), of one session, turn, sender class, task, or of tasks.

    `model` is a name as `hob.core.model_names` matches it. What is held back for a call counts for each model that may
    answer.
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
    """Micro-dollars per million tokens, and for each call. A price that is not known is None at the port, never zero.

    `above`: with more tokens of input than that, all of the call costs what the price beside it says; ascending.
    """

    input: int
    output: int
    cache_read: int
    cache_write: int
    cache_write_1h: int | None = None
    call: int = 0
    above: tuple[tuple[int, "Price"], ...] = ()

    def cost(self, usage: Usage) -> int:
        """Micro-dollars, rounded up."""
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
    """What the user side says: one or more labelled texts already rendered by the prompt."""

    text: str
    images: tuple[Image, ...] = ()


@dataclass(frozen=True, slots=True)
class Continuation:
    """What a provider wants back, unread, with an answer of its model while the turn goes on: signed or sealed
    reasoning. Only the wire of that name understands `data` (JSON); every other one leaves it out. `prefix` stands for
    what the model was told before: some take it back only after the very same; `by` is who sealed it, for no one else
    can open it. Empty is not known."""

    wire: str
    data: str
    prefix: str = ""
    by: str = ""


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """What the model said earlier, with the calls it asked for."""

    text: str
    calls: tuple[ToolCall, ...] = ()
    continuation: Continuation | None = None


@dataclass(frozen=True, slots=True)
class ToolMessage:
    """What one call gave."""

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


THINKING_ROOM: Mapping[Thinking, int] = {
    Thinking.OFF: 0,
    Thinking.MINIMAL: 1_024,
    Thinking.LOW: 4_096,
    Thinking.MEDIUM: 8_192,
    Thinking.HIGH: 16_384,
    Thinking.XHIGH: 32_768,
}
"""Tokens of output that a level of thinking may take besides the answer."""
UNCHOSEN_ROOM = THINKING_ROOM[Thinking.LOW]
"""The same where no level was chosen: many models think all the same."""


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One call of a model. `system` is the stable prefix; `cache_key` tells a provider which calls share it.

    `model` is a reference (`provider/model` or an alias); empty means what is configured for `task`. `models`, where
    it is not empty, are the references that may answer, best first: a route was chosen (`Routes`). `thinking` is None
    where nothing was chosen. `patience` is the seconds the whole call may spend on retries before it must give up:
    short for a person who waits, long for background work. `withheld` are marks in the request with the values they
    stand for: put back in the answer, sent to no one. Where it `stays`, nothing of it may leave the owner's machines,
    pictures included.
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
    withheld: tuple[tuple[str, str], ...] = ()
    stays: bool = False

    @property
    def first(self) -> str:
        """The reference that is asked first."""
        return self.models[0] if self.models else self.model

    @property
    def max_output(self) -> int:
        """Tokens that may have to be paid for: those of the answer, and the room for thinking."""
        return self.max_tokens + (UNCHOSEN_ROOM if self.thinking is None else THINKING_ROOM[self.thinking])


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
    """The model has begun to write a call; its arguments are still coming."""

    name: str


@dataclass(frozen=True, slots=True)
class Beat:
    """Bytes came that mean nothing to us (a comment, a ping): the model is alive."""


@dataclass(frozen=True, slots=True)
class ExtraCall:
    """A call beside the one that answers, which is over and has to be paid for: it failed, or it described a picture.

    `status` is `ok` or a `ModelFault`; `usage` and `cost` (micro-dollars) are what is known of it. A listener
    counts it. Where `goes_on`, another request follows, but not before the next event is asked for: who may not spend
    more closes the stream instead.
    """

    ref: str
    status: str
    usage: Usage | None = None
    cost: int | None = None
    goes_on: bool = True


@dataclass(frozen=True, slots=True)
class Route:
    """Where a request goes: as it will be sent, with the references that may answer it in `request.models`."""

    request: ModelRequest
    remarks: tuple[Remark, ...] = ()


class Stop(StrEnum):
    """Why the model stopped."""

    END = "end"
    TOOLS = "tools"
    LENGTH = "length"
    FILTER = "filter"


@dataclass(frozen=True, slots=True)
class ModelReply:
    """The whole answer; always the last event of a stream that did not fail.

    `usage` is None when the provider did not tell. `attempts` is how many requests it took. `ref` is the reference of
    the model that answered, `model` the server's own name for it; either may be empty. `cost` (micro-dollars) is what
    the provider says it charged, if it says so. `sent` is the SHA-256 of the body that its server was sent, if one was.
    """

    text: str
    calls: tuple[ToolCall, ...] = ()
    reasoning: str = ""
    stop: Stop = Stop.END
    usage: Usage | None = None
    model: str = ""
    attempts: int = 1
    ref: str = ""
    cost: int | None = None
    continuation: Continuation | None = None
    sent: str = ""


ModelEvent = TextDelta | ReasoningDelta | CallStarted | Beat | Remark | ExtraCall | ModelReply


@dataclass(frozen=True, slots=True)
class ModelProfile:
    """What is known of a model; None is not known. `small` asks for a short prompt and few tools."""

    context_tokens: int | None = None
    output_tokens: int | None = None
    images: bool | None = None
    tools: bool | None = None
    small: bool = False


Role = Literal["user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One message of a session's transcript, as stored: raw texts with labels, never a rendered prompt.

    `n` orders the session. `calls` belong to an assistant entry, `call` to a tool entry. `continuation` is with the
    entries of the turn that is running; it is not stored with them.
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
    """What the next request of a session would hold.

    limit: the most tokens it may have
    """

    session: str
    model: str
    sections: list[SectionAnswer]
    bytes: int
    tokens: int
    limit: int
