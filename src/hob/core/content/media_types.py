"""Media types detected from the first bytes of a file; names and senders may be wrong.

Sources of the signatures: https://www.iana.org/assignments/media-types and
https://www.garykessler.net/library/file_sigs.html.
"""

import re
from fnmatch import fnmatchcase

UNKNOWN = "application/octet-stream"
HEAD_BYTES = 4096
"""Number of bytes needed for detection."""

_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"BM", "image/bmp"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
    (b"%PDF-", "application/pdf"),
    (b"{\\rtf", "application/rtf"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage"),
    (b"PK\x03\x04", "application/zip"),
    (b"PK\x05\x06", "application/zip"),
    (b"\x1f\x8b", "application/gzip"),
    (b"BZh", "application/x-bzip2"),
    (b"\xfd7zXZ\x00", "application/x-xz"),
    (b"\x28\xb5\x2f\xfd", "application/zstd"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (b"Rar!\x1a\x07", "application/vnd.rar"),
    (b"SQLite format 3\x00", "application/vnd.sqlite3"),
    (b"OggS", "audio/ogg"),
    (b"ID3", "audio/mpeg"),
    (b"\xff\xfb", "audio/mpeg"),
    (b"\xff\xf3", "audio/mpeg"),
    (b"\xff\xf1", "audio/aac"),
    (b"\xff\xf9", "audio/aac"),
    (b"#!AMR", "audio/amr"),
    (b"fLaC", "audio/flac"),
    (b"\x1aE\xdf\xa3", "video/webm"),
    (b"\x7fELF", "application/x-executable"),
    (b"MZ", "application/x-executable"),
    (b"\xca\xfe\xba\xbe", "application/x-executable"),  # Mach-O for several machines, and Java classes
    (b"\xfe\xed\xfa", "application/x-executable"),
    (b"\xce\xfa\xed\xfe", "application/x-executable"),
    (b"\xcf\xfa\xed\xfe", "application/x-executable"),
    (b"\x00asm", "application/x-executable"),
    (b"dex\n", "application/x-executable"),
    (b"L\x00\x00\x00\x01\x14\x02\x00", "application/x-ms-shortcut"),
    (b"#!", "text/x-script"),
)
_RIFF = {b"WEBP": "image/webp", b"WAVE": "audio/wav", b"AVI ": "video/x-msvideo"}
_BRANDS = {
    b"heic": "image/heic",
    b"heix": "image/heic",
    b"mif1": "image/heif",
    b"msf1": "image/heif",
    b"avif": "image/avif",
    b"M4A ": "audio/mp4",
    b"qt  ": "video/quicktime",
}
_SOUND, _PICTURES = re.compile(rb"A_(?:OPUS|VORBIS|AAC|PCM|FLAC)"), re.compile(rb"V_(?:VP|AV1|MPEG|MS|THEORA)")
"""Matroska codecs, which distinguish a voice note recorded in a browser from a video."""
_ZIP_MEMBERS = (
    (b"word/", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    (b"xl/", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    (b"ppt/", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
    (b"META-INF/", "application/java-archive"),
    (b"AndroidManifest.xml", "application/vnd.android.package-archive"),
)
_MARKUP = (
    (b"<svg", "image/svg+xml"),
    (b"<!doctype html", "text/html"),
    (b"<html", "text/html"),
    (b"<script", "text/html"),
    (b"<?xml", "application/xml"),
)


def detect_media_type(head: bytes) -> str:
    """Return the media type of a file that begins with these bytes, or `UNKNOWN`. Pass at least `HEAD_BYTES` bytes."""
    if head[:4] == b"RIFF":
        return _RIFF.get(head[8:12], UNKNOWN)
    if head[4:8] == b"ftyp":
        kind = _BRANDS.get(head[8:12], "video/mp4")
        return "audio/mp4" if kind == "video/mp4" and b"soun" in head and b"vide" not in head else kind
    found = next((kind for beginning, kind in _SIGNATURES if head.startswith(beginning)), "")
    if found == "application/zip":
        return _detect_archive(head)
    if found == "video/webm" and _SOUND.search(head) and not _PICTURES.search(head):
        return "audio/webm"
    return found or _detect_text(head)


def matches_media_type(media_type: str, patterns: tuple[str, ...]) -> bool:
    """Whether the type matches one of the patterns (`image/*`, `application/pdf`)."""
    kind = media_type.partition(";")[0].strip().lower()
    return any(fnmatchcase(kind, pattern) for pattern in patterns)


def _detect_archive(head: bytes) -> str:
    """Detect ODF and EPUB by their uncompressed first member, other formats by the name of a member."""
    if head[30:38] == b"mimetype":
        size = int.from_bytes(head[22:26], "little")
        extra = int.from_bytes(head[28:30], "little")
        named = head[38 + extra : 38 + extra + size]
        if 0 < size < 100 and len(named) == size and named.isascii() and b"/" in named:
            return named.decode()
    return next((kind for name, kind in _ZIP_MEMBERS if name in head), "application/zip")


def _detect_text(head: bytes) -> str:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "text/plain"
    if b"\x00" in head or not _is_utf8(head):
        return UNKNOWN
    begun = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1024].lower()
    for mark, kind in _MARKUP:
        if begun.startswith(mark):
            inner = b"<svg" in begun if kind == "application/xml" else False
            return "image/svg+xml" if inner else kind
    return "text/plain"


def _is_utf8(head: bytes) -> bool:
    try:
        head.decode()
    except UnicodeDecodeError as error:  # the last character may be cut
        return error.start >= len(head) - 3 and len(head) >= HEAD_BYTES
    return True
