"""Texts inside of texts: what decodes to something readable is read too."""

import base64
import binascii
import codecs
import html
import re
from collections.abc import Iterator
from urllib.parse import unquote_to_bytes

_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{20,1500}+={0,2}+")  # longer ones come in pieces; all their borders fit
_FOLDED = re.compile(r"\n(?<=[A-Za-z0-9+/]{16}\n)(?=[A-Za-z0-9+/=]{2})")
_HEX = re.compile(r"(?<![0-9A-Za-z])(?:(?:0x|\\x)?[0-9A-Fa-f]{2}[ :,]?+){12,150}")
_NOT_HEX = re.compile(r"0x|\\x|[^0-9A-Fa-f]")
_PERCENT = re.compile(r"%[0-9A-Fa-f]{2}")
_ESCAPES = re.compile(r"(?:\\(?:u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2})){4,60}")
_ENTITY = re.compile(r"&#(?:x[0-9A-Fa-f]{1,6}|[0-9]{1,7});?+")
_FEW = 3  # encoded signs; addresses have one or two
_SHORTEST = 20  # characters of base64 that hold an order
# words of orders, turned by 13 letters, or read backwards
_TURNED = tuple(codecs.encode(word, "rot13") for word in ("ignore", "instruction", "previous", "password", "disregard"))
_BACKWARDS = tuple(word[::-1] for word in ("ignore", "instructions", "previous", "delete all", "password", "system"))
_TAGS = re.compile(r"[\U000e0020-\U000e007e]{2,1500}+")
_FLAG = "\U0001f3f4"  # with letters as tags behind it, it is the flag of a part of a country
_SELECTORS = re.compile(r"[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2,1500}+")


def decoded_texts(text: str) -> Iterator[str]:
    """Readable texts that are encoded in this one. Together about as long as the text, for each way of encoding."""
    for word in _FOLDED.sub("", text.replace("\r\n", "\n")).split():
        if len(word) >= _SHORTEST:
            for piece in _BASE64.finditer(word):
                yield from _readable(_from_base64(piece.group()))
    for row in _HEX.finditer(text):
        yield from _readable(_from_hex(_NOT_HEX.sub("", row.group())))
    if text.count("%") >= _FEW and len(_PERCENT.findall(text)) >= _FEW:
        yield unquote_to_bytes(text.encode("utf-8", "replace")).decode("utf-8", "replace").replace("+", " ")
    for row in _ESCAPES.finditer(text):
        yield _ESCAPED.sub(lambda match: chr(int(match[1] or match[2], 16)), row.group())
    if text.count("&#") >= _FEW:
        yield _ENTITY.sub(lambda match: html.unescape(match.group()), text)
    lowered = text.lower()
    if any(word in lowered for word in _TURNED):
        yield codecs.encode(text, "rot13")
    if any(word in lowered for word in _BACKWARDS):
        yield text[::-1]


_ESCAPED = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2}))")


def hidden_texts(text: str) -> Iterator[str]:
    """What stands in the text without being seen: letters written as tags, bytes as variation selectors."""
    if text.isascii():
        return
    for row in _TAGS.finditer(text):
        if len(row.group()) <= 6 and text[row.start() - 1 : row.start()] == _FLAG:
            continue
        yield "".join(chr(ord(sign) - 0xE0000) for sign in row.group())
    for row in _SELECTORS.finditer(text):
        data = bytes(_selected(ord(sign)) for sign in row.group())
        yield data.decode("utf-8", "replace")


def _selected(code: int) -> int:
    """Sixteen selectors stand for the first bytes, the others for the rest."""
    return code - 0xFE00 if code < 0xE0100 else (code - 0xE0100 + 16) & 0xFF


def _from_base64(word: str) -> bytes:
    body = word.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(body + "=" * (-len(body) % 4))
    except (binascii.Error, ValueError):  # one sign too many
        return b""


def _from_hex(digits: str) -> bytes:
    return bytes.fromhex(digits[: len(digits) // 2 * 2])


def _readable(data: bytes) -> Iterator[str]:
    if len(data) < 12 or b"\x00" in data:
        return
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return
    printable = sum(sign.isprintable() or sign in "\n\t\r" for sign in text)
    if printable >= 0.95 * len(text):
        yield text
