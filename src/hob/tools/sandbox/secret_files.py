"""Detection of key and password files below the folders of a command, which then sees empty files instead.

Files with content that is in a repository are left alone, because commands can read it there.
"""

import hashlib
import os
import re
import stat
import struct
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from pathlib import Path

from hob.core.values import dataclass


@dataclass(frozen=True, slots=True)
class KeyFiles:
    """Tells which file names suggest keys, and whether a command opens those that it names, which the owner was asked
    about.
    """

    is_key_file: Callable[[str], bool]
    opens: Callable[[str, str], bool]


NO_KEY_FILES = KeyFiles(lambda _name: False, lambda _command, _directory: False)

_LARGEST = 1 << 20  # maximum bytes of a file that is compared with a repository's content
_REFERENCE = re.compile(rb"[0-9a-f]{40}")


def find_secret_files(root: Path, is_secret: Callable[[str], bool], known: Collection[int] = ()) -> Iterator[Path]:
    """Yield regular files below this folder with secret names, or with these inodes whatever their current names.

    Links are not followed. All folders are searched, because a folder can be renamed.
    """
    waiting = [str(root)]
    while waiting:
        with suppress(OSError), os.scandir(waiting.pop()) as found:
            for each in found:
                if each.is_dir(follow_symlinks=False):
                    waiting.append(each.path)
                elif (
                    (is_secret(each.name) or each.inode() in known)
                    and each.is_file(follow_symlinks=False)
                    and not _is_known(Path(each.path))
                ):
                    yield Path(each.path)


def _is_known(path: Path) -> bool:
    """Return whether git has exactly this content under this name, or the file is git's own and names a commit."""
    content = _content(path)
    if content is None:
        return False
    if ".git" in path.parts:
        return _REFERENCE.match(content) is not None
    for folder in path.parents:
        if (folder / ".git").is_dir():
            name = os.fsencode(path.relative_to(folder))
            blob = hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).digest()
            # an index entry: the content's hash, the length of the name, the name
            entry = blob + struct.pack(">H", len(name)) + name + b"\0"
            return entry in (_content(folder / ".git" / "index", 64 * _LARGEST) or b"")
    return False


def _content(path: Path, maximum: int = _LARGEST) -> bytes | None:
    """Return the content of a regular file that is not too large; None for others."""
    with suppress(OSError):
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as file:
            found = os.fstat(handle)
            return file.read() if stat.S_ISREG(found.st_mode) and found.st_size <= maximum else None
    return None
