"""Files of JSON lines that earlier releases kept beside the database: imported when it is opened, then moved aside.

All of it is one transaction. A Hob that is killed before the files are moved knows them again by their hash.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import apsw

from hob.core.errors import StoreFull
from hob.store.disk import sync_directory
from hob.store.faults import translate
from hob.store.open_groups import OPEN_GROUP

Line = dict[str, Any]
FOLDER = "tools"
ASIDE = "imported"
_NOTE = "INSERT OR IGNORE INTO imported_files (hash, name, at) VALUES (?, ?, ?) RETURNING 1"


def import_line_files(connection: apsw.Connection, home: Path, at: float) -> None:
    """Import what lies there. Raises StoreErrors; then nothing has changed."""
    folder = home / FOLDER
    try:
        found = {path: importer for name, importer in _IMPORTERS.items() for path in sorted(folder.glob(name))}
        if found:
            with connection:
                for path, importer in found.items():
                    data = path.read_bytes()
                    note = (hashlib.sha256(data).digest(), str(path.relative_to(folder)), at)
                    if connection.execute(_NOTE, note).fetchall():
                        importer(connection, _lines(data))
            _move_aside(folder, found)
    except apsw.Error as error:
        raise translate(error) from error
    except OSError as error:
        raise StoreFull(f"{folder} cannot be imported into the database: {error.strerror or error}.") from error


def _move_aside(folder: Path, files: Mapping[Path, object]) -> None:
    for path in files:
        goal = folder / ASIDE / path.relative_to(folder)
        goal.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.replace(goal)
        sync_directory(goal.parent)
        sync_directory(path.parent)


def _lines(data: bytes) -> list[Line]:
    """The values; a line that a crash cut short was never promised."""
    found = []
    for line in data.split(b"\n"):
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            found.append(value)
    return found


def _open_groups(connection: apsw.Connection, lines: Sequence[Line]) -> None:
    for line in lines:
        session, group = line.get("session"), line.get("group")
        if isinstance(session, str) and isinstance(group, str):
            connection.execute(OPEN_GROUP, (session, group))


_IMPORTERS: Mapping[str, Callable[[apsw.Connection, Sequence[Line]], None]] = {
    "groups.jsonl": _open_groups,
}
