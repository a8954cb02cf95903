"""What is said to a language model and what it answers."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from hob.core.ids import BlobId, CallId, SessionKey
from hob.core.labels import Label
from hob.core.tools import ToolCall, ToolSpec


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call. `input` counts all input, cached reads and writes included; `output` reasoning too."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            self.reasoning + other.reasoning,
        )


@dataclass(frozen=True, slots=True)
class Price:
    """Micro-dollars per million tokens. A price that is not known is None at the port, never zero."""

    input: int
    output: int
    cache_read: int
    cache_write: int

    def cost(self, usage: Usage) -> int:
        """Micro-dollars, rounded up."""
        plain = max(0, usage.input - usage.cache_read - usage.cache_write)
        total = (
            plain * self.input
            + usage.cache_read * self.cache_read
            + usage.cache_write * self.cache_write
            + usage.output * self.output
        )
        return -(-total // 1_000_000)


@dataclass(frozen=True, slots=True)
class Image:
    """An image for the model, by its blob."""

    blob: BlobId
    media_type: str


@dataclass(frozen=True, slots=True)
class UserMessage:
    """What the user side says: one or more labelled texts already rendered by the prompt."""

    text: str
    images: tuple[Image, ...] = ()


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """What the model said earlier, with the calls it asked for."""

    text: str
    calls: tuple[ToolCall, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolMessage:
    """What one call gave."""

    call: CallId
    text: str
    is_error: bool = False


ModelMessage = UserMessage | AssistantMessage | ToolMessage


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One call of a model. `system` is the stable prefix; `cache_key` tells a provider which calls share it.

    `patience` is the seconds the whole call may spend on retries before it must give up: short for a person who
    waits, long for background work.
    """

    model: str
    system: str
    messages: tuple[ModelMessage, ...]
    tools: tuple[ToolSpec, ...] = ()
    max_tokens: int = 4096
    cache_key: SessionKey | None = None
    patience: float = 8.0


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


class Stop(StrEnum):
    """Why the model stopped."""

    END = "end"
    TOOLS = "tools"
    LENGTH = "length"
    FILTER = "filter"


@dataclass(frozen=True, slots=True)
class ModelReply:
    """The whole answer; always the last event of a stream that did not fail.

    `usage` is None when the provider did not tell. `attempts` is how many requests it took.
    """

    text: str
    calls: tuple[ToolCall, ...] = ()
    reasoning: str = ""
    stop: Stop = Stop.END
    usage: Usage | None = None
    model: str = ""
    attempts: int = 1


ModelEvent = TextDelta | ReasoningDelta | CallStarted | Beat | ModelReply

Role = Literal["user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One message of a session's transcript, as stored: raw texts with labels, never a rendered prompt.

    `n` orders the session. `calls` belong to an assistant entry, `call` to a tool entry.
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
