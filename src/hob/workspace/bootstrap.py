"""Identity files: limited in size, reread after changes, refused outside the workspace, trusted once accepted."""

import logging
import os
import stat
from pathlib import Path

from hob.core.content.files import IDENTITY_LABEL, BootstrapFile
from hob.core.ids import digest
from hob.core.trust.labels import Label, Origin, Trust
from hob.workspace.acceptance import AcceptedFiles

log = logging.getLogger(__name__)

NAMES = ("AGENTS.md", "SOUL.md", "USER.md", "TOOLS.md", "IDENTITY.md", "MEMORY.md")
MAX_BYTES = 1_000_000
_UNACCEPTED = Label(Origin.IDENTITY, Trust.UNTRUSTED)

_Stamp = tuple[int, int, int, int]


class BootstrapFiles:
    """Implements the agent's `Bootstrap` for a folder. A call costs one `stat` per file while nothing changes."""

    def __init__(self, path: Path, accepted: AcceptedFiles | None = None, *, warns: bool = True) -> None:
        """Use this folder; without `accepted`, every content is trusted. Logs a warning once per untrusted content."""
        self._warns = warns
        self._root = path.expanduser()
        self._accepted = accepted
        self._stamps: tuple[object, ...] | None = None
        self._files: tuple[BootstrapFile, ...] = ()
        self._told: set[tuple[str, str]] = set()

    def load(self) -> tuple[BootstrapFile, ...]:
        """Return the existing files; the same tuple until one changes. Never raises."""
        stamps = tuple(_stamp(f"{self._root}/{name}") for name in NAMES)
        known = (stamps, self._accepted.stamp() if self._accepted is not None else None)
        if known != self._stamps:
            present = [name for name, stamp in zip(NAMES, stamps, strict=True) if stamp is not None]
            root = os.path.realpath(self._root)
            self._files = tuple(self._read(root, name) for name in present)
            self._stamps = known
        return self._files

    def unaccepted(self) -> tuple[str, ...]:
        """Return the names of the untrusted files."""
        return tuple(file.name for file in self.load() if not file.label.trusted)

    def accept_first(self) -> None:
        """Accept the current contents if there is no record yet, so that owners of an older Hob are not asked."""
        if self._accepted is None or self._accepted.known:
            return
        try:
            self._accepted.accept({file.name: file.hash for file in self.load()})
        except OSError as error:
            log.warning("what is accepted of the workspace cannot be written down: %s", error)

    def _read(self, root: str, name: str) -> BootstrapFile:
        path = f"{root}/{name}"
        try:
            if os.path.islink(path) and not Path(path := os.path.realpath(path)).is_relative_to(root):  # noqa: PTH114
                return BootstrapFile(name, "", digest(""), problem="leads out of the workspace and was not read")
            data = _read_bytes(path)
        except OSError as error:
            return BootstrapFile(name, "", digest(""), problem=f"cannot be read: {error.strerror or error}")
        hash_, problem = digest(data), ""
        label = self._label_of(name, hash_)
        if len(data) > MAX_BYTES:
            data, problem = data[:MAX_BYTES], f"only the first {MAX_BYTES} bytes were read"
        elif self._accepted is not None and label.trusted:
            self._accepted.keep(name, data)
        text = data.decode("utf-8-sig", "replace").replace("\0", "\ufffd").replace("\r\n", "\n")
        return BootstrapFile(name, text, hash_, label, problem)

    def _label_of(self, name: str, hash_: str) -> Label:
        if self._accepted is None or self._accepted.accepts(name, hash_):
            return IDENTITY_LABEL
        if self._warns and self._accepted.known and (name, hash_) not in self._told:
            self._told.add((name, hash_))
            log.warning("%s was changed and is untrusted until `hob accept %s`", self._root / name, name)
        return _UNACCEPTED


def _stamp(path: str) -> _Stamp | None:
    """Return a value that changes with the file, or None if it does not exist."""
    try:
        found = os.stat(path)  # noqa: PTH116  # six of these per turn: a Path costs more than the call
    except (OSError, ValueError):
        return None
    return (found.st_mtime_ns, found.st_size, found.st_ino, found.st_ctime_ns)


def _read_bytes(path: str) -> bytes:
    """Read at most one byte more than the limit from a resolved path.

    Raises OSError unless it is a plain file (a pipe would block).
    """
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
    handle = os.open(path, flags | os.O_NOFOLLOW)
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError("it is not a plain file")
        return file.read(MAX_BYTES + 1)
