"""Documents as text: PDFs, web pages, mails and tables in sections that can be cited."""

from collections.abc import Iterator
from typing import Protocol

from hob.core.errors import HobError
from hob.core.values import dataclass


class DocumentUnreadable(HobError):
    """No text can be extracted from this document."""


@dataclass(frozen=True, slots=True)
class DocumentSection:
    """A part of a document, with its heading and the page it starts on, if any."""

    text: str
    heading: str = ""
    page: int = 0


@dataclass(frozen=True, slots=True)
class Document:
    """The text of a document. `kind` is its media type; `cut` says that not all of it was read."""

    sections: tuple[DocumentSection, ...]
    title: str = ""
    kind: str = ""
    cut: bool = False

    @property
    def text(self) -> str:
        """The whole document as one text, with headings as in Markdown and a line for each page."""
        return "\n".join(_render_lines(self.sections))


def _render_lines(sections: tuple[DocumentSection, ...]) -> Iterator[str]:
    page, heading = 0, ""
    for section in sections:
        if section.page != page:
            page = section.page
            yield f"[page {page}]"
        if section.heading and section.heading != heading:
            yield f"## {section.heading}"
        heading = section.heading
        if section.text:
            yield section.text


class Documents(Protocol):
    """Document reader. The input is untrusted: a failure to read it affects nothing else."""

    def kind(self, data: bytes, name: str = "") -> str:
        """Return the media type if the document can be read, otherwise an empty string. `name` is the file name."""

    async def read(self, data: bytes, kind: str, *, charset: str = "", base: str = "") -> Document:
        """Read a document. `charset` is the encoding its sender declares, `base` the address its links are relative to.

        Raises DocumentUnreadable, which says what to install if a library is missing.
        """
