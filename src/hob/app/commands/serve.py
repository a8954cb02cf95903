"""`hob serve`."""

import asyncio
import sys
import time
from pathlib import Path

from hob import __version__
from hob.app.client import ConnectionLost, NobodyThere, call
from hob.app.daemon import run_daemon, set_up_logging
from hob.app.home import own, socket_of
from hob.app.sections import model_settings, read_config
from hob.core.errors import HomeTaken
from hob.providers import describe, is_connected

TAKE_OVER_SECONDS = 45.0


def serve() -> int:
    """Run the daemon until SIGTERM or Ctrl-C; a second one stops at once.

    A one-shot `hob ask` or chat that owns the home finishes its work in hand and hands over.
    """
    config = read_config()
    for warning in config.warnings:
        print(warning, file=sys.stderr)
    set_up_logging()
    home = config.home
    settings = model_settings(config)

    def ready(url: str) -> None:
        print(f"hob {__version__} ready: {url or socket_of(home)}, model {describe(settings)}, home {home}", flush=True)
        if not is_connected(settings):
            print("Connect a model: set OPENAI_API_KEY (and OPENAI_BASE_URL for another server) and start again,")
            print("or run `hob config set model.base_url URL`.", flush=True)

    take_over(home)
    with own(home, "serve"):
        asyncio.run(run_daemon(home, config, on_ready=ready))
    return 0


def take_over(home: Path) -> None:
    """Ask a one-shot owner to end after its work in hand, and wait for it. A daemon is left alone."""
    try:
        answer = call(socket_of(home), "POST", "/hand-over", timeout=5)
    except (NobodyThere, ConnectionLost):
        return
    if answer.status != 202:
        return
    deadline = time.monotonic() + TAKE_OVER_SECONDS
    while time.monotonic() < deadline:
        try:
            with own(home, "serve"):
                return
        except HomeTaken:
            time.sleep(0.05)
