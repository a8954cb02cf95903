"""The content scanner: how much a text looks like an attempt to steer an assistant.

It is a net under mishaps and clumsy attacks, never the boundary: whoever knows it can write around it. What an attacker
may not reach is kept by labels and effects. Its cost is linear in the text.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from hob.core.labels import SenderClass
from hob.core.screening.characters import neutralise
from hob.guard.screening.scanner.decoders import decoded_texts, hidden_texts
from hob.guard.screening.scanner.normalised import plain
from hob.guard.screening.scanner.phrases import find_phrases
from hob.guard.screening.scanner.rules import ENCODED, INVISIBLE, SIGNS, Sign
from hob.guard.screening.scanner.settings import ScannerAction, ScannerSettings

__all__ = ["ContentScanner", "ScannerAction", "ScannerFinding", "ScannerReport"]

_MOST_DEPTH = 3  # encodings within encodings
_TALKED_ABOUT = 0.3  # the part of a score that counts where somebody quotes what they talk about
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
    """One sign of an attempt. `excerpt` is what it was seen in, short; `quoted`: somebody talks about it."""

    family: str
    score: float
    excerpt: str
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class ScannerReport:
    """What was found. `score` believes people who quote what they talk about; `strict` does not."""

    findings: tuple[ScannerFinding, ...] = ()

    @property
    def score(self) -> float:
        """The sum of the best signs, at full weight unless they are talked about."""
        return sum(_best(self.findings, believing=True))

    @property
    def strict(self) -> float:
        """The sum of the best signs."""
        return sum(_best(self.findings, believing=False))

    @property
    def families(self) -> tuple[str, ...]:
        """What kinds of attempts there are signs of, most telling first."""
        ordered = sorted(self.findings, key=lambda finding: -finding.score)
        return tuple(dict.fromkeys(finding.family for finding in ordered))


def _best(findings: Iterable[ScannerFinding], *, believing: bool) -> Iterator[float]:
    """Each sign once: the same words found by the same rule again are no more telling."""
    best: dict[tuple[str, str], float] = {}
    for finding in findings:
        score = finding.score * (_TALKED_ABOUT if believing and finding.quoted else 1.0)
        key = (finding.family, finding.excerpt)
        best[key] = max(score, best.get(key, 0.0))
    yield from best.values()


class ContentScanner:
    """Looks texts over and says what is to be done about them."""

    def __init__(self, settings: ScannerSettings | None = None) -> None:
        self._settings = settings or ScannerSettings()

    def look(self, text: str, cls: SenderClass) -> tuple[ScannerAction, tuple[str, ...]]:
        """What is done about a text of this sender class, and what kinds of attempts there are signs of."""
        report = self.scan(text)
        return self.action_of(report, cls), report.families

    def scan(self, text: str) -> ScannerReport:
        """Every sign of an attempt in this text, and in what is encoded or hidden in it."""
        found = list(_read(text))
        found += _invisible(text)
        for inner in hidden_texts(text):
            found.append(ScannerFinding(INVISIBLE, 1.0, inner[:40]))
            found += _read(inner)
        found += _decoded(text, 1)
        return ScannerReport(tuple(found))

    def action_of(self, report: ScannerReport, cls: SenderClass) -> ScannerAction:
        """What is done about such a text of this sender class. Strangers are not believed to be quoting."""
        score = report.strict if cls is SenderClass.STRANGER else report.score
        return self._settings.action_of(cls) if score >= self._settings.threshold else ScannerAction.NONE


def _read(text: str) -> Iterator[ScannerFinding]:
    """The signs in the text as it reads."""
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
    return re.compile(sign.pattern)  # few of them are ever needed


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
        if depth < _MOST_DEPTH:
            signs += _decoded(inner, depth + 1)
        for sign in signs:
            yield ScannerFinding(sign.family, sign.score, sign.excerpt)
        if signs:
            yield ScannerFinding(ENCODED, 0.5, inner[:40])
