"""Control groups: limits for all processes of a command together, where Hob may create groups.

https://docs.kernel.org/admin-guide/cgroup-v2.html, and cgroup-v1/ beside it. Version 2 requires a part of the tree
delegated to Hob (systemd: `Delegate=yes`), in which Hob first moves itself into a leaf, because only leaves hold
processes.
"""

import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from hob.tools.sandbox.job import Limits

_MOUNT = Path("/sys/fs/cgroup")
_NEEDED = ("memory", "pids")
_PREFIX = "hob-command-"
_OWN = "hob-itself"


class ControlGroups:
    """The places for new groups: one with version 2, one per controller with version 1."""

    def __init__(self, places: Sequence[Path]) -> None:
        self.places = tuple(places)
        self._ended: set[Path] = set()

    @contextmanager
    def create(self, limits: Limits) -> Iterator[tuple[str, ...]]:
        """Create groups with these limits; yields the files into which a process writes itself. Scratch space counts as
        memory.

        Raises OSError.
        """
        self._remove()
        folders = [place / f"{_PREFIX}{os.getpid()}-{secrets.token_hex(6)}" for place in self.places]
        try:
            for folder in folders:
                folder.mkdir()
                _limit(folder, limits)
            yield tuple(str(folder / "cgroup.procs") for folder in folders)
        finally:
            self._ended.update(folders)
            self._remove()

    def _remove(self) -> None:
        """Remove ended groups. The kernel needs a moment after a process ends, so removal of the rest is retried next
        time.
        """
        for folder in tuple(self._ended):
            try:
                folder.rmdir()
            except FileNotFoundError:
                self._ended.discard(folder)
            except OSError:
                continue
            else:
                self._ended.discard(folder)


def _limit(folder: Path, limits: Limits) -> None:
    memory = str(limits.memory + limits.scratch)
    amounts = {"memory.max": memory, "memory.swap.max": "0", "memory.limit_in_bytes": memory}
    for name, amount in (amounts | {"pids.max": str(limits.processes)}).items():
        if (folder / name).exists():
            (folder / name).write_text(amount, "ascii")


def find_groups(mount: Path = _MOUNT, own: Path = Path("/proc/self/cgroup")) -> ControlGroups | None:
    """Return where this process may create control groups with limits, or None.

    Removes the groups of a Hob that is no longer running.
    """
    try:
        paths = dict(_paths(own.read_text("utf-8")))
    except OSError:
        return None
    groups = _first_version(mount, paths) or _second_version(mount, paths.get("", ""))
    for place in () if groups is None else groups.places:
        for folder in place.glob(f"{_PREFIX}*"):
            if _left_behind(folder):
                with suppress(OSError):  # a command is still in it
                    folder.rmdir()
    return groups


def _left_behind(folder: Path) -> bool:
    """Return whether the creating process has ended. A live one's group may be empty because its command is about to
    enter it.
    """
    process = folder.name.removeprefix(_PREFIX).partition("-")[0]
    return not Path("/proc", process).exists()


def _paths(text: str) -> Iterator[tuple[str, str]]:
    """Yield the path of each controller. Version 2 has the empty name."""
    for line in text.splitlines():
        _, controllers, path = line.split(":", 2)
        yield from ((name, path) for name in controllers.split(","))


def _first_version(mount: Path, paths: dict[str, str]) -> ControlGroups | None:
    places = []
    for name in _NEEDED:
        if name not in paths:
            return None
        place = mount / name / paths[name].lstrip("/")
        places.append(place if place.is_dir() else mount / name)
    return ControlGroups(places) if all(os.access(place, os.W_OK) for place in places) else None


def _second_version(mount: Path, path: str) -> ControlGroups | None:
    place = mount / path.lstrip("/")
    try:
        if not set(_NEEDED) <= set((place / "cgroup.controllers").read_text("ascii").split()):
            return None
        if not set(_NEEDED) <= set((place / "cgroup.subtree_control").read_text("ascii").split()):
            _delegate(place)
    except OSError:
        return None
    return ControlGroups((place,)) if os.access(place, os.W_OK) else None


def _delegate(place: Path) -> None:
    """Move Hob into a leaf and enable limits for the others. Raises OSError, with everything restored."""
    leaf = place / _OWN
    leaf.mkdir(exist_ok=True)
    (leaf / "cgroup.procs").write_text(str(os.getpid()), "ascii")
    try:
        (place / "cgroup.subtree_control").write_text(" ".join(f"+{name}" for name in _NEEDED), "ascii")
    except OSError:
        (place / "cgroup.procs").write_text(str(os.getpid()), "ascii")
        leaf.rmdir()
        raise
