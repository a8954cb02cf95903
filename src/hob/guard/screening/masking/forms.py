"""The forms in which a secret may turn up: as it is, and as programs write it down."""

import base64
import html
import json
from collections.abc import Iterator
from urllib.parse import quote, quote_plus

SHORTEST = 8
"""Shorter values are no secrets worth the name; masking them would spoil ordinary texts."""
_PROSE = 16
_LINE = 16
_FEWEST_SIGNS = 4
_PLACEHOLDERS = frozenset({"sk-no-key-required", "no-key-required", "your-api-key-here", "not-needed-for-local"})


def is_maskable(value: str) -> bool:
    """Whether it can be told from ordinary words: long enough, and no placeholder such as `lm-studio`."""
    value = value.strip()
    if len(value) < SHORTEST or len(set(value)) < _FEWEST_SIGNS or value.lower() in _PLACEHOLDERS:
        return False
    plain = value.replace("-", "").replace("_", "").replace(" ", "")
    return len(value) >= _PROSE or not (plain.isalpha() and (plain.islower() or plain.istitle()))


def forms_of(value: str) -> frozenset[str]:
    """The value, its lines, and what JSON, URLs, HTML, hex, base64 and base32 (in all positions) make of it."""
    found: set[str] = set()
    for text in {value, value.strip(), *_lines(value)}:
        found.update(_written(text))
        data = text.encode("utf-8", "surrogatepass")
        found.update((data.hex(), data.hex().upper(), data.hex(":"), data.hex(" ")))
        for core in _base64_cores(data):
            found.update((core, core.replace("+", "-").replace("/", "_")))
        found.update(_base32_cores(data))
    return frozenset(form for form in found if len(form) >= SHORTEST)


def _lines(value: str) -> Iterator[str]:
    """Of a key in a block each line is one too: it is shown with something before it, or alone."""
    lines = value.strip().splitlines()
    if len(lines) > 1:
        yield from (line.strip() for line in lines if len(line.strip()) >= _LINE and "-----" not in line)


def _written(text: str) -> Iterator[str]:
    yield text
    for ascii_only in (True, False):
        inner = json.dumps(text, ensure_ascii=ascii_only)[1:-1]
        yield inner
        yield json.dumps(inner, ensure_ascii=ascii_only)[1:-1]  # JSON in JSON, as in a call's arguments
        yield inner.replace("/", "\\/")
    yield html.escape(text)
    yield html.escape(text, quote=False)
    for coded in (_quoted(text, ""), _quoted(text, "/"), quote_plus(text, errors="replace")):
        yield coded
        yield _lower_escapes(coded)


def _quoted(text: str, safe: str) -> str:
    return quote(text, safe=safe, errors="replace")


def _lower_escapes(coded: str) -> str:
    head, *rest = coded.split("%")
    return head + "".join(f"%{part[:2].lower()}{part[2:]}" for part in rest)


def _base64_cores(data: bytes) -> Iterator[str]:
    """The signs that depend on the value alone, whatever stands before and after it (RFC 4648)."""
    for before in range(3):
        coded = base64.b64encode(bytes(before) + data).decode()
        first = -(-before * 8 // 6)
        yield coded[first : (before + len(data)) * 8 // 6]


def _base32_cores(data: bytes) -> Iterator[str]:
    for before in range(5):
        coded = base64.b32encode(bytes(before) + data).decode()
        yield coded[-(-before * 8 // 5) : (before + len(data)) * 8 // 5]
