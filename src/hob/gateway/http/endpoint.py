"""Endpoints: the rows of the routing table, and how their calls are authorised, parsed and answered.

The application, the reference and the OpenAPI file are all made from the table, so every route has a scope, a size
limit and documentation.
"""

import logging
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from typing import Any, Generic, TypeVar

from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import Receive, Scope, Send

from hob.core.errors import HobError, InvalidRequest
from hob.core.events.timeline import change_of
from hob.core.lazy import Lazy
from hob.core.translation.language import Translatable, translated
from hob.core.values import dataclass
from hob.gateway.api import Api
from hob.gateway.auth.callers import ApiCaller, TokenScope
from hob.gateway.auth.visitors import SocketOwner, Visitor
from hob.gateway.http.failures import Failure, HttpRefusal, failure_of
from hob.gateway.http.fields import Nothing, QueryText, read
from hob.gateway.http.json_body import parse_json
from hob.gateway.http.reply import TEXTS, JsonResponse, failure_response, language_of, packed_failure_response

log = logging.getLogger(__name__)

T = TypeVar("T")

JSON = "application/json"
EVENTS = "text/event-stream"
LINES = "application/jsonl"


@dataclass(frozen=True, slots=True)
class EndpointCall(Generic[T]):
    """A call that was authorised, parsed and validated. `payload`: the declared object, or the bytes."""

    api: Api
    caller: ApiCaller
    payload: T
    request: Request

    @property
    def id(self) -> str:
        """The `{id}` of the path."""
        return str(self.request.path_params["id"])

    def header(self, name: str) -> str | None:
        """Return the value of a header, or None."""
        return self.request.headers.get(name)

    def wants(self, media_type: str) -> bool:
        """Return whether the caller accepts this media type."""
        return media_type in self.request.headers.get("accept", "")


