"""All file tools in one toolset."""

import asyncio
import stat
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from hob.core.clock import Clock
from hob.core.content.documents import Documents
from hob.core.ports.tools import Blobs
from hob.core.tools import ToolCall
from hob.tools.editing.editing import EditPlan, EditTools
from hob.tools.editing.noted_changes import NotedChanges
from hob.tools.filesystem.grep import SECONDS, GrepQuery, Mode, grep
from hob.tools.filesystem.listing import find_files, list_folder, start_of
from hob.tools.filesystem.paths import Place, Roots
from hob.tools.filesystem.read import BLOB, FILE_LABEL, LabelOf, ReadTool, SeenHashes, label_untrusted
from hob.tools.filesystem.specs import GLOB, GREP, LIST_DIR, RESOLVE_PATH
from hob.tools.registry.declaration import ToolOutput, Tools, arguments_of, implements
from hob.tools.undo.changes import FileChangesPort
from hob.tools.undo.undo import Undo

_MAX_FOUND = 1_000
_MAX_AROUND = 20
_KINDS: Mapping[int, str] = {stat.S_IFREG: "file", stat.S_IFDIR: "folder"}


class ListingTools:
    """Tools that list and search files."""

    def __init__(self, roots: Roots, ripgrep: Path | None = None) -> None:
        self._roots = roots
        self._ripgrep = ripgrep

    @implements(LIST_DIR, FILE_LABEL)
    async def list_dir(
        self,
        path: str = ".",
        depth: int = 1,
        all: bool = False,  # noqa: A002
    ) -> str:
        return await asyncio.to_thread(list_folder, self._roots, path, min(max(depth, 1), 8), everything=all)

    @implements(GLOB, FILE_LABEL)
    async def glob(
        self,
        pattern: str,
        path: str = ".",
        limit: int = 100,
        all: bool = False,  # noqa: A002
    ) -> str:
        return await asyncio.to_thread(find_files, self._roots, pattern, path, _within(limit), everything=all)

    @implements(GREP, FILE_LABEL)
    async def grep(
        self,
        pattern: str,
        path: str = ".",
        glob: str = "",
        mode: Mode = "lines",
        context: int = 0,
        limit: int = 100,
        all: bool = False,  # noqa: A002
    ) -> str:
        wanted = GrepQuery(pattern, path, glob, mode, _within(limit), min(max(context, 0), _MAX_AROUND), everything=all)
        return await grep(self._roots, wanted, self._ripgrep, SECONDS)

    @implements(RESOLVE_PATH, FILE_LABEL)
    async def resolve_path(self, path: str) -> str:
        return await asyncio.to_thread(self._resolved, path)

    def _resolved(self, path: str) -> str:
        seen, place = self._roots.look(path)
        lines = [place.path, f"in {place.root.name} ({'read and write' if place.root.writable else 'read only'})"]
        if seen is None:
            lines.append(str(self._roots.missing(place)))
        else:
            kind = _KINDS.get(stat.S_IFMT(seen.st_mode), "neither a file nor a folder")
            changed = datetime.fromtimestamp(int(seen.st_mtime), UTC).isoformat()
            lines.append(f"{kind}, {seen.st_size:,} bytes, mode {stat.S_IMODE(seen.st_mode):o}, changed {changed}")
        return "\n".join(lines)


def _within(limit: int) -> int:
    return min(max(limit, 1), _MAX_FOUND)


class FileTools:
    """File tools for these roots: a toolset, previews of calls, and undo.

    `label_of` returns a file's trust label; without it, nothing is trusted. `ripgrep` is used for searches if given.
    """

    def __init__(
        self,
        roots: Roots,
        blobs: Blobs,
        changes: FileChangesPort,
        clock: Clock,
        *,
        label_of: LabelOf = label_untrusted,
        ripgrep: Path | None = None,
        documents: Documents | None = None,
    ) -> None:
        self.roots = roots
        noted = NotedChanges(roots, blobs, changes, clock)
        self.undo = Undo(roots, blobs, changes, noted)
        seen = SeenHashes()
        self._reading = ReadTool(roots, blobs, seen, label_of, documents)
        self._editing = EditTools(roots, noted, seen)
        self._looking = looking = ListingTools(roots, ripgrep)
        self._readers: Mapping[str, Callable[..., Awaitable[str | ToolOutput]]] = {
            "read": self._reading.read,
            "list_dir": looking.list_dir,
            "glob": looking.glob,
            "grep": looking.grep,
            "resolve_path": looking.resolve_path,
        }
        editing = self._editing
        self.toolset = Tools(
            *(self._reading.read, editing.write, editing.edit, editing.apply_patch),
            *(looking.list_dir, looking.glob, looking.grep, looking.resolve_path),
        )

    async def diff_of(self, call: ToolCall) -> str:
        """Return the changes of a call as a unified diff for people; "" if there are none.

        Raises ToolFailed, ToolRefused if the call would.
        """
        plan = await self.plan_of(call)
        return "" if plan is None else plan.diff()

    async def plan_of(self, call: ToolCall) -> EditPlan | None:
        """Return what a call would change; None if it does not change files. Raises as the call would."""
        return await self._editing.plan(call)

    async def check(self, call: ToolCall) -> None:
        """Raise ToolRefused if the call would be refused, ToolFailed if it would fail. Has no effect otherwise."""
        for place in self.places(call):
            if call.name in ("read", "grep") and not (call.name == "read" and self.roots.holds_secrets(place.spelled)):
                self.roots.check_shown(place)
        await self.plan_of(call)

    def places(self, call: ToolCall) -> tuple[Place, ...]:
        """Return the places a call would read or write, with links followed, for the judge. Raises ToolFailed,
        ToolRefused.
        """
        reader = self._readers.get(call.name)
        if reader is None:
            return self._editing.places(call)
        arguments = arguments_of(reader, call)
        path = arguments.get("path", ".")
        if call.name == "glob":
            path = start_of(arguments["pattern"], path)[0]
        return () if path.startswith(BLOB) else (self.roots.find(path),)
