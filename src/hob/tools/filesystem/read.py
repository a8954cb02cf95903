"""The tool `read`: files, folders and blobs, page by page."""

import asyncio
import os
import stat
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import replace

from hob.core.content.documents import Documents, DocumentUnreadable
from hob.core.content.images import Image
from hob.core.errors import NotFound, ToolFailed
from hob.core.ids import BlobId, TurnId, digest
from hob.core.ports.tools import Blobs, CallContext
from hob.core.trust.labels import Label, Origin, Trust
from hob.core.values import dataclass
from hob.tools.documents.documents import DocumentReader
from hob.tools.documents.media_types import CSV, DOCUMENTS, is_picture, kind_of, picture_size
from hob.tools.documents.tables import describe_columns, notebook_text
from hob.tools.documents.text import decode
from hob.tools.filesystem.listing import list_folder
from hob.tools.filesystem.paths import Place, Roots
from hob.tools.filesystem.specs import READ
from hob.tools.registry.declaration import ToolOutput, implements

# Paging: numbered lines, none longer than a model can use, and the place to continue.

PAGE = 20_000
"""Characters per page."""

_REMARKS = 1_000  # characters reserved for remarks below a page
LONGEST_LINE = 2_000
MAX_LINES = 2_000
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class PageRequest:
    """The requested part of a text: lines from `offset` (1 is the first, -1 the last), or characters from `at`.

    `room` is the number of characters to show.
    """

    offset: int = 1
    limit: int = MAX_LINES
    at: int | None = None
    room: int = PAGE


def page(text: str, part: PageRequest, remarks: str = "") -> str:
    """Return this part of a text with plain line ends, followed by `remarks`. Raises ToolFailed beyond the end."""
    if part.at is not None:
        return _characters(text, part.at, part.room, remarks)
    if not text:
        return f"(empty){_below(remarks)}"
    total = text.count("\n") + (not text.endswith("\n"))
    first = part.offset if part.offset > 0 else max(1, total + 1 + part.offset)
    if first > total:
        raise ToolFailed(f"there are {total:,} lines; line {first:,} is beyond the last.")
    start = _start_of(text, first)
    shown, last = _numbered(_lines(text, start), first, part)
    if last < total:
        remarks = _joined(f"lines {first:,}-{last:,} of {total:,}; read on with offset={last + 1}", remarks)
    elif first > 1:
        remarks = _joined(f"lines {first:,}-{last:,} of {total:,}", remarks)
    return shown + _below(remarks)


def page_of_large(descriptor: int, size: int, part: PageRequest) -> str:
    """Return a part of a file too large to load, reading only up to the page's end. Raises ToolFailed."""
    if part.at is not None:
        data = os.pread(descriptor, part.room * 4, part.at)
        text = data.decode("utf-8", "replace")[: part.room]
        rest = f"bytes {part.at:,}-{part.at + len(text.encode()):,} of {size:,}; read on from there"
        return text + _below(rest)
    first = part.offset
    if first < 1:
        first = max(1, _count_lines(descriptor) + 1 + first)
    shown, last = _numbered(_lines_of_large(descriptor, first), first, part)
    if last < first:
        raise ToolFailed(f"the file ends before line {first:,}.")
    return shown + _below(f"lines {first:,}-{last:,} of a file of {size:,} bytes; read on with offset={last + 1}")


def _numbered(lines: Iterator[tuple[int, str]], first: int, part: PageRequest) -> tuple[str, int]:
    """Return up to one page of numbered lines, and the number of the last. `lines` yields each with its position."""
    parts: list[str] = []
    room, number = part.room, first
    for at, line in lines:
        cut = line
        if len(line) > LONGEST_LINE:
            more = len(line) - LONGEST_LINE
            cut = f"{line[:LONGEST_LINE]} [… {more:,} more characters in this line; read at={at + LONGEST_LINE}]"
        room -= len(cut) + 7
        if number - first >= part.limit or (room < 0 and parts):
            break
        parts.append(f"{number}\t{cut}")
        number += 1
    return "\n".join(parts), number - 1


def _lines(text: str, start: int) -> Iterator[tuple[int, str]]:
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield start, text[start:end]
        start = end + 1


def _start_of(text: str, line: int) -> int:
    start = 0
    for _ in range(line - 1):
        start = text.index("\n", start) + 1
    return start


