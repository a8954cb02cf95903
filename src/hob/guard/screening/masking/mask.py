"""Taking known secrets out of texts: exact, so nothing else is touched, and fast enough for every text there is.

A text that is there as a whole is also read as `unfolding` does; in one that comes in pieces only forms are found.
Every form of a secret is at least `gram + step - 1` characters long, so wherever one lies, one of the places that are
looked at (each `step`-th) falls into the last of them. A text without secrets costs one lookup per step, however
many secrets there are.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping

from hob.guard.screening.masking.decoders import Span, unfolded
from hob.guard.screening.masking.forms import SHORTEST, forms_of, is_maskable

MASKED = "[secret removed]"
"""What stands in the place of a secret. It means the same in JSON, in URLs and to people."""
_LONGEST_GRAM = 8
_LONGEST_STEP = 16
_HEAD = 4


class Mask:
    """Masks the secrets it was made of. Immutable; call it with a text, or `stream` for one that comes in pieces."""

    __slots__ = ("_forms", "_gram", "_grams", "_heads", "_longest", "_step", "skipped")

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

    def __bool__(self) -> bool:
        return bool(self._forms)

    def __call__(self, text: str) -> str:
        """The text with each secret masked; the same object if there is none."""
        if not self._forms:
            return text
        spans = self.find(text)
        if further := list(unfolded(text, self.find)):
            spans = merge((*spans, *further))
        return _replaced(text, spans) if spans else text

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
