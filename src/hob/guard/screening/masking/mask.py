"""Taking known secrets out of texts: exact, so nothing else is touched, and fast enough for every text there is.

A text that is there as a whole is also read as `unfolding` does; in one that comes in pieces only forms are found.
Every form of a secret is at least `gram + step - 1` characters long, so wherever one lies, one of the places that are
looked at (each `step`-th) falls into the last of them. A text without secrets costs one lookup per step, however
many secrets there are.
"""

import base64
import html
import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from urllib.parse import quote, quote_plus

# The forms in which a secret may turn up: as it is, and as programs write it down.

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


# Ways to write a secret that no list of forms can hold, since anything may stand between its signs.
#
# Line ends (`base64`, `xxd -p` and `fold` wrap what they write), colours and characters without width, an escape for
# each sign. Each is looked for only where the text shows a trace of it. What `xxd`, `od` and `hexdump` write is in
# `dumps`.

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


MASKED = "[secret removed]"
"""What stands in the place of a secret. It means the same in JSON, in URLs and to people."""
_LONGEST_GRAM = 8
_LONGEST_STEP = 16
_HEAD = 4
_REMEMBERED, _REMEMBERED_LENGTH = 200, 8_000
"""So many texts without a secret are known again, those that are longer by their SHA-256: a prompt is looked through
several times a turn, and a page that looks again is mostly told the same."""


class Mask:
    """Masks the secrets it was made of. Immutable; call it with a text, or `stream` for one that comes in pieces."""

    __slots__ = ("_clean", "_forms", "_gram", "_grams", "_heads", "_longest", "_step", "skipped")

    def __init__(self, secrets: Mapping[str, str]) -> None:
        """Of secrets by name. What cannot be told from ordinary words is left alone and named in `skipped`."""
        usable = {value for value in secrets.values() if is_maskable(value)}
        self.skipped = tuple(sorted(name for name, value in secrets.items() if value not in usable))
        forms = sorted({form for value in usable for form in forms_of(value)})
        shortest = min(map(len, forms), default=SHORTEST)
        self._gram = min(_LONGEST_GRAM, shortest // 2)
        self._step = min(_LONGEST_STEP, shortest - self._gram + 1)
        self._forms = forms
        self._longest = max(map(len, forms), default=0)
        self._heads = frozenset(form[:length] for form in forms for length in range(1, _HEAD + 1))
        grams: dict[str, list[tuple[int, str]]] = {}
        for form in forms:
            last = len(form) - self._gram  # a key's end is its own, its beginning its vendor's
            for offset in range(last - self._step + 1, last + 1):
                grams.setdefault(form[offset : offset + self._gram], []).append((offset, form))
        self._grams = grams
        self._clean: set[str | bytes] = set()

    def __bool__(self) -> bool:
        return bool(self._forms)

    def __call__(self, text: str) -> str:
        """The text with each secret masked; the same object if there is none."""
        if not self._forms:
            return text
        seen = text if len(text) <= _REMEMBERED_LENGTH else sha256(text.encode("utf-8", "surrogatepass")).digest()
        if seen in self._clean:
            return text
        spans = self.find(text)
        if further := list(unfolded(text, self.find)):
            spans = merge((*spans, *further))
        if spans:
            return _replaced(text, spans)
        if len(self._clean) >= _REMEMBERED:
            self._clean.clear()
        self._clean.add(seen)
        return text

    def find(self, text: str) -> list[Span]:
        """Where forms of secrets lie, in order; those that overlap are one."""
        size, grams = self._gram, self._grams
        if len(text) < size or not grams:
            return []
        hits = [at for at in range(0, len(text) - size + 1, self._step) if text[at : at + size] in grams]
        found = [
            (at - offset, at - offset + len(form))
            for at in hits
            for offset, form in grams[text[at : at + size]]
            if offset <= at and text.startswith(form, at - offset)
        ]
        return merge(found)

    def stream(self) -> "MaskStream":
        """For one text that comes in pieces."""
        return MaskStream(self)

    def open_at(self, text: str) -> int:
        """Where at the end of the text a secret may have begun that goes on; the text's length if none has."""
        for at in range(max(0, len(text) - self._longest + 1), len(text)):
            if text[at : at + _HEAD] in self._heads:
                rest = text[at:]
                after = bisect_right(self._forms, rest)
                if after < len(self._forms) and self._forms[after].startswith(rest):
                    return at
        return len(text)


class MaskStream:
    """Masks a text that comes in pieces. Only what may be the beginning of a secret is held back."""

    __slots__ = ("_held", "_mask", "_told")

    def __init__(self, mask: Mask) -> None:
        self._mask = mask
        self._held = ""
        self._told = 0
        """How much of what is held belongs to a secret that was masked already, and may begin another."""

    def feed(self, piece: str) -> str:
        """What can be shown now."""
        text = self._held + piece
        keep = self._mask.open_at(text)
        return self._show(text, keep)

    def finish(self) -> str:
        """What was held back and turned out to be none."""
        return self._show(self._held, len(self._held))

    def _show(self, text: str, keep: int) -> str:
        shown: list[str] = []
        at = 0
        told = max(0, self._told - keep)
        for start, end in merge([(0, self._told), *self._mask.find(text)] if self._told else self._mask.find(text)):
            if start >= keep:
                break
            if start or not self._told:
                shown += text[at:start], MASKED
            at, told = end, max(0, end - keep)
        if at < keep:
            shown.append(text[at:keep])
        self._held, self._told = text[keep:], told
        return "".join(shown)


def merge(found: Iterable[Span]) -> list[Span]:
    """The spans in order, those that overlap as one."""
    merged: list[Span] = []
    for start, end in sorted(found):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _replaced(text: str, spans: list[Span]) -> str:
    parts: list[str] = []
    at = 0
    for start, end in spans:
        parts += text[at:start], MASKED
        at = end
    return "".join((*parts, text[at:]))
