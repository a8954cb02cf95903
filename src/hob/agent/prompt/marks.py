"""Putting text that may not be obeyed between marks that its author cannot forge.

A mark holds a few characters of a hash over the home's secret and the turn that brought the text in. So it is the same
in every later request (the provider's cache holds), and whoever wrote the text cannot have known it. What looks like a
mark inside the text is made harmless as well, since a model does not compare letter by letter.
"""

import hashlib
import re

from hob.core.labels import Label

# An opening bracket or one that looks like it, then one of our names.
# (Patterns are compiled when first used: most turns hold nothing untrusted.)
_FORGED = "(?i)[<\uff1c\ufe64\u3008\u27e8\u2039\u00ab]([\\s/\uff0f\\\\]*)(?=untrusted|context)"
_INVISIBLE = "[\u200b\u200c\u2060\ufeff\u00ad\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]"


class Marks:
    """Marks of one home."""

    def __init__(self, salt: bytes) -> None:
        self._salt = salt

    def of(self, turn: str) -> str:
        """The name of the marks around what this turn brought in, e.g. `untrusted-3f9a1c2e77`."""
        return "untrusted-" + hashlib.sha256(self._salt + b"\0" + turn.encode()).hexdigest()[:10]

    def wrap(self, text: str, label: Label, turn: str) -> str:
        """The text between marks that name its origin."""
        name = self.of(turn)
        return f"<{name} from={label.origin}>\n{disarm(text, name)}\n</{name}>"


def disarm(text: str, name: str) -> str:
    """The text without anything that could pass for the end of its marks, and without invisible characters."""
    if not text.isascii():
        text = re.sub(_INVISIBLE, "", text)
    if name in text:
        text = text.replace(name, "untrusted-…")
    lowered = text.lower()
    if "untrusted" in lowered or "context" in lowered:
        text = re.sub(_FORGED, r"(\1", text)
    return text
