"""Web pages: the main content by trafilatura (the extra `web`), or all text without it."""

import codecs
import re
from collections.abc import Iterator, Set
from functools import cache
from html import unescape
from html.parser import HTMLParser
from importlib import import_module
from importlib.util import find_spec
from typing import Any
from urllib.parse import urljoin

from hob.core.content.documents import DocumentSection
from hob.tools.documents.formats.sections import by_heading
from hob.tools.documents.text import decode

LIBRARIES = ("trafilatura", "lxml_html_clean")

_TITLE = re.compile(r"<title[^>]*>(.{0,2000}?)</title", re.IGNORECASE | re.DOTALL)
_CHARSET = re.compile(rb"<meta[^>]{0,200}charset=[\"']?([\w-]{1,40})", re.IGNORECASE)
_HEADING = re.compile(r"#{1,6} +(.*)")
_HIDDEN = (
    "//body//*[@hidden or contains(translate(@style, ' ', ''), 'display:none')"
    " or contains(translate(@style, ' ', ''), 'visibility:hidden')]"
)
_SPACES = re.compile(r"[ \t\r\n\f]+")
_SILENT = frozenset({"script", "style", "noscript", "template", "svg", "head", "title", "iframe", "object", "select"})
_BLOCKS = frozenset({
    *("address", "article", "aside", "blockquote", "dd", "div", "dl", "dt", "fieldset", "figcaption", "figure"),
    *("footer", "form", "header", "hr", "li", "main", "nav", "ol", "p", "pre", "section", "table", "tbody", "thead"),
    *("tr", "ul", "h1", "h2", "h3", "h4", "h5", "h6"),
})  # fmt: skip
_MIN = 200  # characters; if a longer page yields less text than this, extraction has failed


def text_of(data: bytes, charset: str = "") -> str:
    """Decode a page by the server's charset, its own declaration, or detection."""
    found = _CHARSET.search(data[:4_096])
    for name in (charset, found[1].decode() if found else ""):
        if name and _is_text(name):
            return data.decode(name, "replace")
    text = decode(data)
    return text.shown if text is not None else data.decode("utf-8", "replace")


def title_of(source: str) -> str:
    """Return the page's title, or an empty string."""
    found = _TITLE.search(source[:200_000])
    return _SPACES.sub(" ", unescape(found[1])).strip() if found else ""


def read(source: str, base: str = "") -> Iterator[DocumentSection]:
    """Extract a page's text as Markdown; links are resolved against `base`."""
    page = _visible(source)
    readable = "" if page is None else _readable(page, base)
    if len(readable) < _MIN:
        visible = source if page is None else import_module("lxml.html").tostring(page, encoding="unicode")
        readable = plain_text(visible, base, _SILENT | {"nav"}) or readable
    return _sections(readable)


def read_plain(source: str) -> Iterator[DocumentSection]:
    """Extract all text of a page, for books."""
    return _sections(plain_text(source))


def _sections(text: str) -> Iterator[DocumentSection]:
    return by_heading((found is not None, found[1] if found else line) for line, found in _marked(text))


def _marked(text: str) -> Iterator[tuple[str, re.Match[str] | None]]:
    code = False
    for line in text.splitlines():
        code ^= line.startswith("```")
        yield line, None if code else _HEADING.fullmatch(line)


def _is_text(name: str) -> bool:
    try:
        return codecs.lookup(name)._is_text_encoding  # noqa: SLF001  # else `zip` would be an encoding, too
    except LookupError:
        return False


@cache
def _library() -> Any:
    return import_module("trafilatura") if is_installed() else None


def is_installed() -> bool:
    """Return whether trafilatura works. It cannot be imported without its second library."""
    return all(map(find_spec, LIBRARIES))


def _visible(source: str) -> Any:
    """Return the page's tree without hidden elements; None without the library, and for fragments."""
    library = _library()
    page = None if library is None else library.load_html(source)
    if page is not None:
        for element in page.xpath(_HIDDEN):
            element.drop_tree()
    return page


def _readable(page: Any, base: str) -> str:
    text: str | None = _library().extract(
        page, url=base or None, fast=True, output_format="markdown",
        include_comments=False, include_links=True, include_tables=True,
    )  # fmt: skip
    return text or ""


def plain_text(source: str, base: str = "", silent: Set[str] = _SILENT) -> str:
    """Return all text of a page as Markdown, without that of `silent` elements."""
    parser = _Plain(base, silent)
    parser.feed(source)
    parser.close()
    return parser.text()


class _Plain(HTMLParser):
    """Collects a page's text block by block, with headings, list items and links in Markdown."""

    def __init__(self, base: str, silent: Set[str]) -> None:
        super().__init__()
        self._base = base
        self._without = silent
        self._lines: list[str] = []
        self._line: list[str] = []
        self._mark = ""
        self._silent: list[str] = []
        self._links: list[tuple[str, int]] = []
        self._pre = 0

    def text(self) -> str:
        self._end_line()
        return "\n".join(self._lines)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in self._without:
            self._silent.append(tag)
        elif tag in _BLOCKS:
            self._end_line()
            self._pre += tag == "pre"
            heading = len(tag) == 2 and tag[0] == "h" and tag[1].isdigit()
            self._mark = f"{'#' * int(tag[1])} " if heading else "- " if tag == "li" else ""
        elif tag == "br":
            self._end_line()
        elif tag in ("td", "th") and self._line:
            self._line.append("\t")
        elif tag == "a":
            self._links.append((given.get("href") or "", len(self._line)))
        elif tag == "img" and given.get("alt"):
            self.handle_data(f" [{given['alt']}] ")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._silent:
            while self._silent.pop() != tag:
                pass
        elif tag in _BLOCKS:
            self._end_line()
            self._pre -= tag == "pre" and self._pre > 0
        elif tag == "a" and self._links:
            self._end_link(*self._links.pop())

    def handle_data(self, data: str) -> None:
        if self._silent:
            return
        if self._pre:
            first, *others = data.split("\n")
            self._line.append(first)
            for each in others:
                self._end_line()
                self._line.append(each)
        else:
            self._line.append(_SPACES.sub(" ", data))

    def _end_link(self, address: str, at: int) -> None:
        text = "".join(self._line[at:]).strip()
        if not text or not address or address.startswith(("#", "javascript:")) or at > len(self._line):
            return
        try:
            address = urljoin(self._base, address)
        except ValueError:
            return
        self._line[at:] = [f"[{text}]({address})"]

    def _end_line(self) -> None:
        line = "".join(self._line)
        line = line.rstrip() if self._pre else re.sub(" *\t *", "\t", re.sub(" {2,}", " ", line)).strip()
        self._line.clear()
        if line:
            self._lines.append(self._mark + line)
            self._mark = ""
