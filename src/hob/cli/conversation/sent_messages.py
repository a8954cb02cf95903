"""Messages of Hob beside its answer, as lines of a terminal."""

import sys
from collections.abc import Iterable, Mapping
from typing import Any

from hob.cli.output import printable
from hob.core.content.fallbacks import number_options


def sent_lines(sent: Mapping[str, Any]) -> list[str]:
    """Return the message's lines: what it answers as a quote, its text, numbered choices, and the files' paths."""
    answered = sent["reply_to"]
    quote = [f"> {answered['text']}"] if answered and answered["text"] else []
    choices = number_options([*sent["buttons"], *sent["poll"]])
    return [*quote, *sent["text"].splitlines(), *choices, *map(_file_line, sent["attachments"])]


def print_lines(lines: Iterable[str]) -> None:
    """Print to standard output."""
    for line in lines:
        print(printable(line) if sys.stdout.isatty() else line, flush=True)


def _file_line(file: Mapping[str, Any]) -> str:
    return f"[{file['name']}] {file.get('path') or file['url']}"
