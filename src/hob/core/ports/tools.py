"""The ports of tools: toolsets, what a call is given, blobs."""

from collections.abc import Callable
from typing import Protocol

from hob.core.ids import BlobId
from hob.core.tools import MAX_CHARACTERS, ToolCall, ToolResult, ToolSpec
from hob.core.trust.labels import Trust
from hob.core.turns import Turn
from hob.core.values import dataclass


@dataclass(frozen=True, slots=True)
class CallContext:
    """For whom a call is made, and the trust of the context it was written in: what is not known is at its worst.

    `most` is how many characters of a result the model is shown; a tool that shows more in parts need not be cut.
    `resumed`: the call was begun before Hob ended, and its result is not known. `is_shutting_down` tells a call
    that is cancelled whether it will be resumed so; else nobody waits for it any more.
    """

    turn: Turn
    trust: Trust = Trust.UNTRUSTED
    maximum: int = MAX_CHARACTERS
    resumed: bool = False
    is_shutting_down: Callable[[], bool] = bool


class Toolset(Protocol):
    """A set of tools. Wrappers (refusing, auditing, limiting) are toolsets too."""

    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools, in a stable order: they are part of the prompt's cached prefix."""

    async def call(self, call: ToolCall, context: CallContext) -> ToolResult:
        """Make one call. Raises ToolFailed or ToolRefused for the model to read; the driver's wall takes the rest."""


class Blobs(Protocol):
    """Content-addressed bytes on disk."""

    async def put(self, data: bytes, media_type: str) -> BlobId:
        """Keep these bytes; they are on disk when this returns. Raises StoreFull."""

    async def load(self, blob: BlobId) -> bytes:
        """The bytes. Raises NotFound."""
