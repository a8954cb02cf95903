"""HTTP answers: JSON, ETag, failures with their status."""

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Generic, NotRequired, TypedDict, TypeVar

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import Response

from hob.core.lazy import Lazy
from hob.core.translation.language import LANGUAGES, Translatable, collect_texts, pack_text
from hob.gateway.http.failures import Failure

PROBLEM = "application/problem+json"
TEXTS = "x-hob-texts"
"""Header by which Hob's commands request texts as message and values, which they translate."""

T = TypeVar("T")
_ENCODER = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":"))


@Lazy
def _dumps() -> Callable[[object], bytes]:
    from orjson import dumps

    return dumps


class Problem(TypedDict):
    """An error as in RFC 9457.

    detail: for people
    code: for programs
    param: the invalid field, if any
    """

    type: str
    title: str
    status: int
    detail: str
    code: str
    param: NotRequired[str]


def requested_language(request: Request) -> str:
    """Return the language the caller requests, or an empty text. https://www.rfc-editor.org/rfc/rfc9110#section-12.5.4"""
    wanted = request.headers.get("accept-language", "")[:2].lower()
    return wanted if wanted in LANGUAGES else ""


def language_of(request: Request) -> str:
    """Return the language of texts for people: the requested one, else English."""
    return requested_language(request) or "en"


class JsonResponse(Response, Generic[T]):
    """Compact UTF-8 JSON of this form; `after` runs once it is sent."""

    media_type = "application/json"

    def __init__(
        self,
        value: T,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        *,
        after: BackgroundTask | None = None,
        body: bytes | None = None,
    ) -> None:
        self._value = value
        super().__init__(encoded(value) if body is None else body, status, headers, background=after)

    def with_texts(self) -> Response:
        """Return the answer with its translatable texts."""
        texts = collect_texts(self._value)
        if not texts or not isinstance(self._value, Mapping):
            return self
        told = encoded({**self._value, "texts": texts})
        return Response(told, self.status_code, media_type=self.media_type, background=self.background)


def json_response(
    value: T, status: int = 200, headers: Mapping[str, str] | None = None, *, after: BackgroundTask | None = None
) -> JsonResponse[T]:
    """Return compact UTF-8 JSON; `after` runs once it is sent."""
    return JsonResponse(value, status, headers, after=after)


def encoded(value: object) -> bytes:
    """Return compact UTF-8 JSON. Numbers that JSON lacks, e.g. NaN, become null."""
    try:
        return _dumps()(value)
    except TypeError:  # integers over 64 bits, keys other than plain texts
        pass
    return _ENCODER.encode(value).encode()


def failure_response(failure: Failure) -> Response:
    """Return the failure as `{error: {code, message}}` with its status and headers."""
    return json_response(failure.view(), failure.status, failure_headers(failure))


def problem_response(failure: Failure) -> Response:
    """Return the failure as problem details (https://www.rfc-editor.org/rfc/rfc9457), with its code."""
    title = failure.code.replace("_", " ")
    body = {"type": "about:blank", "title": title, "status": failure.status, "detail": failure.message}
    body |= {"code": failure.code, **({} if failure.param is None else {"param": failure.param})}
    return Response(encoded(body), failure.status, failure_headers(failure), media_type=PROBLEM)


def etagged(request: Request, value: T, body: bytes | None = None) -> JsonResponse[T]:
    """Return JSON with an ETag, or 304 if the caller has this version. `body`: the value, already `encoded`."""
    response = JsonResponse(value, body=body)
    tag = f'"{hashlib.sha256(response.body).hexdigest()[:24]}"'
    if tag in request.headers.get("if-none-match", ""):
        response.status_code, response.body = 304, b""
        response.init_headers({"etag": tag})
    response.headers["etag"] = tag
    return response


def packed_failure_response(failure: Failure, text: Translatable) -> Response:
    """Return the failure for commands at the Unix socket, with the text's message and values to translate."""
    told = {"error": {**failure.view()["error"], "text": pack_text(text)}}
    return json_response(told, failure.status, failure_headers(failure))


def failure_headers(failure: Failure) -> Mapping[str, str]:
    """Return the headers of a failure."""
    headers = {} if failure.retry_after is None else {"retry-after": str(failure.retry_after)}
    if failure.code == "unauthorized":
        headers["www-authenticate"] = "Bearer"
    return headers
