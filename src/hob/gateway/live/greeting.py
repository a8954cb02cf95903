"""The first words on both sides, and signs of life."""

from dataclasses import dataclass

from hob.core.errors import InvalidRequest
from hob.gateway.http.fields import Nothing, field
from hob.gateway.live.kinds import ClientWords


@dataclass(frozen=True, slots=True)
class Hello:
    """Who the client is."""

    token: str = field("the token, as it would stand after `Authorization: Bearer`")


async def hello(said: ClientWords[Hello]) -> None:
    """Show the token, as the first message of a connection that has not shown one in its header. Wait for `welcome`."""
    raise InvalidRequest("hello comes first and once; this connection has shown who it is")


async def ping(said: ClientWords[Nothing]) -> None:
    """A sign of life, for clients that cannot send WebSocket pings; Hob sends those by itself."""
    await said.say("pong")
