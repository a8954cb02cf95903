"""One client of `/ws`: login, what it says, what it is told, time limits, and how it ends."""

import asyncio
import logging
import math
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
from hob.gateway.live.kinds import ClientRequest, Ended, M, MessageKind
from hob.gateway.live.table import HELLO, KINDS, NO_HELLO, NOT_TEXT, SLOW, TOO_FAST, UNKNOWN, Hello

HELLO_SECONDS = 10.0
"""For the first message, where the token is in no header."""
SLOW_SECONDS = 15.0
"""A client that reads nothing for so long is let go."""
RECHECK_SECONDS = 10.0
"""A revoked token ends a silent connection after this at most; one that says something or is told something at once."""
FRESH_SECONDS = 0.1
"""So long a token that was looked at is taken to hold: pieces of an answer come faster than that."""
MAX_AT_ONCE = 32
"""Messages that are followed, and subscriptions, on one connection."""
BURST = 60
PER_SECOND = 20.0

_KINDS = {kind.name: kind for kind in KINDS}

log = logging.getLogger(__name__)


class MessagePace:
    """How fast a client may speak: so many messages a second in the long run, and a few more at once."""

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
    """A WebSocket that was accepted. `show` tells who holds a token; raises Refusal."""

    def __init__(
        self,
        api: Api,
        receive: Receive,
        send: Send,
        show: Callable[[str], ApiCaller],
        whole: Callable[[str], str] = str,
    ) -> None:
        """`whole` makes a signed-in browser's token of the half that its page knows."""
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
        self._checked = -math.inf
        self._cursor: int | None = None

    async def run(self, caller: ApiCaller | None, token: str | None, known: Callable[[ApiCaller], None]) -> None:
        """Talk until either side ends it. `known` is told who it is; who has shown it already says no hello."""
        ended = Ended()
        try:
            async with asyncio.TaskGroup() as group:
                if caller is None:
                    caller, token = await self._let_in()
                self._caller, self._token = caller, token
                known(caller)
                await self.say(None, messages.WELCOME, self._welcome(caller))
                group.create_task(self._recheck())
                await self._listen(group, caller)
        except* Ended as found:
            ended = next(each for each in found.exceptions if isinstance(each, Ended))
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

    async def _let_in(self) -> tuple[ApiCaller, str]:
        """Who it is by its first message. Raises Ended."""
        try:
            async with asyncio.timeout(HELLO_SECONDS):
                text = await self._next()
        except TimeoutError:
            raise Ended(NO_HELLO, f'no {{"type": "hello", "token": ...}} within {HELLO_SECONDS:g} s') from None
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
        raise Ended(TOO_FAST if failure.code == "too_many_attempts" else UNKNOWN, _reason(failure.message))

    async def _next(self) -> str:
        received = await self._receive()
        if received["type"] == "websocket.disconnect":
            raise Ended
        if not self._pace.allows_one():
            raise Ended(TOO_FAST, f"more than {PER_SECOND:g} messages a second")
        text = received.get("text")
        if text is None:
            raise Ended(NOT_TEXT, "messages are JSON objects, as text")
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
        """Tell the client. Returns when it is on its way. Raises Ended: it is gone, slow, or not let in any more.

        `text`: the fields as JSON, where they were written out before.
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
                raise Ended(SLOW, f"nothing was read for {SLOW_SECONDS:g} s{where}") from None
            except OSError:
                raise Ended from None
        if isinstance(cursor := fields.get("cursor"), int):
            self._cursor = cursor

    def _check(self) -> None:
        """Raises Ended once the token does not hold any more."""
        now = self._api.clock.monotonic()
        if self._token is None or now - self._checked < FRESH_SECONDS:
            return
        self._checked = now
        try:
            holds = self._api.keyring.find(self._token) == self._caller
        except NotConfigured:
            holds = False
        if not holds:
            raise Ended(UNKNOWN, "the token does not hold any more")

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
    """What the client calls this message by, taken out of it."""
    ref = found.pop("ref", None)
    if ref is None:
        return None
    if not isinstance(ref, str) or not (1 <= len(ref) <= 64 and ref.isprintable()):
        raise InvalidRequest("ref must have 1 to 64 printable characters")
    return ref


def _kind(found: dict[str, Any], caller: ApiCaller) -> MessageKind[Any]:
    """What is said, its name taken out of the message. Raises InvalidRequest, Refusal."""
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
    """As much as a close frame holds: 123 bytes (https://www.rfc-editor.org/rfc/rfc6455#section-5.5)."""
    return message.encode()[:120].decode("utf-8", "ignore")
