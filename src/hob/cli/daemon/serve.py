"""`hob serve`: the daemon."""

import asyncio
import logging
import os
import sys
import time
from contextlib import suppress
from pathlib import Path

from hob import __version__
from hob.app.daemon.command_check import command_problem
from hob.app.daemon.daemon import run_daemon, set_up_logging
from hob.app.daemon.unix_http import ConnectionLost, NotRunning, call
from hob.app.home import own, socket_of
from hob.app.logs.log_file import log_file
from hob.app.maintenance.settings import LogSettings
from hob.app.settings.sections import choose_models, read_config
from hob.cli.translating import _
from hob.core.errors import HomeInUse
from hob.core.events.tracing import CONTENT_FREE
from hob.core.translation.code_words import NO_MODEL

log = logging.getLogger(__name__)

TAKE_OVER_SECONDS = 45.0
ROLE = "serve"
_M_ARENA_MAX = -8


def serve() -> None:
    """Run the daemon until SIGTERM or Ctrl-C; a second signal stops it at once.

    A running `hob ask` or chat finishes its work first, then the daemon takes over.
    """
    config = read_config()
    for warning in filter(None, (*config.warnings, command_problem(config))):
        print(_(str(warning)), file=sys.stderr)
    set_up_logging()
    home = config.home
    line = choose_models(config).line()

    def ready(url: str) -> None:
        log.info("hob %s runs: pid %d, at %s", __version__, os.getpid(), url or "hob.sock", extra=CONTENT_FREE)
        print(
            _(
                "hob {version} ready: {address}, model {model}, home {home}",
                version=__version__,
                address=url or socket_of(home),
                model=_(line),
                home=home,
            ),
            flush=True,
        )
        if line == "none":
            print(
                _("Note: {state}. Messages are kept until `hob onboard` connects one.", state=_(NO_MODEL)), flush=True
            )
        print(_("`hob` chats with it; `hob dashboard` opens its page in a browser."), flush=True)

    take_over(home)
    _share_one_heap()
    with own(home, ROLE), log_file(home, config[LogSettings]):
        asyncio.run(run_daemon(home, config, on_ready=ready))
        log.info("hob has ended", extra=CONTENT_FREE)


def _share_one_heap() -> None:
    """Let all threads allocate from one heap, as each further one of glibc's costs an idle daemon half a MiB.

    https://man7.org/linux/man-pages/man3/mallopt.3.html
    """
    import ctypes  # only in the daemon

    if (mallopt := getattr(ctypes.CDLL(None), "mallopt", None)) is not None:
        mallopt(_M_ARENA_MAX, 1)


def take_over(home: Path) -> None:
    """Ask a one-shot owner of the home to exit after its current work, and wait. A daemon is left alone.

    Raises HomeInUse if the home does not become free.
    """
    deadline = time.monotonic() + TAKE_OVER_SECONDS
    while True:
        try:
            with own(home, ROLE):
                return
        except HomeInUse as taken:
            # a one-shot that is closing has no socket any more but still holds the lock
            if taken.holder.startswith(f"hob {ROLE},") or time.monotonic() > deadline:
                raise
            with suppress(NotRunning, ConnectionLost):
                call(socket_of(home), "POST", "/hand-over", timeout=5)
        time.sleep(0.05)
