"""Ways to write a secret that no list of forms can hold, since anything may stand between its signs.

Line ends (`base64`, `xxd -p` and `fold` wrap what they write), colours and characters without width, an escape for each
sign. Each is looked for only where the text shows a trace of it. What `xxd`, `od` and `hexdump` write is in `dumps`.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator

from hob.guard.screening.masking.dumps import dumped, shows_dump

Span = tuple[int, int]
Piece = tuple[int, int, str]
"""From where to where in a text something stands, and what it means."""
Find = Callable[[str], list[Span]]

_SOLID = 12  # signs without a blank, at the end of a line or the beginning of the next: it may be one word
_MARGIN = re.compile(r"\s*(?:\d+[:|\t] ?|> ?)?\s*")  # also the number of a line, or that it is quoted
_MARGINAL = frozenset(" \t>0123456789")
_UNICODE = 0x110000
_TRAILING = " \t\r\\"  # a backslash: of a line end in JSON in JSON
# colours and the like (ECMA-48, 5.4), and what takes no room
_HIDDEN = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|[\0\xad\u034f\u200b-\u200f\u2060-\u2064\ufe00-\ufe0f\ufeff]")
_WIDTHLESS = "\xad\u034f\u200b\u200c\u200d\u200e\u200f\u2060\u2061\u2062\u2063\u2064\ufe0e\ufe0f\ufeff"
_ESCAPES = tuple(  # each begins with what is looked for fast
    (sign, re.compile(pattern), base)
    for sign, pattern, base in (
        ("%", r"%([0-9A-Fa-f]{2})", 16),
        ("&", r"&#[xX]0*([0-9A-Fa-f]{1,6});", 16),
        ("&", r"&#0*(\d{1,7});", 10),
        ("\\", r"\\x([0-9A-Fa-f]{2})", 16),
        ("\\", r"\\u\{?0*([0-9A-Fa-f]{2})\}?", 16),
        ("0x", r"0x([0-9A-Fa-f]{2})\b(?:,\s*)?", 16),
    )
)


def unfolded(text: str, find: Find) -> Iterator[Span]:
    """Where secrets stand once the text is read so; `find` tells where they stand in a text as it is."""
    if "\0" in text or "\x1b" in text or (not text.isascii() and any(sign in text for sign in _WIDTHLESS)):
        yield from _found(text, ((each.start(), each.end(), "") for each in _HIDDEN.finditer(text)), find)
    for sign, pattern, base in _ESCAPES:
        if sign in text and pattern.search(text):
            yield from _found(text, _unescaped(text, pattern, base), find)
    for end in ("\n", "\\n"):  # the second in JSON
        if end in text:
            yield from _wrapped(text, end, find)
    if shows_dump(text):
        for pieces in dumped(text):
            yield from _found(text, pieces, find)


def _found(text: str, pieces: Iterable[Piece], find: Find) -> Iterator[Span]:
    """Secrets in the text with these pieces read, as spans of the text as it stands."""
    plain: list[str] = []
    begins: list[int] = []
    places: list[tuple[int, int, bool]] = []
    size = at = 0
    for start, end, said in (*pieces, (len(text), len(text), "")):
        for part, place in ((text[at:start], (at, start, True)), (said, (start, end, False))):
            if part:
                plain.append(part)
                begins.append(size)
                places.append(place)
                size += len(part)
        at = end

    def stands(sign: int) -> Span:
        which = bisect_right(begins, sign) - 1
        start, end, as_it_is = places[which]
        return (start + sign - begins[which], start + sign - begins[which] + 1) if as_it_is else (start, end)

    for first, after in find("".join(plain)):
        yield stands(first)[0], stands(after - 1)[1]


def _unescaped(text: str, pattern: re.Pattern[str], base: int) -> Iterator[Piece]:
    for each in pattern.finditer(text):
        code = int(each[1], base)
        yield each.start(), each.end(), chr(code) if code < _UNICODE else ""


def _wrapped(text: str, end: str, find: Find) -> Iterator[Span]:
    """Lines of which each may go on in the next: the one ends, or the other begins, with a long word."""
    lines = text.split(end)
    words: list[str] = []  # those that go on, each set apart from the next
    breaks: list[int] = []
    before, open_end, whole = "", False, False
    for at, line in enumerate(lines):
        if before and line and (open_end or " " not in line[:_SOLID]):
            body = line[_margin(line) :].rstrip(_TRAILING)
            if not whole:
                words += end, before.rstrip(_TRAILING).rpartition(" ")[2]
            words.append(body.partition(" ")[0])
            whole = " " not in body
            breaks.append(at)
        else:
            whole = False
        before, open_end = line, " " not in line[-_SOLID:]
    if breaks and find("".join(words)):
        yield from _found(text, _breaks(lines, breaks, len(end)), find)


def _breaks(lines: list[str], breaks: list[int], end: int) -> Iterator[Piece]:
    among, start = set(breaks), 0
    for at, line in enumerate(lines):
        if at in among:
            before = lines[at - 1]
            yield start - end - len(before) + len(before.rstrip(_TRAILING)), start + _margin(line), ""
        start += len(line) + end


def _margin(line: str) -> int:
    found = _MARGIN.match(line) if line[:1] in _MARGINAL else None
    return found.end() if found else 0
