"""EPUB 3.3 books: a zip of pages in spine order."""

import posixpath
from collections.abc import Iterator
from urllib.parse import unquote
from xml.etree import ElementTree as ET

from hob.core.content.documents import DocumentSection
from hob.tools.documents.formats import html
from hob.tools.documents.formats.archive import Archive

_CONTAINER = "{urn:oasis:names:tc:opendocument:xmlns:container}"
_OPF = "{http://www.idpf.org/2007/opf}"
_DC = "{http://purl.org/dc/elements/1.1/}"


def read(data: bytes) -> tuple[str, Iterator[DocumentSection]]:
    """Return the title and the text of all pages."""
    archive = Archive(data)
    root = archive.xml("META-INF/container.xml").find(f".//{_CONTAINER}rootfile")
    if root is None:
        raise ValueError("it names no pages")
    path = root.get("full-path", "")
    package = archive.xml(path)
    return package.findtext(f".//{_DC}title", "").strip(), _pages(archive, package, posixpath.dirname(path))


def _pages(archive: Archive, package: ET.Element, folder: str) -> Iterator[DocumentSection]:
    items = {item.get("id"): item.get("href", "") for item in package.iter(f"{_OPF}item")}
    names = set(archive.names())
    for item in package.iter(f"{_OPF}itemref"):
        name = posixpath.normpath(posixpath.join(folder, unquote(items.get(item.get("idref"), ""))))
        if name in names:
            yield from html.read_plain(archive.bytes(name).decode("utf-8", "replace"))
