"""Text of fetched pages, by content type and encoding."""

import json
import re

from hob.core.content.documents import Documents, DocumentUnreadable
from hob.core.errors import ToolFailed
from hob.core.libraries import install_command
from hob.core.values import dataclass
from hob.tools.documents.formats.html import LIBRARIES, is_installed
from hob.tools.documents.media_types import CSV, HTML, MAIL, kind_of
from hob.tools.documents.text import decode
from hob.tools.web.fetcher import FetchedPage

_LINK = re.compile(r"!?\[([^\]\n]{0,500})\]\([^)\s]{0,2000}\)")
_MARKS = re.compile(r"^(?:#{1,6} +|> ?)|\*\*|__|`", re.MULTILINE)
_NAMED = {"text/html": HTML, "application/xhtml+xml": HTML, "text/csv": CSV, "message/rfc822": MAIL}
_LOOKS_LIKE_PAGE = re.compile(rb"\s*<(?:!doctype html|html)[\s>]", re.IGNORECASE)

MISSING = "to leave out menus and footers of web pages two libraries are missing; the owner can: " + install_command(
    *LIBRARIES
)


@dataclass(frozen=True, slots=True)
class PageText:
    """The text of a page. `extractor` names the reader, `note` suggests a better one."""

    text: str
    title: str = ""
    extractor: str = "raw"
    note: str = ""
    cut: bool = False


async def text_of(page: FetchedPage, documents: Documents) -> PageText:
    """Extract the text of a fetched page. Raises ToolFailed if it has none."""
    kind = documents.kind(page.data) or _NAMED.get(page.media_type, "")
    if not kind and _LOOKS_LIKE_PAGE.match(page.data[:1_000]):
        kind = HTML
    if kind and kind != CSV:
        return await _document(page, kind, documents)
    if found := kind_of(page.data):
        raise ToolFailed(f"this is no text but {found}, {len(page.data):,} bytes")
    text = _decoded(page)
    if page.media_type == "application/json" or page.media_type.endswith("+json"):
        return PageText(_indented(text), extractor="json")
    return PageText(text)


def plain(markdown: str) -> str:
    """Remove Markdown marks and link addresses."""
    return _MARKS.sub("", _LINK.sub(r"\1", markdown))


async def _document(page: FetchedPage, kind: str, documents: Documents) -> PageText:
    try:
        found = await documents.read(page.data, kind, charset=page.charset, base=page.final_url)
    except DocumentUnreadable as error:
        raise ToolFailed(str(error)) from error
    if kind != HTML:
        return PageText(found.text, found.title, kind, cut=found.cut)
    readable = is_installed()
    extractor, note = ("trafilatura", "") if readable else ("plain", MISSING)
    return PageText(found.text, found.title, extractor, note, found.cut)


def _decoded(page: FetchedPage) -> str:
    if page.charset:
        try:
            return page.data.decode(page.charset, "replace")
        except LookupError:
            pass
    text = decode(page.data)
    if text is None:
        raise ToolFailed(f"this is no text but {page.media_type or 'binary'}, {len(page.data):,} bytes")
    return text.shown


def _indented(text: str) -> str:
    """Indent JSON. Text that is already indented or not valid JSON stays as it is."""
    if "\n" in text.strip():
        return text
    try:
        return json.dumps(json.loads(text), ensure_ascii=False, indent=1)
    except (ValueError, RecursionError):
        return text
