"""The ASGI application: who may call, which route answers. It decides nothing itself."""

from collections.abc import Callable, Iterable
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from hob.gateway.api import Api
from hob.gateway.callers import AT_THE_SOCKET, WITH_THE_TOKEN, Caller
from hob.gateway.endpoint import Endpoint, caller_of
from hob.gateway.failures import Failure, Refusal
from hob.gateway.masking import MaskedAnswers
from hob.gateway.reply import failure_response
from hob.gateway.table import ENDPOINTS
from hob.gateway.tokens import bearer_matches

_OF_STATUS = {404: "not_found", 405: "method_not_allowed"}


def build_api(api: Api, *, local: bool, endpoints: Iterable[Endpoint[Any]] = ENDPOINTS) -> ASGIApp:
    """The application: for the Unix socket, whose callers are the owner, if `local`; else to be wrapped in a `Door`."""
    routes = [endpoint.route(api) for endpoint in endpoints if local or not endpoint.local]
    app = Starlette(routes=routes, exception_handlers={HTTPException: _on_http_error})
    app.router.redirect_slashes = False
    inner: ASGIApp = MaskedAnswers(app, api.mask)
    return _As(inner, AT_THE_SOCKET) if local else inner


class _As:
    """Wraps an application whose callers are known by the way they came."""

    def __init__(self, app: ASGIApp, caller: Caller) -> None:
        self._app = app
        self._caller = caller

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["caller"] = self._caller
        await self._app(scope, receive, send)


async def _on_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for this class only
    try:
        caller_of(request, None, known=True)
    except Refusal as refusal:  # without a token nobody learns which routes there are
        return failure_response(refusal.failure)
    code = _OF_STATUS.get(error.status_code, "invalid_request")
    response = failure_response(Failure(code, error.detail))
    response.headers.update(error.headers or {})
    return response


class Door:
    """Wraps the application for TCP: it says who calls. `refused` is told where one with no right token came from."""

    def __init__(self, app: ASGIApp, token: str, refused: Callable[[str], None] = lambda who: None) -> None:
        self._app = app
        self._token = token
        self._refused = refused

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        header = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
        if bearer_matches(header.decode("latin-1"), self._token):
            scope["caller"] = WITH_THE_TOKEN
        else:
            client = scope.get("client")
            self._refused(str(client[0]) if client else "")
        await self._app(scope, receive, send)
