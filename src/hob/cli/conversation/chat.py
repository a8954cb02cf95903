"""`hob chat`: chat in the terminal."""

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from hob.cli.chat.connection import ChatConnection
from hob.cli.conversation.ask import read_stdin
from hob.cli.daemon_requests import perform, sent
from hob.cli.output import shows_colours
from hob.config.environment import find_home, process_environment
from hob.core.errors import InvalidRequest


def chat(*, session: str | None = None, model: str | None = None, plain: bool = False) -> int:
    """Chat in the terminal; the default command.

    Attaches to the daemon if it runs; otherwise Hob runs inside this command until you leave.

    Needs a terminal. Piped input becomes one message of data: no line of it runs as a command or answers a question.

    Parameters
    ----------
    session:
        The conversation.
    model:
        The model that answers.
    plain:
        Line by line, as on simple terminals and with NO_COLOR.
    """
    environ = process_environment()
    home = find_home(environ)
    body: dict[str, Any] = {"channel": "local"}
    body |= {key: value for key, value in (("session", session), ("model", model)) if value}
    if not sys.stdin.isatty():
        return _send_piped(home, body)
    with ExitStack() as stack:
        connection = ChatConnection(home, stack)
        connection.open()
        if plain or not shows_colours(sys.stdout):
            from hob.cli.chat import plain as lines

            return lines.talk(connection, body)
        from hob.cli.chat import terminal  # takes a third of a second to load, which simple terminals do not need

        return terminal.talk(connection, body, home)


def _send_piped(home: Path, body: dict[str, Any]) -> int:
    piped = read_stdin()
    if not piped.strip():
        raise InvalidRequest('a chat needs a terminal; without one: hob ask "..."')
    return perform(home, sent(body | {"message": "", "quoted": piped}), json=False)
