"""Every kind of message that a client may send, and every close code."""

import math
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any

from hob.bus.canvas import CanvasViewers
from hob.core.content.canvas import CanvasAnswer
from hob.core.errors import InvalidRequest, NotFound
from hob.core.events.timeline import EventKind
from hob.core.ids import InboundId
from hob.core.values import dataclass
from hob.gateway.approvals import approvals_view, settled_view
from hob.gateway.auth.callers import TokenScope
from hob.gateway.chat.inbound import ChatMessage, ClientEvent
from hob.gateway.chat.outcome import find_own, follow, follow_again
from hob.gateway.chat.receive import receive
from hob.gateway.http.failures import BUSY
from hob.gateway.http.fields import Nothing, field
from hob.gateway.live import messages
from hob.gateway.live.feed import EventFeed
from hob.gateway.live.kinds import ClientRequest, MessageKind

# Authentication and keep-alive.


@dataclass(frozen=True, slots=True)
class Hello:
    """The client's token."""

    token: str = field("the token, as it would stand after `Authorization: Bearer`")


async def hello(request: ClientRequest[Hello]) -> None:
    """Authenticate with a token, as the first message of a connection without one in its header. Wait for `welcome`."""
    raise InvalidRequest("hello comes first and once; this connection has shown who it is")


async def ping(request: ClientRequest[Nothing]) -> None:
    """Keep the connection alive, for clients that cannot send WebSocket pings. Hob sends its own."""
    await request.say(messages.PONG, messages.PongMessage())


# Questions to the owner, and the answers.


@dataclass(frozen=True, slots=True)
class AnswerRequest:
    """An answer to a question for approval."""

    approval: str = field("the question's id")
    allowed: bool = field("whether it may be done")
    scope: str = field("how far the approval reaches: one of the question's `scopes`", "once")


async def approvals(request: ClientRequest[Nothing]) -> None:
    """List the open questions for approval. New ones are events of the kind `approval` with the status `asked`."""
    await request.say(messages.APPROVALS, await approvals_view(request.api.store, request.api.pending_approvals()))


async def answer(request: ClientRequest[AnswerRequest]) -> None:
    """Approve or refuse, and continue the turn. Repeating the same answer has no effect."""
    api, asked, by = request.api, request.asked, request.caller.by
    view = await settled_view(
        api.store, api.pending_approvals(), asked.approval, allowed=asked.allowed, scope=asked.scope, by=by
    )
    await request.say(messages.ANSWERED, view)


# Messages: sent, followed while they are answered, stopped.

_AS_LONG_AS_IT_TAKES = math.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class SendRequest(ChatMessage):
    """A message, with an idempotency key."""

    key: str = field("yours for this message: the same key again, at any time, joins it", characters=(1, 255))


@dataclass(frozen=True, slots=True)
class MessageReference:
    """Selects a message."""

    id: str = field("the message's id, as `accepted` said")


async def send(request: ClientRequest[SendRequest]) -> None:
    """Send a message and follow it to its `result`. After a broken connection, send it again with the same key.

    Deltas are for display: a slow client misses some, and a model's new attempt retracts them (`retracted`). `result`
    is authoritative.
    """
    api, asked = request.api, request.asked
    inbound = await receive(api, asked, asked.key, request.caller)
    await _tell(request, follow(api, inbound, _AS_LONG_AS_IT_TAKES), "")


async def follow_message(request: ClientRequest[MessageReference]) -> None:
    """Follow a message that was sent earlier, here or elsewhere."""
    accepted = await find_own(request.api, InboundId(request.asked.id), request.caller)
    await _tell(request, follow_again(request.api, accepted.id, _AS_LONG_AS_IT_TAKES), accepted.id)


async def stop(request: ClientRequest[MessageReference]) -> None:
    """Stop the turn that works on this message, or remove the message from the queue."""
    accepted = await find_own(request.api, InboundId(request.asked.id), request.caller)
    stopped = await request.api.operations.cancel(accepted.id, "/stop")
    await request.say(messages.STOPPED, messages.StoppedMessage(id=accepted.id, stopped=stopped))


async def _tell(
    request: ClientRequest[MessageReference] | ClientRequest[SendRequest],
    events: AsyncGenerator[ClientEvent, None],
    id: str,
) -> None:
    async with aclosing(events):
        async for event in events:
            if event.name == "accepted":
                id = event.data["id"]
            told = {**({"id": id} if id else {}), **_without_id(event)}
            await request.say(messages.MESSAGES[event.name], told)


def _without_id(event: ClientEvent) -> dict[str, object]:
    return {name: value for name, value in event.data.items() if name != "id"}


# Events in the order of the timeline, from any position.

_PAGE = 50
"""Events read at once, the most held in memory per client however far behind it is."""


@dataclass(frozen=True, slots=True)
class SubscribeRequest:
    """Selects events and the position to start at."""

    after: int | None = field("the cursor of the last event you have seen, 0 for all; without it those to come", None,
                              at_least=0)  # fmt: skip
    sessions: tuple[str, ...] = field("these sessions alone, by whole keys such as `api:main`", ())
    kinds: tuple[EventKind, ...] = field("these [kinds](timeline.md#kinds) alone", ())


