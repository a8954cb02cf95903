"""Notifications to the service manager: ready, alive, stopping.

The protocol is systemd's: a datagram of `NAME=value` lines to the socket that NOTIFY_SOCKET names
(https://www.freedesktop.org/software/systemd/man/latest/sd_notify.html), and a heartbeat at half of WATCHDOG_USEC
(https://www.freedesktop.org/software/systemd/man/latest/sd_watchdog_enabled.html).
"""

import asyncio
import faulthandler
import logging
import os
import socket
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from hob.core.clock import Clock

_SEND_SECONDS = 1.0
"""Time limit: the service manager reads at once unless it is itself in trouble."""

log = logging.getLogger(__name__)


class ServiceNotifier:
    """The service manager that started Hob. Without one, nothing is sent and no timer runs."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._address = _address(environ.get("NOTIFY_SOCKET", ""))
        self.beat_seconds = _beat_seconds(environ) if self._address else 0.0
        """Seconds between two heartbeats; 0 without a watchdog."""

    def send(self, *lines: str) -> None:
        """Send these `NAME=value` lines together. Failures are logged, since Hob also runs without a manager."""
        if not self._address:
            return
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
                sender.settimeout(_SEND_SECONDS)
                sender.sendto("\n".join(lines).encode(), self._address)
        except OSError as error:
            log.warning("the service manager cannot be told %s: %s", lines[0], error)

    @asynccontextmanager
    async def heartbeat(self, clock: Clock) -> AsyncIterator[None]:
        """Send heartbeats from the event loop while the block is open, so that they stop if the loop hangs."""
        if not self.beat_seconds:
            yield
            return
        if sys.stderr is not None:
            faulthandler.enable()  # the watchdog kills with SIGABRT: the log then shows where the process hung
        async with asyncio.TaskGroup() as group:
            beating = group.create_task(self._beat(clock))
            yield
            beating.cancel()

    async def _beat(self, clock: Clock) -> None:
        while True:
            self.send("WATCHDOG=1")
            await clock.sleep(self.beat_seconds)


def _address(text: str) -> str:
    """Return the socket address: a path, or a name in Linux's abstract namespace, written with a leading @."""
    return f"\0{text[1:]}" if text.startswith("@") else text if text.startswith("/") else ""


def _beat_seconds(environ: Mapping[str, str]) -> float:
    pid, allowed = environ.get("WATCHDOG_PID", ""), environ.get("WATCHDOG_USEC", "")
    if not allowed.isascii() or not allowed.isdecimal() or len(allowed) > 18 or pid not in ("", str(os.getpid())):
        return 0.0
    return int(allowed) / 2_000_000
