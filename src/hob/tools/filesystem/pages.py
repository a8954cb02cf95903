"""A text shown page by page: numbered lines, none longer than a model can use, and where to read on."""

import os
from collections.abc import Iterator
from dataclasses import dataclass

from hob.core.errors import ToolFailed
from hob.tools.documents.text import decode

PAGE = 20_000
"""Characters of a page."""

LONGEST_LINE = 2_000
MOST_LINES = 2_000
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Part:
    """Which part of a text is wanted: lines from `offset` (1 is the first, -1 the last), or characters from `at`."""

    offset: int = 1
    limit: int = MOST_LINES
    at: int | None = None


def page(text: str, part: Part, remarks: str = "") -> str:
    """This part of a text with plain line ends. `remarks` are told below it. Raises ToolFailed beyond its end."""
    if part.at is not None:
        return _characters(text, part.at, part.limit, remarks)
    if not text:
        return f"(empty){_below(remarks)}"
    total = text.count("\n") + (not text.endswith("\n"))
    first = part.offset if part.offset > 0 else max(1, total + 1 + part.offset)
    if first > total:
        raise ToolFailed(f"there are {total:,} lines; line {first:,} is beyond the last.")
    start = _start_of(text, first)
    shown, last = _numbered(_lines(text, start), first, part.limit)
    if last < total:
        remarks = _joined(f"lines {first:,}-{last:,} of {total:,}; read on with offset={last + 1}", remarks)
    elif first > 1:
        remarks = _joined(f"lines {first:,}-{last:,} of {total:,}", remarks)
    return shown + _below(remarks)


def page_of_large(descriptor: int, size: int, part: Part) -> str:
    """The same of a file too large to be loaded; it is read in pieces, up to the page's end. Raises ToolFailed."""
    if part.at is not None:
        data = os.pread(descriptor, PAGE * 4, part.at)
        text = data.decode("utf-8", "replace")[:PAGE]
        rest = f"bytes {part.at:,}-{part.at + len(text.encode()):,} of {size:,}; read on from there"
        return text + _below(rest)
    first = part.offset
    if first < 1:
        first = max(1, _count_lines(descriptor) + 1 + first)
    shown, last = _numbered(_lines_of_large(descriptor, first), first, part.limit)
    if last < first:
        raise ToolFailed(f"the file ends before line {first:,}.")
    return shown + _below(f"lines {first:,}-{last:,} of a file of {size:,} bytes; read on with offset={last + 1}")


def _numbered(lines: Iterator[tuple[int, str]], first: int, limit: int) -> tuple[str, int]:
    """The lines with their numbers, up to a page, and the number of the last; `lines` gives each with its place."""
    parts: list[str] = []
    room, number = PAGE, first
    for at, line in lines:
        cut = line
        if len(line) > LONGEST_LINE:
            more = len(line) - LONGEST_LINE
            cut = f"{line[:LONGEST_LINE]} [… {more:,} more characters in this line; read at={at + LONGEST_LINE}]"
        room -= len(cut) + 7
        if number - first >= limit or (room < 0 and parts):
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


def _characters(text: str, at: int, limit: int, remarks: str) -> str:
    if at < 0 or at > len(text):
        raise ToolFailed(f"there are {len(text):,} characters; {at:,} is not among them.")
    end = min(len(text), at + PAGE)
    more = f"characters {at:,}-{end:,} of {len(text):,}" + (f"; read on with at={end}" if end < len(text) else "")
    return text[at:end] + _below(_joined(more, remarks))


def _count_lines(descriptor: int) -> int:
    count, at, last = 0, 0, b"\n"
    while data := os.pread(descriptor, _CHUNK, at):
        count, at, last = count + data.count(b"\n"), at + len(data), data[-1:]
    return count + (last != b"\n")


def _lines_of_large(descriptor: int, first: int) -> Iterator[tuple[int, str]]:
    """Lines from this one on, with the byte at which each begins; of a longer one than a chunk the beginning."""
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
