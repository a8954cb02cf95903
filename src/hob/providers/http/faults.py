"""What a model server means when it refuses: status, headers and body of its answer -> one `ModelError`.

Shared by all wires, since the servers behind them borrow each other's words. Pure: the time is passed in.
"""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from hob.core.errors import ModelError, ModelFault
from hob.core.translation.language import Translatable, joined, translatable
from hob.core.values import dataclass

_MAX_DETAIL = 300
_MIN_SECRET = 4  # what is shorter stands in every other word
_MAX_READ = 4_000  # characters; all patterns here are quick on that much, whatever it is
ADVICE = translatable("model.base_url and model.api_key")
"""Where the address and the key of a server are set, if no one knows better."""

# The many ways to say that the request does not fit into the model's context.
_OVERFLOW = re.compile(
    r"context[_ ]length|context[_ ]window|context size|maximum context|max(?:imum)? (?:model |prompt |input )?length"
    r"|prompt is too long|input is too long|too many (?:input )?tokens|request too large|request_too_large"
    r"|exceed\w* (?:the )?(?:available|max\w*|model'?s?|limit of) .{0,40}(?:context|tokens|length)"
    r"|exceed\w* context limit|payload size exceeds"
    r"|input token count .{0,40}exceeds|reduce the length|string_above_max_length|larger than .{0,20}context",
    re.IGNORECASE,
)
_BILLING = re.compile(
    r"insufficient[_ ](?:quota|credits?|balance|funds)|billing|credit balance|out of credits"
    r"|exceeded your current quota|payment[_ ]required|quota_exceeded|spending limit|specified (?:\w+ )?api usage limit"
    r"|credits? (?:is|are) depleted|(?:weekly|monthly) usage limit",
    re.IGNORECASE,
)
# Gemini says "quota" and "billing" of every limit; what is over in a moment says when, unless it is that of the day.
_PASSING = re.compile(r"retryDelay|retry in \d", re.IGNORECASE)
_NO_MODEL = re.compile(
    r"model[_ ]not[_ ]found|not a valid model|no such model|unknown model|invalid model"
    r"|model\b.{0,120}(?:does not exist|not found|not available|is not supported|decommissioned|not loaded)",
    re.IGNORECASE,
)
_AUTH = re.compile(
    r"(?:invalid|incorrect|missing|expired|no) (?:openai |x-)?api[ -]?key|api[_ ]key[_ ]invalid|invalid_api_key"
    r"|api key not valid|unauthori[sz]ed|authentication|permission[_ ]",
    re.IGNORECASE,
)
_FILTERED = re.compile(
    r"content[_ ]filter|content management policy|moderation|flagged|content[_ ]policy|safety", re.IGNORECASE
)
# OpenAI, Gemini and Cloudflare name the place; Anthropic says of it no more than "Request not allowed".
_REGION = re.compile(
    r"country, region,|user location is not supported|banned the country|\brequest not allowed"
    r"|\byour (?:current )?(?:country|region|territory|location)\b",
    re.IGNORECASE,
)
_RATE = re.compile(r"rate[_ ]?limit|too many requests", re.IGNORECASE)
_BUSY = re.compile(r"overload|capacity|unavailable|server_error|internal|timed? ?out|try again", re.IGNORECASE)

# Wider than what the prompt guard takes for a key: servers echo keys with stars in them, or half of one.
_KEYLIKE = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|key|pplx|tvly)[-_][\w*.-]{6,}"
    r"|\b(?-i:AIza|AQ\.|ya29\.|gh[opsru]_|github_pat_|glpat-|hf_|xox[a-z]-|A[KS]IA(?=[A-Z0-9*])|eyJ)[\w*.-]{6,}"
    r"|(?<=Bearer )\S+|(?<=://)[^\s/@]+(?=@)",
    re.IGNORECASE,
)
# Nothing is tried twice: what is not closed goes on to the end, and no tag holds the beginning of another.
_TAG = re.compile(r"<(?:style|script)\b.*?(?:</(?:style|script)>|\Z)|<[^<>]*>", re.IGNORECASE | re.DOTALL)

# "try again in 1m30.5s", "Please retry after 20 seconds", "retryDelay": "35s"
_HINT = re.compile(
    r"(?:(?:try|retry|again)\w*\b.{0,20}?\b(?:in|after)|retryDelay\W{1,4}) ?"
    r"((?:\d+(?:\.\d+)?\s*(?:ms|h|m|s)[a-z]*\s*)+)",
    re.IGNORECASE,
)
_SPAN = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|h|m|s)", re.IGNORECASE)
_UNIT = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}

