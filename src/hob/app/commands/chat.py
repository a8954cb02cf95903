"""`hob`: a plain chat in the terminal."""

import os
import sys
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

from hob.app.client import ConnectionLost, NobodyThere, call, stream_again, stream_chat
from hob.app.commands.ask import read_stdin
from hob.app.commands.errands import USAGE, perform, sent
from hob.app.commands.output import LiveOutput, paint, tame
from hob.app.commands.questions import show_question
from hob.app.home import socket_of
from hob.config import find_home, process_environment
from hob.core.errors import HomeTaken
from hob.gateway.events import Event

REJOIN_SECONDS = 30.0


def chat(*, session: str | None = None, model: str | None = None) -> int:
    """Talk; the same as no command at all.

    With a daemon the chat attaches to it; without one this command is Hob for as long as it runs.

    It is for a terminal. What is piped in is one message of data instead: no line of it is your word, so none answers
    a question or is a command.

    Parameters
    ----------
    session:
        The conversation.
    model:
        The model that answers.
    """
    home = find_home(process_environment())
    body: dict[str, Any] = {"channel": "local"}
    body |= {key: value for key, value in (("session", session), ("model", model)) if value}
    if not sys.stdin.isatty():
        return _send_piped(home, body)
    with ExitStack() as stack:
        connection = Connection(home, stack)
        connection.open()
        print(paint(f"Hob listens. /help lists commands, Ctrl-D ends. Model: {connection.model()}.", "dim"))
        _talk(connection, body)
    return 0


def _send_piped(home: Path, body: dict[str, Any]) -> int:
    piped = read_stdin()
    if not piped.strip():
        print('a chat needs a terminal; without one: hob ask "..."', file=sys.stderr)
        return USAGE
    return perform(home, sent(body | {"message": "", "quoted": piped}), json=False)


def _talk(connection: "Connection", body: dict[str, Any]) -> None:
    waiting: set[str] = set()  # messages whose turns wait for an answer
    prompt = edit_lines()
    while True:
        try:
            text = input(prompt)
        except EOFError:
            print()
            return
        except KeyboardInterrupt:
            print()
            continue
        if text.strip():
            shown = _see(connection, connection.send(body | {"message": text}), body)
            waiting.discard(shown.first)
            for id in sorted(waiting):
                if connection.is_answered(id):  # by what was just said, or by somebody elsewhere
                    waiting.discard(id)
                    shown = _see(connection, connection.follow(id), body)
                    waiting |= {shown.first} if shown.asks else set()
            waiting |= {shown.first} if shown.asks else set()


def edit_lines() -> str:
    """Let the arrow keys edit and recall what was typed in this chat; the prompt for it."""
    import readline  # only where a person types

    readline.parse_and_bind("set enable-bracketed-paste on")
    # what is between \001 and \002 takes no room on the line
    return "\001\033[36m\002> \001\033[0m\002" if sys.stdout.isatty() else "> "


def _see(connection: "Connection", events: Generator[Event, None, None], body: dict[str, Any]) -> "Shown":
    """Show what comes of a message while it grows. Ctrl-C stops the turn, not the chat."""
    shown = Shown()
    stopping = False
    while True:
        try:
            with closing(events):
                for event in events:
                    shown.show(event)
                    if shown.paused or shown.asks:
                        break
            return shown
        except KeyboardInterrupt:
            if stopping:
                shown.say(f"not waiting any longer: hob ask --resume {shown.id}")
                return shown
            stopping = True
            shown.say("stopping; Ctrl-C again leaves it")
            connection.stop(body)
            if not shown.id:
                return shown
            events = connection.follow(shown.id)
        except ConnectionLost:
            shown.say(f"Hob went away; your message is kept: hob ask --resume {shown.id}")
            return shown


