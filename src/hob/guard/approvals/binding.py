"""Binding of approvals to the current directory, targets and programs: changing one of them voids the approval.

Files named to be run, and files to be sent, are bound by their hashes, the directory and the targets by their identity,
so none can be replaced by a link. Anything a program finds on its own (imports, included makefiles, variables) is bound
by the state of the whole folder. A tool of a plug-in or an MCP server is bound by its description, which another
version may change.
"""

import asyncio
import hashlib
import json
import os
import re
import secrets
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from glob import iglob

from hob.core.ids import digest
from hob.core.tools import ToolCall, ToolSpec
from hob.core.turns import Turn
from hob.guard.policy.call_analysis import ArgumentReader, ToolCallAnalysis, read_call
from hob.guard.policy.context import Sandbox
from hob.store.approvals import Bound

_BLOCK = 1 << 20
_MAX_FILES = 256
_UNKNOWN = "…"  # how the shell analysis displays parts that are known only at run time
_WILD = re.compile(r"[*?\[]")
_MAX_ENTRIES = 20_000
_MAX_TARGETS = 256
_AT, _TREE, TOOL = "at:", "tree:", "tool:"
TOO_MANY_FILES = "too many files"
"""Recorded instead of the state of a folder that is too large to hash."""
MISSING = "missing"
"""Recorded instead of the hash of a missing or irregular file."""


class Unbindable(Exception):
    """Raised if it cannot be known or fully read in advance what would run. The message says why."""


class Binder:
    """Finds and hashes the files that an approval depends on.

    `search` are the folders searched for programs, in order; `specs` describe the tools' arguments.
    """

    def __init__(
        self, reader: ArgumentReader, search: Sequence[str], specs: Callable[[], Mapping[str, ToolSpec]]
    ) -> None:
        self._reader = reader
        self._specs = specs
        self._search = tuple(search)

    async def bind(self, call: ToolCall) -> Bound:
        """Return what an approval of this call is bound to now. For an unbindable call the result never equals another
        one.
        """
        analysis = self.read(call)
        if analysis is None:
            return Bound()
        tool = ((f"{TOOL}{call.name}", _description(analysis.spec)),) if "__" in call.name else ()
        try:
            return Bound(analysis.directory, (*tool, *await asyncio.to_thread(self._bind, analysis)))
        except Unbindable as why:
            return Bound(analysis.directory, ((str(why), secrets.token_hex(16)),))

    def _bind(self, analysis: ToolCallAnalysis) -> tuple[tuple[str, str], ...]:
        places = [(f"{_AT}{path}", _identity(path)) for path in (*filter(None, [analysis.directory]), *analysis.paths)]
        if not analysis.read_commands:
            return (*_hashes(analysis.sources), *places)
        files = self.files(analysis)
        words = [pair for reading in analysis.read_commands for pair in reading.targets][:_MAX_TARGETS]
        targets = dict.fromkeys(self._path(name, directory, analysis.directory) for name, directory in words)
        places += [(f"{_AT}{path}", _identity(path)) for path in targets]
        trees = [(f"{_TREE}{folder}", _state(folder)) for folder in self._folders(analysis, files)]
        return (*_hashes(files), *places, *trees)

    def _folders(self, analysis: ToolCallAnalysis, files: Sequence[str]) -> Iterator[str]:
        """Yield the folders in which programs look for code on their own; none if only system programs run."""
        scripts = [path for path in files if not self._is_systems(path)]
        if scripts or any(reading.sets_variables for reading in analysis.read_commands):
            yield analysis.directory
            inside = f"{analysis.directory}/"
            yield from dict.fromkeys(each for path in scripts if not (each := os.path.dirname(path)).startswith(inside))  # noqa: PTH120

    def _is_systems(self, path: str) -> bool:
        return os.path.dirname(path) in self._search or "/" not in path or path.startswith(("/dev/", "/proc/"))  # noqa: PTH120

    async def find_unbindable(self, call: ToolCall) -> str:
        """Return why an approval of this call could not be bound, or "" if it can."""
        analysis = self.read(call)
        if analysis is not None and analysis.read_commands:
            try:
                await asyncio.to_thread(self.files, analysis)
            except Unbindable as why:
                return str(why)
        return ""

    def read(self, call: ToolCall) -> ToolCallAnalysis | None:
        """Analyse the call as the guard does."""
        return read_call(call, self._specs().get(call.name) or ToolSpec(call.name, "", {}), self._reader, Sandbox())

    def files(self, analysis: ToolCallAnalysis) -> tuple[str, ...]:
        """Return the distinct programs and scripts that the call names, with wildcards expanded. Raises Unbindable."""
        found: dict[str, None] = {}
        for path in self._named(analysis):
            if _UNKNOWN in path:
                raise Unbindable("which files it would run is known only when it runs; name them in the command")
            found[path] = None
            for each in _matching(path) if _WILD.search(path) else ():
                found[each] = None
                if len(found) > _MAX_FILES:
                    break
            if len(found) > _MAX_FILES:
                raise Unbindable(f"it would run more than {_MAX_FILES} files; run them with fewer commands")
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
        """Resolve a name relative to the first folder, which is itself relative to the next."""
        for folder in above:
            if not name.startswith(("/", "~")):
                name = f"{folder}/{name}"
        return self._reader.places.path(name)


