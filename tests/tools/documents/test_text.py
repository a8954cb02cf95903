"""Text is decoded, and encoded back byte for byte."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hob.core.errors import ToolFailed
from hob.tools.documents.media_types import DOCX, ODT, kind_of, picture_size
from hob.tools.documents.text import DecodedText, decode, encode, lines_of


@pytest.mark.parametrize(
    ("data", "encoding", "text"),
    [
        (b"", "utf-8", ""),
        ("Grüße\n".encode(), "utf-8", "Grüße\n"),
        ("Grüße".encode("utf-8-sig"), "utf-8", "Grüße"),
        ("Grüße".encode("utf-16"), "utf-16-le", "Grüße"),
        (b"\xfe\xff" + "Grüße".encode("utf-16-be"), "utf-16-be", "Grüße"),
        ("Grüße, lang genug".encode("utf-16-le"), "utf-16-le", "Grüße, lang genug"),
        ("Grüße".encode("utf-32"), "utf-32-le", "Grüße"),
        ("Grüße".encode("latin-1"), "cp1252", "Grüße"),
        ("„Grüße“".encode("cp1252"), "cp1252", "„Grüße“"),
        (b"one \x81 byte", "latin-1", "one \x81 byte"),
        ("äöü".encode() + b"\xff", "utf-8", "äöü\udcff"),
        (b"\x1b[31mred\x1b[0m", "utf-8", "\x1b[31mred\x1b[0m"),
    ],
)
def test_encoding_is_found(data: bytes, encoding: str, text: str) -> None:
    found = decode(data)
    assert found is not None
    assert (found.encoding, found.text) == (encoding, text)


@pytest.mark.parametrize(
    "data", [b"\0", b"ab\0cd", bytes(range(256)), b"\x7fELF\x02\x01\x01\0", b"\x80\x01\x02\x03" * 9]
)
def test_binary_data_is_not_text(data: bytes) -> None:
    assert decode(data) is None


@given(st.binary() | st.text().map(str.encode) | st.text().map(lambda text: text.encode("utf-16", "surrogatepass")))
def test_text_is_written_back_byte_for_byte(data: bytes) -> None:
    found = decode(data)
    if found is not None:
        assert encode(found.text, found) == (data, "")


@given(st.text(st.sampled_from("a\r\nß\u2028")))
def test_plain_line_ends_are_converted_to_the_files_own(text: str) -> None:
    stored = DecodedText(text)
    assert stored.with_newlines(stored.plain) == text or (stored.newline == "\r" and "\n" not in text)
    assert "".join(lines_of(text)) == text


def test_unchanged_lines_keep_their_ends_in_a_mixed_file() -> None:
    assert DecodedText("a\r\nb\nc\r\n").with_newlines("a\nb\nx\nc\n") == "a\r\nb\nx\r\nc\r\n"


def test_most_frequent_line_end_is_used() -> None:
    assert DecodedText("a\r\nb\r\nc\n").newline == "\r\n"
    assert DecodedText("a\rb").newline == "\r"
    assert DecodedText("a\rb\n").newline == "\n"
    assert DecodedText("a\r\nb").with_newlines("x\ny\n") == "x\r\ny\r\n"


def test_unencodable_character_switches_to_utf_8_with_a_remark() -> None:
    like = decode("Grüße".encode("latin-1"))
    assert like is not None
    assert encode("Grüße →", like) == ("Grüße →".encode(), "it is UTF-8 now: cp1252 has not all these characters")
    with pytest.raises(ToolFailed, match="half a character"):
        encode("\ud83d", DecodedText(""))


def test_media_types_are_detected_by_magic_bytes() -> None:
    png = b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + (640).to_bytes(4, "big") + (480).to_bytes(4, "big")
    assert (kind_of(png), picture_size(png, "image/png")) == ("image/png", (640, 480))
    gif = b"GIF89a" + b"\x10\x00\x20\x00"
    assert picture_size(gif, kind_of(gif)) == (16, 32)
    jpeg = b"\xff\xd8\xff\xe0\x00\x04ab\xff\xc0\x00\x11\x08" + b"\x01\x00\x02\x00" + b"\0" * 9
    assert picture_size(jpeg, kind_of(jpeg)) == (512, 256)
    webp = b"RIFF\0\0\0\0WEBPVP8X" + b"\0" * 8 + b"\x0f\0\0\x1f\0\0"
    assert picture_size(webp, kind_of(webp)) == (16, 32)
    assert picture_size(b"\x89PNG\r\n\x1a\n", "image/png") is None
    assert kind_of(b"PK\x03\x04" + b"\0" * 26 + b"mimetype" + ODT.encode()) == ODT
    assert kind_of(b"PK\x03\x04 ... word/document.xml") == DOCX
    assert kind_of(b"plain") == ""


@given(st.binary(), st.sampled_from([b"\xff\xd8\xff", b"RIFF\0\0\0\0WEBPVP8 ", b"GIF89a", b"\x89PNG\r\n\x1a\n"]))
def test_arbitrary_headers_do_not_crash_detection(data: bytes, beginning: bytes) -> None:
    picture_size(beginning + data, kind_of(beginning + data))
