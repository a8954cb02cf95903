"""One client of `/ws`: login, incoming and outgoing messages, time limits, and closing."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from starlette.types import Receive, Send

from hob import __version__
from hob.core.errors import HobError, InvalidRequest, NotConfigured
from hob.gateway.api import Api
from hob.gateway.auth.callers import ApiCaller
from hob.gateway.http.failures import Failure, HttpRefusal, failure_of
from hob.gateway.http.fields import read
from hob.gateway.http.json_body import parse_json
from hob.gateway.http.reply import encoded
from hob.gateway.live import messages
from hob.gateway.live.kinds import ClientRequest, ConnectionEnded, M, MessageKind
from hob.gateway.live.table import HELLO, KINDS, NO_HELLO, NOT_TEXT, SLOW, TOO_FAST, UNKNOWN, Hello

HELLO_SECONDS = 10.0
"""Time limit for `hello`, if no header holds the token."""
SLOW_SECONDS = 15.0
"""Time limit for a client that does not read."""
RECHECK_SECONDS = 10.0
"""Interval of token checks on a silent connection; an active one is checked at once."""
MAX_AT_ONCE = 32
"""Followed messages and subscriptions per connection."""
BURST = 60
PER_SECOND = 20.0

_KINDS = {kind.name: kind for kind in KINDS}

log = logging.getLogger(__name__)


class MessagePace:
    """Rate limit for a client's messages: a steady rate and a small burst."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._at = monotonic()
        self._left = float(BURST)

    def allows_one(self) -> bool:
        """Count one more message."""
        now = self._monotonic()
        self._left = min(BURST, self._left + (now - self._at) * PER_SECOND) - 1
        self._at = now
        return self._left >= 0