class Shown:
    """What of one message's life stands on the screen."""

    def __init__(self) -> None:
        self.id = ""
        self.first = ""
        """The message with which the turn began that this one is in."""
        self.paused = False
        """The message is kept and nothing happens with it for now."""
        self.asks = False
        """The turn waits for an answer."""
        self._written = ""
        self._retracted = False
        self._noted: set[str] = set()
        self._output = LiveOutput()

    def show(self, event: Event) -> None:
        """Write what is new."""
        match event.name:
            case "accepted":
                self.id = event.data["id"]
            case "delta":
                self._answer(event.data["text"])
            case "retracted" if self._written:
                if not self._written.endswith("\n"):
                    self._write("\n")
                self._written, self._retracted = "", True
            case "progress":
                self._progress(event.data)
            case "question":
                self._end_line()
                self._place(event.data)
                self.asks = True
                show_question(event.data)
                if event.data["approvals"]:
                    self.say(
                        "yes or no? " + ", or ".join(f"approve:{id} / deny:{id}" for id in event.data["approvals"])
                    )
            case "result" | "error":
                self._end(event.data)

    def _progress(self, data: dict[str, Any]) -> None:
        match data.get("what"):
            case "tool":
                self._end_line()
                self._output.begin()
            case "tool_done":
                self._output.end()
            case "output":
                self._output.write(data["text"])
            case "remark":
                if not self._written:  # else it waits for the answer's end
                    self._note(data["text"])
            case what if data.get("text"):
                self.say(data["text"])
                self.paused = what == "paused"

    def say(self, text: str) -> None:
        """A line that is not part of the answer."""
        self._end_line()
        print(paint(text, "dim"), file=sys.stderr, flush=True)

    def _end_line(self) -> None:
        if self._written and not self._written.endswith("\n"):
            self._write("\n")
        self._output.end()

    def _place(self, data: dict[str, Any]) -> None:
        self.id = data.get("id", self.id)
        self.first = data.get("merged_into", self.id)

    def _note(self, text: str) -> None:
        """A line about the answer, told once."""
        if text not in self._noted:
            self._noted.add(text)
            self.say(text)

    def _end(self, data: dict[str, Any]) -> None:
        self._place(data)
        reply = data.get("reply")
        if reply is not None and not self._written.endswith(reply):
            # streamed before we looked, by somebody else's turn, or a command's answer
            rest = reply[len(self._written) :] if self._written and reply.startswith(self._written) else reply
            self._answer(rest)
        if self._written and not self._written.endswith("\n"):
            self._write("\n")
        for note in data.get("notes", ()):
            self._note(note)
        if "notice" in data:
            self.say(data["notice"])
        elif "error" in data:
            print(paint(data["error"]["message"], "red"), file=sys.stderr, flush=True)
        elif reply is None:
            print(paint(f"({data['state']})", "dim"), file=sys.stderr, flush=True)

    def _answer(self, text: str) -> None:
        if self._retracted:  # said only now: an error might have followed instead
            self._retracted = False
            self.say("again:")
        self._write(text)

    def _write(self, text: str) -> None:
        self._output.end()
        self._written += text
        sys.stdout.write(tame(text) if sys.stdout.isatty() else text)
        sys.stdout.flush()


class Connection:
    """The way to the home's owner; becomes the owner where there is none."""

    def __init__(self, home: Path, stack: ExitStack) -> None:
        self._home = home
        self._path = socket_of(home)
        self._stack = stack

    def open(self) -> None:
        """Make sure that somebody owns the home and listens. Raises what opening Hob raises."""
        until = time.monotonic() + REJOIN_SECONDS
        while True:
            try:
                call(self._path, "GET", "/health", timeout=5)
                return
            except (NobodyThere, ConnectionLost):
                pass
            try:
                from hob.app.resident import resident  # loads the application, which an attached chat never needs

                self._stack.enter_context(resident(self._home))
                return
            except HomeTaken:
                # somebody else was faster, or the former owner is still ending
                if time.monotonic() > until:
                    raise
                time.sleep(0.1)

    def model(self) -> str:
        """Which model answers and why that one; how to connect one where there is none."""
        with suppress(NobodyThere, ConnectionLost):
            line = str(call(self._path, "GET", "/status", timeout=5).body.get("model", ""))
            return tame(line) if line and line != "none" else "none yet; `hob models` tells how to connect one"
        return "not known"

    def send(self, body: dict[str, Any]) -> Generator[Event, None, None]:
        """Send a message and follow it."""
        key = f"chat-{os.urandom(12).hex()}"
        return self._rejoining(lambda: stream_chat(self._path, body, key))

    def follow(self, id: str) -> Generator[Event, None, None]:
        """Follow an earlier message to its end."""
        return self._rejoining(lambda: stream_again(self._path, id))

    def is_answered(self, id: str) -> bool:
        """Whether the turn of this message waits for an answer no more."""
        with suppress(NobodyThere, ConnectionLost):
            return "question" not in call(self._path, "GET", f"/chat/{id}", timeout=10).body
        return False

    def stop(self, body: dict[str, Any]) -> None:
        """Stop the turn that runs in this conversation."""
        with suppress(NobodyThere, ConnectionLost):  # nothing runs where nobody is
            call(self._path, "POST", "/chat", body=body | {"message": "/stop"}, timeout=5)

    def _rejoining(self, begin: Callable[[], Generator[Event, None, None]]) -> Generator[Event, None, None]:
        """The events; where the owner goes away, those of the next one, who knows the same key."""
        until = 0.0
        while True:
            try:
                yield from begin()
                return
            except (NobodyThere, ConnectionLost):
                yield Event("retracted", {})
                until = until or time.monotonic() + REJOIN_SECONDS
                if time.monotonic() > until:
                    raise ConnectionLost from None
                time.sleep(0.1)
                self.open()
