"""The owner's name in USER.md."""

import re

from hob.core.translation.language import translatable

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_NAME = re.compile(r"^- Name:[ \t]*(.*?)[ \t]*$", re.MULTILINE)
MAX_CHARS = 80


def find_owner_name(text: str) -> str:
    """Return the owner's name in the file; empty if there is none. Comments are ignored."""
    found = _NAME.search(_blank_comments(text))
    return found[1] if found else ""


def set_owner_name(text: str, name: str) -> str:
    """Return the file with this name in it and nothing else changed. Raises ValueError for an invalid name."""
    name = name.strip()
    if not name or len(name) > MAX_CHARS or not name.isprintable() or set(name) & set("<>"):
        raise ValueError(
            translatable("a name is one line of at most {maximum} letters, without < and >", maximum=MAX_CHARS)
        )
    found = _NAME.search(_blank_comments(text))
    if found:
        return f"{text[: found.start()]}- Name: {name}{text[found.end() :]}"
    gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
    return f"{text}{gap}- Name: {name}\n"


def _blank_comments(text: str) -> str:
    """Replace comments by blanks of the same length, so that positions stay valid."""
    return _COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
