"""Detection of changes that would make git or Mercurial run something later, outside the sandbox.

Starting a hook is not the only way: `git status`, which editors and prompts run automatically, runs `core.fsmonitor`
from the settings, looks for settings where `.git/commondir` points, and enters nested repositories. Commands may only
introduce settings known to run nothing.

https://git-scm.com/docs/git-config, https://git-scm.com/docs/gitrepository-layout
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from os.path import lexists
from pathlib import Path
from stat import S_ISLNK, S_ISREG

from hob.tools.undo.snapshots.entries import EntryKind, Snapshot, SnapshotChange, SnapshotEntry
from hob.tools.undo.snapshots.snapshot_walk import OBEYED

_SETTINGS = ("config", "config.worktree")
_MARKS = ("HEAD", "commondir")
_LARGEST = 200_000  # bytes; git's own settings have hundreds
_HEADER = re.compile(r'\s*\[([A-Za-z0-9-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\]\s*')
_PAIR = re.compile(r"\s*([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*?))?\s*")
_HARMLESS = re.compile(
    r"core\.(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol"
    r"|safecrlf|quotepath|abbrev|untrackedcache|preloadindex|sparsecheckout|sparsecheckoutcone|worktree)"
    r"|extensions\.(?:objectformat|worktreeconfig|partialclone|refstorage)"
    r"|remote\..+\.(?:url|pushurl|fetch|push|tagopt|prune|promisor|partialclonefilter|mirror)"
    r"|branch\..+\.(?:remote|merge|rebase|pushremote|description)"
    r"|submodule\..+\.(?:url|active|branch|ignore)|user\.(?:name|email)|init\.defaultbranch|pull\.(?:rebase|ff)"
    r"|push\.(?:default|autosetupremote)|fetch\.prune|rebase\.autostash|merge\.conflictstyle"
    r"|(?:color|column|status|advice)\.[a-z]+|lfs\.repositoryformatversion"
)
_PLAIN_ADDRESS = re.compile(r"(?!-)(?!.*::).*", re.DOTALL)

Content = Callable[[SnapshotEntry], bytes | None]
"""Returns a file's earlier content, or None if it is unknown."""


def runs_something(now: Snapshot, change: SnapshotChange, content: Content) -> bool:
    """Return whether this change, which led to the snapshot `now`, makes git or Mercurial run something new.

    Only the snapshot tells: a command that runs on may put files out of the way for a moment.
    """
    if change.after is None or change.after.kind is EntryKind.FOLDER:
        return False
    place = now.tree / change.path
    name, folder = place.name.casefold(), place.parent  # some file systems are case-insensitive
    if name in _SETTINGS and _is_repository(now, folder):
        return _adds_harmful_settings(change, content, _git_settings)
    if name == "hgrc" and folder.name.casefold() == ".hg":
        return _adds_harmful_settings(change, content, _hg_settings)
    if name == "commondir":
        return _is_foreign_commondir(folder, content(change.after))
    if makes_repository(change):
        return _has_dormant_code(now, folder, content)
    if name == "hooks":
        return _is_repository(now, folder)
    return folder.name.casefold() == "hooks" and not name.endswith(".sample") and _is_repository(now, folder.parent)


def settings_that_run(repository: Path) -> list[str]:
    """Return the settings of this repository (its `.git`) that may run something, or refer to settings that may."""
    linked, texts = list[str](), list[str]()
    for name in (*_SETTINGS, "commondir"):
        path = f"{repository}/{name}"
        mode = mode_of(path)
        if S_ISLNK(mode):
            linked.append(name)
        elif S_ISREG(mode) and name in _SETTINGS:
            texts.append(_start_of(path))
    return [*linked, *(key for text in texts for key, _ in _harmful(_git_settings(text)))]


def mode_of(path: str) -> int:
    """Return the type and permissions of a path, of a link itself; 0 if it does not exist."""
    try:
        return os.lstat(path).st_mode
    except (OSError, ValueError):
        return 0


def makes_repository(change: SnapshotChange) -> bool:
    """Return whether this new file turns its folder into a repository."""
    return Path(change.path).name.casefold() == "head" and change.before is None


