"""Documents that the owner adds: files and folders, each in place of what it was before."""

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path

from hob.core.content.documents import DocumentUnreadable
from hob.core.errors import NotFound
from hob.core.memory import OWNER, Layer, Scope
from hob.core.translation.language import translatable
from hob.core.trust.labels import Label, Origin, Trust
from hob.core.values import dataclass
from hob.memory.ingestion.documents import items_of_document
from hob.store.memory.items import StoredItems
from hob.tools.documents.documents import DocumentReader

log = logging.getLogger(__name__)

_FILE = Label(Origin.FILE, Trust.UNTRUSTED)
_TEXTS = frozenset({".md", ".markdown", ".txt", ".rst", ".org"})
_MOST_BYTES = 50_000_000
_MOST_FILES = 10_000


@dataclass(frozen=True, slots=True)
class Added:
    """How many files were read, how many of their sections are new, and what could not be read."""

    files: int
    new: int
    problems: tuple[str, ...] = ()


class DocumentIndexer:
    """Takes up what the owner points at. Its text is nobody's word but the file's: untrusted."""

    def __init__(self, items: StoredItems) -> None:
        self._items = items

    async def add(self, path: Path) -> Added:
        """A file, or all documents below a folder; hidden ones and links are passed over. Raises NotFound."""
        files = await asyncio.to_thread(_files, path)
        reader, read, new, problems = DocumentReader(), 0, 0, []
        try:
            for file in files:
                try:
                    text, at = await _text_of(file, reader)
                except (OSError, DocumentUnreadable) as error:
                    problems.append(f"{file}: {error}")
                    continue
                if text is None:
                    continue
                read += 1
                items = items_of_document(text, str(file), scope=Scope(OWNER), layer=Layer.DOCUMENT, label=_FILE, at=at)
                new += await self._items.replace_source(Scope(OWNER), f"{Layer.DOCUMENT}:{file}", items)
        finally:
            await reader.close()
        return Added(read, new, tuple(problems))


def _files(path: Path) -> list[Path]:
    if not path.exists():
        raise NotFound(translatable("there is no file {path}", path=str(path)))
    return [path] if path.is_file() else sorted(_below(path))[:_MOST_FILES]


def _below(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if not hidden and path.is_file() and not path.is_symlink():
            yield path


async def _text_of(file: Path, reader: DocumentReader) -> tuple[str | None, float]:
    """What it says, None for what is no document, and when it was written."""
    stat = await asyncio.to_thread(file.stat)
    if stat.st_size > _MOST_BYTES:
        raise OSError(translatable("it has more than {bytes} bytes", bytes=f"{_MOST_BYTES:,}"))
    data = await asyncio.to_thread(file.read_bytes)
    if file.suffix.lower() in _TEXTS:
        return data.decode("utf-8-sig", "replace").replace("\0", "\ufffd").replace("\r\n", "\n"), stat.st_mtime
    kind = reader.kind(data, file.name)
    return (await reader.read(data, kind)).text if kind else None, stat.st_mtime
