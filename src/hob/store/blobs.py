"""Blobs: files of messages and tools on disk, named by their SHA-256."""

import asyncio
import contextlib
import errno
import os
import tempfile
from collections.abc import Collection
from pathlib import Path

import apsw

from hob.core.errors import NotFound, StoreError, StoreFull
from hob.core.ids import BlobId, digest
from hob.core.translation.language import translatable
from hob.store.database.disk import sync
from hob.store.database.part import DatabaseAccess, StorePart

# A blob stored again after its erasure must be newer than its tombstone, whatever the wall clock says, or the tombstone
# would erase it again.
_PUT = (
    "INSERT INTO blobs (id, media_type, size, at) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET"
    " media_type = excluded.media_type, at = max(excluded.at, erased + 0.001), erased = NULL WHERE erased IS NOT NULL"
)
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EFBIG}


def blob_path(folder: Path, id: str) -> Path:
    """Return the path of a blob."""
    return folder / id[:2] / id


def drop_unknown_blobs(folder: Path, known: Collection[str]) -> None:
    """Delete the files of all other blobs: a restore or a crash may leave some that no database has."""
    for path in folder.glob("??/*"):
        if path.name not in known and path == blob_path(folder, path.name) and path.suffix != ".part":
            path.unlink(missing_ok=True)


def write_blob(folder: Path, id: str, data: bytes) -> None:
    """Write the bytes to disk, completely or not at all. Raises StoreFull, StoreError."""
    path = blob_path(folder, id)
    part: Path | None = None
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(suffix=".part", dir=path.parent)  # the same blob may be written twice at once
        part = Path(name)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(handle)
        part.rename(path)
        sync(path.parent)
        sync(folder)
    except OSError as error:
        if part is not None:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)
        raise (StoreFull if error.errno in _NO_ROOM else StoreError)(f"{path}: {error.strerror}") from error


class FileBlobs(StorePart):
    """Implements the port `Blobs`."""

    def __init__(self, access: DatabaseAccess, folder: Path) -> None:
        super().__init__(access)
        self._folder = folder

    async def put(self, data: bytes, media_type: str) -> BlobId:
        """Store the bytes durably and return the blob's id. Raises StoreFull."""
        id = BlobId(await asyncio.to_thread(digest, data))
        at = self._now()
        known = "SELECT 1 FROM blobs WHERE id = ? AND erased IS NULL"
        if await self._row(known, (id,)) is None:
            await asyncio.to_thread(write_blob, self._folder, id, data)
            await self._writer.write(lambda c: self._note(c, id, media_type, data, at))
        return id

    def _note(self, connection: apsw.Connection, id: BlobId, media_type: str, data: bytes, at: float) -> None:
        if not self.path_of(id).exists():  # an erasure deleted the file, which no row had named yet
            write_blob(self._folder, id, data)
        connection.execute(_PUT, (id, media_type, len(data), at))

    def path_of(self, blob: BlobId) -> Path:
        """Return where the blob is on this machine."""
        return blob_path(self._folder, blob)

    async def load(self, blob: BlobId) -> bytes:
        """Return the bytes of a blob. Raises NotFound, also if it was erased."""
        known = "SELECT 1 FROM blobs WHERE id = ? AND erased IS NULL"
        if await self._row(known, (blob,)) is None:
            raise NotFound(translatable("There is no blob {blob}.", blob=blob))
        try:
            return await asyncio.to_thread(blob_path(self._folder, blob).read_bytes)
        except FileNotFoundError as error:
            raise NotFound(
                translatable("The blob {blob} is gone from {folder}.", blob=blob, folder=self._folder)
            ) from error
