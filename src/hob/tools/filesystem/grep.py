"""Text search beneath a folder, by ripgrep if installed, else by Hob's own search program.

Either runs as a process on a folder descriptor: a pattern that takes too long is stopped with its process, and the
folder searched is exactly the one that was judged.
"""

import asyncio
import base64
import json
import os
import re
import stat
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Literal, TypeVar

from hob.core.errors import ToolFailed
from hob.core.values import dataclass
from hob.tools.filesystem.globs import Glob
from hob.tools.filesystem.ignore_rules import ALWAYS_SKIPPED
from hob.tools.filesystem.listing import rules_above
from hob.tools.filesystem.names import display_name
from hob.tools.filesystem.paths import Place, Roots
from hob.tools.filesystem.search import BAD_PATTERN, LARGEST_SEARCHED, LONGEST, FileSearch

SECONDS = 20.0
"""Seconds after which the search stops and shows what it has found."""

Mode = Literal["lines", "files", "counts"]

_LINE = 1 << 26  # bytes of one line of ripgrep's JSON
_PLACES = ("/usr/bin/rg", "/usr/local/bin/rg", "/opt/homebrew/bin/rg")

T = TypeVar("T")
_MAGIC = re.compile(r"([*?{}\[\]\\])")

Hit = tuple[str, int, str, bool]
"""A file, a line number, the line, and whether it matches (rather than surrounds a match)."""


@dataclass(frozen=True, slots=True)
class GrepQuery:
    """A search request. A pattern that is not a valid regular expression is searched as plain text (`literal`)."""

    pattern: str
    path: str = "."
    glob: str = ""
    mode: Mode = "lines"
    limit: int = 100
    context: int = 0
    everything: bool = False
    literal: bool = False

    @property
    def globs(self) -> tuple[str, ...]:
        """The globs, all of which a file must match."""
        by_name = self.glob.removeprefix("./") if "/" in self.glob else f"**/{self.glob}"
        return (by_name,) if self.glob else ()


def find_ripgrep() -> Path | None:
    """Return ripgrep from a system location, because programs elsewhere may be anybody's."""
    return next((path for place in _PLACES if os.access(path := Path(place), os.X_OK)), None)


async def grep(roots: Roots, wanted: GrepQuery, ripgrep: Path | None, seconds: float = SECONDS) -> str:
    """Return the matching lines, file by file. Raises ToolFailed, ToolRefused."""
    if not wanted.pattern:
        raise ToolFailed("the pattern is empty.")
    for pattern in wanted.globs:
        Glob(pattern)
    descriptor, place, name = await asyncio.to_thread(_open, roots, wanted.path)
    try:
        found = _SearchResult(wanted, name)
        if ripgrep is not None and not name and sys.platform.startswith("linux"):
            if await _by_ripgrep(ripgrep, roots, wanted, descriptor, place, found):
                return found.text()
            found = _SearchResult(wanted, name)
        problem = await _search_ourselves(roots, wanted, descriptor, place, name, found, seconds)
        if problem:
            await _search_ourselves(roots, replace(wanted, literal=True), descriptor, place, name, found, seconds)
            found.remarks.append(f"the pattern is no regular expression ({problem}): it was searched as plain text")
        return found.text()
    finally:
        os.close(descriptor)


class _SearchResult:
    """Collects hits in the form to be shown."""

    def __init__(self, wanted: GrepQuery, name: str) -> None:
        self._wanted = wanted
        start = "" if wanted.path in ("", ".") else wanted.path.rstrip("/") + "/"
        self._start = start.removesuffix("/") if name else start
        self._files: dict[str, int] = {}
        self._lines: list[str] = []
        self._fitting = 0
        self._last = ("", 0)
        self.remarks: list[str] = []

    def add(self, hit: Hit) -> bool:
        """Add a line; return whether more are wanted."""
        path, number, line, fits = hit
        mode, limit = self._wanted.mode, self._wanted.limit
        new = path not in self._files
        if (fits and self._fitting == limit) if mode == "lines" else (new and len(self._files) == limit):
            self.remarks = [f"there is more: these are the first {limit}; narrow the search, or raise limit"]
            return False
        if mode == "lines":
            if new:
                self._lines.append(("\n" if self._lines else "") + self._start + path)
            elif self._wanted.context and number > self._last[1] + 1:
                self._lines.append("--")
            cut = line[:LONGEST] + ("…" if len(line) > LONGEST else "")
            self._lines.append(f"{number}{':' if fits else '-'} {cut.rstrip()}")
        self._files[path] = self._files.get(path, 0) + fits
        self._fitting += fits
        self._last = (path, number)
        return True

    def text(self) -> str:
        """Return the formatted result."""
        match self._wanted.mode:
            case "lines":
                lines = self._lines
            case "files":
                lines = [self._start + path for path in self._files]
            case "counts":
                lines = [f"{self._start + path}: {count}" for path, count in self._files.items()]
        return ("\n".join(lines) or "(nothing fits)") + (f"\n[{'; '.join(self.remarks)}]" if self.remarks else "")


def _open(roots: Roots, spelled: str) -> tuple[int, Place, str]:
    """Return a descriptor of the folder or file, its place, and the file's name."""
    seen, place = roots.look(spelled)
    if seen is not None and stat.S_ISDIR(seen.st_mode):
        return (*roots.open_listing(spelled), "")
    descriptor, _, place = roots.open_file(spelled)
    return descriptor, place, place.name


