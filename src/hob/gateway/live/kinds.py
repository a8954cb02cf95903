"""Kinds of client messages, and the requests that their handlers get."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Generic, Protocol, TypeVar

from hob.core.values import dataclass
from hob.gateway.api import Api
from hob.gateway.auth.callers import ApiCaller, TokenScope
from hob.gateway.live.messages import LiveMessage

T = TypeVar("T")
M = TypeVar("M", bound=Mapping[str, object])


class SendReply(Protocol):
    """Sends a message to the requesting client, with its `ref`."""

    async def __call__(self, message: LiveMessage[M], fields: M, text: str = "", /) -> None:
        """Send a message; return when it is written, which may wait for a slow client. Raises ConnectionEnded.

        `text`: the fields as JSON, if already encoded.
        """


@dataclass(frozen=True, slots=True)
class ClientRequest(Generic[T]):
    """A client's message, authorized and parsed."""

    api: Api
    caller: ApiCaller
    asked: T
    say: SendReply


@dataclass(frozen=True, slots=True)
class MessageKind(Generic[T]):
    """A kind of client message, documented by its handler's docstring.

    `scope` or one of `also` is required; callers with one of `also` get no message content. `takes`, a frozen dataclass
    made with `fields.field`, is parsed from the message. `answers` are the possible replies, `errors` the codes of
    `failures.STATUS` that an `error` may hold beyond those of every kind. An `is_long_running` handler runs beside
    later messages; a `single` one replaces an earlier one of its kind.
    """

    name: str
    handler: Callable[[ClientRequest[T]], Awaitable[None]]
    scope: TokenScope | None
    takes: type[T]
    answers: tuple[LiveMessage[Any], ...]
    errors: tuple[str, ...] = ()
    is_long_running: bool = False
    single: bool = False
    also: tuple[TokenScope, ...] = ()


class ConnectionEnded(Exception):
    """The connection is over. The code is sent to the client if it is one of `table.CLOSES`."""

    def __init__(self, code: int | None = None, reason: str = "") -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason
