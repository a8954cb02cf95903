"""A text as a model would read it: what is spelt oddly, spaced out or written with look-alikes becomes plain."""

import re
import unicodedata

_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
    "\U000e0000-\U000e01ef]"
)
# The letters of other scripts that are most often put for Latin ones (https://www.unicode.org/reports/tr39/).
_ALIKE = str.maketrans("аеорсухѕіјԁһкмтвнгԛԝɡоνορικτυχαεγӏⅼ", "aeopcyxsijdhkmtbhrqwgovopiktuxaeyll")
_DIGITS = str.maketrans("013457@$", "oieastas")
_LEET = re.compile(r"(?<![a-z0-9@$])(?=[a-z]{0,20}[013457@$][a-z])[a-z0-9@$]{4,20}(?![a-z0-9@$])")
_SPACED = re.compile(r"(?<!\w)\w(?: \w){4,40}(?!\w)")
_MAYBE_LEET = re.compile(r"[a-z][013457@$][a-z]")
_GAPS = re.compile(r"\n{2,1000}+")


def plain(text: str) -> str:
    """The text in lower case, one space between words, at most one empty line, look-alikes as the letters meant."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text))
    text = text.lower()
    if not text.isascii() and _is_mixed(text):
        text = text.translate(_ALIKE)
    text = _SPACED.sub(lambda match: match.group().replace(" ", ""), text)
    text = _GAPS.sub("\n\n", "\n".join([" ".join(line.split()) for line in text.split("\n")]))
    if _MAYBE_LEET.search(text) is None:
        return text
    return _LEET.sub(lambda match: _unleet(match.group()), text)


def _is_mixed(text: str) -> bool:
    """Whether words mix scripts: Latin letters beside Cyrillic or Greek ones."""
    return _MIXED.search(text) is not None


_MIXED = re.compile(r"[a-z][\u0370-\u03ff\u0400-\u052f]|[\u0370-\u03ff\u0400-\u052f][a-z]")


def _unleet(word: str) -> str:
    return word.translate(_DIGITS) if sum(sign.isalpha() for sign in word) >= 3 else word
