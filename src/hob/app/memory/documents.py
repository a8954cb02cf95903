"""Documents added by the owner: files and folders, reindexed when they change."""

import asyncio
import logging
import math
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Iterable, Iterator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

from hob.app.memory.folder_watch import FolderWatch
from hob.core.content.documents import Documents, DocumentUnreadable
from hob.core.errors import InvalidRequest, NotFound
from hob.core.memory import OWNER, Layer, Scope
from hob.core.translation.language import translatable
from hob.core.trust.labels import Label, Origin, Trust
from hob.core.values import dataclass
from hob.memory.ingestion.documents import items_of_document
from hob.store.memory.items import StoredItems
from hob.store.messages.channel_state import StoredChannelState

log = logging.getLogger(__name__)

_OWNER = Scope(OWNER)
_STATE = ("memory", "documents")
_FILE = Label(Origin.FILE, Trust.UNTRUSTED)
_TEXTS = frozenset({".md", ".markdown", ".txt", ".rst", ".org"})
_MAX_BYTES = 50_000_000
_MAX_FILES = 10_000


@dataclass(frozen=True, slots=True)
class Added:
    """Progress of reading: files read, new sections, and files looked at so far (`seen`).

    The last value also names unreadable files, counts unsupported ones by ending, most frequent first, and says when
    the last file was changed or moved there (`changed`, by its ctime).
    """

    files: int
    new: int
    seen: int
    of: int
    problems: tuple[str, ...] = ()
    unread: int = 0
    kinds: tuple[str, ...] = ()
    changed: float = 0.0


