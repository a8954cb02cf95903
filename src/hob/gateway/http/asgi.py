"""The ASGI application: dispatches requests by the routing table."""

import asyncio
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Route, Router, WebSocketRoute
from starlette.types import ASGIApp as ASGIApp
from starlette.types import Message, Receive, Scope, Send

from hob.core.lazy import Lazy
from hob.gateway.api import Api
from hob.gateway.auth.security_middleware import HttpSecurityMiddleware
from hob.gateway.auth.visitors import SocketOwner
from hob.gateway.http.endpoint import Endpoint, caller_of
from hob.gateway.http.failures import Failure, HttpRefusal
from hob.gateway.openai.errors import response_at

# The last safeguard before an answer is sent: it contains no known secret, whatever its source.


class MaskedAnswers:
    """Masks secrets in an application's answers. Complete answers get the new length; streams are masked piece by
    piece.
    """

    def __init__(self, app: ASGIApp, mask: Callable[[str], str]) -> None:
        self._app = app
        self._mask = mask

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        head: Message | None = None

        async def masked(message: Message) -> None:
            nonlocal head
            if message["type"] == "http.response.start":
                if not any(name == b"content-length" for name, _ in message["headers"]):
                    await send(message)  # a stream: its reader sees at once that it began
                else:
                    head = message
                return
            if message["type"] == "http.response.body":
                body = message.get("body", b"")
                clean = self._clean(body)
                if head is not None:
                    await send(head if clean is body else _with_length(head, len(clean)))
                    head = None
                message = {**message, "body": clean}
            elif message["type"] == "websocket.send":
                message = {**message, "text": self._mask(message["text"])}
            await send(message)

        await self._app(scope, receive, masked)

    def _clean(self, body: bytes) -> bytes:
        text = body.decode("utf-8", "surrogateescape")
        clean = self._mask(text)
        return body if clean is text else clean.encode("utf-8", "surrogateescape")


def _with_length(head: Message, size: int) -> Message:
    sized = ((name, str(size).encode() if name == b"content-length" else value) for name, value in head["headers"])
    return {**head, "headers": list(sized)}


_REQUEST_ID = re.compile(rb"[A-Za-z0-9._:/+=@-]{1,128}")
_API_PATHS = frozenset({"/ws", "/health"})
"""The API's own paths outside `/api/`."""
_OF_STATUS = {404: "not_found", 405: "method_not_allowed"}


def build_api(
    api: Api,
    *,
    local: bool,
    endpoints: Iterable[Endpoint[Any]],
    more: Callable[[], Iterable[Endpoint[Any]]] = tuple,
    pages: Mapping[str, ASGIApp] | None = None,
) -> ASGIApp:
    """Return the application: if `local`, for the Unix socket, whose callers are the owner; else protected, for TCP.

    `more` endpoints are loaded with the first request that matches none of `endpoints`. `pages` are public, each below
    its path; the API's own paths take precedence.
    """

    def routes(of: Iterable[Endpoint[Any]]) -> list[Route | WebSocketRoute]:
        return [route for each in of if local or not each.local for route in each.routes(api)]

    router = _Router(routes(endpoints), lambda: routes(more()))
    masked: ASGIApp = MaskedAnswers(_WithFailures(router), api.mask)
    if pages:
        masked = _WithPages(masked, pages)
    return _WithRequestId(_LocalApp(masked) if local else HttpSecurityMiddleware(masked, api))


