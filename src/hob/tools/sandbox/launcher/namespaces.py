"""Control over commands in namespaces: everything they start ends with the first process of the namespace.

bwrap reports that process and the command's exit status on a descriptor (`--json-status-fd`: one JSON object per line).
"""

import asyncio
import json
import os
import signal
from contextlib import suppress
from pathlib import Path

from hob.core.errors import ToolFailed
from hob.core.values import dataclass
from hob.tools.sandbox.network.bridge import listen_inside
from hob.tools.sandbox.network.proxy import Proxy

_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class NetworkAccess:
    """A command's network access: the proxy, and the ends of the pipe on which the sandbox waits until it is ready."""

    proxy: Proxy
    waits: int
    opens: int


class NamespaceReport:
    """Reports of the program around a command, read from a descriptor: a JSON object per line, `child-pid` and
    `exit-code`.
    """

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.ended = False
        self._text = b""

    @property
    def first(self) -> int | None:
        """The ancestor of all others, while it can be signalled; later its number may be reused."""
        return None if self._find("exit-code") is not None else self._find("child-pid")

    def status(self, code: int) -> int | None:
        """Return the command's exit status, given the program's; None if the command was never started."""
        told = self._find("exit-code")
        return 128 - code if told is None and code < 0 else told

    def _find(self, key: str) -> int | None:
        with suppress(BlockingIOError):
            while piece := os.read(self.fd, 4096):
                self._text += piece
            self.ended = True
        for line in self._text.splitlines():
            with suppress(json.JSONDecodeError):
                value = json.loads(line)
                if key in value:
                    return int(value[key])
        return None


class NamespaceTree:
    """Controls the first process of the namespace. Does not close the descriptors, which belong to their creator."""

    def __init__(self, told: NamespaceReport, way: NetworkAccess | None = None) -> None:
        self._told = told
        self._access = way

    async def started(self) -> None:
        """Open network access and let the command begin. Raises ToolFailed."""
        if self._access is None:
            return
        listening = await listen_inside(await self._wait_for_first())
        await self._access.proxy.serve(listening)
        os.write(self._access.opens, b"\0")

    def terminate(self, pid: int) -> None:
        """Send SIGTERM to the process groups below the first process, which itself only reaps the others."""
        del pid
        first = self._told.first
        if first is None:
            return
        with suppress(OSError, ValueError):
            below = Path(f"/proc/{first}/task/{first}/children").read_text("ascii").split()
            for group in {os.getpgid(int(child)) for child in below}:
                os.killpg(group, signal.SIGTERM)

    def kill(self, pid: int) -> None:
        """Send SIGKILL to the first process, which ends all others, or to bwrap if it does not exist yet."""
        first = self._told.first
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid if first is None else first, signal.SIGKILL)

    def status(self, code: int) -> int | None:
        """Return the exit status that bwrap reported."""
        return self._told.status(code)

    def close(self) -> None:
        """Close network access."""
        if self._access is not None:
            self._access.proxy.close()

    async def _wait_for_first(self) -> int:
        loop = asyncio.get_running_loop()
        news = asyncio.Event()
        loop.add_reader(self._told.fd, news.set)
        try:
            async with asyncio.timeout(_SECONDS):
                while True:
                    if (first := self._told.first) is not None:
                        return first
                    if self._told.ended:
                        raise ToolFailed("The sandbox did not start.")
                    news.clear()
                    await news.wait()
        except TimeoutError as error:
            raise ToolFailed("The sandbox did not start.") from error
        finally:
            loop.remove_reader(self._told.fd)
