"""PDF files, by pypdf (the extra `docs`)."""

import io
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from hob.core.content.documents import DocumentSection

LIBRARIES = ("pypdf",)


def read(data: bytes) -> Iterator[DocumentSection]:
    """Return a section per page. Raises ModuleNotFoundError without pypdf, ValueError for broken files."""
    pypdf: Any = import_module("pypdf")
    said = False
    try:
        reader = pypdf.PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise ValueError("it is locked with a password")
        for n, page in enumerate(reader.pages, start=1):
            text = page.extract_text()
            said = said or bool(text.strip())
            yield DocumentSection(text, page=n)
    except (pypdf.errors.PyPdfError, pypdf.errors.DependencyError) as error:
        raise ValueError(str(error)) from error
    if not said:
        raise ValueError(
            "it holds no text: its pages are pictures (scanned). `ocrmypdf FILE NEW.pdf` writes the text into a copy; "
            "`pdftoppm -r 100 -png FILE page` (poppler-utils) makes pictures of them, which the tool image reads"
        )