def with_reverted(now: Snapshot, reverted: Iterable[SnapshotChange]) -> Snapshot:
    """Return what git and Mercurial obey in a snapshot, as it is once these changes have been reverted."""
    before = {each.path: each.before for each in reverted}
    found = {path: before.get(path, entry) for path, entry in now.entries.items() if _may_be_obeyed(path.casefold())}
    return replace(now, entries={path: entry for path, entry in found.items() if entry is not None})


def _may_be_obeyed(path: str) -> bool:
    folder, _, name = path.rpartition("/")
    return name in OBEYED or folder.endswith("hooks")


def is_repository(folder: Path) -> bool:
    """Return whether git would look for repository settings here, or would if one more file existed."""
    return folder.name.casefold() == ".git" or any(lexists(folder / name) for name in _MARKS)


def _is_repository(snapshot: Snapshot, folder: Path) -> bool:
    """Return the same for a folder in a snapshot. An existing file counts, too, as the name may be in capitals."""
    return any(_below(snapshot.tree, folder / name) in snapshot.entries for name in _MARKS) or is_repository(folder)


def _below(tree: Path, path: Path) -> str:
    return str(path).removeprefix(f"{tree}/")


def _is_foreign_commondir(folder: Path, text: bytes | None) -> bool:
    """Return whether settings and hooks come from somewhere other than a worktree's own repository."""
    own = [folder.parent.name, folder.parent.parent.name] == ["worktrees", ".git"]
    return not own or text not in (b"../..\n", b"../..")


def _has_dormant_code(now: Snapshot, folder: Path, content: Content) -> bool:
    """Return whether the folder already contains settings or hooks that the new file would activate."""
    prefix = _below(now.tree, folder / "_").casefold()[:-1]
    for path, entry in now.entries.items():
        place = path.casefold()
        if not place.startswith(prefix) or entry.kind is EntryKind.FOLDER:
            continue
        name = place.removeprefix(prefix)
        if name == "hooks" or (name.startswith("hooks/") and not name.endswith(".sample")):
            return True
        if name in _SETTINGS and ((text := _text(entry, content)) is None or any(_harmful(_git_settings(text)))):
            return True
    return False


def _text(entry: SnapshotEntry | None, content: Content) -> str | None:
    file = entry is not None and entry.kind is EntryKind.FILE and entry.stamp.size <= _LARGEST
    found = content(entry) if entry is not None and file else None
    return None if found is None else found.decode("utf-8", "replace")


def _adds_harmful_settings(
    change: SnapshotChange, content: Content, read: Callable[[str], Iterator[tuple[str, str]]]
) -> bool:
    """Return whether settings were added that may run something. Earlier settings are the owner's responsibility."""
    had, text = set(read(_text(change.before, content) or "")), _text(change.after, content)
    return text is None or any(each not in had for each in _harmful(read(text)))


def _harmful(settings: Iterator[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    for key, value in settings:
        if _HARMLESS.fullmatch(key) is None or (key.endswith("url") and _PLAIN_ADDRESS.fullmatch(value) is None):
            yield key, value


def _git_settings(text: str) -> Iterator[tuple[str, str]]:
    """Yield the settings as git understands them. Unusual syntax yields an unknown setting."""
    section = ""
    for line in text.split("\n"):
        stripped = line.strip()
        if not stripped or stripped[0] in "#;":
            continue
        if (header := _HEADER.fullmatch(line)) is not None:
            section = ".".join(part for part in (header[1].lower(), header[2]) if part)
        elif (pair := _PAIR.fullmatch(line)) is not None and not line.endswith("\\"):
            yield f"{section}.{pair[1].lower()}", pair[2] or ""
        else:
            yield "?", line


def _hg_settings(text: str) -> Iterator[tuple[str, str]]:
    """Yield the settings as for git remotes, if they are only addresses. https://www.mercurial-scm.org/doc/hgrc.5.html"""
    section = ""
    for line in text.split("\n"):
        stripped = line.strip()
        if not stripped or stripped[0] in "#;":
            continue
        name, equals, value = stripped.partition("=")
        if stripped == "[paths]":
            section = "remote.hg"
        elif section and equals and line[0] not in " \t":
            yield f"{section}.url", value.strip()
        else:
            section = ""
            yield f"? {name}", stripped


def _start_of(path: Path | str) -> str:
    with open(path, "rb") as file:  # noqa: PTH123 - before every call of git: a Path costs as much as reading it
        text = file.read(_LARGEST + 1)
    return text.decode("utf-8", "replace") if len(text) <= _LARGEST else "?"
