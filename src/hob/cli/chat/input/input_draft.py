"""A message being written: attached files and long pasted texts, shown as marks."""

import errno
import os
import shlex
import stat
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote, urlsplit

from hob.cli.chat.sentences import say
from hob.cli.output import printable
from hob.core.content.file_limits import LARGEST_FILE
from hob.core.content.media_types import HEAD_BYTES, detect_media_type
from hob.core.translation.language import translatable
from hob.core.values import dataclass

LONG_LINES, LONG_CHARACTERS = 5, 2_000
"""Pasted texts longer than either are shown as a mark."""


@dataclass(frozen=True, slots=True)
class DraftedMessage:
    """A message ready to send: as drafted, in full, and its files.

    `message` has a mark in place of each pasted text; `pasted` holds these texts, each under its mark.
    """

    draft: str
    text: str
    files: tuple[Path, ...] = ()
    message: str = ""
    pasted: tuple[str, ...] = ()


class InputDraft:
    """Marks in the text and the texts or files behind them. An edited mark is plain text."""

    def __init__(self) -> None:
        self.language = "en"
        self._marks: dict[str, str | Path] = {}
        self._pasted: dict[str, None] = {}

    def paste(self, text: str) -> str:
        """Return a pasted text as it is shown while editing. Texts of several words are remembered as pasted."""
        if len(text.split()) > 1 or len(text) > LONG_CHARACTERS:
            self._pasted[text] = None
        return self.shorten(text)

    def shorten(self, text: str) -> str:
        """Return the text as it is shown while editing: unchanged, or as a mark if it is long."""
        lines = _lines(text)
        return self._mark(self._name(text), text) if lines > LONG_LINES or len(text) > LONG_CHARACTERS else text

    def _name(self, text: str) -> str:
        if (lines := _lines(text)) > 1:
            return say("[pasted {count} lines]", self.language, count=lines)
        return say("[pasted {count} characters]", self.language, count=len(text))

    def attach(self, path: Path) -> str:
        """Return the mark for a file. Raises OSError if the file cannot be sent."""
        picture = detect_media_type(read_file(path, HEAD_BYTES)).startswith("image/")
        name = one_line(path.name)
        return self._mark(say("[picture {name}]" if picture else "[file {name}]", self.language, name=name), path)

    def mark_before(self, text: str) -> str:
        """Return the mark at the end of the text, if any."""
        return next((mark for mark in self._marks if text.endswith(mark)), "")

    def split_files(self, text: str) -> tuple[str, str]:
        """Split the text into its leading file marks and the rest."""
        rest = text
        files = [mark for mark, meant in self._marks.items() if isinstance(meant, Path)]
        while mark := next((each for each in files if rest.startswith(each)), ""):
            rest = rest.removeprefix(mark).lstrip()
        return text.removesuffix(rest), rest

    def whole(self, text: str) -> DraftedMessage:
        """Return the message to send for this text."""
        whole, message, at = "", "", 0
        files, pasted = dict[Path, None](), dict[str, None]()
        for place, sign in sorted(_places(text, (*self._marks, *self._pasted))):
            if place < at:  # inside another mark, where it has no meaning
                continue
            meant = self._marks.get(sign, sign)
            before, at = text[at:place], place + len(sign)
            if isinstance(meant, Path):
                files[meant] = None
                meant = shown = one_line(meant.name)
            elif any(each in meant for each in self._pasted):
                shown = sign if sign in self._marks else self._mark(self._name(meant), meant)
                pasted[f"{shown}\n{meant}"] = None
            else:
                shown = meant
            whole, message = whole + before + meant, message + before + shown
        whole, message = whole + text[at:], message + text[at:]
        if text.startswith("/"):  # arguments of a command
            message, pasted = whole, {}
        return DraftedMessage(text, whole, tuple(files), message, tuple(pasted))

    def _mark(self, wanted: str, meant: str | Path) -> str:
        mark, number = wanted, 1
        while self._marks.get(mark, meant) != meant:
            number += 1
            mark = f"{wanted[:-1]}, {number}]"
        self._marks[mark] = meant
        return mark


def _lines(text: str) -> int:
    return text.rstrip("\n").count("\n") + 1


def _places(text: str, marks: Iterable[str]) -> list[tuple[int, str]]:
    found = []
    for mark in marks:
        at = text.find(mark)
        while at >= 0:
            found.append((at, mark))
            at = text.find(mark, at + len(mark))
    return found


def one_line(text: str) -> str:
    """Return a name as one printable line."""
    return "".join(sign if sign.isprintable() else "\ufffd" for sign in printable(text))


def dropped_files(text: str) -> tuple[Path, ...]:
    """Return the files whose paths a terminal types when they are dropped on it: quoted, escaped or as `file://`.

    Returns none unless the text consists only of absolute paths of existing files.
    """
    if not text.lstrip("'\" ").startswith(("/", "~/", "file://")) or len(text) > 4_096 or "\n" in text.strip():
        return ()
    try:
        words = shlex.split(text)
    except ValueError:
        return ()
    paths = tuple(path_of(word) for word in words)
    return paths if paths and all(path.is_absolute() and _is_file(path) for path in paths) else ()


def path_of(word: str) -> Path:
    """Return the path for a typed word; expands `~` and `file://`."""
    if word.startswith("file://"):
        word = unquote(urlsplit(word).path)
    try:
        return Path(word).expanduser()
    except RuntimeError:  # no such user
        return Path(word)


def read_file(path: Path, maximum: int = LARGEST_FILE) -> bytes:
    """Read a file, or its beginning. Raises OSError if it is unreadable, too large or not a regular file."""
    # never blocks: opening a named pipe or a device would hang the chat
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:  # noqa: PTH123 - already open
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, translatable("it is not a regular file"))
        if status.st_size > LARGEST_FILE:
            told = translatable("it is too large; at most {maximum:,} bytes can be sent", maximum=LARGEST_FILE)
            raise OSError(errno.EFBIG, told)
        return file.read(maximum)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False
