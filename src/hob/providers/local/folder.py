"""A model folder and its version, so that a replaced model is noticed."""

import hashlib
import os
from pathlib import Path

from hob.core.errors import ModelError, ModelFault
from hob.core.translation.language import translatable

_FILES = ("config.json", "modules.json", "1_Pooling/config.json", "tokenizer_config.json", "vocab.txt")
_WEIGHTS = "model.safetensors"
_NEEDED = ("config.json", "sentence_bert_config.json", "vocab.txt", _WEIGHTS)
_PIECES, _PIECE = 64, 16_384


class ModelFolder:
    """Version of a model: a hash of its files, of the weights' size and of 64 samples spread evenly over them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: tuple[object, ...] = ()
        self._version = ""

    def version(self) -> str:
        """Return twelve hexadecimal digits; empty if there is no model. Unchanged files are not read again."""
        try:
            seen = tuple(_look(self._path / name) for name in (*_FILES, _WEIGHTS))
            if seen != self._seen:
                self._version = self._read()
                self._seen = seen
        except OSError:
            self._seen, self._version = (), ""
        return self._version

    def check(self) -> None:
        """Raise ModelError with advice if the folder lacks a required file."""
        missing = next((name for name in _NEEDED if not (self._path / name).is_file()), None)
        if missing is not None:
            raise ModelError(
                ModelFault.SETTINGS,
                translatable(
                    "{folder} holds no sentence-transformers model: there is no {file}; "
                    "`hob config set model.embedding FOLDER` names another",
                    folder=self._path,
                    file=missing,
                ),
                cost=0,
            )

    def _read(self) -> str:
        told = hashlib.sha256()
        for name in _FILES:
            path = self._path / name
            told.update(path.read_bytes() if path.exists() else b"")
            told.update(b"\0")
        with (self._path / _WEIGHTS).open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            told.update(str(size).encode())
            for piece in range(_PIECES):
                file.seek(max(0, size - _PIECE) * piece // (_PIECES - 1))
                told.update(file.read(_PIECE))
        return told.hexdigest()[:12]


def _look(path: Path) -> tuple[int, int, int] | None:
    try:
        stat = path.stat()
    except FileNotFoundError:
        return None
    return stat.st_mtime_ns, stat.st_size, stat.st_ino
