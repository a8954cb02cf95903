"""Every kind of message that a client may send, and every way in which a connection ends."""

from collections.abc import Mapping
from typing import Any

from hob.gateway.auth.callers import TokenScope
from hob.gateway.http.failures import BUSY
from hob.gateway.http.fields import Nothing
from hob.gateway.live import approvals as leave
from hob.gateway.live import chat, events, greeting
from hob.gateway.live.kinds import MessageKind

HELLO = "hello"
_LIFE = ("accepted", "delta", "reasoning", "retracted", "progress", "question", "result")

KINDS: tuple[MessageKind[Any], ...] = (
    MessageKind(HELLO, greeting.hello, None, greeting.Hello, ("welcome",), ("unauthorized", "too_many_attempts")),
    MessageKind(
        "subscribe",
        events.subscribe,
        TokenScope.READ,
        events.Subscribing,
        ("subscribed", "event", "caught_up"),
        ("not_found",),
        lasts=True,
        single=True,
    ),
    MessageKind(
        "send",
        chat.send,
        TokenScope.CHAT,
        chat.Sending,
        _LIFE,
        (*BUSY, "model_not_found", "not_allowed", "stopping", "store_full"),
        lasts=True,
    ),
    MessageKind("follow", chat.follow_message, TokenScope.CHAT, chat.AMessage, _LIFE[1:], ("not_found",), lasts=True),
    MessageKind("stop", chat.stop, TokenScope.CHAT, chat.AMessage, ("stopped",), ("not_found",)),
    MessageKind("approvals", leave.approvals, TokenScope.READ, Nothing, ("approvals",)),
    MessageKind(
        "answer", leave.answer, TokenScope.APPROVE, leave.Answering, ("answered",), ("not_found", "not_allowed")
    ),
    MessageKind("ping", greeting.ping, None, Nothing, ("pong",)),
)

NOT_TEXT, TOO_FAST, SLOW, UNKNOWN, NO_HELLO, RESTART = 1003, 4429, 4000, 4401, 4408, 1012

CLOSES: Mapping[int, str] = {
    1000: "you have closed it",
    1002: "bytes came that are no WebSocket frames",
    NOT_TEXT: "a binary message came; messages are text",
    1007: "a text message was no UTF-8",
    1008: "a message came in more than a thousand pieces",
    1009: "a message was too large",
    1011: "no answer to a ping, or a mistake in Hob (`hob logs`)",
    RESTART: "Hob ends or starts anew: connect again and go on where you were",
    SLOW: "you have not read for too long; the reason says which `after` to go on with",
    UNKNOWN: "the token is wrong, has run out or was revoked",
    NO_HELLO: "no `hello` came in time",
    TOO_FAST: "too many messages, or too many wrong tokens from where you are",
}
"""Close codes below 4000 are RFC 6455's (https://www.rfc-editor.org/rfc/rfc6455#section-7.4.1)."""
