"""Inspect a home's database from outside without changing a byte, even while another process has it open."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hob.core.errors import StoreDamaged
from hob.core.values import dataclass
from hob.store.audit.audit import HEAD_FILE, check_log, read_head
from hob.store.audit.chain import Checked
from hob.store.database.database import NAME
from hob.store.database.migration import migrations, version_of
from hob.store.database.reading import opened
from hob.store.database.rows import find_row

_RUNS = "SELECT (SELECT min(began) FROM runs), version FROM runs ORDER BY id DESC LIMIT 1"
_STUCK = "SELECT count(*) FROM outbox WHERE state IN ('dead', 'parked')"


@dataclass(frozen=True, slots=True)
class Examined:
    """Result of a quick inspection. `version` counts migrations, `known` those of this Hob; sizes in bytes.

    `began` is when Hob first ran here (seconds since 1970, 0 if never), `last` the version that ran here last.
    """

    version: int
    known: int
    size: int
    began: float
    last: str
    stuck: int


def examine(home: Path, *, owned: bool) -> Examined:
    """Inspect the database quickly. Raises NotFound if there is none, StoreDamaged and other StoreErrors."""
    with opened(home / NAME, owned=owned) as connection:
        version = version_of(connection)
        run = find_row(connection, _RUNS) if version else None
        stuck = find_row(connection, _STUCK) if version else None
    files = (home / NAME, home / f"{NAME}-wal")
    size = sum(file.stat().st_size for file in files if file.exists())
    began, last = (run[0] or 0.0, str(run[1])) if run else (0.0, "")
    return Examined(version, len(migrations()), size, began, last, stuck[0] if stuck else 0)


def find_damage(file: Path, *, owned: bool) -> str:
    """Return the first problem found by SQLite's full check of structure and indexes; empty if none. Takes long."""
    try:
        with opened(file, owned=owned) as connection:
            row = find_row(connection, "PRAGMA integrity_check(1)")
    except StoreDamaged as damaged:
        return str(damaged)
    return "" if row is None or row[0] == "ok" else str(row[0])


def examine_audit(home: Path, *, owned: bool) -> Checked | None:
    """Verify the audit log and its head; return None if there is no log yet. Takes long."""
    with opened(home / NAME, owned=owned) as connection:
        if find_row(connection, "SELECT 1 FROM sqlite_schema WHERE name = 'audit'") is None:
            return None
        return check_log(connection, read_head(home / HEAD_FILE))


def has_database(home: Path) -> bool:
    """Whether this home has a database."""
    return (home / NAME).exists()


@contextmanager
def database_copied(home: Path) -> Iterator[Path]:
    """Copy the home's database into a temporary folder for the duration of the block. No other process may have it
    open.
    """
    with tempfile.TemporaryDirectory(prefix="hob") as folder:
        for side in ("", "-wal"):
            part = home / f"{NAME}{side}"
            if part.exists():
                shutil.copyfile(part, Path(folder) / part.name)
        yield Path(folder)
