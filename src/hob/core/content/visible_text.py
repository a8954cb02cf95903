"""Which characters people can see."""

import re
import unicodedata

_UNSEEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs")
_HIDDEN = re.compile(  # combining marks without a base, and fillers that merely count as letters or symbols
    "[\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\U00016fe4\U0001d159"
    "\u180b-\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]"  # variation selectors, which can carry text of any length
)


def is_visible(char: str) -> bool:
    """Return whether a character shows what it is: not an invisible one, a change of direction or an unusual blank."""
    if char.isascii():
        return char.isprintable()
    return unicodedata.category(char) not in _UNSEEN and not _HIDDEN.match(char)
