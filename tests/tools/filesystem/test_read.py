"""The model reads files exactly, page by page, whatever their kind."""

import io
import json
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hob.core.clock import SystemClock
from hob.core.content.images import Image
from hob.core.errors import ToolFailed, ToolRefused
from hob.core.ids import BlobId, CallId
from hob.core.tools import ToolCall
from hob.core.trust.labels import Label, Origin, Trust
from hob.tools.filesystem.files import FileTools
from hob.tools.filesystem.read import PAGE
from tests.tools.calling import context, made, text_of
from tests.tools.keeping import FolderBlobs, roots_of

PNG = b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + (640).to_bytes(4, "big") + (480).to_bytes(4, "big")


async def read(files: FileTools, path: str, **arguments: Any) -> str:
    return await text_of(files.toolset, "read", path=path, **arguments)


async def test_lines_are_numbered(files: FileTools, ws: Path) -> None:
    (ws / "a.txt").write_text("one\n\nthree")
    assert await read(files, "a.txt") == "1\tone\n2\t\n3\tthree"


async def test_partial_page_says_where_to_continue(files: FileTools, ws: Path) -> None:
    (ws / "a.txt").write_text("".join(f"line {n}\n" for n in range(1, 101)))
    assert await read(files, "a.txt", offset=3, limit=2) == (
        "3\tline 3\n4\tline 4\n[lines 3-4 of 100; read on with offset=5]"
    )
    assert await read(files, "a.txt", offset=-2) == "99\tline 99\n100\tline 100\n[lines 99-100 of 100]"
    assert (await read(files, "a.txt", offset=-500, limit=1)).startswith("1\tline 1\n")
    with pytest.raises(ToolFailed, match="there are 100 lines; line 101 is beyond the last"):
        await read(files, "a.txt", offset=101)


async def test_pages_of_a_long_text_add_up_to_it(files: FileTools, ws: Path) -> None:
    lines = [f"{n} " + "x" * (n % 300) for n in range(1, 2_001)]
    (ws / "a.txt").write_text("\n".join(lines))
    shown: list[str] = []
    while len(shown) < len(lines):
        text = await read(files, "a.txt", offset=len(shown) + 1)
        assert len(text) <= PAGE + 200
        shown += [line.partition("\t")[2] for line in text.split("\n") if not line.startswith("[")]
    assert shown == lines


async def test_very_long_line_is_cut_and_can_be_continued(files: FileTools, ws: Path) -> None:
    text = "short\n" + "".join(chr(97 + n % 26) for n in range(50_000))
    (ws / "a.min.js").write_text(text)
    shown = await read(files, "a.min.js")
    assert shown.endswith("[… 48,000 more characters in this line; read at=2006]")
    on = await read(files, "a.min.js", at=2006)
    assert on.startswith(text[2006:2106])
    assert on.endswith(f"[characters 2,006-{2006 + PAGE:,} of 50,006; read on with at={2006 + PAGE}]")


async def test_unusual_encoding_and_line_ends_are_reported(files: FileTools, ws: Path) -> None:
    (ws / "a.txt").write_bytes("Grüße\r\nÄ\r\n".encode("cp1252"))
    (ws / "b.txt").write_bytes("Grüße\n".encode("utf-16"))
    assert await read(files, "a.txt") == "1\tGrüße\n2\tÄ\n[cp1252, CRLF line ends]"
    assert await read(files, "b.txt") == "1\tGrüße\n[utf-16-le, with a byte order mark]"
    (ws / "c.txt").write_bytes("äöü \xff".encode("latin-1") + "äöüß".encode() * 3)
    assert "�" in await read(files, "c.txt")


async def test_binary_file_is_reported(files: FileTools, ws: Path) -> None:
    (ws / "a.bin").write_bytes(b"\0\1\2")
    (ws / "empty").write_bytes(b"")
    assert await read(files, "a.bin") == "(no text: binary, 3 bytes that begin with 00 01 02)"
    assert await read(files, "empty") == "(empty)"


