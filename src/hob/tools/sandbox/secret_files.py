"""Files that hold keys or passwords, found below the folders that a command will see, so that it is shown empty ones.

What a repository holds already is no secret from commands, which could read it there: such a file is left as it is.
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
    """Which names of files say that they hold keys, and whether a command, in a directory, opens those that it names:
    then the owner was asked about it.
    """

    is_one: Callable[[str], bool]
    opens: Callable[[str, str], bool]


NO_KEY_FILES = KeyFiles(lambda _name: False, lambda _command, _directory: False)

_LARGEST = 1 << 20  # bytes of a file that is compared with what a repository holds
_REFERENCE = re.compile(rb"[0-9a-f]{40}")


def find_secret_files(root: Path, is_secret: Callable[[str], bool], known: Collection[int] = ()) -> Iterator[Path]:
    """Plain files of secret names below this folder, and those with these inodes, whatever they are called now.

    Links are not followed. It looks everywhere: a folder can be renamed.
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
    """Whether git keeps this very content under this name, or the file is git's own and names a commit."""
    content = _content(path)
    if content is None:
        return False
    if ".git" in path.parts:
        return _REFERENCE.match(content) is not None
    for folder in path.parents:
        if (folder / ".git").is_dir():
            name = os.fsencode(path.relative_to(folder))
            blob = hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).digest()
            # an entry as it stands in the index: the content's hash, the length of the name, the name
            entry = blob + struct.pack(">H", len(name)) + name + b"\0"
            return entry in (_content(folder / ".git" / "index", 64 * _LARGEST) or b"")
    return False


def _content(path: Path, maximum: int = _LARGEST) -> bytes | None:
    """What stands in a plain file that is not too large."""
    with suppress(OSError):
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as file:
            found = os.fstat(handle)
            return file.read() if stat.S_ISREG(found.st_mode) and found.st_size <= maximum else None
    return None
