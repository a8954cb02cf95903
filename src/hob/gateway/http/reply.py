"""HTTP answers: JSON, ETag, failures with their status."""

import hashlib
import json
from collections.abc import Mapping
from typing import Generic, NotRequired, TypedDict, TypeVar

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import Response

from hob.core.translation.language import LANGUAGES, Translatable, packed, texts_in
from hob.gateway.http.failures import Failure

PROBLEM = "application/problem+json"
TEXTS = "x-hob-texts"
"""The header by which Hob's commands ask for the texts of an answer with message and values, which they translate."""

T = TypeVar("T")


class Problem(TypedDict):
    """What went wrong, as RFC 9457 has it.

    detail: for people
    code: for programs
    param: the field that is wrong, where it is one
    """

    type: str
    title: str
    status: int
    detail: str
    code: str
    param: NotRequired[str]


def requested_language(request: Request) -> str:
    """The language that the caller asks for (https://www.rfc-editor.org/rfc/rfc9110#section-12.5.4); empty: none."""
    wanted = request.headers.get("accept-language", "")[:2].lower()
    return wanted if wanted in LANGUAGES else ""


def language_of(request: Request) -> str:
    """The language of texts for people: the one asked for, else English."""
    return requested_language(request) or "en"


class JsonResponse(Response, Generic[T]):
    """Compact UTF-8 JSON of this form; `after` is done once it was sent."""

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
        """The same, with the texts in it that can be translated."""
        texts = texts_in(self._value)
        if not texts or not isinstance(self._value, Mapping):
            return self
        told = encoded({**self._value, "texts": texts})
        return Response(told, self.status_code, media_type=self.media_type, background=self.background)


def json_response(
    value: T, status: int = 200, headers: Mapping[str, str] | None = None, *, after: BackgroundTask | None = None
) -> JsonResponse[T]:
    """Compact UTF-8 JSON; `after` is done once it was sent."""
    return JsonResponse(value, status, headers, after=after)


def encoded(value: object) -> bytes:
    """Compact UTF-8 JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def failure_response(failure: Failure) -> Response:
    """The failure as `{error: {code, message}}` with its status, and what goes with it in headers."""
    return json_response(failure.view(), failure.status, failure_headers(failure))


def problem_response(failure: Failure) -> Response:
    """The failure in the standard's form (https://www.rfc-editor.org/rfc/rfc9457), its code beside it."""
    title = failure.code.replace("_", " ")
    body = {"type": "about:blank", "title": title, "status": failure.status, "detail": failure.message}
    body |= {"code": failure.code, **({} if failure.param is None else {"param": failure.param})}
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
    return Response(text, failure.status, failure_headers(failure), media_type=PROBLEM)


def etagged(request: Request, value: T, body: bytes | None = None) -> JsonResponse[T]:
    """JSON with an ETag; 304 where the caller has the same already. `body`: the value as `encoded` gave it before."""
    response = JsonResponse(value, body=body)
    tag = f'"{hashlib.sha256(response.body).hexdigest()[:24]}"'
    if tag in request.headers.get("if-none-match", ""):
        response.status_code, response.body = 304, b""
        response.init_headers({"etag": tag})
    response.headers["etag"] = tag
    return response


def packed_failure_response(failure: Failure, text: Translatable) -> Response:
    """The same for commands at the Unix socket: with message and values of the text, which they translate."""
    told = {"error": {**failure.view()["error"], "text": packed(text)}}
    return json_response(told, failure.status, failure_headers(failure))


def failure_headers(failure: Failure) -> Mapping[str, str]:
    """What the headers of an answer tell of a failure."""
    headers = {} if failure.retry_after is None else {"retry-after": str(failure.retry_after)}
    if failure.code == "unauthorized":
        headers["www-authenticate"] = "Bearer"
    return headers
