"""Dates, durations and figures as shown in a terminal."""

from collections.abc import Callable, Mapping
from datetime import datetime, tzinfo
from functools import cache
from pathlib import Path

from hob.cli.translating import terminal_language
from hob.config.environment import find_home, process_environment
from hob.core.lazy import Lazy
from hob.core.translation.language import NUMBER_SEPARATORS


def number(value: float, digits: int = 1) -> str:
    """Format a figure with the separators of the reader's language."""
    return in_language(f"{value:,.{digits}f}")


def in_language(figure: str) -> str:
    """Replace the separators of an English figure by those of the reader's language."""
    return figure if terminal_language() == "en" else figure.translate(NUMBER_SEPARATORS)


def when(seconds: float) -> str:
    """Format a time in the owner's time zone."""
    return f"{local_time(seconds):%Y-%m-%d %H:%M:%S}"


def local_time(seconds: float) -> datetime:
    """Return a Unix time in the owner's time zone."""
    return datetime.fromtimestamp(seconds, owner_zone())


def parse_time(text: str) -> float:
    """Parse a date or time in ISO 8601, in the owner's time zone unless it names one. Raises ValueError."""
    found = datetime.fromisoformat(text)
    return found.replace(tzinfo=found.tzinfo or owner_zone()).timestamp()


@cache
def owner_zone() -> tzinfo | None:
    """Return the zone of `agent.timezone`; None, the machine's zone, if it is not set."""
    environ = process_environment()
    return _load_zone()(find_home(environ), environ)


@Lazy
def _load_zone() -> Callable[[Path, Mapping[str, str]], tzinfo | None]:
    from hob.app.settings.timezone import read_timezone

    return read_timezone


def age(seconds: float) -> str:
    """Format a duration."""
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= size:
            return f"{number(seconds / size)} {unit}"
    return f"{number(seconds)} s"
