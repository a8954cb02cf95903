"""Path patterns with `*`, `?`, `[a-z]`, `{a,b}` and `**`, matched in linear time for every pattern.

Each path component is matched by a regular expression of atomic groups, which do not backtrack; for `**`, as in any
glob matcher, only the last one passed is retried.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from hob.core.errors import InvalidCall

_MAGIC = re.compile(r"[*?\[{\\]")
_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")
_MAX_CHOICES = 64
_LONGEST = 1_000

_Part = re.Pattern[str] | None
"""Pattern of a path component; None stands for `**`."""


class Glob:
    """A pattern for paths beneath a folder. Raises InvalidCall for an invalid pattern."""

    def __init__(self, pattern: str) -> None:
        self._choices = [_compiled(choice) for choice in _expanded(pattern)]

    def matches(self, parts: Sequence[str]) -> bool:
        """Return whether the whole path matches."""
        return any(_fits(choice, parts) for choice in self._choices)


def split_fixed_prefix(pattern: str) -> tuple[str, str]:
    """Split off the leading folders without wildcards; return them and the rest of the pattern."""
    parts = pattern.split("/")
    count = 0
    while count < len(parts) - 1 and not _MAGIC.search(parts[count]):
        count += 1
    return "/".join(parts[:count]) or ("/" if pattern.startswith("/") else ""), "/".join(parts[count:])


def _expanded(pattern: str) -> list[str]:
    if len(pattern) > _LONGEST:
        raise InvalidCall(f"the pattern has {len(pattern):,} characters, more than {_LONGEST:,}.")
    done, todo = [], [pattern]
    while todo:
        each = todo.pop()
        if (found := _BRACES.search(each)) is None:
            done.append(each)
        else:
            todo += [each[: found.start()] + choice + each[found.end() :] for choice in found[1].split(",")]
        if len(done) + len(todo) > _MAX_CHOICES:
            raise InvalidCall(f"the pattern has more than {_MAX_CHOICES} choices in braces.")
    return done


def _compiled(pattern: str) -> tuple[_Part, ...]:
    parts: list[_Part] = []
    for part in pattern.lstrip("/").split("/"):
        if part != "**":
            parts.append(_part(part))
        elif not parts or parts[-1] is not None:
            parts.append(None)
    if parts and parts[-1] is None:  # everything beneath the folder, but not the folder itself
        parts.append(_part("*"))
    return tuple(parts)


@lru_cache(maxsize=2_000)
def _part(pattern: str) -> re.Pattern[str]:
    """Compile one component. After a star, the shortest match of the rest is as good as any, so no other match is
    tried.
    """
    pieces: list[str] = [""]
    n = 0
    while n < len(pattern):
        char = pattern[n]
        n += 1
        if char == "*":
            if pieces[-1] or len(pieces) == 1:
                pieces.append("")
        elif char == "?":
            pieces[-1] += "."
        elif char == "\\" and n < len(pattern):
            pieces[-1] += re.escape(pattern[n])
            n += 1
        elif char == "[" and (end := _class_end(pattern, n)) > 0:
            pieces[-1] += _class(pattern[n:end])
            n = end + 1
        else:
            pieces[-1] += re.escape(char)
    first, *rest = pieces
    if not rest:
        return re.compile(first, re.DOTALL)
    middle = "".join(f"(?>.*?{piece})" for piece in rest[:-1])
    # the part after the last star has a fixed length and is at the very end
    return re.compile(f"{first}{middle}.*{rest[-1]}", re.DOTALL)


def _class_end(pattern: str, start: int) -> int:
    """Return where the brackets close, or -1 if they do not. A `]` right after the opening bracket belongs to the
    class.
    """
    start += pattern[start : start + 1] in ("!", "^")
    return pattern.find("]", start + 1)


def _class(body: str) -> str:
    negated = body[0] in "!^"
    body = body[1:] if negated else body
    inner = ""
    n = 0
    while n < len(body):
        low = body[n]
        if body[n + 1 : n + 2] == "-" and n + 2 < len(body):
            high = body[n + 2]
            inner += f"{re.escape(low)}-{re.escape(high)}" if low <= high else ""
            n += 3
            continue
        inner += re.escape(low)
        n += 1
    if not inner:
        return "." if negated else "(?!)"
    return f"[{'^' if negated else ''}{inner}]"


def _fits(pattern: Sequence[_Part], parts: Sequence[str]) -> bool:
    p = n = 0
    star, resume = -1, 0
    while n < len(parts):
        if p < len(pattern) and (part := pattern[p]) is None:
            star, resume = p, n
            p += 1
        elif p < len(pattern) and part is not None and part.fullmatch(parts[n]):
            p += 1
            n += 1
        elif star >= 0:
            resume += 1
            p, n = star + 1, resume
        else:
            return False
    return p == len(pattern)
