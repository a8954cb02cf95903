"""Output of commands: colours, tables, states in words, JSON, errors and exit status."""

import json
import os
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, TextIO

from hob.cli.translating import _
from hob.config.environment import process_environment
from hob.core.errors import InvalidRequest
from hob.core.translation.code_words import CLASS_WORDS, FAULT_WORDS, STATE_WORDS
from hob.core.translation.language import translatable

COLOURS = {
    "red": "31",
    "green": "32",
    "yellow": "33",
    "blue": "34",
    "magenta": "35",
    "cyan": "36",
    "dim": "2",
    "bold": "1",
}
SESSION_WORDS: Mapping[str, str] = {
    "memory": translatable("background work on memory"),
    "models": translatable("`hob models`"),
}
"""Names for the spending of sessions that are not conversations, by key prefix."""
SIMPLE_TERMINALS = frozenset({"", "dumb", "unknown"})
"""Values of TERM for terminals without cursor control."""
Cell = str | tuple[str, str]
"""A text of a table, or a text and its colour."""
STATE_COLOURS = {
    "done": "green",
    "sent": "green",
    "ok": "green",
    "running": "cyan",
    "ready": "cyan",
    "pending": "yellow",
    "waiting": "yellow",
    "parked": "yellow",
    "failed": "red",
    "set_aside": "red",
    "dead": "red",
    "cancelled": "dim",
}


def paint(text: str, colour: str, on: TextIO | None = None) -> str:
    """Colour the text if standard output, or the given stream, shows colours."""
    return f"\033[{COLOURS[colour]}m{text}\033[0m" if colour and shows_colours(on or sys.stdout) else text


def shows_colours(on: TextIO) -> bool:
    """Return whether the stream is a terminal with colours, and NO_COLOR is unset (https://no-color.org)."""
    environ = process_environment()
    return on.isatty() and not environ.get("NO_COLOR") and environ.get("TERM", "") not in SIMPLE_TERMINALS


def state(name: str) -> Cell:
    """Return a state in words, with its colour."""
    return _(STATE_WORDS.get(name, name)), STATE_COLOURS.get(name, "")


def class_word(code: str) -> str:
    """Return a class of senders in words."""
    return _(CLASS_WORDS.get(code, code))


def status_word(code: str) -> str:
    """Return an outcome in words; an unknown code unchanged."""
    from hob.cli.chat.rendering.tool_calls import STATUS_NAMES  # few commands need it

    return _(STATUS_NAMES.get(code, STATE_WORDS.get(code, FAULT_WORDS.get(code, code))))


def session_name(key: str, width: int = 60) -> str:
    """Return a conversation as `main (terminal)`; the first word is the argument of commands."""
    if key.startswith("local:"):
        return f"{line(key.removeprefix('local:'), width)} ({_('terminal')})"
    about = _(SESSION_WORDS.get(key.partition(":")[0], ""))
    return f"{line(key, width)} ({about})" if about else line(key, width)


def print_table(
    names: Sequence[str], rows: Iterable[Sequence[Cell]], none: str, *, right: Collection[int] = ()
) -> None:
    """Print rows under the names of their columns, or `none` if there are no rows.

    Columns at the places `right` are aligned right. The last column may hold colours and further lines.
    """
    table = [[(cell, "") if isinstance(cell, str) else cell for cell in row] for row in rows]
    if not table:
        print(none)
        return
    table.insert(0, [(name, "dim") for name in names])
    aligns = [">" if place in right else "<" for place in range(len(names))]
    widths = [*(max(len(row[place][0]) for row in table) for place in range(len(names) - 1)), 0]
    for row in table:
        cells = zip(row, aligns, widths, strict=True)
        shown = (paint(f"{text:{align}{width}}", colour if text else "") for (text, colour), align, width in cells)
        print("  ".join(shown).rstrip())


def width_of_screen(otherwise: int = 120) -> int:
    """Return the terminal's width, or `otherwise` if standard output is not a terminal."""
    return (os.get_terminal_size(sys.stdout.fileno()).columns or otherwise) if sys.stdout.isatty() else otherwise


def line(text: str, width: int = 72) -> str:
    """Return the first line of the text, cut to a width, control characters made visible."""
    shown = "".join(c if c.isprintable() else "·" for c in text.strip().split("\n", 1)[0])
    return shown if len(shown) <= width else shown[: width - 1] + "…"


def sentence(text: str) -> str:
    """Return the text as a sentence: capitalised unless it begins with a name or code, with a full stop."""
    first, stop = text.partition(" ")[0], "" if text.endswith((".", "?", "!")) else "."
    return f"{text[:1].upper() if first.isalpha() else text[:1]}{text[1:]}{stop}"


def printable(text: str) -> str:
    """Return the text without control sequences (colours, titles, clipboard); new lines and tabs stay."""
    return text.translate(_TAMED)


_TAMED = {code: "\ufffd" for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\n\t"} | {0x0D: None}


class ProgressLine:
    """A transient progress line on standard error, shown only on a terminal."""

    def __init__(self) -> None:
        self._live = sys.stderr is not None and sys.stderr.isatty()
        self._open = False

    def show(self, text: str) -> None:
        """Replace the line."""
        if self._live:
            print(f"\r\033[K{paint(text, 'dim', sys.stderr)}", end="", file=sys.stderr, flush=True)
            self._open = True

    def end(self) -> None:
        """Clear the line."""
        if self._open:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
            self._open = False


class LiveOutput:
    """A command's output while it runs: dimmed, on standard error, limited, only on a terminal."""

    MAX = 4_000
    """Characters per call."""

    def __init__(self) -> None:
        self._left = self.MAX
        self._open = False

    def begin(self) -> None:
        """Start the output of another call."""
        self.end()
        self._left = self.MAX

    def write(self, text: str) -> None:
        """Print a piece if the limit allows."""
        if not self._left or not text or not sys.stderr.isatty():
            return
        shown = printable(text[: self._left])
        self._left -= len(shown)
        self._put(shown)
        if not self._left:
            self.end()
            self._put(_("[… the rest is not shown here …]") + "\n")

    def end(self) -> None:
        """Start a new line for what follows."""
        if self._open:
            self._put("\n")

    def _put(self, text: str) -> None:
        self._open = not text.endswith("\n")
        print(paint(text, "dim", sys.stderr), end="", file=sys.stderr, flush=True)


def confirm(question: str, otherwise: str = "", *, about: Callable[[], object] = lambda: None) -> bool:
    """Ask for confirmation; return whether the person agrees. `about` prints details first, `otherwise` is printed if
    not.

    Raises InvalidRequest without a terminal.
    """
    if not sys.stdin.isatty():
        raise InvalidRequest("no terminal to confirm in; use --yes")
    about()
    try:
        answer = input(_("{question} [y/N] ", question=_(question)))
    except EOFError:
        answer = "\n"
    if answer.strip().lower() in ("y", "yes", "j", "ja"):
        return True
    told = _(otherwise) or _("Nothing was changed.")
    print(f"\n{told}" if answer == "\n" else told)
    return False


def print_json(value: Mapping[str, Any]) -> None:
    """Print indented JSON."""
    print(json.dumps(value, ensure_ascii=False, indent=2))


def printed_json(value: Mapping[str, Any], wanted: bool) -> bool:
    """Print the value as JSON if wanted; return whether it was printed."""
    if wanted:
        print_json(value)
    return wanted
