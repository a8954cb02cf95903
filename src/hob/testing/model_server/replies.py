"""Scripted replies and faults of the fake model server."""

import json
from collections.abc import Mapping
from dataclasses import fields
from enum import StrEnum
from typing import Any

from hob.core.values import dataclass


class Fault(StrEnum):
    """Failures of a model server, and some rare but valid oddities.

    A fault that does not exist in a protocol changes nothing there (Gemini's arguments are never split).
    """

    ERROR_500 = "error_500"
    ERROR_503 = "error_503"
    OVERLOADED = "overloaded"
    RATE_SHORT = "rate_short"
    RATE_LONG = "rate_long"
    RATE_DATE = "rate_date"
    UNAUTHORIZED = "unauthorized"
    FORBIDDEN = "forbidden"
    PAYMENT = "payment"
    QUOTA = "quota"
    BAD_REQUEST = "bad_request"
    NOT_FOUND = "not_found"
    OVERFLOW = "overflow"
    FILTERED = "filtered"
    HTML_200 = "html_200"
    HTML_502 = "html_502"
    GARBAGE = "garbage"
    EMPTY_BODY = "empty_body"
    EMPTY_ANSWER = "empty_answer"
    CUT_BEFORE = "cut_before"
    CUT_HEADERS = "cut_headers"
    CUT_JSON = "cut_json"
    CUT_MIDDLE = "cut_middle"
    CUT_AFTER_TEXT = "cut_after_text"
    ERROR_FIRST = "error_first"
    ERROR_EVENT = "error_event"
    SILENCE = "silence"
    SILENCE_MIDDLE = "silence_middle"
    # oddities: the answer is complete
    PINGS = "pings"
    CRLF = "crlf"
    DRIP = "drip"
    NO_FINISH = "no_finish"
    NO_DONE = "no_done"
    NO_USAGE = "no_usage"
    NO_INDEX = "no_index"
    NO_IDS = "no_ids"
    DUPLICATE_IDS = "duplicate_ids"
    INTERLEAVED = "interleaved"
    SPLIT_ESCAPE = "split_escape"
    PLAIN_JSON = "plain_json"
    REDACTED = "redacted"


ODDITIES = frozenset(
    {
        Fault.PINGS,
        Fault.CRLF,
        Fault.DRIP,
        Fault.NO_FINISH,
        Fault.NO_DONE,
        Fault.NO_USAGE,
        Fault.NO_INDEX,
        Fault.NO_IDS,
        Fault.DUPLICATE_IDS,
        Fault.INTERLEAVED,
        Fault.SPLIT_ESCAPE,
        Fault.PLAIN_JSON,
        Fault.REDACTED,
    }
)
"""Faults with a complete answer."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer. `calls` are `(name, JSON arguments)`; `delay` (seconds) precedes the first byte, `pause` separates
    events. `retry_after` (seconds) overrides that of a rate-limiting fault. `reasoning` is the model's reasoning; as
    with the real vendor, the request decides whether it is shown. `truncated`: it ended at the token limit.
    """

    text: str = ""
    calls: tuple[tuple[str, str], ...] = ()
    reasoning: str = ""
    fault: Fault | None = None
    delay: float = 0.0
    pause: float = 0.0
    retry_after: float | None = None
    truncated: bool = False


def parse_reply(data: str | Mapping[str, Any]) -> Reply:
    """Parse a reply from JSON: a text, or an object with the fields of `Reply`. Raises ValueError."""
    if isinstance(data, str):
        return Reply(data)
    unknown = set(data) - {field.name for field in fields(Reply)}
    if unknown:
        raise ValueError(f"a reply has no {', '.join(sorted(unknown))}")
    values = dict(data)
    if "calls" in values:
        values["calls"] = tuple((name, _json_text(arguments)) for name, arguments in values["calls"])
    if values.get("fault"):
        values["fault"] = Fault(values["fault"])
    return Reply(**values)


def _json_text(arguments: object) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)
