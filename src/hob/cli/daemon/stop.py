"""`hob stop` and `hob resume`."""

import os
import signal
import socket
import struct
import sys
import time
from contextlib import suppress
from pathlib import Path

from hob.app.daemon.daemon_client import OPENING_SECONDS, reach
from hob.app.home import holder_of, socket_of
from hob.cli.translating import _
from hob.config.environment import find_home, process_environment
from hob.core.errors import HobError, NotReady
from hob.core.translation.language import translatable

STOP_SECONDS = 120.0
"""Seconds to wait for the daemon; it ends by itself after its running turns."""
_DAEMON = "hob serve,"


def stop(*, all: bool = False) -> None:  # noqa: A002 - the option's name
    """Stop the daemon after its running turns; waiting messages are kept for the next start.

    Parameters
    ----------
    all:
        End every turn and command now, but leave the daemon running. Hob starts no work of its own until
        `hob resume`, even after a restart.
    """
    if all:
        print(
            _(
                "Everything is stopped ({count} ended). Hob starts no work of its own until `hob resume`.",
                count=reach("POST", "/stop")["ended"],
            )
        )
        return
    home = find_home(process_environment())
    holder = holder_of(home)
    if not holder.startswith(_DAEMON):
        told = translatable("; {holder} ends by itself", holder=holder) if holder else ""
        print(_("No daemon runs in {home}{told}.", home=home, told=_(told)))
        return
    try:
        os.kill(_pid_of(home), signal.SIGTERM)
    except ProcessLookupError:
        pass  # it has just ended
    except PermissionError as error:
        raise NotReady(translatable("{holder} belongs to another user; stop it as that user", holder=holder)) from error
    until = time.monotonic() + STOP_SECONDS
    while holder_of(home) == holder:
        if time.monotonic() > until:
            raise HobError(
                translatable(
                    "{holder} still works on something and ends after it; a second `hob stop` ends it at once",
                    holder=holder,
                )
            )
        time.sleep(0.05)
    print(_("Hob has stopped."))


def resume() -> None:
    """Let Hob continue its own work after `hob stop --all`."""
    lifted = reach("POST", "/resume")["lifted"]
    print(_("Hob continues its own work.") if lifted else _("Nothing was stopped."))


def _pid_of(home: Path) -> int:
    """Return the daemon's process id, from the kernel: the lock file may name a process of another container."""
    until = time.monotonic() + OPENING_SECONDS
    while True:  # a daemon that is opening does not listen yet
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as peer:
            peer.connect(str(socket_of(home)))
            if sys.platform == "darwin":  # LOCAL_PEERPID of sys/un.h
                pid = peer.getsockopt(0, 2)
            else:
                (pid, _, _) = struct.unpack("3i", peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
            if pid <= 0:
                raise NotReady("the daemon runs in another container; stop it there")
            return int(pid)
        if time.monotonic() > until:
            raise NotReady("the daemon does not listen: it is starting or ending; try again")
        time.sleep(0.05)
