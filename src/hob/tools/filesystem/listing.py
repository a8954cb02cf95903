"""Listings for the model: entries of a folder, and files that match a pattern. Blocking; called in threads."""

import os
from contextlib import suppress
from heapq import nlargest
from itertools import islice

from hob.core.errors import ToolFailed
from hob.tools.filesystem.directory_walk import DirectoryEntry, DirectoryWalk
from hob.tools.filesystem.globs import Glob, split_fixed_prefix
from hob.tools.filesystem.ignore_rules import GITIGNORE, LARGEST_IGNORE_FILE, read_rules
from hob.tools.filesystem.names import display_name
from hob.tools.filesystem.paths import Place, Roots, TreeChanged

MAX_VISITED = 100_000
"""Maximum entries of a tree examined."""

MAX_LISTED = 1_000
"""Maximum entries of a folder shown."""


def list_folder(roots: Roots, spelled: str, depth: int, *, everything: bool) -> str:
    """Return the folder's entries, one per line. Raises ToolFailed, ToolRefused."""
    descriptor, place = roots.open_listing(spelled)
    try:
        walk = _walk_of(roots, place, everything=everything or depth == 1, depth=depth)
        lines = [_line(entry) for entry in islice(walk.entries(descriptor), MAX_LISTED + 1)]
    finally:
        os.close(descriptor)
    if not lines:
        return "(empty)"
    more = f"\n[more than {MAX_LISTED:,} entries; list a folder in it]" if len(lines) > MAX_LISTED else ""
    return "\n".join(lines[:MAX_LISTED]) + more


def find_files(roots: Roots, pattern: str, spelled: str, limit: int, *, everything: bool) -> str:
    """Return the matching files beneath a folder, newest first. Links are not followed.

    Raises ToolFailed, ToolRefused.
    """
    start, rest = start_of(pattern, spelled)
    folders = rest.endswith("/")
    rest = rest.rstrip("/")
    if not rest:
        raise ToolFailed("the pattern is empty; `*` fits every file.")
    glob = Glob(rest if "/" in pattern.rstrip("/") else f"**/{rest}")
    descriptor, place = roots.open_listing(start)
    found: list[tuple[float, str]] = []
    visited = 0
    try:
        for entry in islice(_walk_of(roots, place, everything=everything).entries(descriptor), MAX_VISITED):
            visited += 1
            if entry.is_link or entry.is_folder != folders or not glob.matches(entry.parts):
                continue
            if (seen := entry.look()) is not None:
                found.append((seen.st_mtime, _joined(start, "/".join(display_name(part) for part in entry.parts))))
    finally:
        os.close(descriptor)
    remarks = []
    if len(found) > limit:
        remarks.append(f"the newest {limit:,} of {len(found):,}")
    if visited == MAX_VISITED:
        remarks.append(f"only the first {MAX_VISITED:,} entries were looked at; name a folder")
    lines = [path for _, path in nlargest(limit, found)]
    return ("\n".join(lines) or "(none)") + (f"\n[{'; '.join(remarks)}]" if remarks else "")


def start_of(pattern: str, spelled: str) -> tuple[str, str]:
    """Return the folder that may contain matches, and the pattern relative to it."""
    fixed, rest = split_fixed_prefix(pattern.removeprefix("./"))
    return (fixed if fixed.startswith(("/", "~")) else _joined(spelled, fixed)), rest


def rules_above(roots: Roots, place: Place) -> tuple[tuple[str, int], ...]:
    """Return the texts of the `.gitignore` files above a place in its root, with the depth of each."""
    found = []
    for n in range(len(place.parts)):
        with suppress(OSError, TreeChanged), roots.folder(place, place.parts[:n]) as folder:
            data = DirectoryEntry((GITIGNORE,), folder, False, False).read(LARGEST_IGNORE_FILE)
            if data is not None:
                found.append((data.decode("utf-8", "replace"), n))
    return tuple(found)


def _walk_of(roots: Roots, place: Place, *, everything: bool, depth: int = 100) -> DirectoryWalk:
    texts = () if everything else rules_above(roots, place)
    rules = tuple(rule for text, n in texts for rule in read_rules(text, n))
    return DirectoryWalk(place.path, roots.is_forbidden, everything, rules, depth, place.parts)


def _line(entry: DirectoryEntry) -> str:
    indent = "  " * (len(entry.parts) - 1)
    name = display_name(entry.name)
    if entry.is_folder:
        return f"{indent}{name}/"
    if entry.is_link:
        try:
            return f"{indent}{name} -> {display_name(os.readlink(entry.name, dir_fd=entry.folder))}"
        except OSError:
            return f"{indent}{name} -> ?"
    seen = entry.look()
    return f"{indent}{name}  {seen.st_size:,}" if seen is not None else f"{indent}{name}"


def _joined(start: str, rest: str) -> str:
    if start in ("", "."):
        return rest or "."
    return f"{start.rstrip('/')}/{rest}" if rest else start
