"""Errors of model servers: status, headers and body become a `ModelError`, with how long to wait before a retry.

Shared by all wires, since their servers use similar messages. Pure: the time is a parameter.
"""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from hob.core.errors import ModelError, ModelFault
from hob.core.translation.language import Translatable, join_texts, translatable
from hob.core.values import dataclass

_MAX_DETAIL = 300
_MIN_SECRET = 4  # shorter secrets are part of ordinary words
_MAX_READ = 4_000  # characters; all patterns here are fast on that much input
ADVICE = translatable("model.base_url and model.api_key")
"""Default hint at where a server's address and key are set."""

# Messages for a request that exceeds the model's context.
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
# Gemini mentions "quota" and "billing" for every limit; a temporary one has a retry time, except daily limits.
_TEMPORARY = re.compile(r"retryDelay|retry in \d", re.IGNORECASE)
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
# OpenAI, Gemini and Cloudflare mention the location; Anthropic only says "Request not allowed".
_REGION = re.compile(
    r"country, region,|user location is not supported|banned the country|\brequest not allowed"
    r"|\byour (?:current )?(?:country|region|territory|location)\b",
    re.IGNORECASE,
)
_RATE = re.compile(r"rate[_ ]?limit|too many requests", re.IGNORECASE)
_BUSY = re.compile(r"overload|capacity|unavailable|server_error|internal|timed? ?out|try again", re.IGNORECASE)

# Wider than the prompt guard's key patterns: servers echo keys with asterisks, or in part.
_KEYLIKE = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|key|pplx|tvly)[-_][\w*.-]{6,}"
    r"|\b(?-i:AIza|AQ\.|ya29\.|gh[opsru]_|github_pat_|glpat-|hf_|xox[a-z]-|A[KS]IA(?=[A-Z0-9*])|eyJ)[\w*.-]{6,}"
    r"|(?<=Bearer )\S+|(?<=://)[^\s/@]+(?=@)",
    re.IGNORECASE,
)
# Linear time: an unclosed element extends to the end, and no tag contains the beginning of another.
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
    """Contents of an error body."""

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
    """Return the error for an unsuccessful response. `secrets` are removed from the server's text.

    `advice` says where the server's address and key are set.
    """
    complaint = parse_error_body(body)
    fault = classify(status, complaint)
    if fault is ModelFault.NOT_FOUND and 300 <= status < 400:
        complaint = ProviderErrorBody(f"it redirects to {headers.get('location', 'nowhere')}")
    wait = read_retry_after(headers, complaint.message, now) if fault in _WAITABLE else None
    return ModelError(fault, describe(fault, host, f"{status} {complaint.message}", secrets, advice), retry_after=wait)


def read_stream_error(error: Any, *, host: str, secrets: tuple[str, ...] = ()) -> ModelError:
    """Return the error for an error object inside an answer that began normally."""
    complaint = _parse_error({"error": error})
    try:
        status = int(complaint.code)
    except ValueError:
        status = 0
    fault = classify(status, complaint) if 400 <= status < 600 else classify(0, complaint)
    wait = read_retry_after({}, complaint.message, _EPOCH) if fault in _WAITABLE else None
    return ModelError(fault, describe(fault, host, complaint.message, secrets), retry_after=wait)


_WAITABLE = frozenset({ModelFault.RATE_LIMIT, ModelFault.OVERLOAD})
_EPOCH = datetime.fromtimestamp(0, UTC)


def classify(status: int, complaint: ProviderErrorBody) -> ModelFault:
    """Return the fault for a status (0 if unknown) and an error body."""
    words = f"{complaint.code} {complaint.message}"
    if status < 500 and status not in (401, 404) and _OVERFLOW.search(words):
        return ModelFault.CONTEXT_OVERFLOW
    if status in _STATUS_FAULTS:
        return _STATUS_FAULTS[status]
    if status == 403:
        return _first_match(words, ((_FILTERED, ModelFault.FILTERED), (_BILLING, ModelFault.BILLING)), ModelFault.AUTH)
    if status == 429:
        spent = _BILLING.search(words) and ("PerDay" in words or not _TEMPORARY.search(words))
        return ModelFault.BILLING if spent else ModelFault.RATE_LIMIT
    if status >= 500:  # llama.cpp and others report an overlong request with a 500
        return ModelFault.CONTEXT_OVERFLOW if _OVERFLOW.search(words) else ModelFault.OVERLOAD
    if status >= 400:
        return _first_match(words, _BAD_REQUEST_RULES, ModelFault.BAD_REQUEST)
    if status >= 300:  # a redirect: the address is wrong
        return ModelFault.NOT_FOUND
    return _first_match(words, _STREAM_RULES, ModelFault.OVERLOAD) if status == 0 else ModelFault.GARBAGE


