"""`hob export`."""

import sys

from hob.app.daemon.daemon_client import local_key, reach_lines
from hob.config.environment import find_home, process_environment
from hob.gateway.routes.views import export_lines


def export(*, session: str | None = None, all: bool = False) -> int:  # noqa: A002 - the option's name
    """Conversations as JSON lines, each with its metadata first.

    Parameters
    ----------
    session:
        This session, by its name or its whole key.
    all:
        Every session.
    """
    if (session is None) == (not all):
        print("say which: `hob export --session KEY` or `hob export --all`", file=sys.stderr)
        return 2
    home = find_home(process_environment())
    key = None if session is None else local_key(session)
    query = {} if key is None else {"session": key}
    for line in reach_lines(home, "/export", query, lambda app: export_lines(app.store, key)):
        sys.stdout.write(line)
    return 0