def _characters(text: str, at: int, room: int, remarks: str) -> str:
    if at < 0 or at > len(text):
        raise ToolFailed(f"there are {len(text):,} characters; {at:,} is not among them.")
    end = min(len(text), at + room)
    more = f"characters {at:,}-{end:,} of {len(text):,}" + (f"; read on with at={end}" if end < len(text) else "")
    return text[at:end] + _below(_joined(more, remarks))


def _count_lines(descriptor: int) -> int:
    count, at, last = 0, 0, b"\n"
    while data := os.pread(descriptor, _CHUNK, at):
        count, at, last = count + data.count(b"\n"), at + len(data), data[-1:]
    return count + (last != b"\n")


def _lines_of_large(descriptor: int, first: int) -> Iterator[tuple[int, str]]:
    """Yield the lines from this one on with their byte offsets. Of a line longer than a chunk, only its beginning."""
    at, line = 0, 1
    while line < first:
        data = os.pread(descriptor, _CHUNK, at)
        if not data:
            return
        count = data.count(b"\n")
        if line + count < first:
            line, at = line + count, at + len(data)
            continue
        place = -1
        for _ in range(first - line):
            place = data.index(b"\n", place + 1)
        line, at = first, at + place + 1
    while data := os.pread(descriptor, _CHUNK, at):
        end = data.find(b"\n")
        whole = data if end < 0 else data[:end]
        found = decode(whole)
        yield at, (found.text if found else whole.decode("latin-1")).removesuffix("\r")
        at = at + end + 1 if end >= 0 else _next_line(descriptor, at + len(data))


def _next_line(descriptor: int, at: int) -> int:
    while data := os.pread(descriptor, _CHUNK, at):
        end = data.find(b"\n")
        if end >= 0:
            return at + end + 1
        at += len(data)
    return at


def _joined(*remarks: str) -> str:
    return "; ".join(remark for remark in remarks if remark)


def _below(remarks: str) -> str:
    return f"\n[{remarks}]" if remarks else ""


FILE_LABEL = Label(Origin.FILE, Trust.UNTRUSTED)

BLOB = "blob:"
"""Prefix of a blob id used as a path."""

LabelOf = Callable[[str, str], Label]
"""Returns the trust label of a file by its real path and SHA-256."""

_WHOLE = 8 << 20  # bytes of a file that is loaded; of a larger one only the requested page is read
_MAX_SHOWN = 5 << 20  # bytes of an image; https://docs.anthropic.com/en/docs/build-with-claude/vision
_TURNS = 64


def label_untrusted(_path: str, _hash: str) -> Label:
    """Return the label of files of unknown origin."""
    return FILE_LABEL


class SeenHashes:
    """Hashes of the files that the last turns have seen, by real path."""

    def __init__(self) -> None:
        self._turns: OrderedDict[TurnId, dict[str, str]] = OrderedDict()

    def note(self, turn: TurnId, path: str, hash_: str) -> None:
        """Remember the hash with which the turn saw this file."""
        self._turns.setdefault(turn, {})[path] = hash_
        self._turns.move_to_end(turn)
        while len(self._turns) > _TURNS:
            self._turns.popitem(last=False)

    def find(self, turn: TurnId, path: str) -> str | None:
        """Return the hash that the turn saw last, or None if it has not seen the file."""
        return self._turns.get(turn, {}).get(path)


@dataclass(frozen=True, slots=True)
class _Loaded:
    """Loaded content: a file's bytes, or a text to show as is."""

    path: str
    name: str
    data: bytes = b""
    text: str | None = None


