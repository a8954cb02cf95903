"""Unified diffs in which people can trust what they see."""

from difflib import unified_diff

from hob.core.content.visible_text import is_visible
from hob.core.translation.language import join_texts, translatable
from hob.tools.documents.text import decode, lines_of

_ORDINARY = frozenset("\n\t\u00a0\u202f\u3000\ufe0f")
"""Also blanks of ordinary texts, and the selector that follows emoji."""
_MAX_LINES = 20_000  # comparison time is quadratic if the texts have little in common


def unified(before: str | None, after: str | None, name: str, goal: str = "") -> str:
    """Return a change of text as a patch, or "" if there is none. None stands for no file."""
    old, new = lines_of(before or ""), lines_of(after or "")
    sides = (
        "/dev/null" if before is None else _side("a", name),
        "/dev/null" if after is None else _side("b", goal or name),
    )
    head = f"--- {sides[0]}\n+++ {sides[1]}\n"
    if len(old) + len(new) > _MAX_LINES and before is not None and after is not None:
        return f"{head}(too long to compare: {len(old):,} lines before, {len(new):,} lines after)\n"
    lines = list(unified_diff(old, new))[2:]
    if not lines:
        return head if (before is None) != (after is None) or goal else ""
    return head + "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _side(letter: str, name: str) -> str:
    return name if name.startswith("/") else f"{letter}/{name}"


def diff(before: bytes | None, after: bytes | None, name: str, goal: str = "") -> str:
    """Return a change of a file's bytes for people: invisible characters spelled out, binary data only counted."""
    old, new = decode(before or b""), decode(after or b"")
    if old is None or new is None:
        sizes = [_size(each) for each in (before, after)]
        return translatable("{name}: not a text; {before} before, {after} after\n", name=visible(name), before=sizes[0],
                            after=sizes[1])  # fmt: skip
    told = ""
    if before is not None and after is not None and old.words() != new.words():
        ways = [each.words() or translatable("plain UTF-8") for each in (old, new)]
        told = translatable("({name} is stored otherwise: {before} before, {after} after)\n", name=visible(name),
                            before=ways[0], after=ways[1])  # fmt: skip
    same_ends = old.newline == new.newline
    made = unified(
        None if before is None else (old.plain if same_ends else old.text),
        None if after is None else (new.plain if same_ends else new.text),
        name,
        goal,
    )
    return join_texts("", (told, visible(made))) if told else visible(made)


def _size(data: bytes | None) -> str:
    return translatable("no file") if data is None else translatable("{size} bytes", size=f"{len(data):,}")


def is_complete(before: bytes | None, after: bytes | None) -> bool:
    """Return whether `diff` shows every changed line, which it does not for binary or too long content."""
    texts = [decode(each or b"") for each in (before, after)]
    return (
        all(each is not None for each in texts)
        and sum(len(lines_of(each.plain)) for each in texts if each is not None) <= _MAX_LINES
    )


def visible(text: str) -> str:
    """Return the text with everything invisible or misleading, such as direction changes, written as escapes."""
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return "".join(char if char in _ORDINARY or is_visible(char) else f"\\u{{{ord(char):x}}}" for char in text)
