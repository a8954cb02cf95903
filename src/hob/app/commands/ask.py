"""`hob ask`: one question, its answer on standard output, everything else on standard error."""

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from stat import S_ISFIFO, S_ISREG
from typing import Any

from hob.app.client import ConnectionLost, NobodyThere, stream_again, stream_chat
from hob.app.commands.output import paint, print_json, tame
from hob.app.home import socket_of
from hob.config import find_home, process_environment
from hob.core.errors import HomeTaken
from hob.gateway.events import Event

SUCCESSOR_SECONDS = 3.0
"""How long a lost owner's successor may take to appear before the command does the work itself."""
REJOIN_SECONDS = 60.0
FAILED, USAGE, TEMPORARY, INTERRUPTED = 1, 2, 75, 130
"""75 is EX_TEMPFAIL of sysexits.h: not lost, ask again with --resume."""
ENDED = frozenset({"done", "silent", "failed", "cancelled", "set_aside"})


def ask(
    text: str | None = None,
    *,
    session: str | None = None,
    model: str | None = None,
    json: bool = False,
    resume: str | None = None,
) -> int:
    """Ask one question; the answer goes to stdout.

    What is piped in goes along as data, not as your words. Without a running daemon the command does the work itself.

    Parameters
    ----------
    text:
        The question.
    session:
        The conversation it belongs to.
    model:
        The model that answers it.
    json:
        Print the whole result as JSON.
    resume:
        Instead of asking, wait for the answer to this earlier message.
    """
    if (text is None) == (resume is None) or (text is not None and not text.strip()):
        print('say what to ask: hob ask "..."; or which message to wait for: hob ask --resume ID', file=sys.stderr)
        return USAGE
    body: dict[str, Any] = {"message": text, "channel": "local"}
    body |= {key: value for key, value in (("session", session), ("model", model)) if value}
    piped = read_stdin() if resume is None else ""
    if piped:
        body["quoted"] = piped
    home = find_home(process_environment())
    telling = Telling(json)
    try:
        deliver(home, body, resume, telling.show)
    except ConnectionLost:
        kept = f"; your message is kept: hob ask --resume {telling.id}" if telling.id else ""
        say(f"Hob went away{kept}")
    except KeyboardInterrupt:
        say(f"not waiting any longer: hob ask --resume {telling.id}" if telling.id else "stopped")
        return INTERRUPTED
    return telling.status


def read_stdin() -> str:
    """What is piped or redirected into the command; nothing from a terminal or a closed descriptor."""
    try:
        mode = os.fstat(0).st_mode
    except OSError:
        return ""
    if not (S_ISFIFO(mode) or S_ISREG(mode)):
        return ""
    return sys.stdin.buffer.read().decode("utf-8", "replace")


def deliver(home: Path, body: dict[str, Any], resume: str | None, show: Callable[[Event], None]) -> None:
    """Show the message's life, told by the home's owner, or by owning the home until it has ended.

    Raises ConnectionLost when an owner went away and nobody took its place in time.
    """
    key = f"ask-{os.urandom(12).hex()}"
    path = socket_of(home)
    lost_at = give_up_at = 0.0
    while True:
        try:
            try:
                for event in stream_again(path, resume) if resume else stream_chat(path, body, key):
                    show(event)
            except NobodyThere:
                if time.monotonic() < lost_at + SUCCESSOR_SECONDS:
                    raise ConnectionLost from None
                _deliver_here(body, key, resume, show)
            return
        except (ConnectionLost, HomeTaken) as error:
            # the owner was killed, is stopping, or handed over; whoever owns the home next knows the key
            now = time.monotonic()
            if not give_up_at:
                if isinstance(error, HomeTaken):
                    raise
                lost_at, give_up_at = now, now + REJOIN_SECONDS
            if now > give_up_at:
                raise ConnectionLost from error
            time.sleep(0.1)


def _deliver_here(body: dict[str, Any], key: str, resume: str | None, show: Callable[[Event], None]) -> None:
    import asyncio  # nor does an attached command need these

    from hob.app.oneshot import one_shot

    asyncio.run(one_shot(body, key, resume, show))


class Telling:
    """Shows events as they come; `status` is the command's exit status."""

    def __init__(self, json: bool) -> None:
        self.status = TEMPORARY
        self.id = ""
        self._json = json
        self._noted: set[str] = set()

    def show(self, event: Event) -> None:
        """The answer to standard output, everything else to standard error."""
        if event.name in {"result", "error"}:
            self.status = self._end(event.data)
        elif event.name == "accepted":
            self.id = event.data["id"]
        elif event.name == "progress" and event.data.get("what") == "remark":
            self._note(event.data["text"])
        elif event.name == "progress" and event.data.get("text"):
            say(event.data["text"])

    def _note(self, text: str) -> None:
        """A line about the answer; seen while it was written, it is not told again with it."""
        if text not in self._noted:
            self._noted.add(text)
            say(paint(text, "dim", sys.stderr))

    def _end(self, data: dict[str, Any]) -> int:
        if self._json:
            print_json(data)
        elif data.get("reply") is not None:
            print(tame(data["reply"]) if sys.stdout.isatty() else data["reply"])
        elif "notice" in data:
            say(data["notice"])
        if not self._json:
            for note in data.get("notes", ()):
                self._note(note)
        if "error" in data:
            if not self._json:
                say(data["error"]["message"])
            return FAILED
        if data["state"] not in ENDED:
            say(f"{data['state']}; wait for it with: hob ask --resume {data['id']}")
            return TEMPORARY
        return 0 if data["state"] != "cancelled" else FAILED


def say(text: str) -> None:
    """To standard error."""
    print(text, file=sys.stderr, flush=True)
