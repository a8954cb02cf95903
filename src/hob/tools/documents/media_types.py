"""Media types by the first bytes of a file, because file names may be wrong."""

import re
import struct
from collections.abc import Iterator

_BEGINNINGS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", "application/pdf"),
    (b"\x1f\x8b", "application/gzip"),
    (b"BZh", "application/x-bzip2"),
    (b"\xfd7zXZ\x00", "application/x-xz"),
    (b"\x28\xb5\x2f\xfd", "application/zstd"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (b"\x7fELF", "application/x-elf"),
    (b"SQLite format 3\x00", "application/vnd.sqlite3"),
    (b"OggS", "audio/ogg"),
    (b"ID3", "audio/mpeg"),
    (b"fLaC", "audio/flac"),
    (b"\x1aE\xdf\xa3", "video/webm"),
)
_RIFF = {b"WEBP": "image/webp", b"WAVE": "audio/wav", b"AVI ": "video/x-msvideo"}
_BRANDS = {b"heic": "image/heic", b"heix": "image/heic", b"mif1": "image/heif", b"avif": "image/avif"}
_SEEN_BY_MODELS = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})

DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
ODT = "application/vnd.oasis.opendocument.text"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
EPUB = "application/epub+zip"
PDF = "application/pdf"
HTML = "text/html"
MAIL = "message/rfc822"
CSV = "text/csv"
DOCUMENTS = {
    PDF: "PDF", DOCX: "Word", ODT: "OpenDocument", XLSX: "Excel", EPUB: "EPUB", HTML: "HTML", MAIL: "mail", CSV: "CSV",
}  # fmt: skip
"""Media types of readable documents, with names in words for people."""

_PAGE = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:\s|<!--.{0,2000}?-->|<\?xml[^>]{0,200}>)*<(?:!doctype html|html)[\s>]", re.I | re.S
)
_HEADER = re.compile(rb"[!-9;-~]{1,60}:[ \t]?[^\r\n]*\r?\n")


def kind_of(data: bytes) -> str:
    """Return the media type; empty for text and unknown formats."""
    for beginning, kind in _BEGINNINGS:
        if data.startswith(beginning):
            return kind
    if data[:4] == b"RIFF":
        return _RIFF.get(data[8:12], "")
    if data[4:8] == b"ftyp":
        return _BRANDS.get(data[8:12], "video/mp4")
    if data.startswith(b"PK\x03\x04"):
        for kind in (ODT, EPUB):
            if data[30:].startswith(b"mimetype" + kind.encode()):  # stored uncompressed in the first member
                return kind
        if b"xl/workbook.xml" in data:
            return XLSX
        return DOCX if b"word/document.xml" in data else "application/zip"
    return ""


def document_kind(data: bytes, name: str = "") -> str:
    """Return the media type of a readable document; empty for others. For text formats the file name decides."""
    kind = kind_of(data)
    if kind:
        return kind if kind in DOCUMENTS else ""
    ending = name.lower().rpartition(".")[2]
    if ending in ("html", "htm", "xhtml") and _PAGE.match(data[:4_096]):
        return HTML
    if ending == "eml" and _HEADER.match(data):
        return MAIL
    return CSV if ending in ("csv", "tsv") else ""


def is_picture(kind: str) -> bool:
    """Return whether models accept this image type."""
    return kind in _SEEN_BY_MODELS


def picture_size(data: bytes, kind: str) -> tuple[int, int] | None:
    """Return an image's width and height in pixels from its header, or None."""
    try:
        match kind:
            case "image/png":
                return _pair(">II", data, 16)
            case "image/gif":
                return _pair("<HH", data, 6)
            case "image/webp":
                return _webp_size(data)
            case "image/jpeg":
                return next(_jpeg_sizes(data), None)
    except struct.error:
        pass
    return None


def _pair(form: str, data: bytes, at: int) -> tuple[int, int]:
    one, other = struct.unpack_from(form, data, at)
    return int(one), int(other)


def _webp_size(data: bytes) -> tuple[int, int] | None:
    """Read a WebP header (https://developers.google.com/speed/webp/docs/riff_container)."""
    match data[12:16]:
        case b"VP8X":
            return int.from_bytes(data[24:27], "little") + 1, int.from_bytes(data[27:30], "little") + 1
        case b"VP8L":
            bits = int.from_bytes(data[21:25], "little")
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8 ":
            width, height = _pair("<HH", data, 26)
            return width & 0x3FFF, height & 0x3FFF
    return None


def _jpeg_sizes(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield the sizes in JPEG frame headers (ITU T.81, B.2.2)."""
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = _pair(">HH", data, at + 5)
            yield width, height
        at += 2 + max(2, int.from_bytes(data[at + 2 : at + 4], "big"))
