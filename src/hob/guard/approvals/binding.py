"""What a leave is bound to besides the call: the directory, and the files that a command would run, by their hashes."""

import asyncio
import hashlib
import os
import re
import secrets
import stat
from collections.abc import Iterator, Sequence
from glob import iglob

from hob.core.tools import ToolCall, ToolSpec
from hob.core.turns import Turn
from hob.guard.policy.call_analysis import ArgumentReader, ToolCallAnalysis, read_call
from hob.guard.policy.context import Sandbox
from hob.store.approvals import Bound

_BLOCK = 1 << 20
_MOST_FILES = 256
_UNKNOWN = "…"  # as a reading of a command shows what only the shell will know
_WILD = re.compile(r"[*?\[]")
MISSING = "missing"
"""Stands for the hash of a file that is not there, or is no plain file."""


class Unbindable(Exception):
    """What would run cannot be known, or not all of it be looked at, before it runs. The text says which."""


class Binder:
    """Finds and hashes the files. `search` are the folders in which programs are looked for, in order."""

    def __init__(self, reader: ArgumentReader, search: Sequence[str]) -> None:
        self._reader = reader
        self._search = tuple(search)

    async def bind(self, call: ToolCall) -> Bound:
        """What a leave for this call is bound to, as things stand now. What cannot be bound never is the same again."""
        analysis = self.read(call)
        if analysis is None or not analysis.read_commands:
            return Bound(analysis.directory if analysis is not None else "")
        try:
            return Bound(analysis.directory, await asyncio.to_thread(lambda: _hashes(self.files(analysis))))
        except Unbindable as why:
            return Bound(analysis.directory, ((str(why), secrets.token_hex(16)),))

    async def find_unbindable(self, call: ToolCall) -> str:
        """Why no leave for this call could be bound to what would run; empty where one can."""
        analysis = self.read(call)
        if analysis is not None and analysis.read_commands:
            try:
                await asyncio.to_thread(self.files, analysis)
            except Unbindable as why:
                return str(why)
        return ""

    def read(self, call: ToolCall) -> ToolCallAnalysis | None:
        """The call as the guard reads it."""
        return read_call(call, ToolSpec(call.name, "", {}), self._reader, Sandbox())

    def files(self, analysis: ToolCallAnalysis) -> tuple[str, ...]:
        """Every program and script that its commands name, each once; wildcards as they are now. Raises Unbindable."""
        found: dict[str, None] = {}
        for path in self._named(analysis):
            if _UNKNOWN in path:
                raise Unbindable("which files it would run is known only when it runs; name them in the command")
            found[path] = None
            for each in _matching(path) if _WILD.search(path) else ():
                found[each] = None
                if len(found) > _MOST_FILES:
                    break
            if len(found) > _MOST_FILES:
                raise Unbindable(f"it would run more than {_MOST_FILES} files; run them with fewer commands")
        return tuple(found)

    def _named(self, analysis: ToolCallAnalysis) -> Iterator[str]:
        for reading in analysis.read_commands:
            yield from (self._program(name, analysis.directory) for name in reading.programs)
            yield from (self._path(name, directory, analysis.directory) for name, directory in reading.scripts)

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


def _matching(path: str) -> Iterator[str]:
    """What a wildcard stands for now, and what it would in the folders below, where `find` looks too."""
    deep = re.sub(r"/\*(?=/|$)", "/**", path)
    return iglob(deep, recursive=True, include_hidden=True)  # noqa: PTH207 - Path.glob refuses some that shells take


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
