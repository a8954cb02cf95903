"""Input typed into a running command: complete lines without editing keys, so that the judged text is the text read.

Typed in pieces, or with editing keys, a shell could read a different command than the judged one.
"""

from hob.core.errors import ToolFailed

KEYS = frozenset({"\x03", "\x04", "\x1a", "\x1c"})
"""Keys that may be sent alone: Ctrl-C, Ctrl-D, Ctrl-Z and Ctrl-backslash, which end or stop something."""
_WHOLE = "it has to be whole lines: end it with \\n (or set eof), and let no line end with a backslash"
_KEYS = "a line is typed as it stands, without keys that edit it. Ctrl-C is \\u0003, alone"


def check_typed(data: str, *, end: bool) -> None:
    """Check that this may be typed; `end` also closes the input line. Raises ToolFailed, which explains the correct
    form.
    """
    if not data or data in KEYS:
        return
    if any(sign < " " and sign not in "\n\t" for sign in data) or "\x7f" in data:
        raise ToolFailed(f"not written: {_KEYS}")
    if not (end or data.endswith("\n")) or data.rstrip("\n").endswith("\\"):
        raise ToolFailed(f"not written: {_WHOLE}")
