"""The identity files: read when they change, refused when they lead out of the workspace."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

from hob.core.files import IDENTITY_LABEL, BootstrapFile
from hob.core.ids import digest
from hob.core.labels import Label, Origin, Trust

NAMES = ("AGENTS.md", "SOUL.md", "USER.md", "TOOLS.md", "IDENTITY.md", "MEMORY.md")
MOST_BYTES = 1_000_000
_UNACCEPTED = Label(Origin.IDENTITY, Trust.UNTRUSTED)

Accepted = Callable[[str, str], bool]
"""Whether the owner has accepted this file (by name) with this content (by SHA-256)."""

_Stamp = tuple[int, int, int, int]


def _anything(_name: str, _hash: str) -> bool:
    # Nobody but the owner writes here until there are tools; from then on the hashes accepted are kept.
    return True


class BootstrapFiles:
    """Implements the agent's `Bootstrap` over a folder. A call costs one `stat` per file while nothing changes."""

    def __init__(self, path: Path, accepted: Accepted = _anything) -> None:
        self._root = path.expanduser()
        self._accepted = accepted
        self._stamps: tuple[_Stamp | None, ...] | None = None
        self._files: tuple[BootstrapFile, ...] = ()

    def load(self) -> tuple[BootstrapFile, ...]:
        """The files that are there; the very same tuple while none has changed. Never raises."""
        stamps = tuple(_stamp(f"{self._root}/{name}") for name in NAMES)
        if stamps != self._stamps:
            present = [name for name, stamp in zip(NAMES, stamps, strict=True) if stamp is not None]
            self._files = tuple(self._read(name) for name in present)
            self._stamps = stamps
        return self._files

    def _read(self, name: str) -> BootstrapFile:
        path = self._root / name
        try:
            root = self._root.resolve()
            if not path.resolve().is_relative_to(root):
                return BootstrapFile(name, "", digest(""), problem="leads out of the workspace and was not read")
            data = _read_bytes(path)
        except OSError as error:
            return BootstrapFile(name, "", digest(""), problem=f"cannot be read: {error.strerror or error}")
        hash_ = digest(data)
        problem = ""
        if len(data) > MOST_BYTES:
            data, problem = data[:MOST_BYTES], f"only the first {MOST_BYTES} bytes were read"
        text = data.decode("utf-8-sig", "replace").replace("\0", "\ufffd").replace("\r\n", "\n")
        label = IDENTITY_LABEL if self._accepted(name, hash_) else _UNACCEPTED
        return BootstrapFile(name, text, hash_, label, problem)


def _stamp(path: str) -> _Stamp | None:
    """What changes when the file does, or None where there is none."""
    try:
        found = os.stat(path)  # noqa: PTH116  # six of these per turn: a Path costs more than the call
    except (OSError, ValueError):
        return None
    return (found.st_mtime_ns, found.st_size, found.st_ino, found.st_ctime_ns)


def _read_bytes(path: Path) -> bytes:
    """At most one byte more than is used. Raises OSError for what is not a plain file (a pipe would block)."""
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
    handle = os.open(path.resolve(), flags | os.O_NOFOLLOW)
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError("it is not a plain file")
        return file.read(MOST_BYTES + 1)
