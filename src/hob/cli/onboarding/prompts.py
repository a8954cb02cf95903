"""Questions at a terminal: with arrow keys or numbers; on simple terminals, with numbers alone."""

import shutil
import sys
from collections.abc import Sequence
from getpass import getpass

from hob.cli.output import line, paint, printable
from hob.config.environment import process_environment
from hob.core.translation.language import translatable, translated

_WIDEST = 100


class TerminalPrompts:
    """Implements `SetupPrompts` on this process's terminal."""

    def __init__(self, language: str = "en") -> None:
        self._language = language
        self._hint = "{question} (arrow keys or a number, then Enter)"

    def choose(self, question: str, options: Sequence[tuple[str, str]], default: str = "") -> str:
        question = self._say(question)
        labels = [(value, line(self._say(text), self._width())) for value, text in options]
        values = [value for value, _ in labels]
        default = default if default in values else values[0]
        if process_environment().get("TERM", "dumb") == "dumb":
            return self._choose_by_number(question, labels, default)
        hint, self._hint = self._hint, "{question}"  # shown once
        return _choose_by_arrows(self._say(translatable(hint, question=question)), labels, default)

    def read(self, question: str, default: str = "") -> str:
        shown = f" [{printable(default)}]" if default else ""
        return input(f"{self._say(question)}{shown}: ").strip() or default

    def read_secret(self, question: str) -> str:
        asked = translatable("{question} (it is not shown while you type or paste): ", question=question)
        return getpass(self._say(asked)).strip()

    def show(self, text: str, colour: str = "") -> None:
        print(paint(printable(self._say(text)), colour), flush=True)

    def _say(self, text: str) -> str:
        return translated(text, self._language)

    def _choose_by_number(self, question: str, options: Sequence[tuple[str, str]], default: str) -> str:
        print(question)
        for number, (value, text) in enumerate(options, 1):
            print(f"{'>' if value == default else ' '} {number}. {text}")
        while True:
            answer = input(self._say(translatable("1-{maximum}, Enter for >: ", maximum=str(len(options))))).strip()
            if not answer:
                return default
            if answer.isdecimal() and 1 <= int(answer) <= len(options):
                return options[int(answer) - 1][0]
            print(self._say(translatable("A number from 1 to {maximum}, please.", maximum=str(len(options)))))

    def _width(self) -> int:
        return max(20, min(_WIDEST, shutil.get_terminal_size().columns - 12))


def _choose_by_arrows(question: str, options: Sequence[tuple[str, str]], default: str) -> str:
    # takes a tenth of a second to load, needed only for questions
    from prompt_toolkit.application import create_app_session
    from prompt_toolkit.output.color_depth import ColorDepth
    from prompt_toolkit.output.vt100 import Vt100_Output
    from prompt_toolkit.shortcuts import choice

    # no cursor position reports: on a slow line the reply would mix with typed text
    output = Vt100_Output.from_pty(sys.stdout, default_color_depth=ColorDepth.from_env())
    output.enable_cpr = False
    with create_app_session(output=output):
        return choice(f"{question}\n", options=options, default=default)


def is_there() -> bool:
    """Return whether a person can be asked."""
    return sys.stdin.isatty() and sys.stdout.isatty()
