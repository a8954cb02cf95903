"""Ports of tools: toolsets, call context, blobs."""

from collections.abc import Callable
from typing import Protocol

from hob.core.ids import BlobId
from hob.core.tools import MAX_CHARACTERS, ToolCall, ToolResult, ToolSpec
from hob.core.trust.labels import Trust
from hob.core.turns import Turn
from hob.core.values import dataclass


@dataclass(frozen=True, slots=True)
class CallContext:
    """Whom a call is made for, and the trust of the context it was written in; the defaults are the most cautious.

    `maximum` is the number of result characters shown to the model; a tool that pages its output need not be cut.
    `resumed`: the call was started before Hob stopped, and its result is unknown. `is_shutting_down` tells a cancelled
    call whether it will be resumed; if not, nothing waits for it any more.
    """

    turn: Turn
    trust: Trust = Trust.UNTRUSTED
    maximum: int = MAX_CHARACTERS
    resumed: bool = False
    is_shutting_down: Callable[[], bool] = bool


class Toolset(Protocol):
    """A set of tools. Wrappers (refusing, auditing, limiting) are toolsets too."""

    def specs(self) -> tuple[ToolSpec, ...]:
        """Return the tools in a stable order: they are part of the prompt's cached prefix."""

    async def call(self, call: ToolCall, context: CallContext) -> ToolResult:
        """Make one call. ToolFailed and ToolRefused are shown to the model; the driver catches all other errors."""


class Blobs(Protocol):
    """Content-addressed bytes on disk."""

    async def put(self, data: bytes, media_type: str) -> BlobId:
        """Store bytes; they are on disk on return. Raises StoreFull."""

    async def load(self, blob: BlobId) -> bytes:
        """Return the bytes of a blob. Raises NotFound."""