_ADVICE: Mapping[ModelFault, str] = {
    ModelFault.AUTH: "{host} does not accept the API key; check {advice}",
    ModelFault.BILLING: "the account at {host} has no credit left; top it up or use another model",
    ModelFault.RATE_LIMIT: "{host} allows no more requests for now",
    ModelFault.OVERLOAD: "{host} cannot answer at the moment",
    ModelFault.CONTEXT_OVERFLOW: "the conversation is too long for the model",
    ModelFault.BAD_REQUEST: "{host} does not understand the request",
    ModelFault.NOT_FOUND: "{host} does not have this model here; check its name and {advice}",
    ModelFault.FILTERED: "{host} withheld the answer because of its content rules",
    ModelFault.EMPTY: "{host} gave no answer",
    ModelFault.GARBAGE: "{host} did not answer as a model server does; check {advice}",
}


@dataclass(frozen=True, slots=True)
class ProviderErrorBody:
    """What could be read from an error body."""

    message: str = ""
    code: str = ""


def read_failure(
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    *,
    host: str,
    now: datetime,
    secrets: tuple[str, ...] = (),
    advice: str = ADVICE,
) -> ModelError:
    """The error behind an answer that is not a success. `secrets` are cut out of whatever the server echoes.

    `advice` names where its address and key are set.
    """
    complaint = read_complaint(body)
    fault = classify(status, complaint)
    if fault is ModelFault.NOT_FOUND and 300 <= status < 400:
        complaint = ProviderErrorBody(f"it redirects to {headers.get('location', 'nowhere')}")
    wait = read_retry_after(headers, complaint.message, now) if fault in _WAITABLE else None
    return ModelError(fault, describe(fault, host, f"{status} {complaint.message}", secrets, advice), retry_after=wait)


def read_stream_error(error: Any, *, host: str, secrets: tuple[str, ...] = ()) -> ModelError:
    """The error that a server sent as an object inside an answer that had begun well."""
    complaint = _complaint_of({"error": error})
    try:
        status = int(complaint.code)
    except ValueError:
        status = 0
    fault = classify(status, complaint) if 400 <= status < 600 else classify(0, complaint)
    wait = read_retry_after({}, complaint.message, _LONG_AGO) if fault in _WAITABLE else None
    return ModelError(fault, describe(fault, host, complaint.message, secrets), retry_after=wait)


_WAITABLE = frozenset({ModelFault.RATE_LIMIT, ModelFault.OVERLOAD})
_LONG_AGO = datetime.fromtimestamp(0, UTC)


def classify(status: int, complaint: ProviderErrorBody) -> ModelFault:
    """The fault that a status (0: not known) and a complaint stand for."""
    words = f"{complaint.code} {complaint.message}"
    if status < 500 and status not in (401, 404) and _OVERFLOW.search(words):
        return ModelFault.CONTEXT_OVERFLOW
    if status in _PLAIN:
        return _PLAIN[status]
    if status == 403:
        return _first(words, ((_FILTERED, ModelFault.FILTERED), (_BILLING, ModelFault.BILLING)), ModelFault.AUTH)
    if status == 429:
        spent = _BILLING.search(words) and ("PerDay" in words or not _PASSING.search(words))
        return ModelFault.BILLING if spent else ModelFault.RATE_LIMIT
    if status >= 500:  # llama.cpp and friends complain of the length with a 500
        return ModelFault.CONTEXT_OVERFLOW if _OVERFLOW.search(words) else ModelFault.OVERLOAD
    if status >= 400:
        return _first(words, _OF_BAD_REQUESTS, ModelFault.BAD_REQUEST)
    if status >= 300:  # a redirect: the address is not the server's
        return ModelFault.NOT_FOUND
    return _first(words, _OF_STREAMS, ModelFault.OVERLOAD) if status == 0 else ModelFault.GARBAGE


_PLAIN: Mapping[int, ModelFault] = {
    401: ModelFault.AUTH,
    402: ModelFault.BILLING,
    404: ModelFault.NOT_FOUND,
    405: ModelFault.NOT_FOUND,
    407: ModelFault.AUTH,
    408: ModelFault.OVERLOAD,
    409: ModelFault.OVERLOAD,
    410: ModelFault.NOT_FOUND,
    413: ModelFault.CONTEXT_OVERFLOW,
    425: ModelFault.OVERLOAD,
    501: ModelFault.BAD_REQUEST,
    505: ModelFault.BAD_REQUEST,
}
_OF_BAD_REQUESTS = (
    (_AUTH, ModelFault.AUTH),
    (_BILLING, ModelFault.BILLING),
    (_FILTERED, ModelFault.FILTERED),
    (_NO_MODEL, ModelFault.NOT_FOUND),
    (_REGION, ModelFault.AUTH),
)
_OF_STREAMS = (
    (_RATE, ModelFault.RATE_LIMIT),
    (_BUSY, ModelFault.OVERLOAD),
    *_OF_BAD_REQUESTS,
    (re.compile(r"invalid_request", re.IGNORECASE), ModelFault.BAD_REQUEST),
)


