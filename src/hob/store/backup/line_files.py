"""JSON-lines files of earlier releases: imported when the database is opened, then moved aside.

The import is one transaction. If Hob is killed before the files are moved, their hashes prevent a second import.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fnmatch import fnmatchcase
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Any

import apsw

from hob.core.content.json_text import parse_json_object
from hob.core.errors import StoreFull
from hob.core.ids import CallId, SessionKey, TurnId, digest
from hob.core.memory import Memory, WorkingNote
from hob.core.translation.language import translatable
from hob.core.trust.labels import Label, Origin, Trust
from hob.core.undo import CommandRun, SnapshotSpan, UndoRecord
from hob.store.database.disk import sync
from hob.store.database.faults import translate
from hob.store.database.rows import all_rows, find_row
from hob.store.erasure.tombstones import OLD_FILES, add_tombstones, erase_copies, read_tombstones
from hob.store.memory.memories import keep_memory
from hob.store.memory.working_notes import keep_note
from hob.store.tools.command_log import begin_command, change_tree, end_command
from hob.store.tools.file_changes import add_changes, load_change
from hob.store.tools.open_groups import OPEN_GROUP
from hob.store.tools.tainted_writes import TAINTED_WRITE
from hob.store.tools.undo_log import begin_undo, end_undo, load_outcome

Files = Mapping[str, Sequence["Line"]]
Line = dict[str, Any]
FOLDER = "tools"
MEMORIES, NOTES = "memories.jsonl", "notes/*.json"
_UNREADABLE = (KeyError, TypeError, ValueError)
_NOTE = "INSERT OR IGNORE INTO imported_files (hash, name, at) VALUES (?, ?, ?) RETURNING 1"


def import_line_files(connection: apsw.Connection, home: Path, at: float) -> None:
    """Import all files present. Raises StoreErrors; then nothing has changed."""
    folder = home / FOLDER
    try:
        found = [path for pattern in _IMPORTERS for path in sorted(folder.glob(pattern))]
        if found:
            with connection:
                files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}
                _import(connection, {name: data for name, data in files.items() if _note(connection, name, data, at)})
                add_tombstones(connection, read_tombstones(home))
                erase_copies(connection)
            _move_aside(folder, found)
    except apsw.Error as error:
        raise translate(error) from error
    except OSError as error:
        raise StoreFull(
            translatable(
                "{folder} cannot be imported into the database: {reason}.",
                folder=folder,
                reason=error.strerror or error,
            )
        ) from error


def import_carried_files(connection: apsw.Connection, home: Path, at: float, *, older: bool) -> bool:
    """Import the files that a backup of an earlier release has in a table of its own; return whether there is such a
    table.

    An `older` backup without that table was made when the files were next to the database: they still are, or were
    moved aside. Otherwise the hashes in the home no longer count. The caller has a transaction open and applies
    tombstones.
    """
    there = find_row(connection, "SELECT 1 FROM sqlite_schema WHERE name = 'backup_files'") is not None
    if there:
        carried = all_rows(connection, "SELECT name, data FROM backup_files ORDER BY name")
        _import(connection, {name.removeprefix(f"{FOLDER}/"): data for name, data in carried})
        connection.execute("DROP TABLE backup_files")
    aside = home / OLD_FILES
    if older and not there:
        found = [path for pattern in _IMPORTERS for path in sorted(aside.glob(pattern))]
        _import(connection, {path.relative_to(aside).as_posix(): path.read_bytes() for path in found})
    else:
        for path in (each for pattern in (MEMORIES, NOTES) for each in (home / FOLDER).glob(pattern)):
            _note(connection, path.name, path.read_bytes(), at)
    return there


def _import(connection: apsw.Connection, files: Mapping[str, bytes]) -> None:
    for pattern, importer in _IMPORTERS.items():
        found = {name: _lines(data) for name, data in files.items() if fnmatchcase(name, pattern)}
        importer(connection, found)


def _note(connection: apsw.Connection, name: str, data: bytes, at: float) -> bool:
    """Note the import of a file; return whether it is new."""
    return bool(connection.execute(_NOTE, (hashlib.sha256(data).digest(), name, at)).fetchall())


def _move_aside(folder: Path, files: Sequence[Path]) -> None:
    for path in files:
        goal = folder.parent / OLD_FILES / path.relative_to(folder)
        goal.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.replace(goal)
        sync(goal.parent)
        sync(path.parent)


def _lines(data: bytes) -> list[Line]:
    """Return the values; a line cut short by a crash was never acknowledged."""
    return [value for line in data.split(b"\n") if (value := parse_json_object(line)) is not None]


def _open_groups(connection: apsw.Connection, files: Files) -> None:
    for line in chain.from_iterable(files.values()):
        session, group = line.get("session"), line.get("group")
        if isinstance(session, str) and isinstance(group, str):
            connection.execute(OPEN_GROUP, (session, group))


def _file_changes(connection: apsw.Connection, files: Files) -> None:
    for line in chain.from_iterable(files.values()):
        with suppress(*_UNREADABLE):
            add_changes(connection, [load_change({name: value for name, value in line.items() if name != "v"})])


def _commands(connection: apsw.Connection, files: Files) -> None:
    for line in chain.from_iterable(files.values()):
        with suppress(*_UNREADABLE):
            turn = TurnId(line["turn"])
            match line["what"]:
                case "begun":
                    named = (CallId(line["call"]), SessionKey(line["session"]), str(line["command"]), line["process"])
                    begin_command(connection, CommandRun(turn, *named), {Path(k): v for k, v in line["trees"].items()})
                case "changed":
                    before, after = line["states"]
                    change_tree(connection, SnapshotSpan(turn, Path(line["tree"]), before, after, line.get("at", 0)))
                case "ended":
                    end_command(connection, turn, CallId(line["call"]), line["how"])


def _tainted_writes(connection: apsw.Connection, files: Files) -> None:
    for line in chain.from_iterable(files.values()):
        connection.execute(TAINTED_WRITE, (str(line.get("turn")),))


def _undo_log(connection: apsw.Connection, files: Files) -> None:
    notes: dict[str, UndoRecord] = {}
    for line in chain.from_iterable(files.values()):
        with suppress(*_UNREADABLE):
            by = line["by"]
            if "done" in line:
                note = replace(notes[by], outcome=load_outcome(line["done"]))
            else:
                note = UndoRecord(TurnId(line["turn"]), by, tuple(line["planned"]))
            notes.pop(by, None)
            notes[by] = note
    for note in notes.values():
        begin_undo(connection, note)
        if note.outcome is not None:
            end_undo(connection, note.by, note.outcome)


def _memories(connection: apsw.Connection, files: Files) -> None:
    for line in chain.from_iterable(files.values()):
        with suppress(*_UNREADABLE):
            label = Label(Origin(line["label"]["origin"]), Trust(line["label"]["trust"]))
            memory = Memory(str(line["text"]), str(line["source"]), label, float(line["at"]))
            keep_memory(connection, SessionKey(line["session"]), memory)


def _working_notes(connection: apsw.Connection, files: Files) -> None:
    """Import working notes, whose file names are hashes of session keys."""
    sessions = {digest(key): key for (key,) in all_rows(connection, "SELECT key FROM sessions")} if files else {}
    for name, lines in files.items():
        session = sessions.get(PurePosixPath(name).stem, "")
        for line in lines if session else ():
            with suppress(*_UNREADABLE):
                label = Label(Origin(line["origin"]), Trust(line["trust"]))
                note = WorkingNote(str(line["text"]), label, float(line.get("at", 0.0)), str(line.get("turn", "")))
                keep_note(connection, SessionKey(session), note)


_IMPORTERS: Mapping[str, Callable[[apsw.Connection, Files], None]] = {
    MEMORIES: _memories,
    NOTES: _working_notes,
    "changes.jsonl": _file_changes,
    "commands.jsonl": _commands,
    "foreign.jsonl": _tainted_writes,
    "groups.jsonl": _open_groups,
    "undone.jsonl": _undo_log,
}
