"""Characters that disguise or hide text.

Sources: https://www.unicode.org/reports/tr36/, https://trojansource.codes (CVE-2021-42574) and, for text hidden in tags
and variation selectors, https://embracethered.com/blog/posts/2024/hiding-and-finding-text-with-unicode-tags/.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import field
from functools import cache

from hob.core.values import dataclass

_MAX_FLAG = 6  # letters of a subdivision's flag, e.g. gbeng
_KEPT_FLAG = rf"\U0001f3f4[\U000e0061-\U000e007a\U000e0030-\U000e0039]{{1,{_MAX_FLAG}}}\U000e007f"
_REPLACED = (
    rf"(?P<flag>{_KEPT_FLAG})"
    r"|(?P<control>[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufff9-\ufffb\ud800-\udfff])"
    r"|(?P<return>\r(?!\n))"
    r"|(?P<bidi>[\u202a-\u202e\u2066-\u2069])"
    r"|(?P<tag>[\U000e0000-\U000e007f])"
    r"|(?P<width>[\xad\u200b\u2060-\u2064\ufeff])"  # they mark where a word may break, and can hide text in it
)
_ROWS = (
    # emoji use one selector after a character and single joiners; several in a row carry hidden data
    r"(?P<selector>(?<=[\ufe00-\ufe0f\U000e0100-\U000e01ef])[\ufe00-\ufe0f\U000e0100-\U000e01ef])"
    r"|(?P<width>(?<=[\u200c\u200d])[\u200c\u200d])"
)
_ANY = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u200b-\u200d\u202a-\u202e\u2060-\u2069\ud800-\udfff\ufe00-\ufe0f\ufeff\ufff9-\ufffb"
    r"\U000e0000-\U000e01ef]"
)


@cache
def _compile_patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Compile the patterns. Rows are searched in the output of the first, since its removals may create new rows."""
    return re.compile(_REPLACED), re.compile(_ROWS)  # takes milliseconds and is not needed for most messages


_REPLACEMENTS = {"control": "\ufffd", "return": "\n"}
_WORDS = {
    "control": "control characters",
    "bidi": "characters that turn the direction of writing",
    "tag": "invisible tag characters",
    "selector": "invisible variation selectors",
    "width": "characters without width",
}


@dataclass(frozen=True, slots=True)
class Neutralised:
    """A text without deceptive characters. `found` counts the changes by kind."""

    text: str
    found: Mapping[str, int] = field(default_factory=dict)

    @property
    def note(self) -> str:
        """The changes, for people; empty if there are none."""
        return ", ".join(f"{count} {_WORDS[kind]}" for kind, count in self.found.items())


def neutralise(text: str) -> Neutralised:
    """Remove characters that control terminals, reverse the text's direction or hide content.

    Joiners and direction marks needed by languages and emoji stay; soft hyphens and zero-width spaces do not. A lone
    carriage return becomes a newline.
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
        return _REPLACEMENTS.get(kind, "")

    for pattern in _compile_patterns():
        text = pattern.sub(changed, text)
    return Neutralised(text, dict(sorted(found.items())))
