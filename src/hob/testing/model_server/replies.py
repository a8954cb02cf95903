"""What the fake model server is told to say: replies and faults as values."""

import json
from collections.abc import Mapping
from dataclasses import fields
from enum import StrEnum
from typing import Any

from hob.core.values import dataclass


class Fault(StrEnum):
    """Everything a model server can do wrong, and some oddities that are right but rare.

    A fault that a protocol has no place for changes nothing there (Gemini's arguments are never split).
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
    # oddities: the answer is whole
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
"""Faults after which there is an answer all the same."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer. `calls` are `(name, JSON arguments)`; `delay` (seconds) lies before the first byte, `pause` between
    events. `retry_after` (seconds) overrides what a rate-limiting fault says. `reasoning` is what the model thought;
    whether it is shown depends on what was asked for, as it does with the vendor. `truncated`: it ended at the limit of
    tokens.
    """

    text: str = ""
    calls: tuple[tuple[str, str], ...] = ()
    reasoning: str = ""
    fault: Fault | None = None
    delay: float = 0.0
    pause: float = 0.0
    retry_after: float | None = None
    truncated: bool = False


def reply_of(data: str | Mapping[str, Any]) -> Reply:
    """A reply from JSON: a text, or an object with the fields of `Reply`. Raises ValueError."""
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
