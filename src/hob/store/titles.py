"""Titles of sessions, tasks and replies in lists."""

TITLE_LENGTH = 60
"""Maximum characters of a title."""
_EXAMINED = 1_000


def title_of(text: str | None) -> str:
    """Return the first line of a text, shortened for a list."""
    text = text or ""
    if len(text) <= TITLE_LENGTH and text.isprintable() and "  " not in text:
        return text.strip()
    for line in text.lstrip()[:_EXAMINED].splitlines():
        line = " ".join(line.split())
        return line if len(line) <= TITLE_LENGTH else line[: TITLE_LENGTH - 1] + "…"
    return ""
