"""Reading what cannot be parsed: every run of words as if it were a command, so that nothing hides behind an error."""

import re

from hob.guard.shell.values import ANY, HOME

_BETWEEN = re.compile(r"[;|&(){}`\n]+|\$\(|\b(?:then|do|else)\b")
_WORD = re.compile(r"[^\s<>]+")
_MOST = 300
_EXPANSION = re.compile(r"\$\{?[A-Za-z0-9_@*#?!-]+\}?")


def loose(text: str) -> list[tuple[str, ...]]:
    """Argument lists that the text may hold, with quotes and backslashes left out."""
    found: list[tuple[str, ...]] = []
    for piece in _BETWEEN.split(text, _MOST):
        plain = _EXPANSION.sub(_expanded, re.sub(r"\\\n|['\"\\]", "", piece))
        words = tuple(HOME + word[1:] if word[0] == "~" else word for word in _WORD.findall(plain))
        if words and len(words) < 200:
            found.append(words)
    return found


def _expanded(found: re.Match[str]) -> str:
    return HOME if found[0] in ("$HOME", "${HOME}") else ANY
