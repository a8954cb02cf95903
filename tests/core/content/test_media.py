"""What files are, by their bytes, whatever they are called."""

import io
import zipfile

import pytest

from hob.core.content.media_types import UNKNOWN, detect_media_type, matches_media_type


def archive(*names: str, first: str = "") -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as file:
        if first:
            file.writestr(zipfile.ZipInfo("mimetype"), first)
        for name in names:
            file.writestr(name, "x")
    return made.getvalue()


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n" + bytes(20), "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"RIFF\x00\x00\x00\x00WEBPVP8 ", "image/webp"),
        (b"RIFF\x00\x00\x00\x00WAVEfmt ", "audio/wav"),
        (b"\x00\x00\x00\x18ftypheic", "image/heic"),
        (b"\x00\x00\x00\x18ftypmsf1", "image/heif"),
        (b"\x00\x00\x00\x18ftypisom", "video/mp4"),
        (b"\x00\x00\x00\x18ftypiso5" + bytes(40) + b"hdlr" + bytes(8) + b"soun", "audio/mp4"),
        (b"\x1aE\xdf\xa3\x01\x42\x82\x84webm" + bytes(40) + b"\x86\x86A_OPUS", "audio/webm"),
        (b"\x1aE\xdf\xa3\x01\x42\x82\x84webm" + bytes(40) + b"\x86\x85V_VP9\x86\x86A_OPUS", "video/webm"),
        (b"%PDF-1.7", "application/pdf"),
        (b"OggS\x00\x02", "audio/ogg"),
        (b"\x7fELF\x02\x01", "application/x-executable"),
        (b"MZ\x90\x00", "application/x-executable"),
        (b"#!/bin/sh\nrm x", "text/x-script"),
        (archive("word/document.xml"), "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
        (archive("a.txt"), "application/zip"),
        (archive("META-INF/MANIFEST.MF"), "application/java-archive"),
        (archive("x", first="application/vnd.oasis.opendocument.text"), "application/vnd.oasis.opendocument.text"),
        (archive("x", first="application/epub+zip"), "application/epub+zip"),
        (b"<?xml version='1.0'?><svg onload='x()'/>", "image/svg+xml"),
        (b"\xef\xbb\xbf <!DOCTYPE HTML><p>", "text/html"),
        ("Grüße".encode(), "text/plain"),
        (b"\xff\xfeG\x00", "text/plain"),
        (b"\x00\x01\x02", UNKNOWN),
        (b"\xe9\xe8\xff", UNKNOWN),
        (b"", "text/plain"),
    ],
)
def test_media_type_is_detected_from_the_bytes(head: bytes, kind: str) -> None:
    assert detect_media_type(head) == kind


def test_text_cut_within_a_character_is_still_text() -> None:
    assert detect_media_type(("x" * 4095 + "ü").encode()[:4096]) == "text/plain"


@pytest.mark.parametrize(("kind", "taken"), [("image/png", True), ("IMAGE/PNG; x=y", True), ("text/x-script", False)])
def test_media_type_matches_a_pattern_ignoring_parameters(kind: str, taken: bool) -> None:
    assert matches_media_type(kind, ("image/*", "text/plain")) is taken