class ReadTool:
    """Reads files, folders and blobs."""

    def __init__(
        self,
        roots: Roots,
        blobs: Blobs,
        seen: SeenHashes,
        label_of: LabelOf = label_untrusted,
        documents: Documents | None = None,
    ) -> None:
        self._roots = roots
        self._documents = documents or DocumentReader()
        self._blobs = blobs
        self._seen = seen
        self._label_of = label_of

    @implements(READ, FILE_LABEL)
    async def read(
        self,
        path: str,
        context: CallContext,
        offset: int = 1,
        limit: int = MAX_LINES,
        at: int = -1,
        raw: bool = False,
    ) -> ToolOutput:
        # the outputs explain `at` and `raw` where they apply
        room = min(PAGE, context.maximum - _REMARKS)
        part = PageRequest(offset, min(max(limit, 1), MAX_LINES), None if at < 0 else at, room)
        if path.startswith(BLOB):
            return await self._shown(await self._blob(path), part, raw=raw)
        loaded = await asyncio.to_thread(self._load, path, part)
        if loaded.text is not None:
            return ToolOutput(loaded.text)
        hash_ = digest(loaded.data)
        self._seen.note(context.turn.id, loaded.path, hash_)
        return replace(await self._shown(loaded, part, raw=raw), label=self._label_of(loaded.path, hash_))

    def _load(self, path: str, part: PageRequest) -> _Loaded:
        seen, place = self._roots.look(path)
        if seen is None:
            raise self._roots.missing(place)
        if stat.S_ISDIR(seen.st_mode):
            return _Loaded(place.path, place.name, text=list_folder(self._roots, path, 1, everything=True))
        # the owner was asked about it by this name, not by another one, such as a link
        descriptor, found, place = self._roots.open_file(path, secrets=self._roots.holds_secrets(path))
        with os.fdopen(descriptor, "rb") as file:
            if found.st_size > _WHOLE:
                return _Loaded(place.path, place.name, text=_large(descriptor, found.st_size, part, place))
            return _Loaded(place.path, place.name, file.read(_WHOLE + 1))

    async def _blob(self, path: str) -> _Loaded:
        try:
            return _Loaded(path, path, await self._blobs.load(BlobId(path.removeprefix(BLOB).strip())))
        except NotFound as error:
            raise ToolFailed(str(error)) from error

    async def _shown(self, loaded: _Loaded, part: PageRequest, *, raw: bool) -> ToolOutput:
        data, kind = loaded.data, kind_of(loaded.data)
        document = "" if raw else self._documents.kind(data, loaded.name)
        if document and document != CSV:  # a table is best read as it is
            return ToolOutput(await self._document(data, document, part, is_text=not kind))
        if is_picture(kind):
            return await self._picture(data, kind)
        return ToolOutput(await self._text(loaded, kind, part, raw=raw))

    async def _document(self, data: bytes, kind: str, part: PageRequest, *, is_text: bool) -> str:
        try:
            document = await self._documents.read(data, kind)
        except DocumentUnreadable as error:
            raise ToolFailed(str(error)) from error
        remarks = [f"the text of this {DOCUMENTS[kind]} document"]
        if is_text:
            remarks.append("its source with raw=true")
        if document.cut:
            remarks.append("it has more than can be read")
        return page(document.text, part, "; ".join(remarks))

    async def _text(self, loaded: _Loaded, kind: str, part: PageRequest, *, raw: bool) -> str:
        data = loaded.data
        text = None if kind else await asyncio.to_thread(decode, data)
        if text is None:
            beginning = data[:16].hex(" ")
            return f"(no text: {kind or 'binary'}, {len(data):,} bytes that begin with {beginning})"
        remarks = [text.words(), describe_columns(text.plain, loaded.name)]
        shown = text.shown
        if loaded.name.lower().endswith(".ipynb") and not raw and (cells := notebook_text(shown)) is not None:
            shown, remarks = cells, ["the cells of a notebook; to edit it, read it with raw=true"]
        return page(shown, part, "; ".join(remark for remark in remarks if remark))

    async def _picture(self, data: bytes, kind: str) -> ToolOutput:
        blob = await self._blobs.put(data, kind)
        size = picture_size(data, kind)
        pixels = f"{size[0]} x {size[1]} pixels, " if size else ""
        told = f"(a picture: {kind}, {pixels}{len(data):,} bytes, {BLOB}{blob})"
        if len(data) > _MAX_SHOWN:
            return ToolOutput(f"{told}\n[too large to be shown: at most {_MAX_SHOWN:,} bytes]")
        return ToolOutput(told, images=(Image(blob, kind),))


def _large(descriptor: int, size: int, part: PageRequest, place: Place) -> str:
    head = os.pread(descriptor, 1 << 16, 0)
    if kind := kind_of(head) or ("" if decode(head[: 1 << 12]) else "binary"):
        raise ToolFailed(f"{place.spelled} is no text but {kind}, {size:,} bytes.")
    return page_of_large(descriptor, size, part)
