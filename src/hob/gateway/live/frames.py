"""Frames of `/ws` (uvicorn's WebSocket) with memory limits and a bounded close.

Adds to uvicorn: small messages only before authentication; a client that does not read is not read from, so that pings
cannot fill the memory with pongs; a close that the other side does not acknowledge is final after a few seconds; and
malformed bytes never log a traceback.
"""

from collections.abc import MutableMapping
from typing import Any, cast

from uvicorn._types import ASGIReceiveEvent, ASGISendEvent
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame
from websockets.http11 import Request
from websockets.protocol import OPEN

MAX_UNAUTHENTICATED_BYTES = 4_096
"""Message size limit before authentication."""
MAX_PIECES = 1_000
CLOSING_SECONDS = 5.0

_KNOWN = "hob.known"


class LimitedFrames(WebSocketsSansIOProtocol):
    """One WebSocket."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.close_timeout = CLOSING_SECONDS
        self.conn.max_message_size = MAX_UNAUTHENTICATED_BYTES

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if not self.handshake_initiated:  # headers that the HTTP parser accepts and this one does not
            self.transport.write(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
            self.transport.close()

    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        if not self.close_sent:
            cast(MutableMapping[str, Any], self.scope["extensions"])[_KNOWN] = self._known

    def _known(self) -> None:
        self.conn.max_message_size = self.config.ws_max_size

    def handle_cont(self, event: Frame) -> None:
        """Fragments may be empty, so their number is limited as well as their bytes."""
        if len(self.frames) >= MAX_PIECES:
            self._fail(1008, "a message in too many pieces")
        else:
            super().handle_cont(event)

    def send_receive_event_to_app(self) -> None:
        """Close quietly on a text message that is not UTF-8."""
        if self.curr_msg_data_type == "text":
            try:
                b"".join(self.frames).decode()
            except UnicodeDecodeError:
                self._fail(1007, "a text message must be UTF-8")
                return
        super().send_receive_event_to_app()

    def _fail(self, code: int, reason: str) -> None:
        self.frames = []
        self.conn.fail(code, reason)
        self.handle_parser_exception()

    def handle_parser_exception(self) -> None:
        """Close quietly on malformed frames. Before the handshake is answered, no close frame can be sent."""
        if self.conn.close_sent is None:
            self.transport.abort()
        else:
            super().handle_parser_exception()
            self._abort_later()

    def keepalive_timeout(self) -> None:
        """Stop reading from a client that does not answer a ping."""
        super().keepalive_timeout()
        self._abort_later()

    def pause_writing(self) -> None:
        """Stop reading from a client that does not read."""
        super().pause_writing()
        self.transport.pause_reading()

    def resume_writing(self) -> None:
        """Resume reading."""
        super().resume_writing()
        if not self.read_paused:
            self.transport.resume_reading()

    async def receive(self) -> ASGIReceiveEvent:
        """Return the next message or the close event."""
        message = await super().receive()
        if not self.writable.is_set():
            self.transport.pause_reading()
        return message

    async def send(self, message: ASGISendEvent) -> None:
        """Send a message. Raises ClientDisconnected as soon as the client is gone, even if input is still unread."""
        ends = message["type"] == "websocket.close"
        if not ends:
            await self.writable.wait()
        else:
            self.writable.set()
        if self.close_sent and message["type"] in {"websocket.send", "websocket.close"}:
            raise ClientDisconnected
        await super().send(message)
        if message["type"] == "websocket.http.response.body":
            self.handshake_complete = True  # refused and answered: nothing is missing
        if ends and self.close_timer is not None:
            self.close_timer.cancel()
            self.close_timer = self.loop.call_later(self.close_timeout, self.transport.abort)

    def shutdown(self) -> None:
        """Close because the server is shutting down. Clients reconnect and continue where they were."""
        if not self.handshake_complete:
            super().shutdown()
            return
        self.stop_keepalive()
        if self.conn.state is OPEN:
            self.queue.put_nowait({"type": "websocket.disconnect", "code": 1012})
            self.conn.send_close(1012, "Hob is stopping or restarting; reconnect and continue")
            self.transport.write(b"".join(self.conn.data_to_send()))
        self.transport.close()
        self._abort_later()

    def _abort_later(self) -> None:
        self.loop.call_later(self.close_timeout, self.transport.abort)


def mark_authenticated(scope: MutableMapping[str, Any]) -> None:
    """Mark the connection as authenticated, which allows messages up to the configured size."""
    if (known := scope.get("extensions", {}).get(_KNOWN)) is not None:
        known()
