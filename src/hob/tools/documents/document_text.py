"""The text of a PDF, Word or OpenDocument file: a program of its own, since whoever wrote the file wrote our input.

It reads the file from its standard input and writes plain text, with limits on memory and time that it cannot lift. So
a document that makes a parser loop or swell costs an error and nothing else. PDF needs pypdf.
"""

import contextlib
import io
import resource
import sys
import zipfile
from collections.abc import Iterator
from importlib import import_module
from typing import Any
from xml.etree import ElementTree as ET

from hob.tools.documents.media_types import DOCX, ODT, PDF, kind_of

MISSING = 3
"""The exit status where the library for this kind is not installed."""

SECONDS = 20
"""Of processor time."""

_MEMORY = 1 << 30
_MOST_XML = 50 << 20
_MOST_TEXT = 5_000_000
_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_OPEN = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"


def main() -> int:
    """Read, limit, write; the exit status."""
    for what, most in ((resource.RLIMIT_CPU, SECONDS), (resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_AS, _MEMORY)):
        with contextlib.suppress(ValueError, OSError):  # macOS takes no limit of memory
            resource.setrlimit(what, (most, most))
    data = sys.stdin.buffer.read()
    try:
        lines = {PDF: _pdf, DOCX: _docx, ODT: _odt}[kind_of(data)](data)
        written = 0
        for line in lines:
            encoded = line.encode("utf-8", "replace") + b"\n"
            written += len(encoded)
            if written > _MOST_TEXT:
                break
            sys.stdout.buffer.write(encoded)
    except ModuleNotFoundError:
        return MISSING
    except (KeyError, ValueError, zipfile.BadZipFile, ET.ParseError, MemoryError, RecursionError) as error:
        sys.stderr.write(f"{type(error).__name__}: {error}")
        return 1
    return 0


def _pdf(data: bytes) -> Iterator[str]:
    pypdf: Any = import_module("pypdf")  # the extra `docs`; without it the caller says how to install it
    try:
        reader = pypdf.PdfReader(io.BytesIO(data))
        for n, page in enumerate(reader.pages, start=1):
            yield f"[page {n} of {len(reader.pages)}]"
            yield page.extract_text()
    except pypdf.errors.PyPdfError as error:
        raise ValueError(str(error)) from error


def _docx(data: bytes) -> Iterator[str]:
    """ECMA-376, part 1, section 17: paragraphs `p` of runs with texts `t`, tabs and breaks."""
    for paragraph in _member(data, "word/document.xml").iter(f"{_WORD}p"):
        parts = []
        for piece in paragraph.iter():
            if piece.tag == f"{_WORD}t":
                parts.append(piece.text or "")
            elif piece.tag in (f"{_WORD}tab", f"{_WORD}br"):
                parts.append("\t" if piece.tag.endswith("tab") else "\n")
        yield "".join(parts)


def _odt(data: bytes) -> Iterator[str]:
    """OpenDocument 1.3, part 3, section 5: headings `h` and paragraphs `p`."""
    for block in _member(data, "content.xml").iter():
        if block.tag in (f"{_OPEN}p", f"{_OPEN}h"):
            yield "".join(_odt_text(block))


def _odt_text(block: ET.Element) -> Iterator[str]:
    yield block.text or ""
    for piece in block:
        if piece.tag == f"{_OPEN}s":
            yield " " * min(100, int(piece.get(f"{_OPEN}c", "1")))
        elif piece.tag in (f"{_OPEN}tab", f"{_OPEN}line-break"):
            yield "\t" if piece.tag.endswith("tab") else "\n"
        else:
            yield from _odt_text(piece)
        yield piece.tail or ""


def _member(data: bytes, name: str) -> ET.Element:
    with zipfile.ZipFile(io.BytesIO(data)) as archive, archive.open(name) as member:
        xml = member.read(_MOST_XML + 1)
    if len(xml) > _MOST_XML:
        raise ValueError("it is too large when unpacked")
    # Expat resolves no outside entity and stops where entities multiply; memory and time are limited besides.
    return ET.fromstring(xml)  # noqa: S314


if __name__ == "__main__":
    sys.exit(main())