class _Router(Router):
    """Tries only the routes that share the literal prefix of the path, in order."""

    def __init__(
        self, routes: Sequence[Route | WebSocketRoute], more: Callable[[], Sequence[Route | WebSocketRoute]]
    ) -> None:
        super().__init__(redirect_slashes=False)
        self._by_beginning = defaultdict[str, list[tuple[int, BaseRoute]]](list)
        self._more: Callable[[], Sequence[Route | WebSocketRoute]] | None = more
        self._add(routes)

    def _add(self, routes: Sequence[Route | WebSocketRoute]) -> None:
        for number, route in enumerate(routes, len(self.routes)):
            head, brace, _ = route.path.partition("{")
            self._by_beginning[head[: head.rfind("/") + 1] if brace else head].append((number, route))
        self.routes += routes

    async def app(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request to the first matching route, else to one whose path matches."""
        scope.setdefault("router", self)
        route, match, found = self._find(scope)
        if match is not Match.FULL and self._more is not None:
            more = await asyncio.to_thread(self._more)
            if self._more is not None:  # another request may have loaded them
                self._more = None
                self._add(more)
            route, match, found = self._find(scope)
        if route is None:
            await self.default(scope, receive, send)
            return
        scope.update(found, route=route)
        await route.handle(scope, receive, send)

    def _find(self, scope: Scope) -> tuple[BaseRoute | None, Match, Scope]:
        best: tuple[BaseRoute | None, Match, Scope] = None, Match.NONE, {}
        for route in self._candidates(scope["path"]):
            match, found = route.matches(scope)
            if match is Match.FULL:
                return route, match, found
            if match is Match.PARTIAL and best[0] is None:
                best = route, match, found
        return best

    def _candidates(self, path: str) -> Iterable[BaseRoute]:
        known = self._by_beginning
        near = [*known.get(path, ())]
        at = path.rfind("/")
        while at >= 0:
            near += known.get(path[: at + 1], ())
            at = path.rfind("/", 0, at)
        return [route for _, route in sorted(near, key=itemgetter(0))]


class _WithFailures:
    """Answers requests that match no route, and unexpected exceptions like any other failure; the server logs them."""

    def __init__(self, router: _Router) -> None:
        self._router = router

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = scope["type"] == "websocket"

        async def observed(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        scope["app"] = self._router  # its routes raise HTTPException
        try:
            await self._router.app(scope, receive, send if begun else observed)
        except HTTPException as error:
            await _mismatch_response(Request(scope, receive), error, self._router.routes)(scope, receive, send)
        except Exception:  # the client gets an answer; the server logs the error raised again
            if not begun:
                failure = Failure("internal", "this is a mistake in Hob; `hob logs` shows it")
                await response_at(scope["path"], failure)(scope, receive, send)
            raise


class _WithPages:
    """Dispatches requests by path prefix to pages, and the API's own paths to the API."""

    def __init__(self, api: ASGIApp, pages: Mapping[str, ASGIApp]) -> None:
        self._api = api
        self._pages = sorted(pages.items(), key=lambda each: -len(each[0]))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = str(scope["path"])
        if scope["type"] != "http" or path in _API_PATHS or f"{path}/".startswith("/api/"):
            await self._api(scope, receive, send)
            return
        for prefix, page in self._pages:
            if f"{path}/".startswith(prefix):
                await page({**scope, "path": f"/{path[len(prefix) :]}"}, receive, send)
                return
        await self._api(scope, receive, send)


class LazyApp:
    """An application that is created by the first request."""

    def __init__(self, app: Lazy[ASGIApp]) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._app.loaded is None:
            await asyncio.to_thread(self._app)
        await self._app()(scope, receive, send)


class _WithRequestId:
    """Sets `x-request-id` on each answer: the caller's own if valid. The log contains it too."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        given = next((value for name, value in scope["headers"] if name == b"x-request-id"), b"")
        id = given if _REQUEST_ID.fullmatch(given) else os.urandom(8).hex().encode()
        scope["request_id"] = id.decode()

        async def named(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], (b"x-request-id", id)]
            await send(message)

        await self._app(scope, receive, named)


class _LocalApp:
    """Wraps the application for the Unix socket."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["visitor"] = SocketOwner()
        await self._app(scope, receive, send)


def _mismatch_response(request: Request, error: HTTPException, routes: Iterable[BaseRoute]) -> Response:
    """Return the answer to a request for an unknown path or with a wrong method."""
    try:
        # senders of webhooks have no token
        if not (error.status_code == 405 and request.url.path.startswith("/hooks/")):
            caller_of(request)
    except HttpRefusal as refusal:  # without a token, callers cannot learn which routes exist
        return response_at(request.url.path, refusal.failure)
    failure = Failure(_OF_STATUS.get(error.status_code, "invalid_request"), error.detail)
    response = response_at(request.url.path, failure)
    if error.status_code == 405:  # the methods of all routes with this path; the router names only the first one's
        found = (route for route in routes if route.matches(request.scope)[0] is not Match.NONE)
        methods = {each for route in found if isinstance(route, Route) for each in route.methods or ()}
        response.headers["allow"] = ", ".join(sorted(methods))
    return response
