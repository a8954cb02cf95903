"""Ways to write a secret that no list of forms can hold, since anything may stand between its signs.

Line ends (`base64`, `xxd -p` and `fold` wrap what they write), colours and characters without width, an escape for each
sign. Each is looked for only where the text shows a trace of it. What `xxd`, `od` and `hexdump` write is in `dumps`.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence

# Reading what `xxd`, `od` and `hexdump` write: lines of columns, each of them some bytes in hex, octal or as signs.

_XXD = re.compile(r"[0-9a-f]{8,16}: ((?:[0-9a-f]+ )+)", re.IGNORECASE)
_OTHERS = re.compile(r"(?:[0-9a-f]{6,16})?((?: {1,9}[0-9a-f]{2,16})+) *(?:$| [|>])", re.IGNORECASE)
_OFFSET = re.compile(r"[0-9a-f]{6,16}(?= )", re.IGNORECASE)
_CELL = 4
_OCTAL = frozenset("01234567")

Read = Callable[[str], str]


def shows_dump(text: str) -> bool:
    """Whether there may be one: its lines begin with where they are, or there are many blanks."""
    return "\n00" in text or text.startswith("00") or text.count(" ") * 4 > len(text)


def dumped(text: str) -> Iterator[Sequence[tuple[int, int, str]]]:
    """Each way to read the dump in a text: its lines, the line ends between them, and what they mean."""
    rows: list[tuple[int, str]] = []
    start = 0
    for line in text.split("\n"):
        if _may_be_row(line):
            rows.append((start, line.rstrip("\r")))
        start += len(line) + 1
    for read in (_big, _little, _octal, _signs) if rows else ():
        pieces: list[tuple[int, int, str]] = []
        for at, row in rows:
            if said := read(row):
                if pieces and text[pieces[-1][1] : at] in ("\n", "\r\n"):
                    pieces.append((pieces[-1][1], at, ""))
                pieces.append((at, at + len(row), said))
        if pieces:
            yield pieces


def _may_be_row(line: str) -> bool:
    if line[:1] == " ":  # without the place
        return line[1:2] not in ("", " ") or line[3:4] not in ("", " ")
    return line[:6].isalnum() and _OFFSET.match(line.replace(":", " ", 1)) is not None


def _columns(row: str) -> list[str]:
    found = _XXD.match(row) or _OTHERS.match(row)
    return found[1].split() if found else []


def _big(row: str) -> str:
    columns = _columns(row)
    return _bytes("".join(columns)) if len({len(each) for each in columns[:-1]}) < 2 else ""


def _little(row: str) -> str:
    return "".join(_bytes(each)[::-1] for each in _columns(row))


def _octal(row: str) -> str:
    columns = _columns(row)
    if not columns or not all(len(each) in (3, 6) and _OCTAL.issuperset(each) for each in columns):
        return ""
    values = ((int(each, 8), 1 if len(each) == 3 else 2) for each in columns)
    return _text(b"".join((value & 0xFFFF).to_bytes(2, "little")[:size] for value, size in values))


def _signs(row: str) -> str:
    """`od -c`: a sign or an escape at the right end of each four."""
    offset = _OFFSET.match(row)
    cells = row[offset.end() :] if offset else row
    if cells[::_CELL].strip():
        return ""
    return "".join(
        cells[at + 3 : at + 4] if not cells[at : at + 3].strip() else "\n" for at in range(0, len(cells), _CELL)
    )


def _bytes(digits: str) -> str:
    return _text(bytes.fromhex(digits)) if len(digits) % 2 == 0 else ""


def _text(data: bytes) -> str:
    return data.replace(b"\0", b"").decode("latin-1")  # without zeros UTF-16 reads as ASCII does


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
