"""The files by which git and Mercurial may run programs: settings, hooks and the like.

Snapshots note them everywhere, also in folders that they otherwise leave out.

https://git-scm.com/docs/gitrepository-layout, https://www.mercurial-scm.org/doc/hgrc.5.html
"""

import os
import stat

MARKS = frozenset(["head", "commondir"])
"""Names, in lower case, that make a folder a repository."""
ANYWHERE = frozenset([".hg", "git-rebase-todo"])
"""Names that count in every folder, not only in a repository's."""
_NAMES = MARKS | ANYWHERE | {"config", "config.worktree", "hooks", "index", "hgrc", "hgrc-not-shared", "sharedpath"}
_LONGEST = max(map(len, _NAMES))
_OPEN = stat.S_IRWXU
LARGEST = 200_000
"""Bytes up to which such files are kept, even in a folder with more than can be kept. Settings have hundreds."""


def is_repository_file(path: str) -> bool:
    """Return whether git or Mercurial may run something by a file of this path, in a repository's folder."""
    folder, _, name = path.rpartition("/")
    return is_repository_file_name(name) or folder[-6:].casefold() in ("hooks", "/hooks")


def is_repository_file_name(name: str) -> bool:
    """Return the same for the name of a file that is not a hook."""
    return len(name) <= _LONGEST and name.casefold() in _NAMES


def open_folder_to_list(name: str, parent: int, *, forced: bool) -> int:
    """Open a folder without following links. With `forced` its owner's permission to list and enter it is added.

    A command could otherwise hide what git still finds. Raises OSError.
    """
    flags = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        folder = os.open(name, os.O_RDONLY | flags, dir_fd=parent)
    except PermissionError:
        if not forced:
            raise
        place = os.open(name, os.O_PATH | flags, dir_fd=parent)
        try:
            os.chmod(f"/proc/self/fd/{place}", os.fstat(place).st_mode & 0o1777 | _OPEN)  # noqa: PTH101 - a descriptor, not a path
        finally:
            os.close(place)
        return os.open(name, os.O_RDONLY | flags, dir_fd=parent)
    if forced and (mode := os.fstat(folder).st_mode) & _OPEN != _OPEN:
        os.fchmod(folder, mode & 0o1777 | _OPEN)
    return folder