Handler = Callable[[EndpointCall[T]], Awaitable[Response]]
LiveHandler = Callable[[Api, Scope, Receive, Send], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Endpoint(Generic[T]):
    """One method on one path, documented by its handler's docstring.

    The caller needs `scope` or one of the scopes in `also`; None: public. `takes` is a frozen dataclass made with
    `fields.field`, parsed from the query, or with POST and PUT from a JSON body; `bytes` accepts any body unparsed.
    Unless `closed`, undeclared fields are ignored.

    The rest is documentation, also for the OpenAPI file: `errors` are possible codes of `failures.STATUS` beyond those
    of every endpoint, `failures` the statuses of a model's failure.
    """

    method: str
    path: str
    handler: Handler[T]
    scope: TokenScope | None
    takes: type[T]
    errors: tuple[str, ...] = ()
    failures: tuple[int, ...] = ()
    also: tuple[TokenScope, ...] = ()
    """Narrower scopes that also suffice."""
    local: bool = False
    """Only on the Unix socket: it affects the machine, or who may command Hob."""
    closed: bool = True
    media: tuple[str, ...] = (JSON,)
    """The media types of its answer, JSON first."""
    headers: tuple[tuple[str, str], ...] = ()
    """Request headers it uses, each with its meaning."""
    in_query: tuple[str, ...] = ()
    """Fields that a POST without a body may have in its URL, as older clients send them; the answer is marked
    deprecated.
    """
    max_bytes: int | None = None
    """The largest body, if not `gateway.body_bytes`."""
    statuses: tuple[int, ...] = (200,)
    """The statuses of its answer, whose form is the handler's return type (`JsonResponse[...]`)."""
    failing: Callable[[Failure], Response] = failure_response
    """Formats a failure."""
    changes: str = ""
    """The name of what it changes, published on the timeline so that open pages refresh."""
    live: Lazy[LiveHandler] | None = None
    """Handles WebSockets opened at this path; the handler answers plain requests."""

    @property
    def has_body(self) -> bool:
        """Whether calls may carry a body."""
        return self.method in {"POST", "PUT", "PATCH"} and self.takes is not Nothing

    @property
    def raw(self) -> bool:
        """Whether the body is passed on unparsed."""
        return self.takes is bytes

    def routes(self, api: Api) -> Iterator[Route | WebSocketRoute]:
        """Yield the routes of the application."""
        if self.live is not None:
            yield WebSocketRoute(self.path, _Live(self.live, api))

        async def answer(request: Request) -> Response:
            try:
                call = await self._authorise(api, request)
                response = await self.handler(call)
                if self.changes and not getattr(call.payload, "preview", False):
                    await api.store.timeline.add((change_of(self.changes, api.clock.now().timestamp()),))
                if TEXTS in request.headers and isinstance(response, JsonResponse):
                    return response.with_texts()
                return response
            except HobError as error:
                failure = failure_of(error)
                if failure.code == "internal":
                    log.error("%s %s failed (%s)", self.method, self.path, request.scope["request_id"], exc_info=error)
            except HttpRefusal as refusal:
                failure = refusal.failure
            local = isinstance(request.scope["visitor"], SocketOwner) and self.failing is failure_response
            if local and isinstance(failure.message, Translatable):
                return packed_failure_response(failure, failure.message)
            if isinstance(failure.message, Translatable) and self.failing is not failure_response:
                failure = replace(failure, message=translated(failure.message, language_of(request)))
            return self.failing(failure)

        yield Route(self.path, _Answered(answer), methods=[self.method])

    async def _authorise(self, api: Api, request: Request) -> EndpointCall[T]:
        caller = NOBODY if self.scope is None else caller_of(request, self.scope, *self.also)
        return EndpointCall(api, caller, await self._read(api, request), request)

    async def _read(self, api: Api, request: Request) -> T:
        body = await self._body(api, request) if self.method not in {"GET", "HEAD", "DELETE"} else b""
        if self.raw:
            return body  # type: ignore[return-value]  # T is bytes here
        query = request.query_params.items() if request.scope["query_string"] else ()
        given: dict[str, Any] = {name: QueryText(text) for name, text in query}
        if self.has_body:
            if given and not body and given.keys() <= set(self.in_query):
                return read(self.takes, given, closed=self.closed)
            if given:  # URLs end up in the logs of intermediaries
                raise InvalidRequest("this route takes its fields in a JSON body and none in the address")
            given = _parse_object(body, request)
        elif body.strip():
            given |= _parse_object(body, request)
        return read(self.takes, given, closed=self.closed)

    async def _body(self, api: Api, request: Request) -> bytes:
        maximum, setting = api.settings.body_bytes, "; see gateway.body_bytes"
        if self.max_bytes is not None:
            maximum, setting = self.max_bytes, ""
        too_large = HttpRefusal("too_large", f"the body may have {maximum} bytes{setting}")
        declared = request.headers.get("content-length", "")
        if declared.isdecimal() and int(declared[:19]) > maximum:
            raise too_large
        pieces, size = [], 0
        try:
            async for piece in request.stream():
                size += len(piece)
                if size > maximum:
                    raise too_large
                pieces.append(piece)
        except ClientDisconnect as error:
            raise InvalidRequest("the body ended too early") from error
        return b"".join(pieces)


class _Answered:
    """A class, since starlette would wrap a function in another layer of error handling."""

    def __init__(self, answer: Callable[[Request], Awaitable[Response]]) -> None:
        self._answer = answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = await self._answer(Request(scope, receive, send))
        await response(scope, receive, send)


class _Live:
    """A class, since starlette would call a function as a handler of its own `WebSocket`."""

    def __init__(self, live: Lazy[LiveHandler], api: Api) -> None:
        self._live = live
        self._api = api

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._live()(self._api, scope, receive, send)


def caller_of(request: HTTPConnection, *scopes: TokenScope) -> ApiCaller:
    """Return the caller, who must have one of these scopes if any are given. Raises HttpRefusal."""
    visitor: Visitor | SocketOwner = request.scope["visitor"]
    caller = visitor.caller()
    if scopes and not any(map(caller.may, scopes)):
        wanted = " or ".join(repr(scope.value) for scope in scopes)
        raise HttpRefusal("missing_scope", f"this token has no scope {wanted}; `hob token new` makes one that has")
    return caller


NOBODY = ApiCaller("", frozenset())
"""The caller of a public endpoint, without a token."""


def _parse_object(body: bytes, request: Request) -> dict[str, Any]:
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != JSON and not (media_type.startswith("application/") and media_type.endswith("+json")):
        raise HttpRefusal("not_json", f"send the body as `Content-Type: {JSON}`")
    found = parse_json(body)
    if not isinstance(found, dict):
        raise InvalidRequest('the body must be an object such as {"message": "hello"}')
    return found
