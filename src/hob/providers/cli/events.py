"""What a coding CLI says, whichever it is."""

from dataclasses import dataclass

from hob.core.errors import ModelFault
from hob.core.models import Stop, Usage


@dataclass(frozen=True, slots=True)
class CliOpened:
    """The CLI's conversation has this id; `model` is the one it asks. Either may be empty."""

    session: str
    model: str = ""


@dataclass(frozen=True, slots=True)
class CliSaid:
    """A piece of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class CliThought:
    """A piece of the reasoning."""

    text: str


@dataclass(frozen=True, slots=True)
class CliRetrying:
    """The CLI failed and will ask again by itself, after `delay` seconds where it tells how many."""

    fault: ModelFault
    said: str = ""
    delay: float | None = None


@dataclass(frozen=True, slots=True)
class CliRefused:
    """The CLI's model reached for a tool of the CLI, which it is not given."""

    tool: str


@dataclass(frozen=True, slots=True)
class CliFailed:
    """The run failed; `resets_at` (seconds since 1970) is when it may work again, where the CLI tells.

    `cost` (micro-dollars) is what it took all the same.
    """

    fault: ModelFault
    said: str = ""
    resets_at: float | None = None
    cost: int | None = None


@dataclass(frozen=True, slots=True)
class CliFinished:
    """The answer is whole. `cost` is in micro-dollars."""

    usage: Usage | None = None
    cost: int | None = None
    stop: Stop = Stop.END


Event = CliOpened | CliSaid | CliThought | CliRetrying | CliRefused | CliFailed | CliFinished
