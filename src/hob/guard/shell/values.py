"""What is known of a word: text in which signs stand for what only the shell will know.

No argument of a program can contain NUL, and a text with the other control characters used here is cleaned of them
before it is read (and told), so a sign is never mistaken for text.
"""

import posixpath
import re

ANY = "\x00"  # any text, empty too; unquoted it may even be several words
STAR = "\x01"  # an unquoted `*`: any part of a file's name
ONE = "\x02"  # an unquoted `?` or `[...]`: one character of a file's name
HOME = "\x03"  # a home directory
HERE = "\x04"  # the directory in which the command starts

LONGEST = 16_384  # characters of a value that are followed; what grows longer is ANY

_SIGN = re.compile("[\x00-\x04]")
_SHOWN = {ANY: "…", STAR: "*", ONE: "?", HOME: "~", HERE: "."}
_GLOB = re.compile(r"\*+|\?|\[[^\]/\n]{1,64}\]")


def words(text: str) -> tuple[str, ...]:
    """The words of a table."""
    return tuple(text.split())


def is_known(value: str) -> bool:
    """Is every character of it known?"""
    return _SIGN.search(value) is None


def shown(value: str) -> str:
    """The value for people: `…` is what is not known."""
    return _SIGN.sub(lambda sign: _SHOWN[sign[0]], value) if _SIGN.search(value) else value


def globbed(text: str) -> str:
    """Unquoted text with its wildcards as signs."""
    if "*" in text or "?" in text or "[" in text:
        return _GLOB.sub(lambda found: STAR if found[0][0] == "*" else ONE, text)
    return text


def capped(value: str) -> str:
    """The value, or ANY when it is too long to be followed."""
    return value if len(value) <= LONGEST else ANY


def joined(directory: str, path: str) -> str:
    """The path as seen from the directory."""
    if not path or path[0] in "/" + HOME + ANY:
        return path or directory
    return posixpath.join(directory, path)


def pattern(value: str) -> re.Pattern[str] | None:
    """What the value may turn out to be, or nothing when it has too many unknown parts to say."""
    signs = _SIGN.findall(value)
    if len(signs) > 3 or len(value) > 256:
        return None
    parts = {ANY: ".*", STAR: "[^/]*", ONE: "[^/]", HOME: ".+", HERE: ".+"}
    return re.compile("".join(parts.get(char) or re.escape(char) for char in value), re.DOTALL)


def may_be(value: str, text: str) -> bool:
    """May the value turn out to be this text?"""
    if value == text:
        return True
    if not _SIGN.search(value):
        return False
    found = pattern(value)
    return found is None or found.fullmatch(text) is not None
