"""Every statement that the suite runs on the database is explained: none walks through a table that grows."""

import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw

import hob
from hob.store.database.migration import apply_migrations
from hob.store.erasure.content import WriteConnection

FILE = "TEST_STATEMENTS"
"""Names, in the environment, the file in which other processes note their statements."""
SOURCE = str(Path(hob.__file__).parent)
_ROWS = str(Path(SOURCE, "store/database/rows.py"))
SMALL: Mapping[str, str] = {
    "channel_state": "a few rows for each channel",
    "chats": "one row for each chat of a channel",
    "expertise": "one row for each skill",
    "follower_quarantine": "what the owner has to look at",
    "grants": "what the owner allowed for longer",
    "imported_files": "one row for each file of an earlier release",
    "memory_embedders": "one row for each model that made vectors",
    "noted": "one row for each limit of spending that was reached",
    "pairing_requests": "a few wait at a time, and they expire",
    "person_addresses": "the owner adds people by hand",
    "persons": "the owner adds people by hand",
    "self_messages": "what Hob tells itself next",
    "settings": "one row for each setting changed at run time",
    "tree_snapshots": "kept for the newest turns alone",
}
"""Tables that hold little for ever, and why."""
WALKS: Mapping[str, str] = {
    "store/projections/rebuild.py": "a rebuild reads all facts",
    "store/backup/": "a backup and an export read everything; files of earlier releases are imported once",
    "store/database/": "migrations run once; a check reads everything",
    "store/erasure/erasure.py": "what is erased is looked for everywhere, and so is what still names a file",
    "store/erasure/quotes.py": "before forgetting, what repeats it is looked for everywhere",
    "store/erasure/selection.py": "the same, by the statements that find it",
    "store/erasure/tombstones.py": "and what tombstones stand for, wherever it came back from",
    "store/erasure/copies.py": "the same in copies of the database",
    "store/erasure/person_data.py": "what there is of a person is looked for everywhere",
    "store/memory/lifecycle.py": "what has expired, or is too much, is looked for once a day",
    "store/audit/audit.py": "the whole chain is checked",
    "store/memory/working_notes.py": "a short note for each conversation, counted when the owner looks at memory",
    "store/turns/failed.py": "turns that failed for want of a model are looked for once, when one is connected",
    "store/tools/open_groups.py": "read once at the start; a few short rows",
}
"""The modules, or folders, that may walk through tables, and why."""
_NAMED = re.compile(
    r"\b(?:FROM|JOIN|UPDATE|INTO)\s+(\w+)(?:\s+(?:AS\s+)?(?!ON\b|SET\b|WHERE\b|USING\b)(\w+))?", re.IGNORECASE
)
_SCAN = re.compile(r"SCAN (\w+)(?: USING (?:COVERING )?INDEX (\w+))?")
_INNER = re.compile(r"\([^()]*\)")
_ASKS = re.compile(r"\s*(?:SELECT|INSERT|UPDATE|DELETE|WITH)\b", re.IGNORECASE)


class Statements:
    """Notes each statement once, with the module that gave it; in a file, if several processes note theirs."""

    def __init__(self, file: Path | None = None) -> None:
        self.seen: dict[str, str] = {}
        self._file = file

    def hook(self, connection: apsw.Connection) -> None:
        if isinstance(connection, WriteConnection):
            if self._file is not None and not self.seen:
                self.read(self._file)
            connection.exec_trace = self.note

    def note(self, _cursor: Any, sql: str, _bindings: Any) -> bool:
        if sql not in self.seen:
            frame = sys._getframe(1)
            while frame.f_back is not None and frame.f_code.co_filename == _ROWS:
                frame = frame.f_back
            self.seen[sql] = frame.f_code.co_filename
            if self._file is not None:  # at once and in one piece: processes of the journeys are killed
                with self._file.open("ab", buffering=0) as out:
                    out.write(json.dumps([sql, self.seen[sql]]).encode() + b"\n")
        return True

    def read(self, file: Path) -> None:
        """Add what other processes have noted so far."""
        whole, _, _ = file.read_text("utf-8").rpartition("\n")
        for line in whole.splitlines():
            sql, module = json.loads(line)
            self.seen.setdefault(sql, module)

    def scans(self) -> Iterator[str]:
        """Each statement that walks through a table that grows, and where it stands."""
        connection = WriteConnection(":memory:")
        apply_migrations(connection)
        names = "SELECT name FROM sqlite_schema WHERE type = '{}' AND sql LIKE '{}'"
        of_open = {row[0] for row in connection.execute(names.format("index", "% WHERE %state%"))}
        of_open |= {row[0] for row in connection.execute(names.format("index", "% WHERE outcome%"))}
        grows = {row[0] for row in connection.execute(names.format("table", "%"))} - SMALL.keys()
        for sql, file in self.seen.items():
            module = str(Path(file).relative_to(SOURCE)) if file.startswith(SOURCE) else ""
            if not module or module.startswith(tuple(WALKS)) or not _ASKS.match(sql):
                continue
            plan = _plan(connection, sql)
            asked = _INNER.sub("", sql)
            first_few = "LIMIT" in sql and "WHERE" not in asked and not any("TEMP B-TREE" in step for step in plan)
            tables = {name: table for table, alias in _NAMED.findall(sql) for name in (table, alias or table)}
            for step in plan[1:] if first_few else plan:  # the first is the walk that ends early
                found = _SCAN.match(step)
                if found and tables.get(found[1], found[1]) in grows and found[2] not in of_open:
                    yield f"{module}: {step}: {sql}"


def _plan(connection: apsw.Connection, sql: str) -> list[str]:
    statement = connection.cursor()
    try:
        rows = statement.execute(f"EXPLAIN QUERY PLAN {sql}").fetchall()
    except apsw.BindingsError as error:
        count = int(re.findall(r"has (\d+) bindings", str(error))[0])
        rows = statement.execute(f"EXPLAIN QUERY PLAN {sql}", (None,) * count).fetchall()
    return [str(row[3]) for row in rows]


@contextmanager
def recorded() -> Iterator[Statements]:
    """What is run on databases that are opened meanwhile, here and in the processes of the journeys."""
    statements = Statements()
    with tempfile.NamedTemporaryFile(prefix="hob-statements-") as file:
        os.environ[FILE] = file.name
        apsw.connection_hooks.append(statements.hook)
        try:
            yield statements
        finally:
            apsw.connection_hooks.remove(statements.hook)
            os.environ.pop(FILE, None)
            statements.read(Path(file.name))


def record_for_others() -> None:
    """Note what this process, and each that it forks, runs on databases; for whoever waits for it in `recorded`."""
    if name := os.environ.get(FILE):
        apsw.connection_hooks.append(Statements(Path(name)).hook)
