"""The streams between Hob and a server."""

from typing import Any, Self

from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCResponse

Streams = tuple[Any, Any]
"""The read and write streams that the SDK's client takes."""


class TypedResults:
    """A read stream on which every result has a type.

    Clients must read a result without `resultType` as complete (MCP 2026-07-28, Result); the SDK refuses it.
    """

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    @property
    def last_context(self) -> object:
        """The sender's context of the last message, which the SDK looks for."""
        return getattr(self._stream, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        """Return the next message. Raises anyio.EndOfStream at the end."""
        return _typed(await self._stream.receive())

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        return _typed(await anext(self._stream))

    async def aclose(self) -> None:
        """Close the stream."""
        await self._stream.aclose()

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> bool | None:
        return bool(await self._stream.__aexit__(*error))


def _typed(message: SessionMessage | Exception) -> SessionMessage | Exception:
    if isinstance(message, SessionMessage) and isinstance(answer := message.message, JSONRPCResponse):
        answer.result.setdefault("resultType", "complete")
    return message
