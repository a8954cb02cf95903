"""Values taken out of a text and put back: `[EMAIL-kdmfbaopce]` stands for an address.

The letters are a keyed hash of the value. So a value has the same placeholder in every request (the provider's prompt
cache holds), and nobody who lacks the key can make one up. A text that holds something of that shape has it taken out
and put back like any value: what was in a text never becomes another value. The letters are no digits, so that no
detector takes a placeholder for anything.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping

from hob.core.screening.detectors import merge
from hob.core.screening.kinds import SensitiveFinding, SensitiveKind

SHAPE = re.compile(r"\[[A-Z_]{2,16}-[a-p]{10}\]")
_UNFINISHED = re.compile(r"\[(?:[A-Z_]{0,16}|[A-Z_]{2,16}-[a-p]{0,10})$")
_LONGEST = 29
_TEXT = "TEXT"
_LETTERS = str.maketrans("0123456789abcdef", "abcdefghijklmnop")
_NAMES = frozenset(kind.value for kind in SensitiveKind)
_NONE: Mapping[str, str] = {}


class Placeholders:
    """Takes values out. `restore` grows with every text: what to put back for which placeholder."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._known: dict[str, str] = {}
        self.restore: dict[str, str] = {}

    def take_out(self, text: str, findings: Iterable[SensitiveFinding], others: Mapping[str, str] = _NONE) -> str:
        """The text with placeholders for the findings, for `others` (values found elsewhere, with their kinds) and for
        what looks like a placeholder."""
        found = [*findings, *_quoted(text), *_mentioned(text, others)]
        if not found:
            return text
        parts: list[str] = []
        at = 0
        for finding in merge(found):
            parts += text[at : finding.start], self.of(text[finding.start : finding.end], finding.kind)
            at = finding.end
        return "".join((*parts, text[at:]))

    def of(self, value: str, kind: str) -> str:
        """The placeholder of this value; the first kind it was found as names it."""
        placeholder = self._known.get(value)
        if placeholder is None:
            label = kind.upper() if kind in _NAMES or kind == _TEXT else "CUSTOM"
            hashed = hashlib.blake2b(value.encode("utf-8", "surrogatepass"), digest_size=5, key=self._key)
            placeholder = f"[{label}-{hashed.hexdigest().translate(_LETTERS)}]"
            self._known[value] = placeholder
            self.restore[placeholder] = value
        return placeholder


def _quoted(text: str) -> list[SensitiveFinding]:
    if "[" not in text:
        return []
    return [SensitiveFinding(_TEXT, match.start(), match.end()) for match in SHAPE.finditer(text)]


def _mentioned(text: str, values: Mapping[str, str]) -> list[SensitiveFinding]:
    found: list[SensitiveFinding] = []
    for value, kind in values.items():
        at = text.find(value)
        while at >= 0:
            found.append(SensitiveFinding(kind, at, at + len(value)))
            at = text.find(value, at + len(value))
    return found


def put_back(text: str, restore: Mapping[str, str]) -> str:
    """The text with the values for their placeholders; what is no placeholder of ours stays."""
    if "[" not in text:
        return text
    return SHAPE.sub(lambda match: restore.get(match.group(), match.group()), text)


class Restorer:
    """Puts values back into a text that comes in pieces, cut anywhere. Holds back 28 characters at most."""

    def __init__(self, restore: Mapping[str, str]) -> None:
        self._restore = restore
        self._held = ""

    def feed(self, piece: str) -> str:
        """What can be shown now."""
        if not self._held and "[" not in piece:
            return piece
        text = self._held + piece
        at = text.rfind("[", max(0, len(text) - _LONGEST))
        if at < 0 or _UNFINISHED.match(text, at) is None:
            at = len(text)
        self._held = text[at:]
        return put_back(text[:at], self._restore)

    def finish(self) -> str:
        """What was held back: no placeholder after all."""
        held, self._held = self._held, ""
        return held
