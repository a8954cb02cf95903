"""`hob export`: conversations as JSON lines."""

import io
import sys

from hob.app.daemon.daemon_client import local_key, reach_lines
from hob.core.errors import InvalidRequest


def export(*, session: str | None = None, all: bool = False) -> int:  # noqa: A002 - the option's name
    """Export conversations as JSON lines, each with its metadata first.

    Parameters
    ----------
    session:
        Export this conversation, by name or whole key.
    all:
        Export all conversations.
    """
    if (session is None) == (not all):
        raise InvalidRequest("say which: `hob export --session NAME` or `hob export --all`")
    if isinstance(sys.stdout, io.TextIOWrapper):  # JSON lines are UTF-8 in every locale
        sys.stdout.reconfigure(encoding="utf-8")
    key = None if session is None else local_key(session)
    query = {} if key is None else {"session": key}
    for line in reach_lines("/export", query):
        sys.stdout.write(line)
    return 0
