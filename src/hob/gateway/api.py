"""The ASGI application: who may call, which route answers, how an error looks. It decides nothing itself."""

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from hob.bus import Hub
from hob.core.clock import Clock
from hob.core.errors import (
    Busy,
    BusyScope,
    HobError,
    InvalidRequest,
    NotAllowed,
    NotConfigured,
    NotFound,
    Stopping,
    StoreError,
    StoreFull,
)
from hob.core.ports.accept import Accept
from hob.gateway.settings import GatewaySettings
from hob.gateway.tokens import bearer_matches
from hob.store import Store

log = logging.getLogger(__name__)


class Operations(Protocol):
    """What the routes may set in motion; the commands reach the same."""

    async def retry(self, id: str) -> Mapping[str, Any]:
        """Bring back what failed or was set aside. Raises NotFound."""
        ...

    async def status(self) -> Mapping[str, Any]:
        """How Hob is."""
        ...

    async def prompt(self, session: str) -> Mapping[str, Any]:
        """What the next request of a session would hold, in bytes and tokens by section."""
        ...

    async def backup(self, file: Path) -> Mapping[str, Any]:
        """Write a consistent copy of the database."""
        ...

    def hand_over(self) -> None:
        """End after the work in hand, since a daemon wants the home. Raises NotAllowed in the daemon itself."""
        ...


@dataclass(frozen=True, slots=True)
class Api:
    """Everything the routes need."""

    accept: Accept
    store: Store
    hub: Hub
    operations: Operations
    settings: GatewaySettings
    clock: Clock
    token: str


def json_response(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Compact UTF-8 JSON."""
    body = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    return Response(body, status, headers, media_type="application/json")


def error_response(error: HobError) -> Response:
    """The error as `{error: {code, message}}` with its HTTP status and, where waiting helps, Retry-After."""
    status, code, headers = _status_of(error)
    return json_response({"error": {"code": code, "message": str(error)}}, status, headers)


def _status_of(error: HobError) -> tuple[int, str, dict[str, str]]:
    match error:
        case Busy():
            status = 503 if error.scope is BusyScope.TOTAL else 429
            return status, f"busy_{error.scope}", {"retry-after": str(max(1, round(error.retry_after)))}
        case Stopping():
            return 503, "stopping", {"retry-after": "2"}
        case StoreFull():
            return 507, "store_full", {"retry-after": "30"}
        case StoreError():
            return 503, "store", {"retry-after": "30"}
        case InvalidRequest():
            return 400, "invalid_request", {}
        case NotAllowed():
            return 403, "not_allowed", {}
        case NotFound():
            return 404, "not_found", {}
        case NotConfigured():
            return 503, "not_configured", {}
        case _:
            return 500, "internal", {}


def build_api(api: Api) -> ASGIApp:
    """The application without its door: whoever reaches it is the owner."""
    from hob.gateway.routes import chat, state

    app = Starlette(
        routes=[
            Route("/chat", chat.post, methods=["POST"]),
            Route("/chat/{id}", chat.get, methods=["GET"]),
            Route("/health", state.health, methods=["GET"]),
            Route("/status", state.status, methods=["GET"]),
            Route("/tasks", state.tasks, methods=["GET"]),
            Route("/timeline", state.timeline, methods=["GET"]),
            Route("/prompt", state.prompt, methods=["GET"]),
            Route("/export", state.export, methods=["GET"]),
            Route("/retry/{id}", state.retry, methods=["POST"]),
            Route("/backup", state.backup, methods=["POST"]),
            Route("/hand-over", state.hand_over, methods=["POST"]),
        ],
        exception_handlers={HobError: _on_hob_error, HTTPException: _on_http_error},
    )
    app.state.api = api
    return app


def api_of(request: Request) -> Api:
    """What `build_api` was given."""
    api: Api = request.app.state.api
    return api


async def _on_hob_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HobError)  # noqa: S101 - registered for this class only
    if type(error) is HobError:
        log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return error_response(error)


async def _on_http_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for this class only
    code = {404: "not_found", 405: "method_not_allowed"}.get(error.status_code, "http")
    headers = dict(error.headers or {})
    return json_response({"error": {"code": code, "message": error.detail}}, error.status_code, headers)


LOCAL_ONLY = frozenset({"/backup", "/hand-over"})
"""Routes that act on the machine itself; only the Unix socket reaches them."""


class Door:
    """Wraps the application for TCP: every call carries the token, and the body has a limit."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            refusal = self._refusal(scope)
            if refusal is not None:
                await refusal(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _refusal(self, scope: Scope) -> Response | None:
        header = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
        if not bearer_matches(header.decode("latin-1"), self._token):
            message = "send the token as `Authorization: Bearer ...`; `hob token show` prints it"
            body = {"error": {"code": "unauthorized", "message": message}}
            return json_response(body, 401, {"www-authenticate": "Bearer"})
        if scope["path"] in LOCAL_ONLY:
            return json_response({"error": {"code": "not_allowed", "message": "only on the Unix socket"}}, 403)
        return None
