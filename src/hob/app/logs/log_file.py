"""The daemon's log file: one line per event, rotated by size, readable by its owner only."""

import logging
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hob.app.logs.log_lines import LogLine, format_json, format_text
from hob.app.maintenance.settings import LogSettings
from hob.core.errors import HobError, InvalidRequest, NotFound, innermost
from hob.core.events.tracing import TRACE

NAME = "hob.log"
FOLDER = "logs"
LOOK_SECONDS = 5.0
"""Minimum seconds between two checks whether the file was moved away."""

log = logging.getLogger(__name__)


class LineFormatter(logging.Formatter):
    """Formats time, level, logger, trace (the record's own, else the running task's), text and traceback as one line.

    `form` is `text` or `json`, and can be changed.
    """

    def __init__(self, form: str) -> None:
        super().__init__()
        self.form = form
        self._second = (0, "", "")

    def format(self, record: logging.LogRecord) -> str:
        """Return one line, without a line end."""
        text = record.getMessage()
        if record.exc_info:
            text = f"{text}\n{self.formatException(record.exc_info)}"
        trace = getattr(record, "trace", "") or TRACE.get()
        write = format_json if self.form == "json" else format_text
        return write(LogLine(self._time(record.created), record.levelname, record.name, trace, text))

    def _time(self, created: float) -> str:
        second, date, offset = self._second
        if second != int(created):
            local = time.localtime(created)
            zone = time.strftime("%z", local)
            second, date, offset = int(created), time.strftime("%Y-%m-%dT%H:%M:%S", local), f"{zone[:3]}:{zone[3:]}"
            self._second = (second, date, offset)
        return f"{date}.{int(created % 1 * 1000):03d}{offset}"


class LogFile(logging.Handler):
    """Writes `hob.log` in a folder; full files become `hob.log.1` (the newest), `hob.log.2`, …

    If a line cannot be written, it is lost without any other effect.
    """

    def __init__(self, folder: Path, settings: LogSettings) -> None:
        """Raises OSError."""
        super().__init__()
        assert self.lock is not None  # noqa: S101 - the standard library always makes one
        self._turn = self.lock
        self._path = folder / NAME
        self._handle = -1
        self._size = 0
        self._looked = 0.0
        self._lines = LineFormatter(settings.format)
        self.setFormatter(self._lines)  # others may wrap it to mask secrets, so it is never replaced
        self.reopen(settings)

    def reopen(self, settings: LogSettings) -> None:
        """Apply these settings, in a new file if the old one was moved away. Raises OSError."""
        with self._turn:
            self.setLevel(settings.level.upper())
            self._settings = settings
            self._lines.form = settings.format
            self._open()

    def emit(self, record: logging.LogRecord) -> None:
        """Write one line."""
        try:
            line = f"{self.format(record)}\n".encode("utf-8", "backslashreplace")
            self._reopen_if_moved()
            if self._size and self._size + len(line) > self._settings.file_bytes:
                self._rotate()
            self._size += os.write(self._handle, line)
        except OSError:
            pass  # a full disk; the standard library would print a traceback for each line
        except Exception:  # noqa: BLE001 - a failure to log must not break anything
            self.handleError(record)

    def close(self) -> None:
        """Close the file."""
        with self._turn:
            if self._handle >= 0:
                os.close(self._handle)
                self._handle = -1
        super().close()

    def _open(self) -> None:
        handle = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        if self._handle >= 0:
            os.close(self._handle)
        self._handle = handle
        if os.fstat(handle).st_mode & 0o077:
            os.fchmod(handle, 0o600)
        self._size = os.fstat(handle).st_size

    def _rotate(self) -> None:
        full = full_files(self._path.parent)
        for file in full[max(0, self._settings.files - 1) :]:
            file.unlink(missing_ok=True)
        for number in range(min(len(full), self._settings.files - 1), 0, -1):
            with suppress(FileNotFoundError):
                self._numbered_path(number).rename(self._numbered_path(number + 1))
        with suppress(FileNotFoundError):
            if self._settings.files:
                self._path.rename(self._numbered_path(1))
            else:
                self._path.unlink()
        self._open()

    def _reopen_if_moved(self) -> None:
        """Check now and then whether the file was moved away, and open a new one if so."""
        now = time.monotonic()
        if now < self._looked + LOOK_SECONDS:
            return
        self._looked = now
        try:
            there = self._path.stat().st_ino
        except FileNotFoundError:
            there = 0
        if there != os.fstat(self._handle).st_ino:
            self._open()

    def _numbered_path(self, number: int) -> Path:
        return self._path.with_name(f"{NAME}.{number}")


def full_files(folder: Path) -> list[Path]:
    """Return the full files of a log, newest first."""
    found = [file for file in folder.glob(f"{NAME}.*") if file.suffix[1:].isdecimal()]
    return sorted(found, key=lambda file: int(file.suffix[1:]))


@contextmanager
def log_file(home: Path, settings: LogSettings) -> Iterator[None]:
    """Write the log into the home's file while the block is open; Hob runs without one if that fails."""
    for chatty in ("httpx2", "httpcore2", "uvicorn"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    root = logging.getLogger()
    former, others = root.level, [each for each in root.handlers if each.level == logging.NOTSET]
    try:
        handler = LogFile(home / FOLDER, settings)
    except OSError as error:
        log.error("the log file %s cannot be written: %s", home / FOLDER / NAME, error.strerror)
        yield
        return
    for each in others:  # logged as little as before
        each.setLevel(former)
    root.addHandler(handler)
    root.setLevel(min(former, handler.level))
    try:
        yield
    finally:
        for each in others:
            each.setLevel(logging.NOTSET)
        root.setLevel(former)
        root.removeHandler(handler)
        handler.close()


def reopen_logs(settings: LogSettings) -> None:
    """Apply these settings to every open log file. Raises OSError."""
    root = logging.getLogger()
    for handler in root.handlers:
        if isinstance(handler, LogFile):
            handler.reopen(settings)
    root.setLevel(min((handler.level for handler in root.handlers if handler.level), default=root.level))


@contextmanager
def log_failure() -> Iterator[None]:
    """Log the error that ended the block, only to the file: the command itself reports it to the terminal."""
    try:
        yield
    except Exception as error:  # whatever ends Hob is logged, and raised again
        told = innermost(error)
        if isinstance(told, InvalidRequest | NotFound):  # a wrong request, not a failure of Hob
            raise
        text = f"Hob ends: {told}" if isinstance(told, HobError) else "Hob ends by an unexpected error"
        trace = None if isinstance(told, HobError) else sys.exc_info()
        record = log.makeRecord(log.name, logging.CRITICAL, __file__, 0, text, (), trace)
        for handler in logging.getLogger().handlers:
            if isinstance(handler, LogFile):
                handler.handle(record)
        raise
