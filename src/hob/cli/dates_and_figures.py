"""Dates, durations and figures as shown in a terminal."""

import time

from hob.cli.translating import terminal_language
from hob.core.translation.language import NUMBER_SEPARATORS


def number(value: float, digits: int = 1) -> str:
    """Format a figure with the separators of the reader's language."""
    return in_language(f"{value:,.{digits}f}")


def in_language(figure: str) -> str:
    """Replace the separators of an English figure by those of the reader's language."""
    return figure if terminal_language() == "en" else figure.translate(NUMBER_SEPARATORS)


def when(seconds: float) -> str:
    """Format a time in the local time zone."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))


def age(seconds: float) -> str:
    """Format a duration."""
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= size:
            return f"{number(seconds / size)} {unit}"
    return f"{number(seconds)} s"
