"""The port for accepting messages."""

from typing import Protocol

from hob.core.ids import InboundId, SessionKey, TraceId
from hob.core.messages import Inbound
from hob.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Accepted:
    """The message is durable. `id` and `trace` are those of the first message with this key.

    `answer` is set when the message was a fast command and has been answered here and now. `queued`: just now it was
    put behind what waits in its session, and nothing has become of it yet.
    """

    id: InboundId
    trace: TraceId
    session: SessionKey
    duplicate: bool = False
    answer: str | None = None
    queued: bool = False


class Accept(Protocol):
    """What channels, the API and Hob itself hand messages to."""

    async def __call__(self, inbound: Inbound) -> Accepted:
        """Make the message durable. Only after this returns may the channel acknowledge it.

        Raises Busy, Stopping, NotAllowed, InvalidRequest, KeyReused and StoreErrors: then nothing was accepted.
        """
