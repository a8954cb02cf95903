"""Port for accepting messages."""

from typing import Protocol

from hob.core.ids import InboundId, SessionKey, TraceId
from hob.core.messages import Inbound
from hob.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Accepted:
    """Receipt for a durable message. `id` and `trace` are those of the first message with this key.

    `answer` is set if the message was a fast command, which has been answered already. `queued`: the message was just
    added to its session's queue and has not been processed yet.
    """

    id: InboundId
    trace: TraceId
    session: SessionKey
    duplicate: bool = False
    answer: str | None = None
    queued: bool = False


class Accept(Protocol):
    """Entry point for messages from channels, the API and Hob itself."""

    async def __call__(self, inbound: Inbound) -> Accepted:
        """Make the message durable. The channel may acknowledge it only after this returns.

        Raises Busy, ShuttingDown, NotAllowed, InvalidRequest, KeyReused and StoreErrors; in these cases nothing was
        accepted.
        """
