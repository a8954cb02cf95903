"""Events of coding CLIs, independent of the CLI."""

import re

from hob.core.errors import ModelFault
from hob.core.models import StopReason, Usage
from hob.core.values import dataclass
from hob.providers.http.faults import classify, parse_error_body

# Meaning of a CLI's complaint. CLIs pass on server messages and add text of their own.

_LOGIN = re.compile(
    r"not logged in|log ?in\b|/login|set an auth|auth method|authenticat|oauth|credential|no authentication"
    r"|invalid (?:x-)?api[ -]key|missing (?:the )?environment variable",
    re.IGNORECASE,
)
_LIMIT = re.compile(r"(?:usage|session|weekly|5-hour|rate) limit|hit your (?:\w+ )?limit|limit reached", re.IGNORECASE)
_ROOM = re.compile(r"ran out of room|prompt is too long|context window|too many tokens", re.IGNORECASE)
_BUSY = re.compile(
    r"high demand|overload|temporar|unavailable|server[_ ]error|internal (?:server )?error|at capacity", re.IGNORECASE
)
_MODEL = re.compile(
    r"requires? an explicit model|no model (?:is |was )?(?:selected|configured|specified)", re.IGNORECASE
)
_CUT = re.compile(
    r"stream (?:disconnected|ended|closed)|closed before|without (?:a )?finish|failed to finalize|mid-response"
    r"|connection (?:closed|reset|lost)|terminated|socket hang up|premature",
    re.IGNORECASE,
)
_NETWORK = re.compile(
    r"waiting for network|lookup address|error sending request|unable to connect|connection (?:error|failed|refused)"
    r"|\bECONN\w+|\bENOTFOUND\b|\bEAI_AGAIN\b|fetch failed|\bnetwork\b",
    re.IGNORECASE,
)
_EMPTY = re.compile(r"empty response|no response was returned|no visible output|output token maximum", re.IGNORECASE)
_OPTION = re.compile(
    r"unknown option|unexpected argument|unknown argument|unrecognized option|invalid value '[^']*' for '-",
    re.IGNORECASE,
)
_STATUS = re.compile(r"\b(?:status|error|http|code)\D{0,12}([45]\d\d)\b", re.IGNORECASE)

_RULES = (
    (_ROOM, ModelFault.CONTEXT_OVERFLOW),
    (_LIMIT, ModelFault.RATE_LIMIT),
    (_MODEL, ModelFault.NOT_FOUND),
    (_LOGIN, ModelFault.AUTH),
    (_BUSY, ModelFault.OVERLOAD),
    (_EMPTY, ModelFault.EMPTY),
    (_CUT, ModelFault.CUT),
    (_NETWORK, ModelFault.NETWORK),
    (_OPTION, ModelFault.SETTINGS),
)


def classify_fault(said: str, status: int = 0, otherwise: ModelFault = ModelFault.CUT) -> ModelFault:
    """Return the fault behind a complaint; `status` is the HTTP status of the model's server, if the CLI reports it.

    A complaint that explains nothing gives `otherwise`.
    """
    said = said[:4000]
    if not status:
        found = _STATUS.search(said)
        status = int(found[1]) if found else 0
    brace = said.find("{")
    told = said[brace : said.rfind("}") + 1 or None] if brace >= 0 else said
    complaint = parse_error_body(told.encode("utf-8", "replace"))
    if not status and complaint.code.isdecimal() and len(complaint.code) == 3:
        status = int(complaint.code)
    if status:
        fault = classify(status, complaint)
        return ModelFault.CONTEXT_OVERFLOW if fault is ModelFault.BAD_REQUEST and _ROOM.search(said) else fault
    for pattern, fault in _RULES:
        if pattern.search(said):
            return fault
    fault = classify(0, complaint)
    return otherwise if fault is ModelFault.OVERLOAD else fault


@dataclass(frozen=True, slots=True)
class CliOpened:
    """The CLI's conversation id and the model it uses; either may be empty."""

    session: str
    model: str = ""


@dataclass(frozen=True, slots=True)
class CliText:
    """A piece of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class CliReasoning:
    """A piece of the reasoning."""

    text: str


@dataclass(frozen=True, slots=True)
class CliRetrying:
    """The CLI failed and will retry on its own, after `delay` seconds if it says so."""

    fault: ModelFault
    said: str = ""
    delay: float | None = None


@dataclass(frozen=True, slots=True)
class CliRefused:
    """The CLI's model tried to use one of the CLI's tools, which are disabled."""

    tool: str


@dataclass(frozen=True, slots=True)
class CliFailed:
    """The run failed; `resets_at` (Unix seconds) is when it may work again, if the CLI says so.

    `cost` (micro-dollars) was charged anyway.
    """

    fault: ModelFault
    said: str = ""
    resets_at: float | None = None
    cost: int | None = None


@dataclass(frozen=True, slots=True)
class CliFinished:
    """The answer is complete. `cost` is in micro-dollars."""

    usage: Usage | None = None
    cost: int | None = None
    stop: StopReason = StopReason.END


Event = CliOpened | CliText | CliReasoning | CliRetrying | CliRefused | CliFailed | CliFinished
