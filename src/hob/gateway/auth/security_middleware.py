"""The security middleware for TCP: checks Host and Origin, and identifies where a request comes from."""

from starlette.datastructures import MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hob.gateway.api import Api
from hob.gateway.auth.browsers import is_our_host, is_our_origin, session_of
from hob.gateway.auth.lockout import Lockout
from hob.gateway.auth.visitors import Visitor
from hob.gateway.http.failures import Failure
from hob.gateway.openai.errors import response_at

HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
)
"""Default headers of every answer: browsers do not sniff, cache or frame it."""

VIEWS = "/views/"
"""Pages of plug-ins: public files in frames without an origin."""
_PREFLIGHT = {
    "access-control-allow-methods": "GET, POST, PUT, PATCH, DELETE",
    "access-control-allow-headers": "authorization, content-type, idempotency-key, x-hob-session, x-request-id",
    "access-control-max-age": "600",
}
_EXPOSED = "location, retry-after, x-hob-approval, x-request-id"
_HTTP_OF = {"ws": "http", "wss": "https"}


class HttpSecurityMiddleware:
    """Wraps the application for TCP, and puts the caller into `scope["visitor"]`."""

    def __init__(self, app: ASGIApp, api: Api) -> None:
        self._app = app
        self._api = api
        self._lockout = Lockout(api.clock)
        self._unsigned = Lockout(api.clock, "deliveries signed wrong", "none of these is noted")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = {name: value.decode("latin-1") for name, value in reversed(scope["headers"])}  # the first one counts
        origin = headers.get(b"origin", "")
        refusal = self._refusal(scope, headers.get(b"host", ""), origin)
        address = str(scope["client"][0]) if scope.get("client") else ""
        api, header = self._api, headers.get(b"authorization")
        session = session_of(headers.get(b"cookie", ""), (scope.get("server") or ("", 0))[1] or 0)
        scope["visitor"] = Visitor(
            api.keyring, self._lockout, api.refused, address, header, self._unsigned, session,
            headers.get(b"x-csrf-token", ""),
        )  # fmt: skip
        if scope["type"] == "websocket":
            if refusal is None:
                await self._app(scope, receive, send)
            else:
                await response_at(scope["path"], refusal)(scope, receive, send)
            return
        adorned = _WithSecurityHeaders(send, origin if origin in api.settings.cors_origins else "")
        if refusal is not None:
            await response_at(scope["path"], refusal)(scope, receive, adorned)
        elif scope["method"] == "OPTIONS" and b"access-control-request-method" in headers:
            await Response(status_code=204, headers=_PREFLIGHT)(scope, receive, adorned)
        else:
            await self._app(scope, receive, adorned)

    def _refusal(self, scope: Scope, host: str, origin: str) -> Failure | None:
        settings = self._api.settings
        if not is_our_host(host, settings.hosts):
            return Failure("wrong_host", "the API is not known by this name; add it to gateway.hosts")
        scheme = _HTTP_OF.get(str(scope["scheme"]), str(scope["scheme"]))
        # these frames have no origin, and only files are served there
        page = scope["type"] == "http" and str(scope["path"]).startswith(VIEWS)
        if origin and not page and not is_our_origin(origin, scheme, host, settings.cors_origins):
            return Failure("wrong_origin", "pages of this origin may not call; add it to gateway.cors_origins")
        return None


class _WithSecurityHeaders:
    """Adds the security headers to an answer."""

    def __init__(self, send: Send, origin: str) -> None:
        self._send = send
        self._origin = origin

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            given = dict(message["headers"])
            message["headers"] = [*message["headers"], *(each for each in HEADERS if each[0] not in given)]
            if self._origin:
                headers = MutableHeaders(scope=message)
                headers["access-control-allow-origin"] = self._origin
                headers["access-control-expose-headers"] = _EXPOSED
                headers.add_vary_header("origin")
        await self._send(message)
