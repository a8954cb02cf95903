"""Titles of sessions, tasks and replies in lists."""

TITLE_LENGTH = 60
"""Maximum characters of a title."""


def title_of(text: str | None) -> str:
    """Return the first line of a text, shortened for a list."""
    for line in (text or "").splitlines():
        if line.strip():
            line = " ".join(line.split())
            return line if len(line) <= TITLE_LENGTH else line[: TITLE_LENGTH - 1] + "…"
    return ""
