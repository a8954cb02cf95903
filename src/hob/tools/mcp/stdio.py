"""MCP over the standard streams of a sandboxed program, one message per line."""

import logging
import math
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from hob.core.errors import ToolFailed
from hob.tools.mcp.streams import Streams
from hob.tools.sandbox.running_command import OutputCallbacks, RunningCommand

log = logging.getLogger(__name__)

MAX_LINE = 16 * 1024 * 1024
_MAX_TOLD = 2_000  # characters kept of a program's stderr
_GRACE = 2.0

Start = Callable[[OutputCallbacks], Awaitable[RunningCommand]]


class StderrTail:
    """The end of a program's stderr, which may explain why the program ended."""

    def __init__(self) -> None:
        self.text = ""

    def feed(self, piece: bytes) -> None:
        """Append a piece of output."""
        self.text = (self.text + piece.decode("utf-8", "replace"))[-_MAX_TOLD:]


@asynccontextmanager
async def open_streams(start: Start, words: StderrTail, ended: Callable[[], None]) -> AsyncIterator[Streams]:
    """Run a program for the duration of the block and yield its streams. Raises NotConfigured and ToolFailed."""
    heard, read = anyio.create_memory_object_stream[SessionMessage | Exception](math.inf)
    write, written = anyio.create_memory_object_stream[SessionMessage](0)
    lines = _LineSplitter(heard.send_nowait)
    try:
        running = await start(OutputCallbacks(output=lines.feed, errors=words.feed))
    except BaseException:
        for stream in (heard, read, write, written):
            stream.close()
        raise

    async def watch() -> None:
        await running.wait()
        ended()
        heard.close()

    async def pass_on() -> None:
        async with written:
            async for message in written:
                line = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                try:
                    running.write(line.encode() + b"\n")
                except ToolFailed:
                    heard.close()
                    return

    try:
        async with anyio.create_task_group() as tasks, heard, read, write:
            tasks.start_soon(watch)
            tasks.start_soon(pass_on)
            try:
                yield read, write
            finally:
                tasks.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True):
            if running.running:
                await running.stop(grace=_GRACE)


class _LineSplitter:
    """Splits output into lines and passes on those that are messages, because programs print other text too."""

    def __init__(self, give: Callable[[SessionMessage | Exception], None]) -> None:
        self._give = give
        self._part = bytearray()

    def feed(self, piece: bytes) -> None:
        """Append a piece of output."""
        *lines, rest = (bytes(self._part) + piece).split(b"\n")
        self._part = bytearray(rest[-MAX_LINE:])
        for line in lines:
            if line.lstrip().startswith(b"{"):
                try:
                    self._give(SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False)))
                except (ValueError, anyio.ClosedResourceError, anyio.BrokenResourceError) as error:
                    log.debug("a line of an MCP server is no message: %s", error)
