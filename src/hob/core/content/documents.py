"""A document as text: what a PDF, a web page, a mail or a table says, in sections that can be cited."""

from collections.abc import Iterator
from typing import Protocol

from hob.core.errors import HobError
from hob.core.values import dataclass


class DocumentUnreadable(HobError):
    """There is no text to be had of this document."""


@dataclass(frozen=True, slots=True)
class DocumentSection:
    """A part of a document: the heading it stands under and the page it begins on, where there are such."""

    text: str
    heading: str = ""
    page: int = 0


@dataclass(frozen=True, slots=True)
class Document:
    """What a document says. `kind` is its media type; `cut`: it says more than was read."""

    sections: tuple[DocumentSection, ...]
    title: str = ""
    kind: str = ""
    cut: bool = False

    @property
    def text(self) -> str:
        """All of it as one text, headings marked as in Markdown, pages by a line of their own."""
        return "\n".join(_lines(self.sections))


def _lines(sections: tuple[DocumentSection, ...]) -> Iterator[str]:
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
    """Reads documents. Anyone who wrote one wrote our input: reading it may fail and costs nothing else."""

    def kind(self, data: bytes, name: str = "") -> str:
        """The media type of a document that can be read; empty for all else. `name` is that of its file."""

    async def read(self, data: bytes, kind: str, *, charset: str = "", base: str = "") -> Document:
        """What it says. `charset` is what its sender calls its encoding, `base` the address that its links start from.

        Raises DocumentUnreadable, with what to install where a library is missing.
        """
