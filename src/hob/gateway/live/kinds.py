"""One line of the table of what clients may say, and what its handler is given."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Generic, Protocol, TypeVar

from hob.core.values import dataclass
from hob.gateway.api import Api
from hob.gateway.auth.callers import ApiCaller, TokenScope
from hob.gateway.live.messages import LiveMessage

T = TypeVar("T")
M = TypeVar("M", bound=Mapping[str, object])


class SendReply(Protocol):
    """Says something to the client that asked, with the `ref` that it gave."""

    async def __call__(self, message: LiveMessage[M], fields: M, text: str = "", /) -> None:
        """Returns when the message is on its way; a client that is slow to read makes it wait. Raises Ended.

        `text`: the fields as JSON, where they were written out before.
        """


@dataclass(frozen=True, slots=True)
class ClientRequest(Generic[T]):
    """One message of a client, let in, read and checked."""

    api: Api
    caller: ApiCaller
    asked: T
    say: SendReply


@dataclass(frozen=True, slots=True)
class MessageKind(Generic[T]):
    """What a client may say under this name. Its manual is the handler's docstring.

    `scope` is what the caller must be allowed, or one of `also`, who are told less. What it takes, a frozen dataclass
    made with `fields.field`, is read from the message. `answers` are the messages that may come of it, `errors` the
    codes of `failures.STATUS` that an `error` may hold beyond those of every kind. What `is_long_running` goes on
    beside what is said next; what is `single` ends an earlier one of its kind.
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


class Ended(Exception):
    """The connection is over; with a code of `table.CLOSES` the client is told so."""

    def __init__(self, code: int | None = None, reason: str = "") -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason
