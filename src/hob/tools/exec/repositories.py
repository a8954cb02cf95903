"""Detection of changes that would make git or Mercurial run something later, outside the sandbox.

Starting a hook is not the only way: `git status`, which editors and prompts run automatically, runs `core.fsmonitor`
from the settings, looks for settings where `.git/commondir` points, and enters nested repositories. Commands may only
introduce settings known to run nothing.

https://git-scm.com/docs/git-config, https://git-scm.com/docs/gitrepository-layout
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from os.path import lexists, normpath
from pathlib import Path
from stat import S_ISLNK, S_ISREG

from hob.tools.undo.snapshots.entries import EntryKind, Snapshot, SnapshotChange, SnapshotEntry
from hob.tools.undo.snapshots.repository_files import LARGEST, is_repository_file

_SETTINGS = ("config", "config.worktree")
_MARKS = ("HEAD", "commondir")
_HEADER = re.compile(r'\s*\[([A-Za-z0-9-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\]\s*')
_PAIR = re.compile(r"\s*([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*?))?\s*")
_HARMLESS = re.compile(
    r"core\.(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol"
    r"|safecrlf|quotepath|abbrev|untrackedcache|preloadindex|sparsecheckout|sparsecheckoutcone)"
    r"|extensions\.(?:objectformat|worktreeconfig|partialclone|refstorage)"
    r"|remote\..+\.(?:url|pushurl|fetch|push|tagopt|prune|promisor|partialclonefilter|mirror)"
    r"|branch\..+\.(?:remote|merge|rebase|pushremote|description)"
    r"|submodule\..+\.(?:url|active|branch|ignore)|user\.(?:name|email)|init\.defaultbranch|pull\.(?:rebase|ff)"
    r"|push\.(?:default|autosetupremote)|fetch\.prune|rebase\.autostash|merge\.conflictstyle"
    r"|(?:color|column|status|advice)\.[a-z]+|lfs\.repositoryformatversion"
)
_PLAIN_ADDRESS = re.compile(r"(?!-)(?!.*::)[^\"\\]*", re.DOTALL)
_HG_PATH = re.compile(r"[\w.:-]+ *=[^\r]*")
_RUNS = re.compile(rb"(?m)^[ \t]*(?:x|exec)[ \t].*")
_NEW_INDEX = 4  # the version that compresses paths

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
    if name == "commondir":
        return _is_foreign_commondir(folder, content(change.after))
    if name == "git-rebase-todo":
        return _adds_commands(change, content)
    if name == ".hg" or folder.name.casefold() == ".hg":
        if name in ("hgrc", "hgrc-not-shared"):
            return bool(_added_settings(change, content, _hg_settings))
        return name in (".hg", "sharedpath")
    if folder.name.casefold() == "hooks":
        return not name.endswith(".sample") and _is_repository(now, folder.parent)
    if not _is_repository(now, folder):
        return False
    if name in _SETTINGS:
        found = _added_settings(change, content, _git_settings)
        return any(key != "core.worktree" or not _is_submodule(now, folder, value) for key, value in found)
    return name == "hooks" or (name == "index" and _adds_paths_of_git(change, content))


def settings_that_run(repository: Path) -> list[str]:
    """Return the settings of this repository (its `.git`) that may run something, or refer to settings that may."""
    linked, texts = list[str](), list[str]()
    for name in (*_SETTINGS, "commondir"):
        path = f"{repository}/{name}"
        mode = mode_of(path)
        if S_ISLNK(mode) or (mode and name not in _SETTINGS):
            linked.append(name)
        elif S_ISREG(mode):
            texts.append(_start_of(path))
    return [*linked, *(key for text in texts for key in _harmful_keys(text))]


@lru_cache(16)  # read before every call of git, and rarely changed
def _harmful_keys(text: str) -> tuple[str, ...]:
    return tuple(key for key, _ in _harmful(_git_settings(text)))


def mode_of(path: str) -> int:
    """Return the type and permissions of a path, of a link itself; 0 if it does not exist."""
    try:
        return os.lstat(path).st_mode
    except (OSError, ValueError):
        return 0


def makes_repository(change: SnapshotChange) -> bool:
    """Return whether this new file turns its folder into a repository."""
    new = change.before is None or change.before.kind is EntryKind.FOLDER
    return Path(change.path).name.casefold() == "head" and new


def waking(
    now: Snapshot, making: Sequence[SnapshotChange], instead: Mapping[str, SnapshotEntry | None], content: Content
) -> list[SnapshotChange]:
    """Return those changes, of `making` ones, that turn a folder with settings or hooks into a repository that runs
    them.

    What is in the folder is what the snapshot says, or else the entries `instead`.
    """
    folders = {_folder_of(each.path) for each in making}
    asleep = set[str]()
    for path, found in now.entries.items():
        if not folders or not is_repository_file(path):
            continue
        entry, (folder, _, name) = instead.get(path, found), path.casefold().rpartition("/")
        if entry is None or entry.kind is EntryKind.FOLDER:
            continue
        if folder.rpartition("/")[2] == "hooks" and not name.endswith(".sample"):
            asleep.add(folder.rpartition("/")[0])
        elif name == "hooks":
            asleep.add(folder)
        elif name in _SETTINGS and folder in folders:
            text = _text(entry, content)
            if text is None or any(_harmful(_git_settings(text))):
                asleep.add(folder)
    return [each for each in making if _folder_of(each.path) in asleep]


def _folder_of(path: str) -> str:
    return path.casefold().rpartition("/")[0]


def _is_repository(snapshot: Snapshot, folder: Path) -> bool:
    """Return whether git would look for repository settings here, or would if one more file existed.

    A file on disk counts, too, as the name may be in capitals.
    """
    if folder.name.casefold() == ".git":
        return True
    return any(_path_in(snapshot.tree, folder / each) in snapshot.entries or lexists(folder / each) for each in _MARKS)


def _path_in(tree: Path, path: Path) -> str:
    return str(path).removeprefix(f"{tree}/")


def _is_submodule(now: Snapshot, folder: Path, value: str) -> bool:
    """Return whether these settings of a submodule name its own folder in this tree."""
    target = _path_in(now.tree, Path(normpath(folder / value)))
    entry, parts = now.entries.get(target), [each.casefold() for each in Path(target).parts]
    inside = "/.git/modules/" in f"{folder}/".casefold() and ".git" not in parts
    return inside and entry is not None and entry.kind is EntryKind.FOLDER


def _is_foreign_commondir(folder: Path, text: bytes | None) -> bool:
    """Return whether settings and hooks come from somewhere other than a worktree's own repository."""
    own = [folder.parent.name, folder.parent.parent.name] == ["worktrees", ".git"]
    return not own or text not in (b"../..\n", b"../..")


def _text(entry: SnapshotEntry | None, content: Content) -> str | None:
    file = entry is not None and entry.kind is EntryKind.FILE and entry.stamp.size <= LARGEST
    found = content(entry) if entry is not None and file else None
    return None if found is None else found.decode("utf-8", "replace")


def _added_settings(
    change: SnapshotChange, content: Content, read: Callable[[str], Iterator[tuple[str, str]]]
) -> list[tuple[str, str]]:
    """Return added settings that may run something. Earlier settings are the owner's responsibility."""
    had, text = set(read(_text(change.before, content) or "")), _text(change.after, content)
    return [("?", "")] if text is None else [each for each in _harmful(read(text)) if each not in had]


def _adds_commands(change: SnapshotChange, content: Content) -> bool:
    """Return whether an interrupted rebase would run something more. https://git-scm.com/docs/git-rebase"""
    before = content(change.before) if change.before is not None else b""
    after = content(change.after) if change.after is not None else b""
    return after is None or not set(_RUNS.findall(after)) <= set(_RUNS.findall(before or b""))


def _adds_paths_of_git(change: SnapshotChange, content: Content) -> bool:
    """Return whether a checkout would write into a `.git`: git trusts the paths in its index.

    https://git-scm.com/docs/index-format
    """
    before = (content(change.before) if change.before is not None else None) or b""
    after = content(change.after) if change.after is not None else None
    if after is None or (after[7:8] == bytes([_NEW_INDEX]) != before[7:8]):
        return True
    return after.lower().count(b".git/") > before.lower().count(b".git/")


def _harmful(settings: Iterator[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    for key, value in settings:
        address = key.endswith(("url", "remote"))
        if _HARMLESS.fullmatch(key) is None or (address and _PLAIN_ADDRESS.fullmatch(value) is None):
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
            section = "?"
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
        elif section and equals and _HG_PATH.fullmatch(line) is not None:
            yield f"{section}.url", value.strip()
        else:
            section = ""
            yield f"? {name}", stripped


def _start_of(path: Path | str) -> str:
    with open(path, "rb") as file:  # noqa: PTH123 - before every call of git: a Path costs as much as reading it
        text = file.read(LARGEST + 1)
    return text.decode("utf-8", "replace") if len(text) <= LARGEST else "?"
