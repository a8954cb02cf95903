"""The files of a workspace that are imported, and those that are skipped."""

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from hob.app.imports.contents import SkippedItem, SourceFile
from hob.app.imports.source_files import Object, Unreadable, read_object
from hob.core.translation.language import translatable
from hob.core.values import dataclass

MAX_BYTES = 10_000_000
MAX_FILES = 10_000
MAX_DEPTH = 12
NOTES = (".md", ".txt", ".jsonl")
_IGNORED = frozenset({".git", ".DS_Store", "__pycache__", "node_modules", ".venv", ".openclaw", ".clawhub"})
_NAMED = 12


@dataclass(frozen=True, slots=True)
class WorkspaceLayout:
    """The layout of a workspace: imported files and folders with their names in Hob's, and reasons to skip others."""

    files: Mapping[str, str]
    folders: Mapping[str, str]
    not_taken: Mapping[str, str]
    silent: frozenset[str] = frozenset()
    """Entries that are skipped without being listed, since they are imported elsewhere or not at all."""


def find_named_folder(written: object) -> Path | None:
    """Return the resolved folder that a configuration names, or None if it does not exist."""
    if not isinstance(written, str) or not written or "\0" in written:
        return None
    try:
        found = Path(written).expanduser().resolve()
    except (OSError, RuntimeError):
        return None
    return found if found.is_dir() else None


def read_config(path: Path, root: Path, left: list[SkippedItem]) -> Object:
    """Return the configuration in a file; an empty one if it is missing, or unreadable, which is listed as skipped."""
    try:
        return read_object(path, root) if path.exists() else {}
    except Unreadable as error:
        left.append(SkippedItem(str(path), str(error)))
        return {}


def transcripts(folder: Path, left: list[SkippedItem]) -> Iterator[Path]:
    """Yield the files of JSON lines in a folder. Symbolic links are listed, never followed."""
    for path in sorted(folder.glob("*.jsonl")) if folder.is_dir() and folder.resolve() == folder else ():
        if path.is_symlink() or not path.is_file():
            left.append(SkippedItem(str(path), translatable("it is a link or not a regular file")))
        else:
            yield path


def take_workspace(folder: Path, layout: WorkspaceLayout) -> tuple[list[SourceFile], list[SkippedItem]]:
    """Return the files of a workspace, and the skipped ones. Symbolic links are listed, never followed."""
    files: list[SourceFile] = []
    left: list[SkippedItem] = []
    others: list[str] = []
    for entry in _list_entries(folder, left):
        path, name = folder / entry.name, entry.name
        if name in layout.silent or name in _IGNORED:
            continue
        if name in layout.not_taken:
            left.append(SkippedItem(str(path), layout.not_taken[name]))
        elif name in layout.files and not entry.is_dir(follow_symlinks=False):
            _take_file(entry, path, PurePosixPath(layout.files[name]), files, left)
        elif name in layout.folders and entry.is_dir(follow_symlinks=False):
            only = NOTES if layout.folders[name] == "memory" else ()
            take_folder(path, PurePosixPath(layout.folders[name]), files, left, only=only, renamed=layout.files)
        elif entry.is_symlink():
            left.append(SkippedItem(str(path), translatable("it is a link; links are not followed")))
        else:
            others.append(name)
    if others:
        shown = ", ".join(others[:_NAMED]) + (f" and {len(others) - _NAMED} more" if len(others) > _NAMED else "")
        left.append(
            SkippedItem(f"{folder}: {shown}", translatable("not files that it gives its model; copy what you want"))
        )
    return files, left


def take_folder(
    folder: Path,
    target: PurePosixPath,
    files: list[SourceFile],
    left: list[SkippedItem],
    *,
    only: Sequence[str] = (),
    renamed: Mapping[str, str] | None = None,
    depth: int = 1,
) -> None:
    """Add all regular files below a folder, with `only` just those with these endings."""
    if depth > MAX_DEPTH:
        left.append(SkippedItem(str(folder), translatable("it is more than {maximum} folders deep", maximum=MAX_DEPTH)))
        return
    for entry in _list_entries(folder, left):
        path = folder / entry.name
        if entry.name in _IGNORED:
            continue
        if entry.is_dir(follow_symlinks=False):
            take_folder(path, target / entry.name, files, left, only=only, depth=depth + 1)
        elif only and not entry.name.endswith(tuple(only)):
            left.append(SkippedItem(str(path), translatable("it is not a note")))
        else:
            name = (renamed or {}).get(f"{folder.name}/{entry.name}")
            _take_file(entry, path, PurePosixPath(name) if name else target / entry.name, files, left)


def _take_file(
    entry: "os.DirEntry[str]", path: Path, target: PurePosixPath, files: list[SourceFile], left: list[SkippedItem]
) -> None:
    try:
        found = entry.stat(follow_symlinks=False)
    except OSError as error:
        left.append(SkippedItem(str(path), translatable("it cannot be read: {reason}", reason=error.strerror)))
        return
    if stat.S_ISLNK(found.st_mode):
        left.append(SkippedItem(str(path), translatable("it is a link; links are not followed")))
    elif not stat.S_ISREG(found.st_mode):
        left.append(SkippedItem(str(path), translatable("it is not a regular file")))
    elif found.st_size > MAX_BYTES:
        left.append(SkippedItem(str(path), translatable("it is larger than {maximum:,} bytes", maximum=MAX_BYTES)))
    elif len(files) >= MAX_FILES:
        if len(files) == MAX_FILES and not any(each.why.startswith("more than") for each in left[-1:]):
            left.append(
                SkippedItem(
                    str(path),
                    translatable("more than {maximum:,} files: this one and those after it", maximum=MAX_FILES),
                )
            )
    else:
        files.append(SourceFile(path, target))


def _list_entries(folder: Path, left: list[SkippedItem]) -> Iterator["os.DirEntry[str]"]:
    """Yield a folder's entries, skipping names with invisible characters, which would mislead wherever shown."""
    try:
        with os.scandir(folder) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                if entry.name.isprintable():
                    yield entry
                else:
                    left.append(
                        SkippedItem(f"{folder}/{entry.name!a}", translatable("its name contains invisible characters"))
                    )
    except OSError as error:
        left.append(SkippedItem(str(folder), translatable("it cannot be read: {reason}", reason=error.strerror)))
