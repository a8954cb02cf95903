"""The prompt's history: a private file of limited length, without secrets."""

import json
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from prompt_toolkit.history import History

from hob.core.content.json_text import parse_json

_MAX_ENTRIES, _MAX_BYTES, _LONGEST = 1_000, 1_000_000, 20_000


class KeptHistory(History):
    """JSON lines in a file (mode 0600), newest last. The chat continues if they cannot be written."""

    def __init__(self, file: Path, mask: Callable[[str], str], shorten: Callable[[str], str]) -> None:
        """`mask` removes secrets before writing; `shorten` abbreviates long texts when they are recalled."""
        super().__init__()
        self._file = file
        self._mask = mask
        self._shorten = shorten

    def load_history_strings(self) -> Iterable[str]:
        entries = self._read()
        if self._size() > _MAX_BYTES or len(entries) > 2 * _MAX_ENTRIES:
            self._rewrite(entries[-_MAX_ENTRIES:])
        return [self._shorten(entry) for entry in reversed(entries[-_MAX_ENTRIES:])]

    def store_string(self, string: str) -> None:
        if len(string) <= _LONGEST:
            _write(self._file, json.dumps(self._mask(string)) + "\n", os.O_APPEND)

    def keep(self, whole: str) -> None:
        """Save a sent text; long texts are recalled in short form."""
        if self.recall(whole):
            self.store_string(whole)

    def recall(self, whole: str) -> bool:
        """Let this chat recall a text, which is not saved; return whether it differs from the newest one."""
        if new := self._loaded_strings[:1] != [self._shorten(whole)]:
            self._loaded_strings.insert(0, self._shorten(whole))
        return new

    def _read(self) -> list[str]:
        try:
            lines = self._file.read_bytes()[-2 * _MAX_BYTES :].decode("utf-8", "replace").split("\n")
        except OSError:
            return []
        return [entry for line in lines if (entry := _entry(line))]

    def _size(self) -> int:
        try:
            return self._file.stat().st_size
        except OSError:
            return 0

    def _rewrite(self, entries: list[str]) -> None:
        part = self._file.with_suffix(".part")
        _write(part, "".join(json.dumps(entry) + "\n" for entry in entries), os.O_TRUNC)
        with suppress(OSError):
            part.replace(self._file)


def _write(file: Path, text: str, how: int) -> None:
    with suppress(OSError):
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | how, 0o600)
        with open(descriptor, "w", encoding="utf-8") as out:  # noqa: PTH123 - a descriptor
            os.fchmod(descriptor, 0o600)
            out.write(text)


def _entry(line: str) -> str:
    entry = parse_json(line)
    return entry if isinstance(entry, str) else ""
