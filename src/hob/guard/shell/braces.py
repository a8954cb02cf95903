"""Brace expansion: `{a,b}` and `{1..9}` (bash reference manual, 3.5.1)."""

import re
from collections.abc import Sequence
from itertools import pairwise

from hob.guard.shell.arguments import ANY
from hob.guard.shell.tree import Part, Text, Word

_MAX = 64  # maximum words generated from one word; beyond it, the word is unknown
_LONGEST = 2048  # unquoted characters of a word with braces
_RANGE = re.compile(r"(-?\d{1,6})\.\.(-?\d{1,6})(?:\.\.-?\d{1,6})?|([A-Za-z])\.\.([A-Za-z])")

_Item = str | Part  # one unquoted character, or a part that braces do not split


class _TooMany(Exception):
    pass


def expand_braces(word: Word) -> list[Word]:
    """Expand a word with an unquoted `{`; return it unchanged if nothing expands."""
    items: list[_Item] = []
    for part in word.parts:
        if type(part) is Text and not part.quoted:
            items.extend(part.value)
        else:
            items.append(part)
    if "}" not in items:
        return [word]
    try:
        if len(items) > _LONGEST:
            raise _TooMany
        found = _expanded(items, 0)
    except _TooMany:
        return [Word((Text(ANY),), word.text)]
    if len(found) == 1:
        return [word]
    return [Word(_parts(each), word.text) for each in found]


def _expanded(items: list[_Item], depth: int) -> list[list[_Item]]:
    """Return all expansions of the items. Both their number and the recursion depth are bounded by `_MAX`."""
    closing = _matching(items)
    at = 0
    while at < len(items):
        if items[at] == "{" and at in closing:
            end, commas = closing[at]
            choices = _choices(items[at + 1 : end], [comma - at - 1 for comma in commas], depth)
            if choices is not None:
                rest = _expanded(items[end + 1 :], depth + 1)
                if len(choices) * len(rest) > _MAX or depth > _MAX:
                    raise _TooMany
                return [[*items[:at], *choice, *tail] for choice in choices for tail in rest]
        at += 1
    return [items]


def _matching(items: list[_Item]) -> dict[int, tuple[int, list[int]]]:
    """Map each opening brace to its closing brace and its commas."""
    found: dict[int, tuple[int, list[int]]] = {}
    stack: list[tuple[int, list[int]]] = []
    for at, item in enumerate(items):
        if item == "{":
            stack.append((at, []))
        elif item == "," and stack:
            stack[-1][1].append(at)
        elif item == "}" and stack:
            opened, commas = stack.pop()
            found[opened] = (at, commas)
    return found


def _choices(inside: list[_Item], commas: list[int], depth: int) -> list[list[_Item]] | None:
    if commas:
        edges = [-1, *commas, len(inside)]
        pieces = [inside[a + 1 : b] for a, b in pairwise(edges)]
        if len(pieces) > _MAX or depth > _MAX:
            raise _TooMany
        return [choice for piece in pieces for choice in _expanded(piece, depth + 1)]
    if len(inside) > 24 or not all(isinstance(item, str) for item in inside):
        return None
    found = _RANGE.fullmatch("".join(str(item) for item in inside))
    if found is None:
        return None
    if found[1] is not None:
        first, last = int(found[1]), int(found[2])
    else:
        first, last = ord(found[3]), ord(found[4])
    numbers: Sequence[int] = range(first, last + 1) if first <= last else range(first, last - 1, -1)
    if len(numbers) > _MAX:
        if found[1] is None or found[0].count("..") > 1:
            raise _TooMany
        numbers = (*numbers[: _MAX // 2], *numbers[-_MAX // 2 :])  # the numbers in between behave alike
    return [list(str(number) if found[1] is not None else chr(number)) for number in numbers]


def _parts(items: list[_Item]) -> tuple[Part, ...]:
    parts: list[Part] = []
    text: list[str] = []
    for item in items:
        if isinstance(item, str):
            text.append(item)
            continue
        if text:
            parts.append(Text("".join(text)))
            text = []
        parts.append(item)
    if text:
        parts.append(Text("".join(text)))
    return tuple(parts)
