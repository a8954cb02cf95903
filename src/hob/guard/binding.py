"""What a leave is bound to besides the call: the directory, and the files that a command would run, by their hashes."""

import asyncio
import hashlib
import os
import stat
from collections.abc import Sequence

from hob.core.tools import ToolCall, ToolSpec
from hob.core.turns import Turn
from hob.guard.context import Sandbox
from hob.guard.deeds import Deed, Reader, read_call
from hob.store import Bound

_BLOCK = 1 << 20
_MOST_FILES = 256
MISSING = "missing"
"""Stands for the hash of a file that is not there, or is no plain file."""


class Binder:
    """Finds and hashes the files. `search` are the folders in which programs are looked for, in order."""

    def __init__(self, reader: Reader, search: Sequence[str]) -> None:
        self._reader = reader
        self._search = tuple(search)

    async def bind(self, call: ToolCall) -> Bound:
        """What a leave for this call is bound to, as things stand now."""
        deed = self.read(call)
        paths = self.files(deed) if deed is not None else ()
        sealed = await asyncio.to_thread(_hashes, paths) if paths else ()
        return Bound(deed.directory if deed is not None else "", sealed)

    def read(self, call: ToolCall) -> Deed | None:
        """The call as the guard reads it."""
        return read_call(call, ToolSpec(call.name, "", {}), self._reader, Sandbox())

    def files(self, deed: Deed) -> tuple[str, ...]:
        """Every program and script that its commands name, each once."""
        found: dict[str, None] = {}
        for reading in deed.read_commands:
            for name in reading.programs:
                found[self._program(name, deed.directory)] = None
            for name, directory in reading.scripts:
                found[self._path(name, directory, deed.directory)] = None
        return tuple(found)[:_MOST_FILES]

    def _program(self, name: str, directory: str) -> str:
        if "/" in name:
            return self._path(name, directory)
        for folder in self._search:
            if os.access(f"{folder}/{name}", os.X_OK):
                return f"{folder}/{name}"
        return name

    def _path(self, name: str, *above: str) -> str:
        """The path of a name that is relative to the first folder, which is relative to the next."""
        for folder in above:
            if not name.startswith(("/", "~")):
                name = f"{folder}/{name}"
        return self._reader.places.path(name)


def requester_of(turn: Turn) -> str:
    """Who wants it done: everybody who speaks in the turn, by channel and id."""
    inbounds = (*turn.inbounds, *turn.joined)
    return ", ".join(dict.fromkeys(f"{each.origin.channel}:{each.sender.id}" for each in inbounds))


def _hashes(paths: Sequence[str]) -> tuple[tuple[str, str], ...]:
    return tuple((path, _hash(path)) for path in paths)


def _hash(path: str) -> str:
    """The SHA-256 of what stands in a file, links followed; pipes and devices are not opened to be read."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                return MISSING
            sealed = hashlib.sha256()
            while block := file.read(_BLOCK):
                sealed.update(block)
            return sealed.hexdigest()
    except (OSError, ValueError):
        return MISSING
