"""File names as people and models write them, and suggestions of similar existing names."""

import os
import unicodedata
from collections.abc import Iterable
from contextlib import suppress
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from urllib.parse import unquote, urlsplit

from hob.core.errors import InvalidCall

_LONGEST = 4095  # PATH_MAX without its NUL
_LISTED = 5_000  # entries of a folder examined for a similar name
_SPACES = str.maketrans(dict.fromkeys("\u00a0\u202f\u2007", " "))  # used in the names of macOS screenshots, for example


def resolve_spelling(spelled: str, home: Path | None) -> str:
    """Resolve `file://` and `~`. Raises InvalidCall if the text cannot be a file name."""
    name = spelled
    if name[:5].lower() == "file:":
        url = urlsplit(name)
        if url.netloc not in ("", "localhost") or url.query or url.fragment or not url.path.startswith("/"):
            raise InvalidCall(f"{spelled} names no file of this machine; write its path.")
        name = unquote(url.path, errors="strict") if "%" in url.path else url.path
    if name == "~" or name.startswith("~/"):
        if home is None:
            raise InvalidCall("~ leads nowhere here; write the whole path.")
        name = f"{home}{name[1:]}"
    if not name:
        raise InvalidCall("The path is empty; `.` is the folder where relative names start.")
    try:
        length = len(name.encode())
    except UnicodeEncodeError as error:
        raise InvalidCall(f"{spelled!r} is no text and so no path.") from error
    if "\0" in name or length > _LONGEST or any(len(part.encode()) > 255 for part in name.split("/")):
        raise InvalidCall(f"{spelled[:80]!r} can be no path: it is too long or holds a NUL.")
    return name


def check_new_name(name: str) -> None:
    """Raise InvalidCall if the name of a new file contains invisible characters: control and direction characters."""
    for char in name:
        if unicodedata.category(char) in ("Cc", "Cf", "Zl", "Zp"):
            raise InvalidCall(f"{name!r} holds the character {char!r}, which nobody would see; leave it out.")


def same_name(folder: str, name: str) -> str | None:
    """Return the only entry of this folder that reads the same, with another composition (NFC, NFD) or other spaces."""
    if name.isascii() and " " not in name:
        return None
    wanted = _folded(name)
    with suppress(OSError), os.scandir(folder) as entries:
        found = [entry.name for entry in islice(entries, _LISTED) if _folded(entry.name) == wanted]
        return found[0] if len(found) == 1 else None
    return None


def nearest_names(folder: str, name: str, entries: Iterable[str]) -> str:
    """Return a sentence with the entries most similar to the name, or with some entries if none is similar."""
    known = {display_name(entry).lower(): display_name(entry) for entry in islice(entries, _LISTED)}
    if close := get_close_matches(display_name(name).lower(), known, n=3, cutoff=0.6):
        return f"{folder} holds {' and '.join(known[each] for each in close)}."
    if not known:
        return f"{folder} is empty."
    return f"{folder} holds {', '.join(sorted(known.values())[:8])}{' and more' if len(known) > 8 else ''}."


def display_name(name: str) -> str:
    """Return a file name as displayable text; invalid UTF-8 and control characters become escapes."""
    if name.isascii() and name.isprintable():
        return name
    text = os.fsencode(name).decode("utf-8", "backslashreplace")
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).translate(_SPACES)
