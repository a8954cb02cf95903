"""The content scanner: how much a text looks like an attempt to steer an assistant.

It is a safety net against accidents and clumsy attacks, not the boundary: anyone who knows it can evade it. Labels and
effects protect what an attacker must not reach. The cost is linear in the text.
"""

import base64
import binascii
import codecs
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from urllib.parse import unquote_to_bytes

from hob.core.screening.characters import neutralise
from hob.core.trust.labels import SenderClass
from hob.core.values import dataclass
from hob.guard.screening.scanner.rules import ENCODED, INVISIBLE, PHRASES, SIGNS, WORDS, Phrase, Sign
from hob.guard.screening.scanner.settings import ScannerAction, ScannerSettings

# Normalisation: unusual spelling, spacing and look-alike letters become plain text, as a model would read it.

_INVISIBLE_SIGNS = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
    "\U000e0000-\U000e01ef]"
)
# Letters of other scripts most often used in place of Latin ones (https://www.unicode.org/reports/tr39/).
_ALIKE = str.maketrans("аеорсухѕіјԁһкмтвнгԛԝɡоνορικτυχαεγӏⅼ", "aeopcyxsijdhkmtbhrqwgovopiktuxaeyll")
_DIGITS = str.maketrans("013457@$", "oieastas")
_LEET = re.compile(r"(?<![a-z0-9@$])(?=[a-z]{0,20}[013457@$][a-z])[a-z0-9@$]{4,20}(?![a-z0-9@$])")
_SPACED = re.compile(r"(?<!\w)\w(?: \w){4,40}(?!\w)")
_MAYBE_LEET = re.compile(r"[a-z][013457@$][a-z]")
_GAPS = re.compile(r"\n{2,1000}+")


def plain(text: str) -> str:
    """Return the text in lower case, with single spaces, at most one empty line, and look-alikes replaced by the
    letters they stand for.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", _INVISIBLE_SIGNS.sub("", text))
    text = text.lower()
    if not text.isascii() and _is_mixed(text):
        text = text.translate(_ALIKE)
    text = _SPACED.sub(lambda match: match.group().replace(" ", ""), text)
    text = _GAPS.sub("\n\n", "\n".join([" ".join(line.split()) for line in text.split("\n")]))
    if _MAYBE_LEET.search(text) is None:
        return text
    return _LEET.sub(lambda match: _unleet(match.group()), text)


def _is_mixed(text: str) -> bool:
    """Return whether words mix scripts, with Latin letters next to Cyrillic or Greek ones."""
    return _MIXED.search(text) is not None


_MIXED = re.compile(r"[a-z][\u0370-\u03ff\u0400-\u052f]|[\u0370-\u03ff\u0400-\u052f][a-z]")


def _unleet(word: str) -> str:
    return word.translate(_DIGITS) if sum(sign.isalpha() for sign in word) >= 3 else word


# Encoded texts: anything that decodes to readable text is scanned too.

_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{20,1500}+={0,2}+")  # longer ones match in pieces, cut at multiples of four
_FOLDED = re.compile(r"\n(?<=[A-Za-z0-9+/]{16}\n)(?=[A-Za-z0-9+/=]{2})")
_HEX = re.compile(r"(?<![0-9A-Za-z])(?:(?:0x|\\x)?[0-9A-Fa-f]{2}[ :,]?+){12,150}")
_NOT_HEX = re.compile(r"0x|\\x|[^0-9A-Fa-f]")
_PERCENT = re.compile(r"%[0-9A-Fa-f]{2}")
_ESCAPES = re.compile(r"(?:\\(?:u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2})){4,60}")
_ENTITY = re.compile(r"&#(?:x[0-9A-Fa-f]{1,6}|[0-9]{1,7});?+")
_FEW = 3  # encoded characters; ordinary addresses have one or two
_SHORTEST = 20  # minimum characters of base64 that can hold an instruction
# words of instructions in ROT13, or reversed
_TURNED = tuple(codecs.encode(word, "rot13") for word in ("ignore", "instruction", "previous", "password", "disregard"))
_BACKWARDS = tuple(word[::-1] for word in ("ignore", "instructions", "previous", "delete all", "password", "system"))
_TAGS = re.compile(r"[\U000e0020-\U000e007e]{2,1500}+")
_FLAG = "\U0001f3f4"  # followed by tag letters, it is the flag of a region
_SELECTORS = re.compile(r"[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2,1500}+")


def decoded_texts(text: str) -> Iterator[str]:
    """Yield readable texts encoded in this one. Each encoding yields about as much as the text's length in total."""
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
        import html  # its tables of entities take 0.3 MiB

        yield _ENTITY.sub(lambda match: html.unescape(match.group()), text)
    lowered = text.lower()
    if any(word in lowered for word in _TURNED):
        yield codecs.encode(text, "rot13")
    if any(word in lowered for word in _BACKWARDS):
        yield text[::-1]


