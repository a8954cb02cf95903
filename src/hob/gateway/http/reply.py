"""HTTP answers."""

import json
from collections.abc import Mapping
from typing import Any

from starlette.background import BackgroundTask
from starlette.responses import Response

from hob.gateway.http.failures import Failure


def json_response(
    value: Any, status: int = 200, headers: Mapping[str, str] | None = None, *, after: BackgroundTask | None = None
) -> Response:
    """Compact UTF-8 JSON; `after` is done once it was sent."""
    body = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    return Response(body, status, headers, media_type="application/json", background=after)


def failure_response(failure: Failure) -> Response:
    """The failure as `{error: {code, message}}` with its status, and what goes with it in headers."""
    return json_response(failure.view(), failure.status, failure_headers(failure))


def failure_headers(failure: Failure) -> Mapping[str, str]:
    """What the headers of an answer tell of a failure."""
    headers = {} if failure.retry_after is None else {"retry-after": str(failure.retry_after)}
    if failure.code == "unauthorized":
        headers["www-authenticate"] = "Bearer"
    return headers
