"""`hob logs`: show and follow the log files, with or without a daemon."""

import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Literal

from hob.app.logs.log_lines import LogLine, format_json, parse_line
from hob.cli.dates_and_figures import parse_time, when
from hob.cli.output import paint, printable
from hob.cli.translating import _
from hob.config.environment import find_home, process_environment
from hob.core.errors import InvalidRequest
from hob.core.translation.language import translatable

_LEVELS = ("debug", "info", "warning", "error", "critical")
_COLOURS = {"WARNING": "yellow", "ERROR": "red", "CRITICAL": "red", "DEBUG": "dim"}
_UNITS = {"s": 1, "min": 60, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_PAUSE = 0.2  # seconds between reads of a growing file


def logs(
    *,
    follow: bool = False,
    since: str = "",
    level: Literal["debug", "info", "warning", "error", "critical"] = "debug",
    grep: str = "",
    limit: int = 200,
    json: bool = False,
) -> None:
    """Show Hob's log.

    Parameters
    ----------
    follow:
        Keep showing new lines, until Ctrl-C.
    since:
        Only newer lines: 30min, 2h, 3d, or a time such as 2026-05-01 or 2026-05-01T08:30.
    level:
        Only lines of at least this level.
    grep:
        Only lines whose text, logger or trace matches this regular expression.
    limit:
        Show at most this many of the newest; 0 shows all.
    json:
        Print one JSON object per line.
    """
    if limit < 0:
        raise InvalidRequest(translatable("--limit {limit} is not a number of lines; 0 means all", limit=limit))
    folder = find_home(process_environment()) / "logs"
    wanted = _filter(since, level, grep)
    show = _show_json if json else _show
    current = folder / "hob.log"
    if not current.exists() and not follow:
        print(
            _(
                "There is no log yet: {file} is written while Hob runs: by `hob serve`, a chat or `hob ask`.",
                file=current,
            ),
            file=sys.stderr,
        )
        return
    tail = _Tail(current)
    chosen = [line for line in _read([*_rotated_lines(folder), *tail.lines()]) if wanted(line)]
    for line in chosen[-limit:] if limit > 0 else chosen:
        show(line)
    if not chosen and not follow:
        print(_("No matching lines in the log."), file=sys.stderr)
    while follow:
        sys.stdout.flush()
        time.sleep(_PAUSE)
        for line in _read(tail.lines()):
            if wanted(line):
                show(line)


class _Tail:
    """Reads lines appended to a file, also after the file is rotated."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle: int | None = None
        self._rest = b""

    def lines(self) -> Iterator[str]:
        """Yield the lines appended since the last call."""
        yield from self._rest_of_file()
        try:
            now = self._path.stat().st_ino
        except FileNotFoundError:
            return
        if self._handle is None or os.fstat(self._handle).st_ino != now:
            self._open()
            yield from self._rest_of_file()

    def _open(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
        self._handle, self._rest = os.open(self._path, os.O_RDONLY), b""

    def _rest_of_file(self) -> Iterator[str]:
        while self._handle is not None and (data := os.read(self._handle, 1 << 20)):
            *whole, self._rest = (self._rest + data).split(b"\n")
            for line in whole:
                yield line.decode("utf-8", "replace")


def _rotated_lines(folder: Path) -> Iterator[str]:
    """Yield the lines of the rotated files, oldest first."""
    found = [file for file in folder.glob("hob.log.*") if file.suffix[1:].isdecimal()]
    for file in sorted(found, key=lambda file: -int(file.suffix[1:])):
        yield from file.read_text("utf-8", "replace").split("\n")[:-1]


def _read(lines: Iterable[str]) -> Iterator[LogLine]:
    return (line for text in lines if (line := parse_line(text)) is not None)


def _filter(since: str, level: str, grep: str) -> Callable[[LogLine], bool]:
    minimum, from_then = _LEVELS.index(level), _parse_since(since) if since else 0.0
    try:
        pattern = re.compile(grep, re.IGNORECASE) if grep else None
    except re.error as error:
        raise InvalidRequest(translatable("--grep is not a regular expression: {error}", error=error)) from None

    def wanted(line: LogLine) -> bool:
        name = line.level.lower()
        return (
            (name not in _LEVELS or _LEVELS.index(name) >= minimum)
            and (not from_then or line.seconds >= from_then)
            and (pattern is None or any(map(pattern.search, (line.text, line.logger, line.trace))))
        )

    return wanted


def _parse_since(text: str) -> float:
    """Parse an age or a time into Unix seconds."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?) ?([a-z]+)", text.strip())
    if found and found[2] in _UNITS:
        return time.time() - float(found[1]) * _UNITS[found[2]]
    try:
        return parse_time(text.strip())
    except ValueError:
        raise InvalidRequest(
            translatable("--since {text!r} is not a time; write 30min, 2h, 3d or 2026-05-01T08:30", text=text)
        ) from None


def _show(line: LogLine) -> None:
    colour = _COLOURS.get(line.level, "")
    at = when(line.seconds) if line.seconds else printable(line.at)
    head = f"{paint(at, 'dim')} {paint(line.level.lower().ljust(8), colour)}"
    trace = f" {paint(f'[{printable(line.trace)}]', 'dim')}" if line.trace else ""
    text = printable(line.text).replace("\n", "\n    ")
    print(f"{head} {paint(printable(line.logger), 'cyan')}{trace} {text}")


def _show_json(line: LogLine) -> None:
    print(format_json(line))
