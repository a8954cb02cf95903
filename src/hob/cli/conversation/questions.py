"""Requests for approval in the terminal: shown in full, with colours, and answered if a person is present."""

import os
import sys
import termios
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TextIO

from hob.cli.output import paint, printable
from hob.cli.translating import _, terminal_language
from hob.core.values import dataclass
from hob.guard.approvals.question import Question
from hob.guard.approvals.question_text import LineKind, lines_of

DECISIONS = {
    **dict.fromkeys(("y", "yes", "j", "ja"), (True, "once")),
    **dict.fromkeys(("n", "no", "nein"), (False, "once")),
    "session": (True, "session"),
    "always": (True, "always"),
}
"""Typed answers: whether they allow, and their scope."""


_COLOURS = {LineKind.HEAD: "yellow", LineKind.ADDED: "green", LineKind.REMOVED: "red", LineKind.PLACE: "cyan"}


def show_question(view: Mapping[str, Any], language: str = "") -> None:
    """Print everything that a message waits for to standard error."""
    for each in view["asked"] or [{"shown": view["question"]}]:
        show_approval(each, sys.stderr, language)


def show_approval(approval: Mapping[str, Any], on: TextIO, language: str = "") -> None:
    """Print a request for approval, diffs in colours."""
    for shown, colour in coloured_lines(approval, language or terminal_language()):
        print(paint(shown, colour, on), file=on)
    on.flush()


def coloured_lines(approval: Mapping[str, Any], language: str) -> Iterator[tuple[str, str]]:
    """Yield the lines of a request in this language, each with its colour. Requests of older versions stay as they were
    asked.
    """
    if values := approval.get("question"):
        yield from (
            (printable(line), _COLOURS.get(kind, "")) for line, kind in lines_of(Question.load(values), language)
        )
        return
    for number, line in enumerate(printable(approval["shown"]).split("\n")):
        yield line, "" if number else "yellow"


def subject_of(approval: Mapping[str, Any]) -> str:
    """Return a one-line summary of a request; for older versions its first line."""
    values = approval.get("question")
    return f"{approval['tool']}: {Question.load(values).subject}" if values else str(approval["shown"])


def how_to_answer(view: Mapping[str, Any]) -> str:
    """Return the commands that answer the message's questions."""
    if not view["approvals"]:
        return _(
            'waits for your answer: hob ask{session} "..."; what comes of it: hob ask --resume {id}',
            session=_session(view),
            id=view["id"],
        )
    ways = [_("hob approvals allow {id}, or deny {id}", id=id) for id in view["approvals"]]
    return _("nothing is done until you answer: {ways}", ways="; ".join(ways))


def _session(view: Mapping[str, Any]) -> str:
    name = view["session"].removeprefix("local:")
    return "" if name == "main" else f" --session {name}"


@dataclass(frozen=True, slots=True)
class ApprovalPrompt:
    """The person's own terminal, by descriptor; piped input never reaches it."""

    descriptor: int

    def decide(self, approval: Mapping[str, Any]) -> tuple[bool, str] | None:
        """Return whether the call is allowed and the scope; None if the person leaves it open."""
        further = "".join(_(", or {scope}", scope=scope) for scope in approval["scopes"] if scope != "once")
        while True:
            word = self.read(
                _("Allow {id}? (y/n{further}; Ctrl-D leaves it open) ", id=approval["id"], further=further)
            )
            if word is None:
                return None
            said = DECISIONS.get(word.strip().lower())
            if said is not None and (said[1] in approval["scopes"]):
                return said

    def read(self, prompt: str) -> str | None:
        """Read a newly typed line; None at Ctrl-D."""
        termios.tcflush(self.descriptor, termios.TCIFLUSH)  # text typed before the question is not an answer
        os.write(self.descriptor, prompt.encode())
        line = b""
        while not line.endswith(b"\n"):
            piece = os.read(self.descriptor, 4096)
            if not piece:
                os.write(self.descriptor, b"\n")
                return None
            line += piece
        return line.decode("utf-8", "replace").rstrip("\r\n")


@contextmanager
def own_terminal() -> Iterator[ApprovalPrompt | None]:
    """Return the command's terminal if a person watches it: in the foreground, with standard error shown."""
    if not sys.stderr.isatty():
        yield None
        return
    try:
        descriptor = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        yield None
        return
    try:
        yield ApprovalPrompt(descriptor) if os.tcgetpgrp(descriptor) == os.getpgrp() else None
    finally:
        os.close(descriptor)
