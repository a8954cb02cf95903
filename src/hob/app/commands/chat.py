"""`hob`: talking in the terminal."""

import sys
from contextlib import ExitStack
from importlib import import_module
from typing import Any

from hob.app.chat.connection import Connection
from hob.app.commands.output import shows_colours
from hob.config import find_home, process_environment


def chat(*, session: str | None = None, model: str | None = None, plain: bool = False) -> int:
    """Talk; the same as no command at all.

    With a daemon the chat attaches to it; without one this command is Hob for as long as it runs.

    Parameters
    ----------
    session:
        The conversation.
    model:
        The model that answers.
    plain:
        Line by line, as in pipes, on simple terminals and with NO_COLOR.
    """
    environ = process_environment()
    home = find_home(environ)
    body: dict[str, Any] = {"channel": "local"}
    body |= {key: value for key, value in (("session", session), ("model", model)) if value}
    with ExitStack() as stack:
        connection = Connection(home, stack)
        connection.open()
        if plain or not (sys.stdin.isatty() and shows_colours(sys.stdout)):
            return int(import_module("hob.app.chat.plain").talk(connection, body))
        # what draws the prompt takes a third of a second to load, which pipes and scripts need not spend
        return int(import_module("hob.app.chat.terminal").talk(connection, body, home))
