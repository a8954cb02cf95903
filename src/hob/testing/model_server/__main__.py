"""The fake model server as a program: `python -m hob.testing.model_server`."""

import argparse
import asyncio
import contextlib
import json
import signal
import sys
from pathlib import Path

from hob.testing.model_server.replies import Reply, parse_reply
from hob.testing.model_server.server import ModelServer


async def serve(server: ModelServer) -> None:
    """Serve until SIGINT or SIGTERM; the base URL (OpenAI's, with `/v1`) is the first line on stdout."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(name, stop.set)
    async with server:
        with contextlib.suppress(BrokenPipeError):
            sys.stdout.write(server.url + "\n")
            sys.stdout.flush()
        await stop.wait()


def main() -> None:
    """Run the program."""
    parser = argparse.ArgumentParser(prog="python -m hob.testing.model_server", description="A fake model server.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--say", help="answer everything with this text")
    parser.add_argument("--script", type=Path, help="a file of replies, one JSON text or object a line")
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before the first byte of each answer")
    parser.add_argument("--key", help="refuse all other API keys")
    parser.add_argument("--keep", type=int, default=1000, help="requests to remember")
    options = parser.parse_args()
    script = options.script.read_text().splitlines() if options.script else []
    server = ModelServer(
        *(parse_reply(json.loads(line)) for line in script if line.strip()),
        port=options.port,
        otherwise=None if options.say is None else Reply(options.say),
        key=options.key,
        delay=options.delay,
        keep=options.keep,
    )
    asyncio.run(serve(server))


if __name__ == "__main__":
    main()
