"""`hob ask`: one question; the answer on standard output, everything else on standard error."""

import os
import sys
from stat import S_ISFIFO, S_ISREG
from typing import Any

from hob.agent.commands.table import parse
from hob.app.daemon.daemon_client import local_key
from hob.cli.daemon_requests import USAGE, perform, resumed, sent
from hob.cli.translating import _
from hob.config.environment import find_home, process_environment
from hob.core.memory import PRIVATE


def ask(
    text: str | None = None,
    *,
    session: str | None = None,
    model: str | None = None,
    json: bool = False,
    resume: str | None = None,
) -> int:
    """Ask one question; the answer goes to stdout.

    Piped input is sent along as data, not as your words. Without a running daemon the command does the work itself.

    If Hob needs your approval or an answer, it asks at your terminal; without a terminal the command exits with
    status 75 and says how to answer.

    Parameters
    ----------
    text:
        The question.
    session:
        The conversation; by default the one this terminal last used, or main.
    model:
        The model that answers.
    json:
        Print the whole result as JSON.
    resume:
        Instead of asking, wait for the answer to the message with this id.
    """
    if (text is None) == (resume is None) or (text is not None and not text.strip()):
        told = _('write a question: hob ask "..."; or wait for an earlier message: hob ask --resume ID')
        print(f"hob: {told}", file=sys.stderr)
        return USAGE
    command, said = parse((text or "").strip()) or ("", "")
    if command == "private" and said:  # asked in a private conversation of this question alone
        text, session = said, f"{PRIVATE}{os.urandom(3).hex()}"
    body: dict[str, Any] = {"message": text, "channel": "local"}
    body |= {"session": local_key(session)} if session else {}
    body |= {"model": model} if model else {}
    piped = read_stdin() if resume is None else ""
    if piped:
        body["quoted"] = piped
    home = find_home(process_environment())
    return perform(home, resumed(resume) if resume else sent(body), json=json)


def read_stdin() -> str:
    """Return piped or redirected input; empty for a terminal or a closed descriptor."""
    try:
        mode = os.fstat(0).st_mode
    except OSError:
        return ""
    if not (S_ISFIFO(mode) or S_ISREG(mode)):
        return ""
    return sys.stdin.buffer.read().decode("utf-8", "replace")