class LiveConnection:
    """An accepted WebSocket. `show` authenticates a token; raises HttpRefusal."""

    def __init__(
        self,
        api: Api,
        receive: Receive,
        send: Send,
        show: Callable[[str], ApiCaller],
        whole: Callable[[str], str] = str,
    ) -> None:
        """`whole` completes a signed-in browser's token from the half that its page knows."""
        self._api = api
        self._receive = receive
        self._send = send
        self._show = show
        self._whole = whole
        self._sending = asyncio.Lock()
        self._pace = MessagePace(api.clock.monotonic)
        self._lasting: dict[asyncio.Task[None], str] = {}
        self._token: str | None = None
        self._caller: ApiCaller | None = None
        self._cursor: int | None = None
        self._hello: asyncio.Timeout | None = None

    def leave(self) -> None:
        """End the connection if it still waits for `hello`."""
        if self._hello is not None:
            self._hello.reschedule(0)

    async def run(self, caller: ApiCaller | None, token: str | None, known: Callable[[ApiCaller], None]) -> None:
        """Serve the client until either side ends the connection.

        `known` is called with the authenticated caller. A caller that is already authenticated sends no `hello`.
        """
        ended = ConnectionEnded()
        try:
            async with asyncio.TaskGroup() as group:
                if caller is None:
                    caller, token = await self._authenticate()
                self._caller, self._token = caller, token
                known(caller)
                await self.say(None, messages.WELCOME, self._welcome(caller))
                group.create_task(self._recheck())
                await self._listen(group, caller)
        except* ConnectionEnded as found:
            ended = next(each for each in found.exceptions if isinstance(each, ConnectionEnded))
        if ended.code is not None:
            with suppress(OSError):
                await self._send({"type": "websocket.close", "code": ended.code, "reason": ended.reason})

    def _welcome(self, caller: ApiCaller) -> messages.WelcomeMessage:
        return {
            "version": __version__,
            "who": caller.by,
            "sender_class": caller.cls.value,
            "scopes": sorted(caller.scopes),
        }

    async def _authenticate(self) -> tuple[ApiCaller, str]:
        """Authenticate the client by its first message. Raises ConnectionEnded."""
        try:
            async with asyncio.timeout(HELLO_SECONDS) as self._hello:
                text = await self._next()
        except TimeoutError:
            raise ConnectionEnded(NO_HELLO, 'no {"type": "hello", "token": ...} in time') from None
        finally:
            self._hello = None
        ref = None
        try:
            found = _object(text)
            ref = _ref(found)
            if found.pop("type", None) != HELLO:
                raise HttpRefusal(
                    "unauthorized", 'say {"type": "hello", "token": ...} first; `hob token show` prints one'
                )
            token = self._whole(read(Hello, found).token)
            return self._show(token), token
        except InvalidRequest as error:
            failure = failure_of(error)
        except HttpRefusal as refusal:
            failure = refusal.failure
        await self.say(ref, messages.ERROR, _view(failure))
        raise ConnectionEnded(TOO_FAST if failure.code == "too_many_attempts" else UNKNOWN, _reason(failure.message))

    async def _next(self) -> str:
        received = await self._receive()
        if received["type"] == "websocket.disconnect":
            raise ConnectionEnded
        if not self._pace.allows_one():
            raise ConnectionEnded(TOO_FAST, f"more than {PER_SECOND:g} messages a second")
        text = received.get("text")
        if text is None:
            raise ConnectionEnded(NOT_TEXT, "messages are JSON objects, as text")
        return str(text)

    async def _listen(self, group: asyncio.TaskGroup, caller: ApiCaller) -> None:
        while True:
            text = await self._next()
            self._check()
            ref = None
            try:
                found = _object(text)
                ref = _ref(found)
                kind = _kind(found, caller)
                said = ClientRequest(self._api, caller, read(kind.takes, found), partial(self.say, ref))
                if kind.is_long_running:
                    self._begin(group, kind, said, ref)
                    continue
            except HobError as error:
                await self.say(ref, messages.ERROR, _view(failure_of(error)))
            except HttpRefusal as refusal:
                await self.say(ref, messages.ERROR, _view(refusal.failure))
            else:
                await self._answer(kind, said, ref)

    def _begin(
        self, group: asyncio.TaskGroup, kind: MessageKind[Any], request: ClientRequest[Any], ref: str | None
    ) -> None:
        for earlier, name in self._lasting.items():
            if kind.single and name == kind.name:
                earlier.cancel()
        if len(self._lasting) >= MAX_AT_ONCE:
            raise InvalidRequest(
                f"{MAX_AT_ONCE} messages are followed here already; wait for a result, or connect twice"
            )
        task = group.create_task(self._answer(kind, request, ref))
        self._lasting[task] = kind.name
        task.add_done_callback(self._lasting.pop)

    async def _answer(self, kind: MessageKind[Any], request: ClientRequest[Any], ref: str | None) -> None:
        try:
            await kind.handler(request)
            return
        except HobError as error:
            failure = failure_of(error)
            if failure.code == "internal":
                log.error("%s over /ws failed", kind.name, exc_info=error)
        except HttpRefusal as refusal:
            failure = refusal.failure
        await self.say(ref, messages.ERROR, _view(failure))

    async def say(self, ref: str | None, message: messages.LiveMessage[M], fields: M, text: str = "", /) -> None:
        """Send a message; return when it is written. Raises ConnectionEnded if the client is gone, slow or revoked.

        `text`: the fields as JSON, if already encoded.
        """
        self._check()
        head = {"type": message.name, **({} if ref is None else {"ref": ref})}
        text = f"{encoded(head).decode()[:-1]},{text[1:]}" if text else encoded({**head, **fields}).decode()
        async with self._sending:
            try:
                async with asyncio.timeout(SLOW_SECONDS):
                    await self._send({"type": "websocket.send", "text": text})
            except TimeoutError:
                where = "" if self._cursor is None else f"; go on with after={self._cursor}"
                raise ConnectionEnded(SLOW, f"nothing was read for {SLOW_SECONDS:g} s{where}") from None
            except OSError:
                raise ConnectionEnded from None
        if isinstance(cursor := fields.get("cursor"), int):
            self._cursor = cursor

    def _check(self) -> None:
        """Raise ConnectionEnded once the token is no longer valid."""
        if self._token is None:
            return
        try:
            holds = self._api.keyring.find(self._token) == self._caller
        except NotConfigured:
            holds = False
        if not holds:
            raise ConnectionEnded(UNKNOWN, "the token does not hold any more")

    async def _recheck(self) -> None:
        while self._token is not None:
            await self._api.clock.sleep(RECHECK_SECONDS)
            self._check()


def _object(text: str) -> dict[str, Any]:
    found = parse_json(text, "the message")
    if not isinstance(found, dict):
        raise InvalidRequest('a message is an object such as {"type": "ping"}')
    return found


def _ref(found: dict[str, Any]) -> str | None:
    """Remove and return the client's reference for this message."""
    ref = found.pop("ref", None)
    if ref is None:
        return None
    if not isinstance(ref, str) or not (1 <= len(ref) <= 64 and ref.isprintable()):
        raise InvalidRequest("ref must have 1 to 64 printable characters")
    return ref


def _kind(found: dict[str, Any], caller: ApiCaller) -> MessageKind[Any]:
    """Return the kind of a message, removing its name. Raises InvalidRequest, HttpRefusal."""
    name = found.pop("type", None)
    kind = _KINDS.get(name) if isinstance(name, str) else None
    if kind is None:
        raise InvalidRequest(f"type must be one of {', '.join(_KINDS)}")
    if kind.scope is not None and not any(map(caller.may, (kind.scope, *kind.also))):
        scope = kind.scope.value
        raise HttpRefusal("missing_scope", f"this token has no scope {scope!r}; `hob token new` makes one that has")
    return kind


def _view(failure: Failure) -> messages.ErrorMessage:
    view: messages.ErrorMessage = {"error": failure.view()["error"]}
    if failure.retry_after is not None:
        view["retry_after"] = failure.retry_after
    return view


def _reason(message: str) -> str:
    """Shorten a reason to what a close frame holds: 123 bytes (https://www.rfc-editor.org/rfc/rfc6455#section-5.5)."""
    return message.encode()[:120].decode("utf-8", "ignore")