def _first(words: str, rules: tuple[tuple[re.Pattern[str], ModelFault], ...], otherwise: ModelFault) -> ModelFault:
    return next((fault for pattern, fault in rules if pattern.search(words)), otherwise)


def read_complaint(body: bytes) -> ProviderErrorBody:
    """What an error body says, in any of the shapes that are about: JSON of several kinds, text, a web page."""
    text = body.decode("utf-8", "replace").strip()
    if text[:1] in ("{", "["):
        try:
            return _complaint_of(json.loads(text))
        except (ValueError, RecursionError):
            pass
    if text[:1] == "<":
        text = _TAG.sub(" ", text)
    return ProviderErrorBody(_one_line(text))


def _complaint_of(data: Any) -> ProviderErrorBody:
    if isinstance(data, list):  # Gemini's compatible endpoint wraps the object
        data = data[0] if data else {}
    if not isinstance(data, dict):
        return ProviderErrorBody(_one_line(str(data)))
    inner = data.get("error", data)
    if not isinstance(inner, dict):
        inner = {"message": inner}
    message = inner.get("message") or inner.get("detail") or data.get("message") or inner.get("msg") or ""
    if not isinstance(message, str):
        message = json.dumps(message, ensure_ascii=False)
    details = inner.get("details")
    if details:  # Gemini's retryDelay lies here
        message = f"{message[: _MAX_READ // 2]} {json.dumps(details, ensure_ascii=False)}"
    numeric = inner.get("code")
    if isinstance(numeric, int) and not isinstance(numeric, bool):
        return ProviderErrorBody(_one_line(message), str(numeric))
    codes = (inner.get(key) for key in ("code", "type", "status"))
    return ProviderErrorBody(_one_line(message), _one_line(" ".join(code for code in codes if isinstance(code, str))))


def _one_line(text: str) -> str:
    return " ".join(text[:_MAX_READ].split())


def describe(fault: ModelFault, host: str, said: str, secrets: tuple[str, ...] = (), advice: str = ADVICE) -> str:
    """One line for people: what to do, then what the server said, at most 300 characters of it and never a key."""
    lead = translatable(_ADVICE.get(fault, _ADVICE[ModelFault.EMPTY]), host=host, advice=advice)
    if fault is ModelFault.AUTH and _REGION.search(said):
        lead = translatable("{host} does not serve your country or network; choose another model", host=host)
    if isinstance(said, Translatable):  # Hob's own words
        return translatable("{advice} ({said})", advice=lead, said=said)
    quote = hide_keys(" ".join(said.split()), secrets)
    if len(quote) > _MAX_DETAIL:
        quote = quote[: _MAX_DETAIL - 1] + "…"
    return joined(" ", (lead, f"({quote})")) if quote else lead


def hide_keys(text: str, secrets: tuple[str, ...] = ()) -> str:
    """The text without these secrets and without anything that looks like a key."""
    for secret in sorted(secrets, key=len, reverse=True):  # one may be part of another
        if len(secret) >= _MIN_SECRET:
            text = text.replace(secret, "•••")
    return _KEYLIKE.sub("•••", text)


def read_retry_after(headers: Mapping[str, str], message: str, now: datetime) -> float | None:
    """Seconds the server asks to wait: `retry-after-ms`, `Retry-After` (seconds or HTTP date), or words in the body."""
    millis = _number(headers.get("retry-after-ms", ""))
    if millis is not None:
        return millis / 1000
    value = headers.get("retry-after", "").strip()
    if value:
        seconds = _number(value)
        if seconds is None:
            seconds = _seconds_until(value, now)
        if seconds is not None:
            return seconds
    hint = _HINT.search(message[:_MAX_READ])
    return sum(float(n) * _UNIT[unit.lower()] for n, unit in _SPAN.findall(hint[1])) if hint else None


def _number(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if 0 <= number < 1e9 else None  # nan and infinity are no waiting times


def _seconds_until(date: str, now: datetime) -> float | None:
    from email.utils import parsedate_to_datetime  # 10 ms of imports that only this rare header needs

    try:
        when = parsedate_to_datetime(date)
    except (ValueError, OverflowError):
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return max(0.0, (when - now).total_seconds())
