"""Reading and creating whole files up to a size: images, sound, downloads, attachments."""

import os

from hob.core.errors import ToolFailed
from hob.tools.filesystem.paths import Roots


def read_whole(roots: Roots, name: str, maximum: int) -> bytes:
    """Read a whole file. Raises ToolRefused, and ToolFailed, also for a file of more than `maximum` bytes."""
    descriptor, found, _ = roots.open_file(name)
    with os.fdopen(descriptor, "rb") as file:
        if found.st_size > maximum:
            raise ToolFailed(f"{name} is too large: it may have {maximum // 1_000_000} MB at most")
        return file.read(maximum + 1)


def write_new(roots: Roots, name: str, data: bytes) -> None:
    """Create a file that must not exist yet. Raises ToolFailed, ToolRefused."""
    place = roots.find(name)
    if not place.root.writable or not place.name:
        raise ToolFailed(f"{name} cannot be written")
    try:
        with roots.folder(place) as folder:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            with os.fdopen(os.open(place.name, flags, 0o644, dir_fd=folder), "wb") as file:
                file.write(data)
    except FileExistsError as error:
        raise ToolFailed(f"{name} is there already; give another name") from error
    except OSError as error:
        raise ToolFailed(f"{name} cannot be written: {error.strerror}") from error


def free_name(roots: Roots, name: str) -> str:
    """Return this name, with a number appended if it is taken. Raises ToolFailed, ToolRefused."""
    stem, dot, ending = name.rpartition(".")
    for number in range(2, 1_000):
        if roots.look(name)[0] is None:
            return name
        name = f"{stem or ending}-{number}{dot if stem else ''}{ending if stem else ''}"
    raise ToolFailed(f"{name} is there already; give another name")