async def _search_ourselves(
    roots: Roots, wanted: GrepQuery, descriptor: int, place: Place, name: str, found: _SearchResult, seconds: float
) -> str:
    """Search with Hob's own program; return why the pattern is not a regular expression, or ""."""
    search = FileSearch(
        descriptor=descriptor,
        path=place.path,
        pattern=wanted.pattern,
        seconds=seconds,
        name=name,
        literal=wanted.literal,
        context=wanted.context,
        first_only=wanted.mode == "files",
        globs=wanted.globs,
        everything=wanted.everything,
        rules=() if wanted.everything or name else await asyncio.to_thread(rules_above, roots, place),
        above=place.parts,
        closed=roots.forbidden,
        secret="" if roots.secret is None else roots.secret.pattern,
    )
    # isolated (-I): neither the folder nor the caller's environment decides what is imported
    command = (sys.executable, "-I", "-m", "hob.tools.filesystem.search")
    async with _running(command, descriptor, "/", json.dumps(asdict(search)).encode()) as process:
        async for line in _lines(process):
            path, number, text, fits = json.loads(line)
            if not found.add(("" if name else display_name(path), number, text, fits)):
                return ""
        status = await process.wait()
        if status < 0:
            found.remarks.append(
                f"stopped after {seconds:g} s, the search is not complete; use a simpler pattern or a folder"
            )
        if status <= 0:
            return ""
        said = (await _pipe(process.stderr).read()).decode("utf-8", "replace").strip()
        if status != BAD_PATTERN:
            raise ToolFailed(f"the search failed: {said[-200:] or status}")
        return said[-200:]


async def _by_ripgrep(
    ripgrep: Path, roots: Roots, wanted: GrepQuery, descriptor: int, place: Place, found: _SearchResult
) -> bool:
    """Search with ripgrep; return False if it does not support the pattern."""
    globs = [Glob(pattern) for pattern in wanted.globs]
    closed: dict[str, bool] = {}

    def is_wanted(path: str) -> bool:
        if path not in closed:
            parts = path.split("/")
            closed[path] = not all(glob.matches(parts) for glob in globs) or _is_closed(roots, descriptor, place, path)
        return not closed[path]

    command = _ripgrep_command(ripgrep, roots, wanted, place)
    async with _running(command, descriptor, f"/proc/self/fd/{descriptor}", b"") as process:
        async for line in _lines(process):
            hit = _hit(json.loads(line))
            if hit is not None and is_wanted(hit[0]) and not found.add((display_name(hit[0]), *hit[1:])):
                return True
        return await process.wait() in (0, 1)


def _ripgrep_command(ripgrep: Path, roots: Roots, wanted: GrepQuery, place: Place) -> list[str]:
    options = [
        "--json",
        "--no-config",
        "--no-messages",
        "--hidden",
        "--sort=path",
        f"--max-filesize={LARGEST_SEARCHED}",
    ]
    if wanted.everything:
        options += ["--no-ignore"]
    else:
        options += ["--no-require-git", "--no-ignore-global", "--no-ignore-exclude", "--no-ignore-dot"]
    options += ["--fixed-strings"] if wanted.literal else []
    options += [f"--context={wanted.context}"] if wanted.context else []
    options += ["--max-count=1"] if wanted.mode == "files" else []
    top = place.path.rstrip("/")
    left_out = [*sorted(ALWAYS_SKIPPED), *(each[len(top) :] for each in roots.forbidden if each.startswith(top + "/"))]
    options += ["--glob=!" + _MAGIC.sub(r"\\\1", path) for path in left_out]
    return [str(ripgrep), *options, f"--regexp={wanted.pattern}", "."]


def _hit(event: Mapping[str, Any]) -> Hit | None:
    """Parse a line of ripgrep's output (https://docs.rs/grep-printer/latest/grep_printer/struct.JSON.html)."""
    if event["type"] not in ("match", "context"):
        return None
    data = event["data"]
    path, line = _text(data["path"]).removeprefix("./"), _text(data["lines"])
    return path, int(data["line_number"]), line.rstrip("\r\n"), event["type"] == "match"


def _text(part: Mapping[str, str]) -> str:
    return part["text"] if "text" in part else os.fsdecode(base64.b64decode(part["bytes"]))


def _is_closed(roots: Roots, descriptor: int, place: Place, path: str) -> bool:
    if roots.is_forbidden(f"{place.path}/{path}") or roots.holds_secrets(path):
        return True
    try:
        return roots.is_forbidden_file(os.stat(path, dir_fd=descriptor, follow_symlinks=False))
    except OSError:
        return True


@asynccontextmanager
async def _running(
    command: Sequence[str], descriptor: int, folder: str, said: bytes
) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        pass_fds=(descriptor,),
        cwd=folder,
        env={},
        limit=_LINE,
    )
    try:
        _pipe(process.stdin).write(said)
        _pipe(process.stdin).close()
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def _lines(process: asyncio.subprocess.Process) -> AsyncIterator[bytes]:
    while line := await _pipe(process.stdout).readline():
        yield line


def _pipe(stream: T | None) -> T:
    if stream is None:
        raise RuntimeError("the process was started without this pipe")
    return stream
