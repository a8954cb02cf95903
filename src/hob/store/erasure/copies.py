"""Copies of the database left in the home by restores, upgrades and damage, and their erasure."""

import json
import shutil
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import apsw

from hob.core.errors import StoreError
from hob.core.values import dataclass
from hob.store.backup.inspection import find_damage
from hob.store.database.database import NAME
from hob.store.database.disk import SIDES, drop_database
from hob.store.database.faults import store_errors
from hob.store.database.migration import migrations, version_of
from hob.store.database.reading import opened
from hob.store.database.rows import Row, all_rows, find_row

_PATTERNS = ("*.before-restore-*", f"{NAME}.damaged-*", "backups/before-*.db")

_HELD = (
    "SELECT 1 FROM memory_items i JOIN content c ON c.id = i.text"
    " WHERE c.text IS NOT NULL AND i.id IN (SELECT value FROM json_each(?))"
)


@dataclass(frozen=True, slots=True)
class Copies:
    """The copies of a home. `whole` ones can be edited; `others` (damaged, older schema, no database) are deleted."""

    whole: tuple[Path, ...] = ()
    others: tuple[Path, ...] = ()


def find_copies(home: Path) -> Copies:
    """Find the copies in this home. Blocks for a long time."""
    files = (file for pattern in _PATTERNS for file in sorted(home.glob(pattern)))
    found = [file for file in files if not file.name.endswith(SIDES)]
    whole = tuple(file for file in found if _is_whole(file))
    return Copies(whole, tuple(file for file in found if file not in whole))


def _is_whole(file: Path) -> bool:
    try:
        with opened(file, owned=False) as connection:
            if version_of(connection) != len(migrations()):
                return False
        return not find_damage(file, owned=False)
    except StoreError:
        return False


def copies_with(home: Path, items: Sequence[str]) -> list[Path]:
    """Return the backups and copies in this home that contain any of these memory items or cannot be read. Blocks."""
    files = {file for pattern in ("backups/*.db", *_PATTERNS) for file in home.glob(pattern)}
    return sorted(file for file in files if not file.name.endswith(SIDES) and _may_hold(file, items))


def _may_hold(file: Path, items: Sequence[str]) -> bool:
    try:
        with opened(file, owned=False) as connection:
            return find_row(connection, _HELD, (json.dumps(list(items)),)) is not None
    except StoreError:
        return True


def senders_in(copies: Copies) -> set[str]:
    """Return everyone who has written a message in one of them. Raises StoreErrors."""
    found: set[str] = set()
    for file in copies.whole:
        with opened(file, owned=False) as connection:
            found.update(row[0] for row in all_rows(connection, "SELECT DISTINCT sender FROM inbox"))
    return found


def erase_in(copies: Copies, erase: Callable[[apsw.Connection], Sequence[Row]]) -> tuple[list[Row], set[str]]:
    """Erase in the editable copies and delete the others; return the tombstones (content, hash), and the blobs that the
    copies still have.

    Raises StoreErrors; then it can be repeated.
    """
    tombstones: list[Row] = []
    blobs: set[str] = set()
    for file in copies.whole:
        with store_errors(), closing(apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READWRITE)) as connection:
            connection.execute("PRAGMA journal_mode = DELETE; BEGIN IMMEDIATE").fetchall()
            tombstones += erase(connection)
            blobs |= blobs_of(connection)
            connection.execute("COMMIT; VACUUM")  # leaves nothing of it in free pages
    for file in copies.others:
        if file.is_dir():
            shutil.rmtree(file)
        else:
            drop_database(file)
    return tombstones, blobs


def blobs_of(connection: apsw.Connection) -> set[str]:
    """Return the blobs of this database that are not erased."""
    return {row[0] for row in all_rows(connection, "SELECT id FROM blobs WHERE erased IS NULL")}
