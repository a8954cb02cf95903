"""Masking of known secrets: exact, so that nothing else is touched, and fast enough for every text.

A complete text is also searched in unfolded form (see `find_unfolded`); in a text that arrives in pieces only the
listed forms are found. Every form of a secret has at least `gram + step - 1` characters, so one of the probed positions
(every `step`-th) hits one of its last grams. A text without secrets costs one lookup per step, regardless of the number
of secrets.
"""

import base64
import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from urllib.parse import quote, quote_plus

# The forms in which a secret may occur: as it is, and as programs encode it.

SHORTEST = 8
"""Minimum characters of a masked value. Shorter ones are hardly secret, and masking them would damage ordinary text."""
_PROSE = 16
_LINE = 16
_FEWEST_SIGNS = 4
_PLACEHOLDERS = frozenset({"sk-no-key-required", "no-key-required", "your-api-key-here", "not-needed-for-local"})


def is_maskable(value: str) -> bool:
    """Return whether the value differs from ordinary words: long enough, and not a placeholder such as `lm-studio`."""
    value = value.strip()
    if len(value) < SHORTEST or len(set(value)) < _FEWEST_SIGNS or value.lower() in _PLACEHOLDERS:
        return False
    plain = value.replace("-", "").replace("_", "").replace(" ", "")
    return len(value) >= _PROSE or not (plain.isalpha() and (plain.islower() or plain.istitle()))


def forms_of(value: str) -> frozenset[str]:
    """Return the value, its lines, and their JSON, URL, HTML, hex, base64 and base32 encodings (at every offset)."""
    found: set[str] = set()
    for text in {value, value.strip(), *_lines(value)}:
        found.update(_encodings(text))
        data = text.encode("utf-8", "surrogatepass")
        found.update((data.hex(), data.hex().upper(), data.hex(":"), data.hex(" ")))
        for core in _base64_cores(data):
            found.update((core, core.replace("+", "-").replace("/", "_")))
        found.update(_base32_cores(data))
    return frozenset(form for form in found if len(form) >= SHORTEST)


def _lines(value: str) -> Iterator[str]:
    """Yield the lines of a multi-line key, because each may be shown alone or with a prefix."""
    lines = value.strip().splitlines()
    if len(lines) > 1:
        yield from (line.strip() for line in lines if len(line.strip()) >= _LINE and "-----" not in line)


def _encodings(text: str) -> Iterator[str]:
    yield text
    for ascii_only in (True, False):
        inner = json.dumps(text, ensure_ascii=ascii_only)[1:-1]
        yield inner
        yield json.dumps(inner, ensure_ascii=ascii_only)[1:-1]  # nested JSON, as in a call's arguments
        yield inner.replace("/", "\\/")
    if any(sign in text for sign in "&<>\"'"):
        import html  # its tables of entities take 0.3 MiB

        yield from (html.escape(text), html.escape(text, quote=False))
    for coded in (_percent_encoded(text, ""), _percent_encoded(text, "/"), quote_plus(text, errors="replace")):
        yield coded
        yield _lower_escapes(coded)


def _percent_encoded(text: str, safe: str) -> str:
    return quote(text, safe=safe, errors="replace")


def _lower_escapes(coded: str) -> str:
    head, *rest = coded.split("%")
    return head + "".join(f"%{part[:2].lower()}{part[2:]}" for part in rest)