_ESCAPED = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2}))")


def hidden_texts(text: str) -> Iterator[str]:
    """Yield invisible text: letters as tag characters, bytes as variation selectors."""
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
    """Decode a variation selector: the first sixteen are a separate range."""
    return code - 0xFE00 if code < 0xE0100 else (code - 0xE0100 + 16) & 0xFF


def _from_base64(word: str) -> bytes:
    body = word.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(body + "=" * (-len(body) % 4))
    except (binascii.Error, ValueError):  # one character too many
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


# Phrase search: one pass over the text, regardless of the number of phrases.

_TOKEN = re.compile(r"\w{1,60}+(?:['\u2019.-]\w{1,60}+){0,3}|[.!?;](?=\s|$)|\n\n")
_BREAKS = frozenset({".", "!", "?", ";", "\n\n"})
_STEM = 3  # minimum letters of a stem


@dataclass(frozen=True, slots=True)
class PhraseMatch:
    """A phrase found in a text, with its character range."""

    phrase: Phrase
    start: int
    end: int


Place = tuple[int, int]
"""Index of the first token, and of the one after the last."""


class _Vocabulary:
    """Maps a token to the word lists that contain it. Lists are numbered."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.words: defaultdict[str, list[int]] = defaultdict(list)
        self.stems: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
        self.rows: defaultdict[str, list[tuple[tuple[str, ...], int]]] = defaultdict(list)

    def number_of(self, group: str) -> int:
        """Return the number of a word list, given as it is written in a phrase."""
        if group not in self.numbers:
            number = self.numbers[group] = len(self.numbers)
            for word in self._expand(group):
                self._add(word, number)
        return self.numbers[group]

    def look_up(self, word: str) -> tuple[list[int], list[tuple[tuple[str, ...], int]]]:
        """Return the lists that contain this word, and the multi-word entries that it begins, with their lists."""
        stems = [number for stem, number in self.stems.get(word[:_STEM], ()) if word.startswith(stem)]
        return self.words.get(word, []) + stems, self.rows.get(word, [])

    def _expand(self, group: str) -> Iterator[str]:
        for word in group.split("|"):
            yield from WORDS[word[1:]].split("|") if word.startswith("@") else (word,)

    def _add(self, word: str, number: int) -> None:
        first, *rest = word.split("_")
        if rest:
            self.rows[first].append((tuple(rest), number))
        elif first.endswith("*"):
            self.stems[first[:_STEM]].append((first[:-1], number))
        else:
            self.words[first].append(number)


@dataclass(frozen=True, slots=True)
class _Order:
    """A prepared phrase: its lists, and the maximum number of words before each of them but the first."""

    phrase: Phrase
    groups: tuple[int, ...]
    gaps: tuple[int, ...]


@cache
def _prepared() -> tuple[_Vocabulary, tuple[_Order, ...]]:
    vocabulary = _Vocabulary()
    orders = []
    for phrase in PHRASES:
        parts = phrase.words.split()
        groups = tuple(vocabulary.number_of(group) for group in parts[::2])
        orders.append(_Order(phrase, groups, tuple(map(int, parts[1::2]))))
    return vocabulary, tuple(orders)


def find_phrases(text: str) -> Iterator[PhraseMatch]:
    """Yield the phrases in this text, each once."""
    tokens = list(_TOKEN.finditer(text))
    words = [token.group() for token in tokens]
    vocabulary, orders = _prepared()
    places = _places(words, vocabulary)
    breaks = {at for at, word in enumerate(words) if word in _BREAKS}
    for order in orders:
        if all(group in places for group in order.groups):
            found = _find(order, places, breaks)
            if found is not None:
                yield PhraseMatch(order.phrase, tokens[found[0]].start(), tokens[found[1] - 1].end())


def _places(words: Sequence[str], vocabulary: _Vocabulary) -> dict[int, list[Place]]:
    """Return the positions of the words of each list, in order."""
    known = {word: found for word in set(words) if any(found := vocabulary.look_up(word))}
    places: defaultdict[int, list[Place]] = defaultdict(list)
    for at, word in enumerate(words):
        if word not in known:
            continue
        numbers, rows = known[word]
        for number in numbers:
            places[number].append((at, at + 1))
        for rest, number in rows:
            if tuple(words[at + 1 : at + 1 + len(rest)]) == rest:
                places[number].append((at, at + 1 + len(rest)))
    return places


def _find(order: _Order, places: dict[int, list[Place]], breaks: set[int]) -> Place | None:
    """Return the first position where the lists follow each other closely enough within a sentence."""
    reached = {end: start for start, end in places[order.groups[0]]}
    for group, gap in zip(order.groups[1:], order.gaps, strict=True):
        further: dict[int, int] = {}
        for start, end in places[group]:
            for before in range(start, start - gap - 1, -1):
                if before in reached:
                    further.setdefault(end, reached[before])
                    break
                if before - 1 in breaks:
                    break
        if not further:
            return None
        reached = further
    end, start = next(iter(reached.items()))
    return start, end


__all__ = ["ContentScanner", "ScannerAction", "ScannerFinding", "ScannerReport"]

_MAX_DEPTH = 3  # nested encodings
_TALKED_ABOUT = 0.3  # weight of a score if the text is quoted as the subject of discussion
_QUOTED = re.compile(
    r"\"[^\"\n]{1,200}\"|“[^”\n]{1,200}”|„[^“\n]{1,200}“|«[^»\n]{1,200}»|`[^`\n]{1,200}`|(?<!\w)'[^'\n]{1,200}'(?!\w)"
)
_TALK = re.compile(
    r"\b(?:prompt injections?|jailbreak\w{0,4}|attack(?:s|er|ers)?|phishing|pentest|cve|owasp|filters?|scanner"
    r"|sanitizer|detect\w{0,4}|unit test|regular expression|regex|workshop|slides?|explain|bad practice|escape"
    r"|example of|angreifer|angriffe?|erklär\w{0,3}|erkannt|warum|why (?:do|does|is|are)|how (?:do|does|can|should)"
    r"|what (?:is|does|would))\b|\bis ['\"`“„]"
)
_INVISIBLE = {"tag": 1.0, "selector": 1.0, "width": 0.5}
_TURNS = "\u202d\u202e"
_BETWEEN = re.compile(r"(?<=[A-Za-z])[\u00ad\u200b\u2060\ufeff](?=[A-Za-z])")


@dataclass(frozen=True, slots=True)
class ScannerFinding:
    """A sign of an attempt. `excerpt` is the place where it was found, shortened; `quoted` means that the text is being
    discussed.
    """

    family: str
    score: float
    excerpt: str
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class ScannerReport:
    """The result of a scan. `score` discounts quotations, `strict` does not."""

    findings: tuple[ScannerFinding, ...] = ()

    @property
    def score(self) -> float:
        """The sum of the best signs, discounted for quotations."""
        return sum(_best(self.findings, believing=True))

    @property
    def strict(self) -> float:
        """The sum of the best signs."""
        return sum(_best(self.findings, believing=False))

    @property
    def families(self) -> tuple[str, ...]:
        """The kinds of attempts, most significant first."""
        ordered = sorted(self.findings, key=lambda finding: -finding.score)
        return tuple(dict.fromkeys(finding.family for finding in ordered))


def _best(findings: Iterable[ScannerFinding], *, believing: bool) -> Iterator[float]:
    """Yield each sign once, because repetitions of the same words under the same rule add nothing."""
    best: dict[tuple[str, str], float] = {}
    for finding in findings:
        score = finding.score * (_TALKED_ABOUT if believing and finding.quoted else 1.0)
        key = (finding.family, finding.excerpt)
        best[key] = max(score, best.get(key, 0.0))
    yield from best.values()


class ContentScanner:
    """Scans texts and decides on the action."""

    def __init__(self, settings: ScannerSettings | None = None) -> None:
        self._settings = settings or ScannerSettings()

    def look(self, text: str, cls: SenderClass) -> tuple[ScannerAction, tuple[str, ...]]:
        """Return the action for a text of this sender class, and the kinds of attempts found."""
        report = self.scan(text)
        return self.action_of(report, cls), report.families

    def scan(self, text: str) -> ScannerReport:
        """Return every sign of an attempt in this text, and in what it encodes or hides."""
        found = list(_read(text))
        found += _invisible(text)
        for inner in hidden_texts(text):
            found.append(ScannerFinding(INVISIBLE, 1.0, inner[:40]))
            found += _read(inner)
        found += _decoded(text, 1)
        return ScannerReport(tuple(found))

    def action_of(self, report: ScannerReport, cls: SenderClass) -> ScannerAction:
        """Return the action for a text of this sender class. Strangers get no discount for quotations."""
        score = report.strict if cls is SenderClass.STRANGER else report.score
        return self._settings.action_of(cls) if score >= self._settings.threshold else ScannerAction.NONE


def _read(text: str) -> Iterator[ScannerFinding]:
    """Yield the signs in the text as written."""
    read = plain(text)
    hits = [(seen.phrase.family, seen.phrase.score, seen.start, seen.end) for seen in find_phrases(read)]
    hits += [
        (sign.family, sign.score, *match.span())
        for sign in SIGNS
        if any(word in read for word in sign.needs) and (match := _compiled(sign).search(read))
    ]
    if not hits:
        return
    talks = _TALK.search(read) is not None
    asks = talks and read.rstrip().endswith("?")
    quotes = [match.span() for match in _QUOTED.finditer(read)] if talks else []
    for family, score, start, end in hits:
        quoted = asks or any(begin <= start and end <= stop for begin, stop in quotes)
        yield ScannerFinding(family, score, read[start : min(end, start + 80)], quoted)


@cache
def _compiled(sign: Sign) -> re.Pattern[str]:
    return re.compile(sign.pattern)  # most of them are never needed


def _invisible(text: str) -> Iterator[ScannerFinding]:
    if text.isascii():
        return
    for kind, count in neutralise(text).found.items():
        if kind in _INVISIBLE:
            yield ScannerFinding(INVISIBLE, min(1.0, _INVISIBLE[kind] * count), f"{kind} characters")
    if any(sign in text for sign in _TURNS):
        yield ScannerFinding(INVISIBLE, 1.0, "the direction of writing is turned")
    broken = len(_BETWEEN.findall(text))
    if broken >= 2:
        yield ScannerFinding(INVISIBLE, 0.6, "words with invisible signs in them")


def _decoded(text: str, depth: int) -> Iterator[ScannerFinding]:
    for inner in decoded_texts(text):
        signs = list(_read(inner))
        if depth < _MAX_DEPTH:
            signs += _decoded(inner, depth + 1)
        for sign in signs:
            yield ScannerFinding(sign.family, sign.score, sign.excerpt)
        if signs:
            yield ScannerFinding(ENCODED, 0.5, inner[:40])
