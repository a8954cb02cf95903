"""Databases of other programs."""

from pathlib import Path

import apsw
import pytest

from hob.core.errors import InvalidRequest
from hob.store.backup.foreign import open_foreign


def made(path: Path, *, open_log: bool = False) -> apsw.Connection:
    connection = apsw.Connection(str(path))
    if open_log:
        connection.execute("PRAGMA journal_mode = WAL").fetchall()
    connection.execute("CREATE TABLE messages (chat TEXT, place INTEGER, record TEXT)")
    connection.execute(
        "CREATE VIEW endless AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT i FROM n"
    )
    connection.execute("INSERT INTO messages VALUES ('a', 2, 'second'), ('b', 1, 'other'), ('a', 1, 'first')")
    return connection


def listing(folder: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in folder.iterdir()}


@pytest.mark.parametrize("open_log", [False, True], ids=["closed", "with its log"])
def test_rows_come_in_order_and_nothing_is_written_beside_the_file(tmp_path: Path, open_log: bool) -> None:
    program = made(tmp_path / "x.sqlite", open_log=open_log)
    before = listing(tmp_path)
    with open_foreign(tmp_path / "x.sqlite") as file:
        assert file.columns("messages") == {"chat", "place", "record"}
        assert list(file.rows("messages", ("record",), "place", (("chat", "a"),))) == [("first",), ("second",)]
        assert listing(tmp_path).keys() == before.keys()
    assert listing(tmp_path) == before
    program.close()


def test_view_is_not_read_as_a_table(tmp_path: Path) -> None:
    made(tmp_path / "x.sqlite").close()
    with open_foreign(tmp_path / "x.sqlite") as file:
        assert file.columns("endless") == file.columns("none") == frozenset()


def test_file_that_is_no_database_is_reported(tmp_path: Path) -> None:
    (tmp_path / "x.sqlite").write_text("not at all " * 200)
    with pytest.raises(InvalidRequest, match="not a readable database"), open_foreign(tmp_path / "x.sqlite") as file:
        file.columns("messages")