async def subscribe(request: ClientRequest[SubscribeRequest]) -> None:
    """Receive events, each with its cursor. A later `subscribe` replaces this one.

    No event is lost or repeated: continue with `after` the last cursor you have seen, on any connection, even after a
    restart of Hob. `caught_up` marks the end of the existing events. Callers with only `view` get events without
    content.
    """
    asked, timeline = request.asked, request.api.store.timeline
    reads, feed = request.caller.may(TokenScope.READ), request.api.kept(EventFeed)
    newest = await timeline.newest()
    after = newest if asked.after is None else asked.after
    if after > newest:
        raise NotFound(f"there is no event {after} yet, the newest is {newest}; an older database may have come back")
    await request.say(messages.SUBSCRIBED, messages.CursorMessage(cursor=after))
    told = False
    with timeline.news() as news:
        while True:
            news.clear()  # clear before reading: a later commit sets it again
            found = await feed.follow(timeline, after, _PAGE, sessions=asked.sessions, kinds=asked.kinds, reads=reads)
            for message, text in found.messages:
                await request.say(messages.EVENT, message, text)
            after = found.upto
            if len(found.messages) == _PAGE:
                continue
            if not told:
                told = True
                await request.say(messages.CAUGHT_UP, messages.CursorMessage(cursor=after))
            await news.wait()


# Canvas pages: the one a browser shows, Hob's questions to it, and its answers.


@dataclass(frozen=True, slots=True)
class ShowCanvasRequest:
    """The canvas page that a browser shows."""

    page: str = field("the page's id; empty: none is shown any more", "")
    version: int = field("its version", 0, at_least=0)


@dataclass(frozen=True, slots=True)
class CanvasAnswerRequest:
    """A canvas page's answer."""

    ask: str = field("the question's id, as `canvas_ask` said")
    text: str = field("what the script gave, or how the page looks")
    failed: bool = field("whether that is an error", False)


async def canvas(request: ClientRequest[ShowCanvasRequest]) -> None:
    """Register the canvas page that this browser shows, to receive Hob's questions to it. Replaces an earlier `canvas`.

    A question without a script asks how the page looks. A page's answers are untrusted.
    """
    page, version = request.asked.page, request.asked.version
    await request.say(messages.CANVAS_SHOWN, messages.CanvasShownMessage(page=page, version=version))
    if page:
        with request.api.port(CanvasViewers).showing(page, version) as questions:
            while True:
                question = await questions.get()
                await request.say(
                    messages.CANVAS_ASK, messages.CanvasAskMessage(ask=question.id, script=question.script)
                )


async def canvas_answer(request: ClientRequest[CanvasAnswerRequest]) -> None:
    """Return a canvas page's answer; `taken` is false if it came too late."""
    asked = request.asked
    taken = request.api.port(CanvasViewers).answer(asked.ask, CanvasAnswer(asked.text[:_MAX_SAID], asked.failed))
    await request.say(messages.CANVAS_ANSWERED, messages.CanvasAnsweredMessage(ask=asked.ask, taken=taken))


_MAX_SAID = 16_000  # characters of a page's answer
HELLO = "hello"

KINDS: tuple[MessageKind[Any], ...] = (
    MessageKind(HELLO, hello, None, Hello, (messages.WELCOME,), ("unauthorized", "too_many_attempts")),
    MessageKind(
        "subscribe",
        subscribe,
        TokenScope.READ,
        SubscribeRequest,
        (messages.SUBSCRIBED, messages.EVENT, messages.CAUGHT_UP),
        ("not_found",),
        is_long_running=True,
        single=True,
        also=(TokenScope.VIEW,),
    ),
    MessageKind(
        "send",
        send,
        TokenScope.CHAT,
        SendRequest,
        messages.LIFE,
        (*BUSY, "model_not_found", "not_allowed", "stopping", "store_full"),
        is_long_running=True,
    ),
    MessageKind(
        "follow",
        follow_message,
        TokenScope.CHAT,
        MessageReference,
        messages.LIFE[1:],
        ("not_found",),
        is_long_running=True,
    ),
    MessageKind("stop", stop, TokenScope.CHAT, MessageReference, (messages.STOPPED,), ("not_found",)),
    MessageKind("approvals", approvals, TokenScope.READ, Nothing, (messages.APPROVALS,)),
    MessageKind(
        "answer", answer, TokenScope.APPROVE, AnswerRequest, (messages.ANSWERED,), ("not_found", "not_allowed")
    ),
    MessageKind(
        "canvas",
        canvas,
        TokenScope.ADMIN,
        ShowCanvasRequest,
        (messages.CANVAS_SHOWN, messages.CANVAS_ASK),
        is_long_running=True,
        single=True,
    ),
    MessageKind("canvas_answer", canvas_answer, TokenScope.ADMIN, CanvasAnswerRequest, (messages.CANVAS_ANSWERED,)),
    MessageKind("ping", ping, None, Nothing, (messages.PONG,)),
)

NOT_TEXT, TOO_FAST, SLOW, UNKNOWN, NO_HELLO, RESTART = 1003, 4429, 4000, 4401, 4408, 1012

CLOSES: Mapping[int, str] = {
    1000: "you have closed it",
    1002: "the data was not a valid WebSocket frame",
    NOT_TEXT: "a binary message came; messages are text",
    1007: "a text message was not UTF-8",
    1008: "a message came in more than a thousand pieces",
    1009: "a message was too large",
    1011: "no answer to a ping, or a mistake in Hob (`hob logs`)",
    RESTART: "Hob is stopping or restarting: reconnect and continue",
    SLOW: "you have not read for too long; the reason says which `after` to go on with",
    UNKNOWN: "the token is wrong, has run out or was revoked",
    NO_HELLO: "no `hello` came in time",
    TOO_FAST: "too many messages, or too many wrong tokens from your address",
}
"""Close codes below 4000 are RFC 6455's (https://www.rfc-editor.org/rfc/rfc6455#section-7.4.1)."""
