"""Titles of sessions, tasks and replies in lists: how long, and what is left out."""

TITLE_LENGTH = 60
"""Characters that a title has at most."""


def title_of(text: str | None) -> str:
    """The first line of a text, cut to what fits in a list."""
    for line in (text or "").splitlines():
        if line.strip():
            line = " ".join(line.split())
            return line if len(line) <= TITLE_LENGTH else line[: TITLE_LENGTH - 1] + "…"
    return ""