class DocumentIndexer:
    """Indexes the files that the owner adds, and again when they change. Their text is untrusted."""

    def __init__(self, items: StoredItems, state: StoredChannelState, watch: FolderWatch) -> None:
        self._items = items
        self._state = state
        self._watch = watch
        self._read: dict[Path, tuple[float, ...]] = {}
        """What tells each version of a file apart, also of files without content worth keeping."""
        self._unread: set[Path] = set()
        """Files of unsupported kinds."""
        self._left: set[Path] = set()
        """Files and folders that were forgotten since they were last read, perhaps while they are."""

    async def add(self, path: Path) -> AsyncIterator[Added]:
        """Index a file, or all documents below a folder except hidden ones and links; yield the progress after each.

        The path is watched from then on, unless a file could not be read. If changes cannot be watched, the problems
        say so. Raises NotFound, and InvalidRequest for what is neither a file nor a folder.
        """
        if not await asyncio.to_thread(path.exists):
            raise NotFound(translatable("there is no file {path}", path=str(path)))
        folder = await asyncio.to_thread(path.is_dir)
        if not folder and not await asyncio.to_thread(path.is_file):
            raise InvalidRequest(translatable("{path} is neither a file nor a folder", path=str(path)))
        until = _changed_until((await self._state.get(*_STATE)).get(str(path), ""))
        async with aclosing(self._take_up(path, until)) as progress:
            async for added in progress:
                if added.seen == added.of and self._is_left(path):
                    self._watch.leave(path)
                elif added.seen == added.of and (folder or not (added.unread or added.problems)):
                    await self._state.put(*_STATE, {str(path): str(added.changed)})
                    if why := self._watch.why_not(path):
                        told = translatable("changes may wait for the next turn: {why}", why=why)
                        added = replace(added, problems=(*added.problems, f"{path}: {told}"))
                elif added.seen == added.of:
                    self._watch.leave(path)
                yield added

    def reread(self) -> None:
        """Read everything again on the next look."""
        self._read.clear()

    async def watched(self) -> list[str]:
        """Return the added paths."""
        return sorted(await self._state.get(*_STATE))

    def later(self, watched: Iterable[str]) -> dict[str, str]:
        """Return the watched paths whose changes are only noticed after turns, and why."""
        return {path: why for path in watched if (why := self._watch.why_not(Path(path)))}

    async def sync(self, among: Collection[Path] | None = None) -> int:
        """Reindex changed files in all added paths, or some of them, and drop deleted ones; return the number of new
        sections.

        A path that is missing as a whole stays remembered, since its disk may be elsewhere.
        """
        new = 0
        for name, value in sorted((await self._state.get(*_STATE)).items()):
            path, until = Path(name), _changed_until(value)
            if (among is None or path in among) and await asyncio.to_thread(path.exists):
                async for done in self._take_up(path, until):
                    for problem in done.problems:
                        log.warning("not remembered: %s", problem)
                new += done.new
                if done.changed != until and name in await self._state.get(*_STATE):
                    await self._state.put(*_STATE, {name: str(done.changed)})
        return new

    async def stop_watching(self, source: str) -> None:
        """Stop watching this source and everything below it."""
        _, _, path = source.partition(f"{Layer.DOCUMENT}:")
        if path:
            self._left.add(Path(path))
        gone = [each for each in await self.watched() if path and Path(each).is_relative_to(path)]
        await self._state.put(*_STATE, dict.fromkeys(gone, ""))
        for each in gone:
            self._watch.leave(Path(each))

    def _is_left(self, path: Path) -> bool:
        """Return whether this path was forgotten while it was read."""
        return any(map(path.is_relative_to, self._left))

    async def _take_up(self, path: Path, until: float) -> AsyncGenerator[Added]:
        """Index what is new. A file that has the time of its items and was not changed after `until` is not."""
        from hob.tools.documents.documents import DocumentReader  # most owners add no documents

        self._left = {each for each in self._left if not (path.is_relative_to(each) or each.is_relative_to(path))}
        await asyncio.to_thread(self._watch.cover, path)  # before reading, so that later changes are noticed
        problems = list[str]()
        files, unread = await asyncio.to_thread(_files, path, problems), Counter[str]()
        known = await self._items.of(_OWNER).sources(f"{Layer.DOCUMENT}:{path}")
        reader, read, new, changed = DocumentReader(), 0, 0, 0.0
        if len(files) > _MAX_FILES:
            maximum, count = f"{_MAX_FILES:,}", f"{len(files):,}"
            told = translatable("only {maximum} of its {count} files are read", maximum=maximum, count=count)
            problems.append(f"{path}: {told}")
            files = files[:_MAX_FILES]
        try:
            for seen, file in enumerate(files):
                if seen:
                    yield Added(read, new, seen, len(files))
                source = f"{Layer.DOCUMENT}:{file}"
                try:
                    stat = await asyncio.to_thread(file.stat)
                    at, version = stat.st_mtime, (stat.st_mtime, stat.st_size, stat.st_ino, stat.st_ctime)
                    changed = max(changed, stat.st_ctime)
                    same = at == known.get(source) and stat.st_ctime <= until
                    if self._read.setdefault(file, version if same else ()) == version:
                        read += source in known
                        unread[file.suffix.lower()] += file in self._unread
                        continue
                    text = await _text_of(file, reader)
                except (OSError, DocumentUnreadable) as error:
                    problems.append(f"{file}: {error}")
                    continue
                finally:
                    known.pop(source, None)
                if self._is_left(file):
                    continue
                self._read[file] = version
                if text is None:
                    self._unread.add(file)
                    unread[file.suffix.lower()] += 1
                    continue
                self._unread.discard(file)
                read += 1
                items = items_of_document(text, str(file), scope=_OWNER, layer=Layer.DOCUMENT, label=_FILE, at=at)
                new += await self._items.replace_source(_OWNER, source, items)
        finally:
            await reader.close()
        gone = known if await asyncio.to_thread(path.exists) else ()  # it may have been deleted meanwhile
        for source in gone:
            if Path(source.partition(":")[2]).is_relative_to(path):  # the rest no longer exists
                await self._items.replace_source(_OWNER, source, [])
        kinds = tuple(kind for kind, count in unread.most_common() if count)
        yield Added(read, new, len(files), len(files), tuple(problems), unread.total(), kinds, changed)


def _changed_until(value: str) -> float:
    """Parse the time up to which changes are indexed. An older Hob wrote `watched`, whatever had changed."""
    return math.inf if value == "watched" else float(value or 0.0)


def _files(path: Path, problems: list[str]) -> list[Path]:
    return [path] if path.is_file() else sorted(_below(path, problems))


def _below(folder: Path, problems: list[str]) -> Iterator[Path]:
    """Yield the documents below a folder; add what may not be read to the problems."""
    for path in folder.rglob("*"):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        try:
            if not hidden and path.is_file() and not path.is_symlink():
                yield path
        except OSError as error:
            problems.append(f"{path}: {error}")


async def _text_of(file: Path, reader: Documents) -> str | None:
    """Extract the text; None if the file is not a document."""
    from hob.tools.documents.text import decode

    if (await asyncio.to_thread(file.stat)).st_size > _MAX_BYTES:
        raise OSError(translatable("it has more than {bytes} bytes", bytes=f"{_MAX_BYTES:,}"))
    data = await asyncio.to_thread(file.read_bytes)
    if file.suffix.lower() in _TEXTS:
        decoded = decode(data)
        if decoded is None:
            raise OSError(translatable("it is not text"))
        return decoded.shown.replace("\0", "\ufffd")
    kind = reader.kind(data, file.name)
    return (await reader.read(data, kind)).text if kind else None