async def test_image_becomes_a_blob(files: FileTools, ws: Path, tmp_path: Path) -> None:
    (ws / "a.txt").write_bytes(PNG)
    shown = await made(files.toolset, "read", path="a.txt")
    text, blob = shown.text, BlobId(shown.text[shown.text.index("blob:") + 5 : -1])
    assert text.startswith("(a picture: image/png, 640 x 480 pixels, 24 bytes, blob:")
    assert await FolderBlobs(tmp_path / "blobs").load(blob) == PNG
    assert (shown.images, shown.label.trusted) == ((Image(blob, "image/png"),), False)
    assert (await made(files.toolset, "read", path=f"blob:{blob}")).images == shown.images


async def test_unsupported_image_is_only_described(files: FileTools, ws: Path) -> None:
    (ws / "large.png").write_bytes(PNG + bytes(5 << 20))
    shown = await made(files.toolset, "read", path="large.png")
    assert (shown.images, "too large to be shown" in shown.text) == ((), True)


async def test_blob_is_read_like_a_file(files: FileTools, tmp_path: Path) -> None:
    blob = await FolderBlobs(tmp_path / "blobs").put(b"one\ntwo\nthree\n", "text/plain")
    assert await read(files, f"blob:{blob}", offset=2, limit=1) == ("2\ttwo\n[lines 2-2 of 3; read on with offset=3]")
    with pytest.raises(ToolFailed, match="no blob nothing"):
        await read(files, "blob:nothing")


async def test_folder_is_listed(files: FileTools, ws: Path) -> None:
    (ws / "sub").mkdir()
    (ws / "a.txt").write_text("x")
    (ws / "link").symlink_to("sub")
    assert await read(files, ".") == "a.txt  1\nlink -> sub\nsub/"
    assert await read(files, "link") == "(empty)"


async def test_large_file_is_read_page_by_page_without_loading_it(files: FileTools, ws: Path) -> None:
    with (ws / "big.log").open("w") as file:
        for n in range(1, 1_000_001):
            file.write(f"entry {n}\n")
    size = (ws / "big.log").stat().st_size
    text = await read(files, "big.log", offset=700_000, limit=2)
    assert text == (
        f"700000\tentry 700000\n700001\tentry 700001\n"
        f"[lines 700,000-700,001 of a file of {size:,} bytes; read on with offset=700002]"
    )
    assert "1000000\tentry 1000000" in await read(files, "big.log", offset=-1)
    with pytest.raises(ToolFailed, match="ends before line"):
        await read(files, "big.log", offset=2_000_000)


async def test_notebook_shows_its_cells(files: FileTools, ws: Path) -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Title\n", "text"]},
        {"cell_type": "code", "source": "1+1", "outputs": [{"data": {"text/plain": "2", "image/png": "…"}}]},
    ]
    (ws / "a.ipynb").write_text(json.dumps({"cells": cells}))
    text = await read(files, "a.ipynb")
    assert "[cell 1, markdown]\n2\t# Title\n3\ttext" in text
    assert "[output of cell 2]\n9\t2\n10\t(image/png left out)" in text
    assert '"cell_type"' in await read(files, "a.ipynb", raw=True)


async def test_table_columns_are_listed(files: FileTools, ws: Path) -> None:
    (ws / "a.csv").write_text("name;age\nAnna;5\nBob;7\n")
    assert (await read(files, "a.csv")).endswith("[a table of 2 columns separated by ';': name, age]")


def zipped(**members: str) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            kept = zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED
            archive.writestr(name.replace("__", "/"), text, kept)
    return data.getvalue()


WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
ODF = "urn:oasis:names:tc:opendocument:xmlns:text:1.0"


