"""`python -m hob.app.daemon.healthcheck`: exits with 0 while this home's Hob accepts messages, else with 1 and a
reason.

For containers and monitors that run every minute: it loads only the standard library's HTTP client.
"""

import sys

from hob.app.daemon.unix_http import ConnectionLost, NotRunning, call
from hob.app.home import socket_of
from hob.config.environment import find_home, process_environment

SECONDS = 4.0


def main() -> int:
    """Ask the owner of the home."""
    try:
        answer = call(socket_of(find_home(process_environment())), "GET", "/health", timeout=SECONDS)
    except NotRunning:
        print("not running")
        return 1
    except ConnectionLost:
        print("does not answer")
        return 1
    if answer.status != 200:
        print(answer.body.get("problem") or f"status {answer.status}")
        return 1
    print("ok")
    return 0


if __name__ == "__main__":
    sys.exit(main())
