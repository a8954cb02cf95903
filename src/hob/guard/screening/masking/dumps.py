"""Reading what `xxd`, `od` and `hexdump` write: lines of columns, each of them some bytes in hex, octal or as signs."""

import re
from collections.abc import Callable, Iterator, Sequence

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
