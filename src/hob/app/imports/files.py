"""Writing imported files into the workspace: completely or not at all, and never over text that a person wrote."""

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath

from hob.app.imports.contents import SourceFile
from hob.app.imports.folders import MAX_BYTES
from hob.app.imports.plan import Item, ItemKind, ItemStatus
from hob.app.imports.source_files import Unreadable, read_bytes
from hob.core.ids import digest
from hob.core.screening.characters import neutralise
from hob.core.translation.language import translatable
from hob.workspace.bootstrap import MAX_BYTES as MAX_IDENTITY
from hob.workspace.bootstrap import NAMES
from hob.workspace.seeding import TEMPLATES

_TEXTS = (".md", ".txt", ".jsonl")


def plan_files(files: Sequence[SourceFile], workspace: Path) -> Iterator[Item]:
    """Yield an item per file; of two with the same name, the first wins."""
    taken: set[str] = set()
    for file in files:
        target = str(file.target)
        item = Item(ItemKind.FILE, str(file.source), target, ItemStatus.NEW, what=file)
        if target.casefold() in taken:
            yield item.ended(ItemStatus.CONFLICT, translatable("another file of this name is imported"))
            continue
        taken.add(target.casefold())
        try:
            yield _with_status(item, _read(file), workspace)
        except Unreadable as error:
            yield item.ended(ItemStatus.NOT_TAKEN, str(error))


def put_file(item: Item, workspace: Path, aside: Path) -> Item:
    """Write a planned file, which is checked again; a replaced template is kept in `aside`."""
    file = item.what
    if not isinstance(file, SourceFile):
        raise TypeError(item)
    target = workspace / file.target
    try:
        data = _read(file)
        item = _with_status(item, data, workspace)
        if item.status in (ItemStatus.NEW, ItemStatus.REPLACES):
            _make_folder(target.parent, workspace)
            if item.status is ItemStatus.REPLACES:
                _copy(target, aside / file.target)
            _write(target, data, replaces=item.status is ItemStatus.REPLACES)
            return item.ended(ItemStatus.DONE)
    except FileExistsError:
        return item.ended(ItemStatus.CONFLICT, translatable("another file was put there just now; it stays"))
    except Unreadable as error:
        return item.ended(ItemStatus.FAILED, str(error))
    except OSError as error:
        return item.ended(
            ItemStatus.FAILED,
            translatable("{name} cannot be written: {reason}", name=error.filename or target, reason=error.strerror),
        )
    return item


def _read(file: SourceFile) -> bytes:
    return read_bytes(file.source, Path(file.source.anchor), MAX_BYTES)


def _with_status(item: Item, data: bytes, workspace: Path) -> Item:
    """Return the item with its status and a note for its reader."""
    name = item.target
    target = workspace / name
    if name in NAMES and len(data) > MAX_IDENTITY:
        return item.ended(
            ItemStatus.NOT_TAKEN,
            translatable("it is larger than {maximum:,} bytes: it could not be accepted", maximum=MAX_IDENTITY),
        )
    if behind := _find_link_above(workspace, PurePosixPath(name)):
        return item.ended(
            ItemStatus.CONFLICT, translatable("{behind} is a link; nothing is written behind it", behind=str(behind))
        )
    if not os.path.lexists(target):
        return item.ended(ItemStatus.NEW, _warning(name, data))
    if target.is_symlink() or not target.is_file():
        return item.ended(ItemStatus.CONFLICT, translatable("there is a link or a folder of this name; it stays"))
    there = _bytes_at(target, len(data))
    if there == data:
        return item.ended(ItemStatus.THERE, "")
    if name in TEMPLATES and there is not None and digest(there) == digest(TEMPLATES[name]):
        return item.ended(ItemStatus.REPLACES, _warning(name, data))
    return item.ended(
        ItemStatus.CONFLICT, translatable("yours is different; it stays. Compare them, and copy what you want")
    )


def _bytes_at(path: Path, length: int) -> bytes | None:
    """Return as much of Hob's file as the comparison needs; None if it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(max(length, MAX_IDENTITY) + 1)
    except OSError:
        return None


def _warning(name: str, data: bytes) -> str:
    """Return a warning to be read before accepting the file, or an empty text."""
    if not name.endswith(_TEXTS) or len(data) > MAX_IDENTITY:
        return ""
    found = neutralise(data.decode("utf-8", "replace")).note
    return f"look twice: it holds {found}" if found else ""


def _find_link_above(workspace: Path, name: PurePosixPath) -> Path | None:
    """Return the first symbolic link among its parent folders below the workspace, or None."""
    above = [workspace / parent for parent in reversed(name.parents) if parent.parts]
    return next((folder for folder in above if folder.is_symlink()), None)


def _make_folder(folder: Path, workspace: Path) -> None:
    if folder != workspace:
        _make_folder(folder.parent, workspace)
    folder.mkdir(mode=0o700, exist_ok=True)


def _copy(path: Path, aside: Path) -> None:
    """Copy a file durably."""
    aside.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not aside.exists():
        _write(aside, path.read_bytes(), replaces=False)


def _write(path: Path, data: bytes, *, replaces: bool) -> None:
    """Write a file durably. Raises FileExistsError if it exists and `replaces` is false."""
    beside = path.with_name(f".{path.name[:200]}.importing")
    with suppress(FileNotFoundError):
        beside.unlink()  # left by a killed import
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(handle)
        if replaces:
            beside.replace(path)
        else:
            os.link(beside, path)  # fails if the file exists, unlike a rename
    finally:
        beside.unlink(missing_ok=True)
