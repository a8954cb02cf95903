"""The route of `/ws`."""

from starlette.responses import Response

from hob.core.errors import InvalidRequest
from hob.core.lazy import Lazy
from hob.gateway.http.endpoint import Endpoint, EndpointCall, LiveHandler
from hob.gateway.http.fields import Nothing


@Lazy
def _enter() -> LiveHandler:
    from hob.gateway.live.handshake import enter

    return enter


async def open_live(call: EndpointCall[Nothing]) -> Response:
    """Open a WebSocket for chat and live events. Its messages are documented on their own page."""
    raise InvalidRequest(
        "/ws is for WebSockets; where a proxy is in between, it has to pass the headers Upgrade and Connection on"
    )


ENDPOINTS = (Endpoint("GET", "/ws", open_live, None, Nothing, closed=False, media=(), statuses=(101,), live=_enter),)