async def test_word_document_is_read_as_text(files: FileTools, ws: Path) -> None:
    xml = (
        f'<w:document xmlns:w="{WORD}"><w:body><w:p><w:r><w:t>Dear</w:t></w:r><w:r><w:tab/><w:t>Anna</w:t></w:r></w:p>'
        "<w:p><w:r><w:t>Grüße</w:t></w:r></w:p></w:body></w:document>"
    )
    (ws / "a.docx").write_bytes(zipped(**{"word__document.xml": xml}))
    assert await read(files, "a.docx") == "1\tDear\tAnna\n2\tGrüße\n[the text of this Word document]"


async def test_open_document_is_read_as_text(files: FileTools, ws: Path) -> None:
    xml = f'<x xmlns:t="{ODF}"><t:h>Title</t:h><t:p>a<t:s t:c="2"/>b<t:span>c</t:span>d<t:line-break/>e</t:p></x>'
    data = zipped(mimetype="application/vnd.oasis.opendocument.text", **{"content.xml": xml})
    (ws / "a.odt").write_bytes(data)
    assert await read(files, "a.odt") == "1\t## Title\n2\ta  bcd\n3\te\n[the text of this OpenDocument document]"


async def test_oversized_or_broken_document_is_an_error(files: FileTools, ws: Path) -> None:
    (ws / "bomb.docx").write_bytes(zipped(**{"word__document.xml": "<a>" + " " * (60 << 20) + "</a>"}))
    with pytest.raises(ToolFailed, match="too large when unpacked"):
        await read(files, "bomb.docx")
    entities = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10 if n else "x" * 100}">' for n in range(12))
    xml = f"<!DOCTYPE x [{entities}]><x>&a11;</x>"
    (ws / "laughs.docx").write_bytes(zipped(**{"word__document.xml": xml}))
    with pytest.raises(ToolFailed, match="cannot be read"):
        await read(files, "laughs.docx")
    (ws / "broken.docx").write_bytes(b"PK\x03\x04 word/document.xml")
    with pytest.raises(ToolFailed, match="cannot be read: BadZipFile"):
        await read(files, "broken.docx")


async def test_pdf_without_its_library_says_what_to_install(files: FileTools, ws: Path) -> None:
    (ws / "a.pdf").write_bytes(b"%PDF-1.7\n")
    with pytest.raises(ToolFailed, match=r"pip install .*pypdf|cannot be read"):
        await read(files, "a.pdf")


async def test_files_are_untrusted_by_default(files: FileTools, ws: Path, tmp_path: Path) -> None:
    (ws / "a.txt").write_text("x")
    result = await made(files.toolset, "read", path="a.txt")
    assert result.label == Label(Origin.FILE, Trust.UNTRUSTED)
    mine = Label(Origin.IDENTITY, Trust.TRUSTED)
    asked: list[tuple[str, str]] = []

    def label_of(path: str, hash_: str) -> Label:
        asked.append((path, hash_))
        return mine

    knowing = FileTools(
        roots_of(tmp_path), FolderBlobs(tmp_path), files.undo._changes, SystemClock(), label_of=label_of
    )
    assert (await made(knowing.toolset, "read", path="a.txt")).label == mine
    assert asked == [(f"{ws}/a.txt", "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881")]


async def test_forbidden_or_missing_file_is_reported(files: FileTools, ws: Path) -> None:
    (ws / ".hob/secrets").write_text("x")
    with pytest.raises(ToolRefused):
        await read(files, ".hob/secrets")
    with pytest.raises(ToolFailed, match=r"There is no b\.txt"):
        await read(files, "b.txt")


async def test_page_fits_what_the_model_is_shown(files: FileTools, ws: Path) -> None:
    (ws / "a.txt").write_text("".join(f"line {n:05}\n" for n in range(1, 2_001)))
    call = ToolCall(CallId("c"), "read", '{"path": "a.txt"}')
    result = await files.toolset.call(call, replace(context(), maximum=6_000))
    assert 4_000 < len(result.text) <= 6_000
    assert "read on with offset=" in result.text
