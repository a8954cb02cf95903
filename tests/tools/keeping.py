"""File tools over a folder, with blobs kept in files beside it."""

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from pathlib import Path

from hob.core.clock import SystemClock
from hob.core.errors import NotFound
from hob.core.ids import BlobId, TurnId, digest
from hob.core.undo import FileChange
from hob.guard.policy.places import SECRET_NAME
from hob.store.settings import StoreSettings
from hob.store.store import open_store
from hob.tools.filesystem.files import FileTools
from hob.tools.filesystem.paths import Root, Roots
from hob.tools.undo.changes import FileChangesPort


class FolderBlobs:
    """Implements `Blobs` over a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def put(self, data: bytes, media_type: str) -> BlobId:
        id = BlobId(digest(data))
        await asyncio.to_thread(self._write, id, data)
        return id

    def _write(self, id: BlobId, data: bytes) -> None:
        self._folder.mkdir(exist_ok=True)
        part = self._folder / f"{id}.part"
        part.write_bytes(data)
        part.rename(self._folder / id)

    async def load(self, blob: BlobId) -> bytes:
        try:
            return (self._folder / blob).read_bytes()
        except OSError as error:
            raise NotFound(f"There is no blob {blob}.") from error


class ChangesInMemory:
    """Implements `FileChangesPort` for as long as the process lives."""

    def __init__(self) -> None:
        self._changes: list[FileChange] = []

    async def add(self, changes: Collection[FileChange]) -> None:
        self._changes += changes

    async def of(self, turn: TurnId) -> tuple[FileChange, ...]:
        return tuple(change for change in self._changes if change.turn == turn)

    async def recent(self, limit: int) -> tuple[TurnId, ...]:
        return tuple(dict.fromkeys(change.turn for change in reversed(self._changes)))[:limit]


def roots_of(top: Path) -> Roots:
    (top / "ws/.hob").mkdir(parents=True, exist_ok=True)
    (top / "lent").mkdir(exist_ok=True)
    return Roots(
        [Root("workspace", top / "ws"), Root("lent", top / "lent", False)],
        base=top / "ws",
        home=top,
        forbidden=[top / "ws/.hob"],
        secret=SECRET_NAME,
    )


def file_tools(top: Path, ripgrep: Path | None = None, changes: FileChangesPort | None = None) -> FileTools:
    changes = changes or ChangesInMemory()
    return FileTools(roots_of(top), FolderBlobs(top / "blobs"), changes, SystemClock(), ripgrep=ripgrep)


@asynccontextmanager
async def kept_file_tools(top: Path) -> AsyncIterator[FileTools]:
    """The same, whose changes are kept in a database."""
    async with open_store(top / "home", StoreSettings(), SystemClock()) as store:
        yield file_tools(top, changes=store.file_changes)
