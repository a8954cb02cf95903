"""Detection of changes that would make git or Mercurial run something later, outside the sandbox.

Starting a hook is not the only way: `git status`, which editors and prompts run automatically, runs `core.fsmonitor`
from the settings, looks for settings where `.git/commondir` points, and enters nested repositories. Commands may only
introduce settings known to run nothing.

https://git-scm.com/docs/git-config, https://git-scm.com/docs/gitrepository-layout
"""

import os
import re
from collections.abc import Callable, Iterator
from os.path import lexists
from pathlib import Path
from stat import S_ISLNK, S_ISREG

from hob.tools.undo.snapshots.entries import EntryKind, SnapshotChange, SnapshotEntry

_SETTINGS = ("config", "config.worktree")
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


def runs_something(tree: Path, change: SnapshotChange, content: Content) -> bool:
    """Return whether this change below the folder `tree` makes git or Mercurial run something new."""
    if change.after is None:
        return False
    place = tree / change.path
    name, folder = place.name.casefold(), place.parent  # some file systems are case-insensitive
    if name in _SETTINGS and is_repository(folder):
        return _adds_harmful_settings(change, content, _git_settings)
    if name == "hgrc" and folder.name == ".hg":
        return _adds_harmful_settings(change, content, _hg_settings)
    if name == "commondir" and is_repository(folder):
        return _is_foreign_commondir(folder, content(change.after))
    if makes_repository(change):
        return _has_dormant_code(folder)
    if name == "hooks" and is_repository(folder):
        return change.after.kind is not EntryKind.FOLDER
    return folder.name.casefold() == "hooks" and not name.endswith(".sample") and is_repository(folder.parent)


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


def is_repository(folder: Path) -> bool:
    """Return whether git would look for repository settings here, or would if one more file existed."""
    return folder.name.casefold() == ".git" or any(lexists(folder / name) for name in ("HEAD", "commondir"))


def _is_foreign_commondir(folder: Path, text: bytes | None) -> bool:
    """Return whether settings and hooks come from somewhere other than a worktree's own repository."""
    own = [folder.parent.name, folder.parent.parent.name] == ["worktrees", ".git"]
    return not own or text not in (b"../..\n", b"../..")


def _has_dormant_code(folder: Path) -> bool:
    """Return whether the folder already contains settings or hooks that the new file would activate."""
    for name in _SETTINGS:
        settings = folder / name
        if settings.is_symlink() or (settings.is_file() and any(_harmful(_git_settings(_start_of(settings))))):
            return True
    hooks = folder / "hooks"
    found = hooks.iterdir() if hooks.is_dir() and not hooks.is_symlink() else ()
    return hooks.is_symlink() or any(not each.name.endswith(".sample") for each in found)


def _adds_harmful_settings(
    change: SnapshotChange, content: Content, read: Callable[[str], Iterator[tuple[str, str]]]
) -> bool:
    """Return whether settings were added that may run something. Earlier settings are the owner's responsibility."""
    assert change.after is not None  # noqa: S101 - what was removed was asked about before
    if change.after.kind is not EntryKind.FILE or change.after.stamp.size > _LARGEST:
        return True
    after = content(change.after)
    if after is None:
        return True
    old = content(change.before) if change.before is not None and change.before.kind is EntryKind.FILE else None
    had = set(read((old or b"").decode("utf-8", "replace")))
    return any(each not in had for each in _harmful(read(after.decode("utf-8", "replace"))))


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
