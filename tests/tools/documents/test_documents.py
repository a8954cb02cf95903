"""Documents become sections with headings and pages; a malicious document costs one error at most."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from hob.core.content.documents import Document, DocumentSection, DocumentUnreadable
from hob.tools.documents.documents import DocumentReader
from hob.tools.documents.media_types import CSV, DOCX, EPUB, HTML, MAIL, PDF, XLSX, document_kind
from tests.tools.documents import samples

_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def reader() -> AsyncIterator[DocumentReader]:
    """One for all: its process is started once, and again after a document that breaks it."""
    reader = DocumentReader(linger=60)
    yield reader
    await reader.close()


async def read(reader: DocumentReader, data: bytes, kind: str, **more: str) -> Document:
    return await reader.read(data, kind, **more)


async def test_kind_is_detected_by_content_and_for_texts_by_name() -> None:
    assert document_kind(samples.pdf("x")) == PDF
    assert document_kind(samples.xlsx()) == XLSX
    assert document_kind(samples.epub()) == EPUB
    assert document_kind(b"<!DOCTYPE html><p>x", "a.html") == HTML
    assert document_kind(b"\n<!-- note -->\n<HTML lang=de>", "a.HTM") == HTML
    assert document_kind(b"<div>{{ part }}</div>", "a.html") == ""
    assert document_kind(b"<!DOCTYPE html><p>x", "a.txt") == ""
    assert document_kind(samples.MAIL, "a.eml") == MAIL
    assert document_kind(b"a,b\n", "a.csv") == CSV
    assert document_kind(b"\x89PNG\r\n\x1a\n", "a.csv") == ""


async def test_pdf_has_a_section_for_each_page(reader: DocumentReader) -> None:
    pytest.importorskip("pypdf")
    document = await read(reader, samples.pdf("Hello there", "Second page"), PDF)
    assert document.sections == (DocumentSection("Hello there", page=1), DocumentSection("Second page", page=2))
    assert document.text == "[page 1]\nHello there\n[page 2]\nSecond page"


async def test_pdf_without_text_is_reported_as_scanned(reader: DocumentReader) -> None:
    pytest.importorskip("pypdf")
    with pytest.raises(DocumentUnreadable, match="writes the text into a copy"):
        await read(reader, samples.pdf(""), PDF)


async def test_word_document_has_headings_by_style_and_tables_by_row(reader: DocumentReader) -> None:
    def paragraph(text: str, style: str = "") -> str:
        chosen = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
        return f"<w:p>{chosen}<w:r><w:t>{text}</w:t></w:r></w:p>"

    cells = "".join(f"<w:tc>{paragraph(text)}</w:tc>" for text in ("a", "b"))
    body = f"{paragraph('Anfang', 'berschrift1')}{paragraph('Text')}<w:tbl><w:tr>{cells}</w:tr></w:tbl>"
    styles = '<w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>'
    data = samples.zipped({
        "word/document.xml": f'<w:document xmlns:w="{_WORD}"><w:body>{body}</w:body></w:document>',
        "word/styles.xml": f'<w:styles xmlns:w="{_WORD}">{styles}</w:styles>',
    })  # fmt: skip
    assert (await read(reader, data, DOCX)).sections == (DocumentSection("Text\na\tb", "Anfang"),)


async def test_excel_has_a_section_for_each_sheet_with_dates_as_dates(reader: DocumentReader) -> None:
    document = await read(reader, samples.xlsx(), XLSX)
    row = "Müller\t12.5\t2023-03-15\t2023-03-15 12:00:00\t3\tTRUE"
    assert document.sections == (DocumentSection(f"Who\t\tWhen\n{row}", "Bills"), DocumentSection("", "Notes"))


async def test_book_is_read_in_the_order_of_its_spine(reader: DocumentReader) -> None:
    document = await read(reader, samples.epub(), EPUB)
    assert document.title == "The Whale"
    assert document.sections == (DocumentSection("Call me.", "First"), DocumentSection("It sank.", "Second"))


async def test_mail_shows_people_text_attachments_and_nested_messages(reader: DocumentReader) -> None:
    document = await read(reader, samples.MAIL, MAIL)
    first, second = document.sections
    assert document.title == first.heading == "The bill"
    assert first.text == (
        "From: Anna Müller <anna@example.org>\nTo: me@example.org\nDate: Mon, 02 Nov 2026 10:00:00 +0100\n"
        "Attachment: bill.pdf (application/pdf)\n\nPlease pay."
    )
    assert second == DocumentSection("From: x@example.org\n\nOlder words.", "Before")


PAGE = (
    "<!doctype html><html><head><title>A &amp; B</title><style>p{}</style></head><body>"
    "<nav><a href=/home>Home</a></nav><article><h1>Whales</h1><p>"
    + "They are large animals that live in the sea. "
    * 8
    + '</p><h2>Food</h2><p>They eat <a href="/krill">krill</a>, small fish and squid, every single day of the year.</p>'
    "<ul><li>one</li><li>two</li></ul><script>steal()</script></article></body></html>"
)


async def test_page_is_read_in_sections_without_navigation(reader: DocumentReader) -> None:
    pytest.importorskip("trafilatura")
    document = await read(reader, PAGE.encode(), HTML, base="https://example.org/a/b")
    assert document.title == "A & B"
    whales, food = document.sections
    assert (whales.heading, food.heading) == ("Whales", "Food")
    assert "[krill](https://example.org/krill)" in food.text
    assert "- one\n- two" in food.text
    assert "steal" not in document.text
    assert "Home" not in document.text


async def test_short_page_keeps_headings_and_loses_menu_and_hidden_text(reader: DocumentReader) -> None:
    pytest.importorskip("trafilatura")
    page = (
        b"<!doctype html><html><head><title>T</title></head><body><nav><a href=/home>Home</a></nav><h1>Head</h1>"
        b"<p style='color: red; display: none'>obey</p><div hidden>me</div><p>Short text.</p></body></html>"
    )
    (section,) = (await read(reader, page, HTML)).sections
    assert section == DocumentSection("Short text.", "Head")


async def test_page_is_read_whole_without_the_library() -> None:
    from hob.tools.documents.formats.html import plain_text

    text = plain_text(PAGE, "https://example.org/")
    assert text.startswith("[Home](https://example.org/home)\n# Whales\nThey are large")
    assert text.endswith("every single day of the year.\n- one\n- two")
    assert plain_text("<pre>a\n  b</pre><td>d</td> <td>e</td>") == "a\n  b\nd\te"


@pytest.mark.parametrize(
    ("data", "charset", "expected"),
    [
        ("<p>Grüße".encode("latin-1"), "iso-8859-1", "Grüße"),
        ("<meta charset='windows-1252'><p>Grüße €".encode("cp1252"), "", "Grüße €"),
        ("<p>Grüße".encode(), "zip", "Grüße"),
        ("<p>Grüße".encode("utf-16"), "", "Grüße"),
    ],
)
async def test_page_is_decoded_by_its_charset(reader: DocumentReader, data: bytes, charset: str, expected: str) -> None:
    assert (await read(reader, data, HTML, charset=charset)).text == expected


async def test_broken_document_fails_and_the_next_is_read(reader: DocumentReader) -> None:
    bomb = samples.zipped({"word/document.xml": "<a>" + " " * (60 << 20) + "</a>"})
    with pytest.raises(DocumentUnreadable, match="too large when unpacked"):
        await read(reader, bomb, DOCX)
    with pytest.raises(DocumentUnreadable, match="this EPUB document cannot be read"):
        await read(reader, samples.zipped({"mimetype": "application/epub+zip"}), EPUB)
    assert (await read(reader, b"a,b\n", CSV)).text == "a,b\n"


async def test_one_process_serves_concurrent_reads(reader: DocumentReader) -> None:
    found = await asyncio.gather(*(read(reader, f"{n},x".encode(), CSV) for n in range(8)))
    assert [each.text for each in found] == [f"{n},x" for n in range(8)]


async def test_reader_survives_a_killed_process(reader: DocumentReader) -> None:
    await read(reader, b"a", CSV)
    process = reader._process
    assert process is not None
    process.kill()
    await process.wait()
    assert (await read(reader, b"b", CSV)).text == "b"


async def test_very_long_text_is_truncated_with_a_note(reader: DocumentReader) -> None:
    document = await read(reader, b"x" * 6_000_000, CSV)
    assert document.cut
    assert len(document.text) == 5_000_000
