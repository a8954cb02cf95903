"""Indexing of the owner's files: identity files by their `##` headings, and daily notes in `memory/`."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, time, tzinfo
from pathlib import Path

from hob.core.content.files import BootstrapFile
from hob.core.memory import OWNER, Layer, MemoryItem, Scope
from hob.core.trust.labels import Label, Origin, Trust
from hob.memory.ingestion.documents import items_of_document
from hob.store.memory.items import StoredItems

log = logging.getLogger(__name__)

NOTES = "memory"
"""The workspace folder with daily notes."""
_MAX_BYTES = 1_000_000
_MAX_FILES = 5_000
_NOTE = Label(Origin.FILE, Trust.UNTRUSTED)
_OWNER = Scope(OWNER)


class FileIndexer:
    """Indexes what has changed since the last sync."""

    def __init__(
        self,
        items: StoredItems,
        workspace: Path,
        identity: Callable[[], Sequence[BootstrapFile]],
        zone: tzinfo | None = UTC,
    ) -> None:
        """A note belongs to the day in its name, in `zone` (None: the machine's)."""
        self._items = items
        self._workspace = workspace.expanduser()
        self._identity = identity
        self._zone = zone
        self._known: dict[str, object] = {}
        self._anew = False
        """Whether a full reread was requested, possibly during a sync."""
        self._left_out = 0

    async def sync(self) -> int:
        """Compare the index with the files; return the number of new sections. Raises StoreErrors."""
        new = 0
        self._anew = False
        identity = self._identity()
        found: dict[str, object] = {f"{Layer.SOUL}:{file.name}": (file.hash, file.label) for file in identity}
        notes = await asyncio.to_thread(self._notes)
        found |= {f"{Layer.DOCUMENT}:{name}": stamp for name, (_, *stamp) in notes.items()}
        known = self._known
        if not known:
            known = {
                source: None
                for layer, start in ((Layer.SOUL, ""), (Layer.DOCUMENT, f"{NOTES}/"))
                for source in await self._items.of(_OWNER).sources(f"{layer}:{start}")
            }
        for file in identity:
            source = f"{Layer.SOUL}:{file.name}"
            if known.get(source) != found[source]:
                at = await asyncio.to_thread(_modified, self._workspace / file.name)
                new += await self._replace(source, _sections(file.text, file.name, Layer.SOUL, file.label, at, 2))
        for name, (path, modified, _) in notes.items():
            source = f"{Layer.DOCUMENT}:{name}"
            if known.get(source) != found[source]:
                text, at = await asyncio.to_thread(_read, path), _day_of(path, self._zone) or modified
                new += await self._replace(source, _sections(text, name, Layer.DOCUMENT, _NOTE, at))
        for source in known.keys() - found.keys():
            await self._replace(source, [])
        self._known = {} if self._anew else found
        return new

    def reread(self) -> None:
        """Reread all files on the next sync."""
        self._known, self._anew = {}, True

    async def _replace(self, source: str, items: Sequence[MemoryItem]) -> int:
        return await self._items.replace_source(_OWNER, source, items)

    def _notes(self) -> dict[str, tuple[Path, float, int]]:
        """Return the daily notes with their modification times and sizes."""
        folder, found = self._workspace / NOTES, {}
        notes = sorted(folder.glob("*.md"))
        if (left_out := len(notes[:-_MAX_FILES])) != self._left_out:
            self._left_out = left_out
            log.warning("%s: %d notes are not remembered, only the last %d", folder, left_out, _MAX_FILES)
        for path in notes[-_MAX_FILES:]:
            try:
                stat = path.lstat()
            except OSError:
                continue
            if path.is_file() and not path.is_symlink():
                found[f"{NOTES}/{path.name}"] = (path, stat.st_mtime, stat.st_size)
        return found


def _sections(text: str, name: str, layer: Layer, label: Label, at: float, level: int = 6) -> list[MemoryItem]:
    return items_of_document(text, name, scope=_OWNER, layer=layer, label=label, at=at, level=level)


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES)
            if file.read(1):
                log.warning("%s: only its first %d bytes are remembered", path, _MAX_BYTES)
    except OSError as error:
        log.warning("%s cannot be read: %s", path, error.strerror or error)
        return ""
    text = data.decode("utf-8-sig", "replace")
    broken = text.count("\ufffd") - data.count("\ufffd".encode())
    if 2 * broken > sum(char > "\x7f" for char in text):  # most of what is not ASCII is not UTF-8 either
        text = data.decode("cp1252", "replace")
    return text.replace("\0", "\ufffd").replace("\r\n", "\n")


def _day_of(path: Path, zone: tzinfo | None) -> float:
    """Return noon of the day in the name (Unix seconds), or 0 if it names no day."""
    try:
        return datetime.combine(date.fromisoformat(path.name[:10]), time(12), zone).timestamp()
    except (ValueError, OverflowError):
        return 0.0


def _modified(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