def _description(spec: ToolSpec) -> str:
    roles = asdict(spec.roles) if spec.roles is not None else None
    return digest(json.dumps([spec.description, spec.schema, spec.tier, sorted(spec.effects), roles], sort_keys=True))


def _matching(path: str) -> Iterator[str]:
    """Expand a wildcard, including in subfolders, which `find` also searches."""
    deep = re.sub(r"/\*(?=/|$)", "/**", path)
    return iglob(deep, recursive=True, include_hidden=True)  # noqa: PTH207 - Path.glob refuses some that shells take


def requester_of(turn: Turn) -> str:
    """Return all speakers of the turn, as channel and id."""
    inbounds = (*turn.inbounds, *turn.joined)
    return ", ".join(dict.fromkeys(f"{each.origin.channel}:{each.sender.id}" for each in inbounds))


def bound_files(bound: Bound, *, later: bool = False) -> dict[str, str]:
    """Return what an approval is bound to; for `later` calls, that is only the tool and the files to be run or sent."""
    return {path: seen for path, seen in bound.files if not (later and path.startswith((_AT, _TREE)))}


def unbound_folders(bound: Bound) -> tuple[str, ...]:
    """Return the folders whose state could not be bound."""
    return tuple(
        path.removeprefix(_TREE) for path, seen in bound.files if path.startswith(_TREE) and seen == TOO_MANY_FILES
    )


def _identity(path: str) -> str:
    """Return the identity of a path: its real path and, for a folder, its inode."""
    try:
        real = os.path.realpath(path)  # detecting links is the point of this check
    except (OSError, ValueError):
        return MISSING
    try:
        found = os.stat(real)  # noqa: PTH116
    except OSError:
        return f"{real} {MISSING}"
    return f"{real} {found.st_ino}" if stat.S_ISDIR(found.st_mode) else real


def _state(folder: str) -> str:
    """Hash the metadata of everything below a folder, so that any change alters it. Git's own data is ignored."""
    sealed, count = hashlib.sha256(), 0
    waiting = [folder]
    while waiting:
        above = waiting.pop()
        try:
            with os.scandir(above) as found:
                entries = sorted(found, key=lambda each: each.name)
        except OSError:
            continue
        for each in entries:
            if above.endswith("/.git") and each.name not in ("hooks", "config"):
                continue
            count += 1
            if count > _MAX_ENTRIES:
                return TOO_MANY_FILES
            try:
                seen = each.stat(follow_symlinks=False)
            except OSError:  # deleted meanwhile
                continue
            folders = stat.S_ISDIR(seen.st_mode)
            if folders:
                waiting.append(each.path)
            times = () if folders else (seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns)
            sealed.update(repr((each.path, seen.st_ino, seen.st_mode, *times)).encode("utf-8", "surrogateescape"))
    return sealed.hexdigest()


def _hashes(paths: Sequence[str]) -> tuple[tuple[str, str], ...]:
    return tuple((path, _hash(path)) for path in paths)


def _hash(path: str) -> str:
    """Hash a file's content (SHA-256), following links. Pipes and devices are not read."""
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
