"""Titles of sessions, tasks and replies in lists."""

TITLE_LENGTH = 60
"""Maximum characters of a title."""
_EXAMINED = 1_000


def title_of(text: str | None) -> str:
    """Return the first line of a text, shortened for a list."""
    for line in (text or "").lstrip()[:_EXAMINED].splitlines():
        line = " ".join(line.split())
        return line if len(line) <= TITLE_LENGTH else line[: TITLE_LENGTH - 1] + "…"
    return ""
