"""Where the words of a message's sender end, and a message begins that was only passed on."""

import re

_MARK = re.compile(
    r"^[ \t]*(?:-{2,}[ ]?(?:forwarded|original|weitergeleitet|ursprüngliche)\b.*"
    r"|(?:on|am|le) .{4,200}(?:wrote|schrieb|écrit)[^\n]{0,80}:[ \t]*)$",
    re.MULTILINE | re.IGNORECASE,
)


def split_forwarded(text: str) -> tuple[str, str]:
    """What the sender wrote, and from the line on by which mail programs mark a forwarded message, what others did."""
    mark = _MARK.search(text)
    return (text, "") if mark is None else (text[: mark.start()], text[mark.start() :])
