"""The worker process that reads documents, kept apart because documents are untrusted.

It reads one document after another from standard input and answers with sections, under limits on memory and time, so a
document that makes a parser loop or take all memory costs one error. It exits after a failure, and a fresh process
reads the next document. It also exits at end of input, and so with Hob.
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
"""The error in an answer if the library for the format is not installed."""

SECONDS = 20
"""Seconds of CPU time per document."""

MAX_TEXT = 5_000_000
"""Maximum characters of a document."""

_MEMORY = 1 << 30
_BROKEN = (KeyError, ValueError, IndexError, TypeError, AttributeError, OverflowError, EOFError, AssertionError,
           NotImplementedError, zipfile.BadZipFile, SyntaxError, MemoryError, RecursionError)  # fmt: skip
# XML parsers raise SyntaxError; importing their own class for its name alone would cost 0.3 MiB in the daemon

Answer = dict[str, Any]


def main() -> int:
    """Read documents until the input ends or one fails. Returns the exit status."""
    for what, maximum in ((resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_AS, _MEMORY)):
        with contextlib.suppress(ValueError, OSError):  # macOS has no memory limit
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
        # the message of a plain ValueError is meant for people
        kind = "" if type(error) is ValueError else f"{type(error).__name__}: "
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