_STATUS_FAULTS: Mapping[int, ModelFault] = {
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
_BAD_REQUEST_RULES = (
    (_AUTH, ModelFault.AUTH),
    (_BILLING, ModelFault.BILLING),
    (_FILTERED, ModelFault.FILTERED),
    (_NO_MODEL, ModelFault.NOT_FOUND),
    (_REGION, ModelFault.AUTH),
)
_STREAM_RULES = (
    (_RATE, ModelFault.RATE_LIMIT),
    (_BUSY, ModelFault.OVERLOAD),
    *_BAD_REQUEST_RULES,
    (re.compile(r"invalid_request", re.IGNORECASE), ModelFault.BAD_REQUEST),
)


def _first_match(
    words: str, rules: tuple[tuple[re.Pattern[str], ModelFault], ...], otherwise: ModelFault
) -> ModelFault:
    return next((fault for pattern, fault in rules if pattern.search(words)), otherwise)


def parse_error_body(body: bytes) -> ProviderErrorBody:
    """Parse an error body in any common form: several kinds of JSON, text, a web page."""
    text = body.decode("utf-8", "replace").strip()
    if text[:1] in ("{", "["):
        try:
            return _parse_error(json.loads(text))
        except (ValueError, RecursionError):
            pass
    if text[:1] == "<":
        text = _TAG.sub(" ", text)
    return ProviderErrorBody(_one_line(text))


def _parse_error(data: Any) -> ProviderErrorBody:
    if isinstance(data, list):  # Gemini's compatible endpoint wraps the object in a list
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
    if details:  # contains Gemini's retryDelay
        message = f"{message[: _MAX_READ // 2]} {json.dumps(details, ensure_ascii=False)}"
    numeric = inner.get("code")
    if isinstance(numeric, int) and not isinstance(numeric, bool):
        return ProviderErrorBody(_one_line(message), str(numeric))
    codes = (inner.get(key) for key in ("code", "type", "status"))
    return ProviderErrorBody(_one_line(message), _one_line(" ".join(code for code in codes if isinstance(code, str))))


def _one_line(text: str) -> str:
    return " ".join(text[:_MAX_READ].split())


def describe(fault: ModelFault, host: str, said: str, secrets: tuple[str, ...] = (), advice: str = ADVICE) -> str:
    """Return one line for people: what to do, then up to 300 characters of the server's text, never a key."""
    lead = translatable(_ADVICE.get(fault, _ADVICE[ModelFault.EMPTY]), host=host, advice=advice)
    if fault is ModelFault.AUTH and _REGION.search(said):
        lead = translatable("{host} does not serve your country or network; choose another model", host=host)
    if isinstance(said, Translatable):  # Hob's own text
        return translatable("{advice} ({said})", advice=lead, said=said)
    quote = hide_keys(" ".join(said.split()), secrets)
    if len(quote) > _MAX_DETAIL:
        quote = quote[: _MAX_DETAIL - 1] + "…"
    return join_texts(" ", (lead, f"({quote})")) if quote else lead


def hide_keys(text: str, secrets: tuple[str, ...] = ()) -> str:
    """Replace these secrets and anything that looks like a key."""
    for secret in sorted(secrets, key=len, reverse=True):  # one may contain another
        if len(secret) >= _MIN_SECRET:
            text = text.replace(secret, "•••")
    return _KEYLIKE.sub("•••", text)


def read_retry_after(headers: Mapping[str, str], message: str, now: datetime) -> float | None:
    """Return the seconds to wait according to `retry-after-ms`, `Retry-After` (seconds or HTTP date), or the message
    text.
    """
    millis = _parse_number(headers.get("retry-after-ms", ""))
    if millis is not None:
        return millis / 1000
    value = headers.get("retry-after", "").strip()
    if value:
        seconds = _parse_number(value)
        if seconds is None:
            seconds = _seconds_until(value, now)
        if seconds is not None:
            return seconds
    hint = _HINT.search(message[:_MAX_READ])
    return sum(float(n) * _UNIT[unit.lower()] for n, unit in _SPAN.findall(hint[1])) if hint else None


def _parse_number(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if 0 <= number < 1e9 else None  # excludes nan and infinity


def _seconds_until(date: str, now: datetime) -> float | None:
    from email.utils import parsedate_to_datetime  # 10 ms of imports, needed only for this rare header

    try:
        when = parsedate_to_datetime(date)
    except (ValueError, OverflowError):
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return max(0.0, (when - now).total_seconds())
