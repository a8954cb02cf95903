"""The process that reads documents, apart from Hob, since what it reads is untrusted.

It takes one document after the other from its standard input and gives their sections, with limits on memory and time.
So a document that makes a parser loop or swell costs an error and nothing else. After any failure it ends: what comes
next is read by a fresh one. It ends with its input, too, however Hob ended.
"""

import contextlib
import json
import resource
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from hob.core.content.documents import DocumentSection
from hob.tools.documents.media_types import CSV, DOCX, EPUB, HTML, MAIL, ODT, PDF, XLSX
from hob.tools.documents.text import decode

MISSING = "missing"
"""Begins the answer where the library for this kind is not installed."""

SECONDS = 20
"""Of processor time for a document."""

MAX_TEXT = 5_000_000
"""Characters that are read of a document."""

_MEMORY = 1 << 30
_BROKEN = (KeyError, ValueError, IndexError, TypeError, AttributeError, OverflowError, EOFError, AssertionError,
           NotImplementedError, zipfile.BadZipFile, SyntaxError, MemoryError, RecursionError)  # fmt: skip
# SyntaxError is what XML raises that cannot be parsed; to load its parser for the name alone took 0.3 MiB of a daemon

Answer = dict[str, Any]


def main() -> int:
    """Read documents until there is none or one fails; the exit status."""
    for what, maximum in ((resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_AS, _MEMORY)):
        with contextlib.suppress(ValueError, OSError):  # macOS takes no limit of memory
            resource.setrlimit(what, (maximum, maximum))
    source, out = sys.stdin.buffer, sys.stdout.buffer
    while line := source.readline():
        asked = json.loads(line)
        _limit_time()
        answer = _answer(source.read(asked["size"]), asked)
        written = json.dumps(answer).encode()
        out.write(b"%d\n" % len(written) + written)
        out.flush()
        if "error" in answer:
            return 1
    return 0


def _limit_time() -> None:
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, maximum = resource.getrlimit(resource.RLIMIT_CPU)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + SECONDS, maximum))


def _answer(data: bytes, asked: Answer) -> Answer:
    try:
        title, sections = _READERS[asked["kind"]](data, asked)
        return {"title": title[:500], **_capped(sections)}
    except ModuleNotFoundError as error:
        return {"error": MISSING, "library": error.name or ""}
    except _BROKEN as error:
        kind = "" if type(error) is ValueError else f"{type(error).__name__}: "  # its words are for people
        return {"error": f"{kind}{error}"[-300:]}


def _capped(sections: Iterable[DocumentSection]) -> Answer:
    room, made, cut = MAX_TEXT, list[tuple[str, str, int]](), False
    for section in sections:
        if len(section.text) > room:
            made.append((section.text[:room], section.heading[:500], section.page))
            cut = True
            break
        room -= len(section.text) + len(section.heading)
        made.append((section.text, section.heading[:500], section.page))
    return {"sections": made, "cut": cut}


_Reader = Callable[[bytes, Answer], tuple[str, Iterable[DocumentSection]]]


def _pdf(data: bytes, _: Answer) -> tuple[str, Iterator[DocumentSection]]:
    from hob.tools.documents.formats import pdf

    return "", pdf.read(data)


def _office(name: str) -> _Reader:
    def read(data: bytes, _: Answer) -> tuple[str, Iterable[DocumentSection]]:
        from hob.tools.documents.formats import office

        readers = {DOCX: office.docx, ODT: office.odt, XLSX: office.xlsx}
        return "", readers[name](data)

    return read


def _epub(data: bytes, _: Answer) -> tuple[str, Iterable[DocumentSection]]:
    from hob.tools.documents.formats import epub

    return epub.read(data)


def _mail(data: bytes, _: Answer) -> tuple[str, Iterable[DocumentSection]]:
    from hob.tools.documents.formats import mail

    return mail.read(data)


def _html(data: bytes, asked: Answer) -> tuple[str, Iterable[DocumentSection]]:
    from hob.tools.documents.formats import html

    source = html.text_of(data, asked.get("charset", ""))
    return html.title_of(source), html.read(source, asked.get("base", ""))


def _csv(data: bytes, _: Answer) -> tuple[str, Iterable[DocumentSection]]:
    text = decode(data)
    if text is None:
        raise ValueError("it is not text")
    return "", [DocumentSection(text.shown)]


_READERS: dict[str, _Reader] = {
    PDF: _pdf,
    DOCX: _office(DOCX),
    ODT: _office(ODT),
    XLSX: _office(XLSX),
    EPUB: _epub,
    MAIL: _mail,
    HTML: _html,
    CSV: _csv,
}

if __name__ == "__main__":
    sys.exit(main())
