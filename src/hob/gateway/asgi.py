"""The ASGI application: who may call, which route answers. It decides nothing itself."""

import logging
from collections.abc import Callable

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from hob.core.errors import HobError
from hob.gateway.api import Api, failure_of
from hob.gateway.masking import MaskedAnswers
from hob.gateway.reply import error_response, json_response
from hob.gateway.routes import approvals, chat, people, state
from hob.gateway.tokens import bearer_matches

log = logging.getLogger(__name__)


ROUTES = (
    Route("/chat", chat.post, methods=["POST"]),
    Route("/chat/{id}", chat.get, methods=["GET"]),
    Route("/health", state.health, methods=["GET"]),
    Route("/status", state.status, methods=["GET"]),
    Route("/usage", state.usage, methods=["GET"]),
    Route("/tasks", state.tasks, methods=["GET"]),
    Route("/timeline", state.timeline, methods=["GET"]),
    Route("/prompt", state.prompt, methods=["GET"]),
    Route("/export", state.export, methods=["GET"]),
    Route("/retry/{id}", state.retry, methods=["POST"]),
    Route("/undo", state.undo, methods=["POST"]),
    Route("/approvals", approvals.approvals, methods=["GET"]),
    Route("/approvals/{id}", approvals.approval, methods=["GET"]),
    Route("/approvals/{id}", approvals.settle, methods=["POST"]),
    Route("/grants", approvals.grants, methods=["GET"]),
    Route("/grants/{id}", approvals.revoke, methods=["DELETE"]),
)
LOCAL_ROUTES = (
    Route("/backup", state.backup, methods=["POST"]),
    Route("/people", people.people, methods=["GET"]),
    Route("/people/link", people.link, methods=["POST"]),
    Route("/people/unlink", people.unlink, methods=["POST"]),
    Route("/people/forget", people.forget, methods=["POST"]),
    Route("/pairing", people.pairing, methods=["GET"]),
    Route("/pairing/approve", people.approve, methods=["POST"]),
    Route("/pairing/deny", people.deny, methods=["POST"]),
    Route("/models/test", state.try_model, methods=["POST"]),
    Route("/hand-over", state.hand_over, methods=["POST"]),
)
"""They act on the machine itself or on who Hob obeys, so the application that TCP reaches does not have them."""


def build_api(api: Api, *, local: bool) -> ASGIApp:
    """The application without its door: whoever reaches it is the owner, at this machine if `local`."""
    app = Starlette(
        routes=[*ROUTES, *(LOCAL_ROUTES if local else ())],
        exception_handlers={HobError: _on_hob_error, HTTPException: _on_http_error},
    )
    app.state.api = api
    app.state.local = local
    return MaskedAnswers(app, api.mask)


async def _on_hob_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HobError)  # noqa: S101 - registered for this class only
    if failure_of(error).status == 500:
        log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return error_response(error)


async def _on_http_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for this class only
    code = {404: "not_found", 405: "method_not_allowed", 413: "too_large"}.get(error.status_code, "http")
    headers = dict(error.headers or {})
    return json_response({"error": {"code": code, "message": error.detail}}, error.status_code, headers)


class Door:
    """Wraps the application for TCP: every call carries the token. `refused` is told where one without it came from."""

    def __init__(self, app: ASGIApp, token: str, refused: Callable[[str], None] = lambda who: None) -> None:
        self._app = app
        self._token = token
        self._refused = refused

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            refusal = self._refusal(scope)
            if refusal is not None:
                client = scope.get("client")
                self._refused(str(client[0]) if client else "")
                await refusal(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _refusal(self, scope: Scope) -> Response | None:
        header = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
        if not bearer_matches(header.decode("latin-1"), self._token):
            message = "send the token as `Authorization: Bearer ...`; `hob token show` prints it"
            body = {"error": {"code": "unauthorized", "message": message}}
            return json_response(body, 401, {"www-authenticate": "Bearer"})
        return None
