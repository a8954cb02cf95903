"""Word, Excel and OpenDocument."""

import posixpath
import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from xml.etree import ElementTree as ET

from hob.core.content.documents import DocumentSection
from hob.tools.documents.formats.archive import Archive
from hob.tools.documents.formats.sections import by_heading

_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_SHEET = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_RELATED = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_OPEN = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_HEADING = re.compile(r"heading|title", re.IGNORECASE)
_DATES = frozenset({*range(14, 23), *range(45, 48)})  # ECMA-376, part 1, 18.8.30: number formats that show dates
_DATE_FORM = re.compile(r"(?:\[[^\]]*\]|\"[^\"]*\"|\\.)|([dymhs])", re.IGNORECASE)
_MAX_ROWS = 100_000


def docx(data: bytes) -> Iterator[DocumentSection]:
    """Read docx (ECMA-376, part 1, section 17): paragraphs of runs with text, tabs and breaks; tables by row."""
    archive = Archive(data)
    body = archive.xml("word/document.xml")
    return by_heading(_word_blocks(body, _word_headings(archive)))


def _word_headings(archive: Archive) -> frozenset[str]:
    """Return the ids of heading styles. Ids are localised, unlike style names."""
    if "word/styles.xml" not in archive.names():
        return frozenset()
    found = set()
    for style in archive.xml("word/styles.xml").iter(f"{_WORD}style"):
        name = style.find(f"{_WORD}name")
        if name is not None and _HEADING.match(name.get(f"{_WORD}val", "")):
            found.add(style.get(f"{_WORD}styleId", ""))
    return frozenset(found)


def _word_blocks(parent: ET.Element, headings: frozenset[str]) -> Iterator[tuple[bool, str]]:
    for block in parent:
        if block.tag == f"{_WORD}p":
            style = block.find(f"{_WORD}pPr/{_WORD}pStyle")
            name = style.get(f"{_WORD}val", "") if style is not None else ""
            text = _word_text(block)
            yield bool(text.strip()) and (name in headings or bool(_HEADING.match(name))), text
        elif block.tag == f"{_WORD}tbl":
            for row in block.iter(f"{_WORD}tr"):
                cells = (" ".join(map(_word_text, cell.iter(f"{_WORD}p"))) for cell in row.findall(f"{_WORD}tc"))
                yield False, "\t".join(cells)
        else:
            yield from _word_blocks(block, headings)


def _word_text(paragraph: ET.Element) -> str:
    parts = []
    for piece in paragraph.iter():
        if piece.tag == f"{_WORD}t":
            parts.append(piece.text or "")
        elif piece.tag in (f"{_WORD}tab", f"{_WORD}br"):
            parts.append("\t" if piece.tag.endswith("tab") else "\n")
    return "".join(parts)


def odt(data: bytes) -> Iterator[DocumentSection]:
    """Read odt (OpenDocument 1.3, part 3, section 5): headings and paragraphs."""
    content = Archive(data).xml("content.xml")
    blocks = (block for block in content.iter() if block.tag in (f"{_OPEN}p", f"{_OPEN}h"))
    return by_heading((block.tag == f"{_OPEN}h", "".join(_odt_text(block))) for block in blocks)


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


def xlsx(data: bytes) -> Iterator[DocumentSection]:
    """Read xlsx (ECMA-376, part 1, section 18): a section per sheet, cells separated by tabs."""
    archive = Archive(data)
    names = archive.names()
    shared = _shared(archive) if "xl/sharedStrings.xml" in names else []
    dates = _date_styles(archive) if "xl/styles.xml" in names else frozenset[int]()
    book = archive.xml("xl/workbook.xml")
    properties = book.find(f"{_SHEET}workbookPr")
    since_1904 = properties is not None and properties.get("date1904") in ("1", "true")
    related = {each.get("Id"): each.get("Target", "") for each in archive.xml("xl/_rels/workbook.xml.rels")}
    for sheet in book.iter(f"{_SHEET}sheet"):
        target = related.get(sheet.get(f"{_RELATED}id"), "")
        path = target.lstrip("/") if target.startswith("/") else posixpath.normpath(f"xl/{target}")
        if path in names:
            rows = _rows(archive.xml(path), shared, dates, since_1904=since_1904)
            yield DocumentSection("\n".join(rows), sheet.get("name", ""))


def _shared(archive: Archive) -> list[str]:
    items = archive.xml("xl/sharedStrings.xml").iter(f"{_SHEET}si")
    return ["".join(text.text or "" for text in item.iter(f"{_SHEET}t")) for item in items]


def _date_styles(archive: Archive) -> frozenset[int]:
    """Return the indexes of cell styles that show numbers as dates."""
    styles = archive.xml("xl/styles.xml")
    forms = {each.get("numFmtId", ""): each.get("formatCode", "") for each in styles.iter(f"{_SHEET}numFmt")}
    own = {int(id_) for id_, form in forms.items() if id_.isdigit() and any(_DATE_FORM.findall(form))}
    cells = styles.find(f"{_SHEET}cellXfs")
    used = [int(each.get("numFmtId", "0")) for each in cells] if cells is not None else []
    return frozenset(n for n, id_ in enumerate(used) if id_ in _DATES or id_ in own)


def _rows(sheet: ET.Element, shared: Sequence[str], dates: frozenset[int], *, since_1904: bool) -> Iterator[str]:
    for n, row in enumerate(sheet.iter(f"{_SHEET}row")):
        if n >= _MAX_ROWS:
            return
        cells: dict[int, str] = {}
        for cell in row.iter(f"{_SHEET}c"):
            column = _column(cell.get("r", "")) or len(cells) + 1
            cells[min(column, 16_384)] = _cell(cell, shared, dates, since_1904=since_1904)
        filled = [column for column, text in cells.items() if text]
        if filled:
            yield "\t".join(cells.get(column, "") for column in range(1, max(filled) + 1))


def _column(reference: str) -> int:
    number = 0
    for char in reference:
        if not ("A" <= char <= "Z"):
            break
        number = number * 26 + ord(char) - 64
    return number


def _cell(cell: ET.Element, shared: Sequence[str], dates: frozenset[int], *, since_1904: bool) -> str:
    kind = cell.get("t", "n")
    if kind == "inlineStr":
        return _one_line("".join(text.text or "" for text in cell.iter(f"{_SHEET}t")))
    value = cell.findtext(f"{_SHEET}v", "")
    if kind == "s":
        return _one_line(shared[int(value)]) if value.isdigit() and int(value) < len(shared) else ""
    if kind == "b":
        return {"1": "TRUE", "0": "FALSE"}.get(value, value)
    if kind == "n" and value and int(cell.get("s", "0")) in dates:
        return _date(value, since_1904=since_1904)
    return _one_line(value)


def _date(value: str, *, since_1904: bool) -> str:
    start = datetime(1904, 1, 1) if since_1904 else datetime(1899, 12, 30)  # noqa: DTZ001
    try:
        at = start + timedelta(days=float(value))
    except (ValueError, OverflowError):
        return value
    at = (at + timedelta(milliseconds=500)).replace(microsecond=0)
    return at.isoformat(" ") if at.hour or at.minute or at.second else at.date().isoformat()


def _one_line(text: str) -> str:
    return " ".join(text.split()) if "\n" in text or "\t" in text else text
