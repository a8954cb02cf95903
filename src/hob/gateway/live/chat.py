"""Messages: sent, followed while they are answered, stopped."""

import math
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass

from hob.core.ids import InboundId
from hob.gateway.chat.events import ClientEvent
from hob.gateway.chat.inbound import ChatMessage
from hob.gateway.chat.outcome import find_own, follow, follow_again
from hob.gateway.chat.receive import receive
from hob.gateway.http.fields import field
from hob.gateway.live.kinds import ClientWords

_AS_LONG_AS_IT_TAKES = math.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class Sending(ChatMessage):
    """A message, with a key of the client's own."""

    key: str = field("yours for this message: the same key again, at any time, joins it", characters=(1, 255))


@dataclass(frozen=True, slots=True)
class AMessage:
    """One message."""

    id: str = field("the message's id, as `accepted` said")


async def send(said: ClientWords[Sending]) -> None:
    """Send a message and follow it to its `result`; send it again with its key where the connection broke before.

    Deltas are for the eye: a client that is slow to read misses some, and a new attempt of the model's takes them back
    (`retracted`). `result` is the truth.
    """
    api, asked = said.api, said.asked
    inbound = await receive(api, asked, asked.key, said.caller)
    await _tell(said, follow(api, inbound, _AS_LONG_AS_IT_TAKES), "")


async def follow_message(said: ClientWords[AMessage]) -> None:
    """Follow a message that was sent before, here or elsewhere."""
    accepted = await find_own(said.api, InboundId(said.asked.id), said.caller)
    await _tell(said, follow_again(said.api, accepted.id, _AS_LONG_AS_IT_TAKES), accepted.id)


async def stop(said: ClientWords[AMessage]) -> None:
    """End the turn that works on this message, or take the message out of the queue."""
    accepted = await find_own(said.api, InboundId(said.asked.id), said.caller)
    stopped = await said.api.operations.cancel(accepted.id, "/stop")
    await said.say("stopped", id=accepted.id, stopped=stopped)


async def _tell(
    said: ClientWords[AMessage] | ClientWords[Sending], events: AsyncGenerator[ClientEvent, None], id: str
) -> None:
    async with aclosing(events):
        async for event in events:
            if event.name == "accepted":
                id = event.data["id"]
            await said.say(event.name, **({"id": id} if id else {}), **_without_id(event))


def _without_id(event: ClientEvent) -> dict[str, object]:
    return {name: value for name, value in event.data.items() if name != "id"}
