"""Files of JSON lines that earlier releases kept beside the database: imported when it is opened, then moved aside.

All of it is one transaction. A Hob that is killed before the files are moved knows them again by their hash.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import apsw

from hob.core.errors import StoreFull
from hob.core.ids import TurnId
from hob.core.undo import UndoNote
from hob.store.database.disk import sync_directory
from hob.store.database.faults import translate
from hob.store.erasure.erasure import OLD_FILES
from hob.store.open_groups import OPEN_GROUP
from hob.store.undo_log import begin_undo, end_undo, load_outcome

Line = dict[str, Any]
FOLDER = "tools"
_UNREADABLE = (KeyError, TypeError, ValueError)
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
        goal = folder.parent / OLD_FILES / path.relative_to(folder)
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


def _undo_log(connection: apsw.Connection, lines: Sequence[Line]) -> None:
    notes: dict[str, UndoNote] = {}
    for line in lines:
        with suppress(*_UNREADABLE):
            by = line["by"]
            if "done" in line:
                note = replace(notes[by], outcome=load_outcome(line["done"]))
            else:
                note = UndoNote(TurnId(line["turn"]), by, tuple(line["planned"]))
            notes.pop(by, None)
            notes[by] = note
    for note in notes.values():
        begin_undo(connection, note)
        if note.outcome is not None:
            end_undo(connection, note.by, note.outcome)


_IMPORTERS: Mapping[str, Callable[[apsw.Connection, Sequence[Line]], None]] = {
    "groups.jsonl": _open_groups,
    "undone.jsonl": _undo_log,
}
