"""The WebSocket handshake. Refusals are answered as over HTTP, with a body that gives the reason."""

from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from hob.gateway.api import Api
from hob.gateway.auth.callers import ApiCaller
from hob.gateway.auth.tokens import bearer_of
from hob.gateway.auth.visitors import SocketOwner, Visitor
from hob.gateway.http.failures import HttpRefusal
from hob.gateway.http.reply import failure_response
from hob.gateway.live.connected import LiveClient
from hob.gateway.live.connection import LiveConnection
from hob.gateway.live.frames import mark_authenticated


async def enter(api: Api, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a handshake, and serve an admitted client until it disconnects."""
    visitor: Visitor | SocketOwner = scope["visitor"]
    try:
        caller, token = _authenticate(scope, visitor)
        connection = LiveConnection(api, receive, send, visitor.show, visitor.whole)
        client = LiveClient(_address(scope), api.clock.now().timestamp(), caller, connection.leave)
        with api.connected.enter(client):
            await receive()  # `websocket.connect`
            await send({"type": "websocket.accept"})

            def known(who: ApiCaller) -> None:
                client.caller = who
                mark_authenticated(scope)

            await connection.run(caller, token, known)
    except HttpRefusal as refusal:
        await failure_response(refusal.failure)(scope, receive, send)


def _authenticate(scope: Scope, visitor: Visitor | SocketOwner) -> tuple[ApiCaller | None, str | None]:
    """Return the caller and the token; both None if the first message brings them. Raises HttpRefusal."""
    if scope.get("query_string"):
        raise HttpRefusal(
            "invalid_request",
            "the address takes no query: what stands there is kept in logs and histories. Send the token as"
            ' `Authorization: Bearer ...`, or in the first message: {"type": "hello", "token": "..."}',
        )
    if isinstance(visitor, SocketOwner):
        return visitor.caller(), None
    header = Headers(scope=scope).get("authorization")
    if header is None:
        return None, None
    return visitor.caller(), bearer_of(header)


def _address(scope: Scope) -> str:
    return str(scope["client"][0]) if scope.get("client") else ""
