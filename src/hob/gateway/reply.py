"""HTTP answers."""

import json
from collections.abc import Mapping
from typing import Any

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import Response

from hob.core.errors import HobError
from hob.gateway.api import Api, failure_of


def json_response(
    value: Any, status: int = 200, headers: Mapping[str, str] | None = None, *, after: BackgroundTask | None = None
) -> Response:
    """Compact UTF-8 JSON; `after` is done once it was sent."""
    body = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    return Response(body, status, headers, media_type="application/json", background=after)


def error_response(error: HobError) -> Response:
    """The error as `{error: {code, message}}` with its HTTP status and, where waiting helps, Retry-After."""
    failure = failure_of(error)
    headers = None if failure.retry_after is None else {"retry-after": str(failure.retry_after)}
    return json_response(failure.view(), failure.status, headers)


def api_of(request: Request) -> Api:
    """What `build_api` was given."""
    api: Api = request.app.state.api
    return api