def _base64_cores(data: bytes) -> Iterator[str]:
    """Yield the characters that depend only on the value, regardless of what precedes and follows it (RFC 4648)."""
    for before in range(3):
        coded = base64.b64encode(bytes(before) + data).decode()
        first = -(-before * 8 // 6)
        yield coded[first : (before + len(data)) * 8 // 6]


def _base32_cores(data: bytes) -> Iterator[str]:
    for before in range(5):
        coded = base64.b32encode(bytes(before) + data).decode()
        yield coded[-(-before * 8 // 5) : (before + len(data)) * 8 // 5]


# Spellings that no list of forms can cover, because anything may come between the characters of the secret: line ends
# (`base64`, `xxd -p` and `fold` wrap their output), colours and zero-width characters, an escape for each character.
# Each spelling is tried only if the text shows a trace of it. Output of `xxd`, `od` and `hexdump` is handled by
# `decode_dumps`.

# Hex dumps by `xxd`, `od` and `hexdump`: lines of columns, each with some bytes in hex, octal or as characters.

_XXD = re.compile(r"[0-9a-f]{8,16}: ((?:[0-9a-f]+ )+)", re.IGNORECASE)
_OTHERS = re.compile(r"(?:[0-9a-f]{6,16})?((?: {1,9}[0-9a-f]{2,16})+) *(?:$| [|>])", re.IGNORECASE)
_OFFSET = re.compile(r"[0-9a-f]{6,16}(?= )", re.IGNORECASE)
_CELL = 4
_OCTAL = frozenset("01234567")

Read = Callable[[str], str]


def shows_dump(text: str) -> bool:
    """Return whether the text may contain a dump: lines that begin with an offset, or many blanks."""
    return "\n00" in text or text.startswith("00") or text.count(" ") * 4 > len(text)


def decode_dumps(text: str) -> Iterator[Sequence[tuple[int, int, str]]]:
    """Yield each way to decode the dump in a text: its rows and the line ends between them, with their meanings."""
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
    if line[:1] == " ":  # without an offset
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
    """Decode `od -c`: a character or an escape at the right end of each four columns."""
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
    return data.replace(b"\0", b"").decode("latin-1")  # without zero bytes UTF-16 reads like ASCII


Span = tuple[int, int]
Piece = tuple[int, int, str]
"""Start and end of a piece of text, and its meaning."""
Find = Callable[[str], list[Span]]

_SOLID = 12  # characters without a blank, at a line's end or the next line's beginning, that may belong to one word
_MARGIN = re.compile(r"\s*(?:\d+[:|\t] ?|> ?)?\s*")  # also a line number or quote mark
_MARGINAL = frozenset(" \t>0123456789")
_UNICODE = 0x110000
_TRAILING = " \t\r\\"  # a backslash is part of a line end in nested JSON
# terminal sequences such as colours (ECMA-48, 5.4), and zero-width characters
_HIDDEN = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|[\0\xad\u034f\u200b-\u200f\u2060-\u2064\ufe00-\ufe0f\ufeff]")
_WIDTHLESS = "\xad\u034f\u200b\u200c\u200d\u200e\u200f\u2060\u2061\u2062\u2063\u2064\ufe0e\ufe0f\ufeff"
_ESCAPES = tuple(  # each is preceded by the string that is cheap to search for
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


def find_unfolded(text: str, find: Find) -> Iterator[Span]:
    """Yield the spans of secrets in the unfolded text; `find` searches a plain text."""
    if "\0" in text or "\x1b" in text or (not text.isascii() and any(sign in text for sign in _WIDTHLESS)):
        yield from _found(text, ((each.start(), each.end(), "") for each in _HIDDEN.finditer(text)), find)
    for sign, pattern, base in _ESCAPES:
        if sign in text and pattern.search(text):
            yield from _found(text, _unescaped(text, pattern, base), find)
    for end in ("\n", "\\n"):  # the second one in JSON
        if end in text:
            yield from _wrapped(text, end, find)
    if shows_dump(text):
        for pieces in decode_dumps(text):
            yield from _found(text, pieces, find)


def _found(text: str, pieces: Iterable[Piece], find: Find) -> Iterator[Span]:
    """Yield the spans, in the original text, of secrets found after decoding these pieces."""
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
    """Search text whose lines may be wrapped, which shows in a long word at the end or beginning of a line."""
    lines = text.split(end)
    words: list[str] = []  # joined words, each separated from the next
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
"""Replacement for a secret. Readable, and safe within JSON and URLs."""
_LONGEST_GRAM = 8
_LONGEST_STEP = 16
_HEAD = 4
_REMEMBERED, _REMEMBERED_LENGTH = 200, 8_000
"""Number of clean texts remembered, and the length above which a text is remembered by its SHA-256.

A prompt is searched several times a turn, and a polling page usually gets the same text.
"""


class Mask:
    """Masks a fixed set of secrets. Immutable; call it with a text, or use `stream` for one that arrives in pieces."""

    __slots__ = ("_clean", "_forms", "_gram", "_grams", "_heads", "_longest", "_step")

    def __init__(self, secrets: Mapping[str, str]) -> None:
        """`secrets` are values by name. Values like ordinary words are not masked."""
        usable = {value for value in secrets.values() if is_maskable(value)}
        forms = sorted({form for value in usable for form in forms_of(value)})
        shortest = min(map(len, forms), default=SHORTEST)
        self._gram = min(_LONGEST_GRAM, shortest // 2)
        self._step = min(_LONGEST_STEP, shortest - self._gram + 1)
        self._forms = forms
        self._longest = max(map(len, forms), default=0)
        self._heads = frozenset(form[:length] for form in forms for length in range(1, _HEAD + 1))
        grams: dict[str, list[tuple[int, str]]] = {}
        for form in forms:
            last = len(form) - self._gram  # the end of a key is unique, its beginning is often the vendor's prefix
            for offset in range(last - self._step + 1, last + 1):
                grams.setdefault(form[offset : offset + self._gram], []).append((offset, form))
        self._grams = grams
        self._clean: set[str | bytes] = set()

    def __bool__(self) -> bool:
        return bool(self._forms)

    def __call__(self, text: str) -> str:
        """Mask each secret in the text; return the same object if there is none."""
        if not self._forms:
            return text
        seen = text if len(text) <= _REMEMBERED_LENGTH else sha256(text.encode("utf-8", "surrogatepass")).digest()
        if seen in self._clean:
            return text
        spans = self.find(text)
        if further := list(find_unfolded(text, self.find)):
            spans = merge_spans((*spans, *further))
        if spans:
            return _replaced(text, spans)
        if len(self._clean) >= _REMEMBERED:
            self._clean.clear()
        self._clean.add(seen)
        return text

    def find(self, text: str) -> list[Span]:
        """Return the spans of known forms in order, with overlapping ones merged."""
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
        return merge_spans(found)

    def stream(self) -> "MaskStream":
        """Return a masker for one text that arrives in pieces."""
        return MaskStream(self)

    def open_at(self, text: str) -> int:
        """Return where an incomplete secret may begin at the end of the text, or the text's length if there is none."""
        for at in range(max(0, len(text) - self._longest + 1), len(text)):
            if text[at : at + _HEAD] in self._heads:
                rest = text[at:]
                after = bisect_right(self._forms, rest)
                if after < len(self._forms) and self._forms[after].startswith(rest):
                    return at
        return len(text)


class MaskStream:
    """Masks a text that arrives in pieces, holding back only what may be the beginning of a secret."""

    __slots__ = ("_held", "_mask", "_told")

    def __init__(self, mask: Mask) -> None:
        self._mask = mask
        self._held = ""
        self._told = 0
        """Length of the held text that belongs to a secret already masked, but may also begin another one."""

    def feed(self, piece: str) -> str:
        """Add a piece; return the text that can be released."""
        text = self._held + piece
        keep = self._mask.open_at(text)
        return self._show(text, keep)

    def finish(self) -> str:
        """Return the text held back."""
        return self._show(self._held, len(self._held))

    def _show(self, text: str, keep: int) -> str:
        shown: list[str] = []
        at = 0
        told = max(0, self._told - keep)
        for start, end in merge_spans(
            [(0, self._told), *self._mask.find(text)] if self._told else self._mask.find(text)
        ):
            if start >= keep:
                break
            if start or not self._told:
                shown += text[at:start], MASKED
            at, told = end, max(0, end - keep)
        if at < keep:
            shown.append(text[at:keep])
        self._held, self._told = text[keep:], told
        return "".join(shown)


def merge_spans(found: Iterable[Span]) -> list[Span]:
    """Sort the spans and merge overlapping ones."""
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
