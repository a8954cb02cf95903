"""Characters that change what a text seems to say, or hide what it says.

Which they are: https://www.unicode.org/reports/tr36/, https://trojansource.codes (CVE-2021-42574) and, for text hidden
in tags and variation selectors, https://embracethered.com/blog/posts/2024/hiding-and-finding-text-with-unicode-tags/.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import field
from functools import cache

from hob.core.values import dataclass

_MAX_FLAG = 6  # letters of a subdivision's flag, e.g. gbeng
_KEPT_FLAG = rf"\U0001f3f4[\U000e0061-\U000e007a\U000e0030-\U000e0039]{{1,{_MAX_FLAG}}}\U000e007f"
_CHANGED = (
    rf"(?P<flag>{_KEPT_FLAG})"
    r"|(?P<control>[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufff9-\ufffb\ud800-\udfff])"
    r"|(?P<return>\r(?!\n))"
    r"|(?P<bidi>[\u202a-\u202e\u2066-\u2069])"
    r"|(?P<tag>[\U000e0000-\U000e007f])"
    r"|(?P<width>[\xad\u200b\u2060-\u2064\ufeff])"  # they say where a word may be broken, and hide what is in it
)
_ROWS = (
    # one selector after a sign is how emoji are written, one joiner holds them together; a row of them carries data
    r"(?P<selector>(?<=[\ufe00-\ufe0f\U000e0100-\U000e01ef])[\ufe00-\ufe0f\U000e0100-\U000e01ef])"
    r"|(?P<width>(?<=[\u200c\u200d])[\u200c\u200d])"
)
_ANY = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u200b-\u200d\u202a-\u202e\u2060-\u2069\ud800-\udfff\ufe00-\ufe0f\ufeff\ufff9-\ufffb"
    r"\U000e0000-\U000e01ef]"
)


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Rows are looked for in what the first has left, else a row could hide in what it takes out."""
    return re.compile(_CHANGED), re.compile(_ROWS)  # milliseconds that most messages need not spend


_INSTEAD = {"control": "\ufffd", "return": "\n"}
_WORDS = {
    "control": "control characters",
    "bidi": "characters that turn the direction of writing",
    "tag": "invisible tag characters",
    "selector": "invisible variation selectors",
    "width": "characters without width",
}


@dataclass(frozen=True, slots=True)
class Neutralised:
    """A text that looks as it reads. `found` counts what was changed, by kind."""

    text: str
    found: Mapping[str, int] = field(default_factory=dict)

    @property
    def note(self) -> str:
        """What was changed, for people; empty where nothing was."""
        return ", ".join(f"{count} {_WORDS[kind]}" for kind, count in self.found.items())


def neutralise(text: str) -> Neutralised:
    """The text without characters that steer terminals, turn its direction or hide something in it.

    Joiners and direction marks that languages and emoji need stay, soft hyphens and spaces without width do not. A
    carriage return alone becomes a new line.
    """
    if _ANY.search(text) is None:
        return Neutralised(text)
    found: Counter[str] = Counter()

    def changed(match: re.Match[str]) -> str:
        kind = match.lastgroup or ""
        if kind == "flag":
            return match.group()
        if kind != "return":
            found[kind] += 1
        return _INSTEAD.get(kind, "")

    for pattern in _patterns():
        text = pattern.sub(changed, text)
    return Neutralised(text, dict(sorted(found.items())))
