"""Opening: new, older, newer and damaged files, and unclean ends."""

import asyncio
import os
import stat
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

from hob.core.clock import SystemClock
from hob.core.errors import StoreDamaged, StoreError, StoreFull, StoreTooNew
from hob.core.trust.labels import SenderClass
from hob.store.database import database, migration
from hob.store.database.database import NAME
from hob.store.settings import StoreSettings
from hob.store.store import Store, open_store
from hob.testing.channel import message
from hob.testing.clock import ManualClock
from tests.made_once import connect_durably
from tests.turns import SESSION, put_message

SETTINGS = StoreSettings()
CLOCK = SystemClock()


async def fill(home: Path, *texts: str) -> None:
    async with open_store(home, SETTINGS, CLOCK) as store:
        for text in texts:
            await put_message(store, message(text))


async def texts(store: Store) -> list[str]:
    return [waiting.inbound.text for waiting in await store.inbox.waiting(SESSION)]


async def test_new_store_is_private_and_durable_by_its_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "connect", connect_durably)
    home = tmp_path / "deep" / "home"
    async with open_store(home, SETTINGS, CLOCK) as store:
        pragmas = {
            name: await store._writer.write(lambda c, name=name: c.execute(f"PRAGMA {name}").get)  # type: ignore[misc]
            for name in ("journal_mode", "synchronous", "foreign_keys", "secure_delete", "user_version")
        }
        assert stat.S_IMODE((home / NAME).stat().st_mode) == 0o600
        assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert pragmas == {
        "journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "secure_delete": 1,
        "user_version": len(migration.migrations()),
    }  # fmt: skip


@pytest.mark.parametrize("writes", [True, False])
async def test_statement_is_compiled_once_for_all_its_values(tmp_path: Path, *, writes: bool) -> None:
    await fill(tmp_path, "hello")
    sql = "SELECT t.state FROM inbox i LEFT JOIN turns t ON t.id = i.turn WHERE i.id = ?"
    connection = database.connect(tmp_path / NAME, SETTINGS, None, writes=writes)
    compiled = 0

    def count(*_: object) -> int:  # SQLite asks about everything a statement does when it compiles it
        nonlocal compiled
        compiled += 1
        return apsw.SQLITE_OK

    connection.authorizer = count
    connection.execute(sql, ("one",)).fetchall()
    once = compiled
    for id in ("two", "three"):
        connection.execute(sql, (id,)).fetchall()
    connection.close()
    assert compiled == once > 0


async def test_readable_database_is_made_private(tmp_path: Path) -> None:
    await fill(tmp_path)
    (tmp_path / NAME).chmod(0o644)
    async with open_store(tmp_path, SETTINGS, CLOCK):
        assert stat.S_IMODE((tmp_path / NAME).stat().st_mode) == 0o600


async def test_clean_end_leaves_one_file_and_no_pending_check(tmp_path: Path) -> None:
    await fill(tmp_path, "hello")
    assert [path.name for path in tmp_path.iterdir()] == [NAME]
    async with open_store(tmp_path, SETTINGS, CLOCK) as store:
        assert not store.unclean
        assert store.health().check == "ok"
        assert await texts(store) == ["hello"]


async def checked(store: Store) -> str:
    thread = store._check._thread
    assert thread is not None
    await asyncio.to_thread(thread.join, 10)
    return store.health().check


async def test_unclean_end_is_noticed_and_the_file_checked_in_the_background(tmp_path: Path) -> None:
    async with open_store(tmp_path, SETTINGS, CLOCK) as store:
        await put_message(store, message("hello"))
        await store.abandon()
    async with open_store(tmp_path, SETTINGS, CLOCK) as store:
        assert store.unclean
        assert await checked(store) == "ok"
        assert await texts(store) == ["hello"]
    async with open_store(tmp_path, SETTINGS, CLOCK) as store:
        assert not store.unclean


def tear(file: Path) -> None:
    """Overwrite the middle of the file, which keeps its header."""
    size = file.stat().st_size
    with file.open("r+b") as handle:
        handle.seek(4096 * 2)
        handle.write(b"\xa5" * (size - 4096 * 2))


def sqlite(home: Path, sql: str) -> Any:
    connection = apsw.Connection(str(home / NAME))
    found = connection.execute(sql).get
    connection.close()
    return found


def spoil(file: Path, text: bytes) -> None:
    """Overwrite the beginning of the page that holds this text."""
    with file.open("r+b") as handle:
        handle.seek(file.read_bytes().index(text) // 4096 * 4096)
        handle.write(b"\xa5" * 16)


async def test_damage_found_by_the_check_stops_writing_and_the_next_start_moves_it_aside(tmp_path: Path) -> None:
    await fill(tmp_path, *(f"number {n} " * 150 for n in range(15)))
    async with open_store(tmp_path, SETTINGS, CLOCK) as store:
        await store.abandon()
    sqlite(tmp_path, "PRAGMA wal_checkpoint(TRUNCATE)")
    spoil(tmp_path / NAME, b"number 7 ")  # a page that opening does not read, so that only the check can find it
    async with open_store(tmp_path, SETTINGS, CLOCK) as store:
        assert await checked(store) not in {"ok", "pending"}
        assert not store.health().writable
        with pytest.raises(StoreDamaged):
            await store.settings.change({"a": "b"})
    with pytest.raises(StoreDamaged, match="moved to"):
        await opened(tmp_path)


async def opened(home: Path) -> None:
    async with open_store(home, SETTINGS, CLOCK):
        pass


@pytest.mark.parametrize("damage", ["garbage", "torn"])
async def test_damaged_file_is_moved_aside_and_the_newest_backup_named(tmp_path: Path, damage: str) -> None:
    async with open_store(tmp_path, SETTINGS, CLOCK) as store:
        await put_message(store, message("hello"))
        for name in ("old.db", "new.db"):
            await store.backup(tmp_path / "backups" / name)
    os.utime(tmp_path / "backups" / "old.db", (1, 1))
    if damage == "garbage":
        (tmp_path / NAME).write_bytes(b"this is no database" * 1000)
    else:
        tear(tmp_path / NAME)
    before = (tmp_path / NAME).read_bytes()
    with pytest.raises(StoreDamaged, match=r"backups/new\.db"):
        await opened(tmp_path)
    (aside,) = tmp_path.glob("hob.db.damaged-*")
    assert aside.read_bytes() == before
    assert not (tmp_path / NAME).exists()


async def test_no_new_database_is_made_after_damage_until_the_owner_decides(tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(b"this is no database")
    for _ in range(3):
        with pytest.raises(StoreDamaged):
            await opened(tmp_path)
    (aside,) = tmp_path.glob("hob.db.damaged-*")
    aside.rename(tmp_path / "elsewhere")
    await fill(tmp_path, "begins anew")


async def test_damage_without_backups_says_how_to_continue(tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(b"this is no database")
    with pytest.raises(StoreDamaged, match="hob restore FILE"):
        await opened(tmp_path)


async def test_newer_database_is_refused_and_untouched(tmp_path: Path) -> None:
    await fill(tmp_path, "hello")
    connection = apsw.Connection(str(tmp_path / NAME))
    connection.execute("PRAGMA user_version = 999")
    connection.close()
    with pytest.raises(StoreTooNew, match="999"):
        await opened(tmp_path)
    assert apsw.Connection(str(tmp_path / NAME)).execute("SELECT count(*) FROM inbox").get == 1


NEWEST = len(migration.migrations())
MORE = f"{NEWEST + 1:04}_more.sql"


@pytest.fixture
def newer(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of migrations that a test may add to; the store uses it."""
    folder = tmp_path_factory.mktemp("migrations")
    for file in migration.migrations():
        (folder / file.name).write_text(file.read_text())
    monkeypatch.setattr(migration, "_FOLDER", folder)
    migration.migrations.cache_clear()
    monkeypatch.setattr(migration, "migrations", migration.migrations.__wrapped__)
    return folder


async def test_upgrade_keeps_everything_and_makes_one_backup(tmp_path: Path, newer: Path) -> None:
    await fill(tmp_path, "hello")
    (newer / MORE).write_text("CREATE TABLE more (id INTEGER PRIMARY KEY) STRICT;")
    async with open_store(tmp_path, SETTINGS, CLOCK) as store:
        assert await texts(store) == ["hello"]
    (backup,) = (tmp_path / "backups").iterdir()
    assert backup.name.startswith(f"before-upgrade-{NEWEST}-")
    old = apsw.Connection(str(backup))
    assert old.execute("PRAGMA user_version").get == NEWEST
    assert old.execute("SELECT count(*) FROM inbox").get == 1


async def test_last_two_upgrade_backups_are_kept(tmp_path: Path, newer: Path) -> None:
    clock = ManualClock()
    for number in range(NEWEST + 1, NEWEST + 5):
        async with open_store(tmp_path, SETTINGS, clock):
            pass
        await clock.advance(60)
        (newer / f"{number:04}_more.sql").write_text(f"CREATE TABLE more{number} (id INTEGER PRIMARY KEY) STRICT;")
    async with open_store(tmp_path, SETTINGS, clock):
        pass
    kept = sorted(int(path.name.split("-")[2]) for path in (tmp_path / "backups").iterdir())
    assert kept == [NEWEST + 2, NEWEST + 3]


async def test_migration_that_fails_changes_nothing(tmp_path: Path, newer: Path) -> None:
    await fill(tmp_path, "hello")
    broken = newer / MORE
    broken.write_text("CREATE TABLE more (id INTEGER PRIMARY KEY) STRICT; DROP TABLE nothing;")
    with pytest.raises(StoreError, match="nothing"):
        await opened(tmp_path)
    broken.unlink()
    async with open_store(tmp_path, SETTINGS, CLOCK) as store:
        assert await texts(store) == ["hello"]


@pytest.mark.parametrize(
    "sql",
    [
        "PRAGMA defer_foreign_keys = ON; CREATE TABLE more (id INTEGER REFERENCES inbox) STRICT;"
        " PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'state', 'status')"
        " WHERE name = 'inbox_waiting'; PRAGMA writable_schema = OFF;",
        "CREATE TABLE more (a INTEGER, b INTEGER) STRICT; CREATE INDEX more_of ON more (a);"
        " INSERT INTO more VALUES (1, 2); PRAGMA writable_schema = ON;"
        " UPDATE sqlite_schema SET sql = replace(sql, '(a)', '(b)') WHERE name = 'more_of';"
        " PRAGMA writable_schema = OFF;",
    ],
    ids=["cannot be read", "is not consistent"],
)
async def test_damaged_upgraded_copy_does_not_replace_the_file(tmp_path: Path, newer: Path, sql: str) -> None:
    await fill(tmp_path, "hello")
    before = (tmp_path / NAME).read_bytes()
    losing = newer / MORE
    losing.write_text(sql)
    with pytest.raises(StoreError):
        await opened(tmp_path)
    assert (tmp_path / NAME).read_bytes() == before
    assert not list(tmp_path.glob("*upgrading*"))
    losing.unlink()
    async with open_store(tmp_path, SETTINGS, CLOCK) as store:
        assert await texts(store) == ["hello"]


async def test_killed_upgrade_starts_over(tmp_path: Path, newer: Path) -> None:
    await fill(tmp_path, "hello")
    (tmp_path / "hob.db.upgrading").write_bytes(b"half of a copy")
    (tmp_path / "hob.db.upgrading-wal").write_bytes(b"and its log")
    (newer / MORE).write_text("CREATE TABLE more (id INTEGER PRIMARY KEY) STRICT;")
    async with open_store(tmp_path, SETTINGS, CLOCK) as store:
        assert await texts(store) == ["hello"]
    assert not list(tmp_path.glob("*upgrading*"))


async def test_sqlite_that_may_damage_the_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apsw.sqlite_lib_version", lambda: "3.51.2")
    with pytest.raises(StoreError, match=r"SQLite 3\.51\.2 .*3\.51\.3"):
        await opened(tmp_path)
    assert not (tmp_path / NAME).exists()


async def test_upgrade_without_room_changes_nothing(
    tmp_path: Path, newer: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill(tmp_path, "hello")
    (newer / MORE).write_text("CREATE TABLE more (id INTEGER PRIMARY KEY) STRICT;")
    monkeypatch.setattr(migration, "free_bytes", lambda path: 1000)
    with pytest.raises(StoreFull, match="free bytes"):
        await opened(tmp_path)
    assert not (tmp_path / "backups").exists()


async def test_spending_of_releases_without_sender_classes_is_the_owners(tmp_path: Path, newer: Path) -> None:
    for file in newer.glob("000[2-9]_*"):
        file.rename(file.with_suffix(".later"))
    old = apsw.Connection(str(tmp_path / NAME))
    old.execute((newer / "0001_skeleton.sql").read_text())
    old.execute("PRAGMA user_version = 1")
    old.execute(
        "INSERT INTO usage (turn, session, model, at, settled, input_tokens, cost) VALUES"
        " ('t', 's', 'm', 3600.0, 1, 10, 5), ('t', 's', 'm', 3700.0, 1, 0, 0), ('t', 's', 'm', 3800.0, 1, 0, NULL),"
        " (NULL, 's', 'm', 3900.0, 1, 10, 7), ('t', 's', 'm', 9000.0, 0, 0, NULL)"
    )
    old.close()
    for file in newer.glob("*.later"):
        file.rename(file.with_suffix(".sql"))
    async with open_store(tmp_path, SETTINGS, CLOCK) as store:
        spent = await store.ledger.spent(sender=SenderClass.OWNER)
        assert (spent.cost, spent.calls, spent.unknown_calls) == (12, 4, 2)  # what was turned away is no call
        assert {task: spent.cost for task, spent in await store.ledger.sums("task")} == {"chat": 5, "summary": 7}


async def test_home_that_cannot_be_created_is_a_store_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError):
        await opened(tmp_path / "file" / "home")


async def test_emptied_database_in_a_used_home_counts_as_damage(tmp_path: Path) -> None:
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets" / "gateway-token").write_text("token")
    (tmp_path / "hob.db").touch()
    with pytest.raises(StoreDamaged, match="it is empty"):
        async with open_store(tmp_path, StoreSettings(), SystemClock()):
            pass


async def test_empty_file_of_a_crashed_first_start_is_initialised(tmp_path: Path) -> None:
    (tmp_path / "secrets").mkdir()
    (tmp_path / "hob.db").touch()
    async with open_store(tmp_path, StoreSettings(), SystemClock()) as store:
        assert store.health().problem is None


async def test_secrets_and_a_token_may_exist_before_the_first_start(tmp_path: Path) -> None:
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets" / "openrouter").write_text("key")
    (tmp_path / "secrets" / "gateway-token").write_text("token")
    async with open_store(tmp_path, StoreSettings(), SystemClock()) as store:
        assert store.health().problem is None
    (tmp_path / "secrets" / "gateway-token").unlink()
    (tmp_path / "hob.db").write_bytes(b"")  # a crash of the very first start
    async with open_store(tmp_path, StoreSettings(), SystemClock()) as store:
        assert store.health().problem is None


@pytest.mark.parametrize("name", ["audit", "inbox_turn", "sqlite_autoindex_turns_1"])
async def test_garbage_in_a_root_page_is_refused_and_moved_aside(tmp_path: Path, name: str) -> None:
    async with open_store(tmp_path, SETTINGS, CLOCK) as store:
        await put_message(store, message("hello"))
        await store.backup(tmp_path / "backups" / "kept.db")
    page = sqlite(tmp_path, f"SELECT rootpage FROM sqlite_schema WHERE name = '{name}'")  # noqa: S608
    with (tmp_path / NAME).open("r+b") as handle:
        handle.seek(4096 * (page - 1))
        handle.write(b"\xa5" * 4096)
    with pytest.raises(StoreDamaged, match=r"moved to .*backups/kept\.db"):
        await opened(tmp_path)


async def test_missing_database_beside_backups_is_refused_and_the_newest_named(tmp_path: Path) -> None:
    async with open_store(tmp_path, SETTINGS, CLOCK) as store:
        await store.backup(tmp_path / "backups" / "kept.db")
    (tmp_path / NAME).unlink()
    for _ in range(2):
        with pytest.raises(StoreDamaged, match=r"has been used.*backups/kept\.db"):
            await opened(tmp_path)
    assert not (tmp_path / NAME).exists()
    (tmp_path / "backups").rename(tmp_path / "elsewhere")
    await opened(tmp_path)


async def test_missing_database_beside_the_token_of_an_earlier_start_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets" / "gateway-token").write_text("token")
    (tmp_path / "hob.lock").touch()
    with pytest.raises(StoreDamaged, match="gateway-token elsewhere"):
        await opened(tmp_path)


async def test_damage_found_by_a_read_stops_writes_and_names_the_newest_backup(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await fill(tmp_path, *(f"number {n} " * 150 for n in range(15)))
    async with open_store(tmp_path, SETTINGS, CLOCK) as store:
        await store.backup(tmp_path / "backups" / "kept.db")
    spoil(tmp_path / NAME, b"number 7 ")
    async with open_store(tmp_path, SETTINGS, CLOCK) as store:
        assert store.health().writable
        with pytest.raises(StoreDamaged, match=r"kept\.db"):
            await texts(store)
        assert "kept.db" in (store.health().problem or "")
        with pytest.raises(StoreDamaged, match=r"kept\.db"):
            await store.settings.change({"a": "b"})
        assert (tmp_path / "hob.db.check").read_text()
        assert "kept.db" in caplog.text
        assert len([each for each in caplog.records if each.levelname == "CRITICAL"]) == 1
    with pytest.raises(StoreDamaged, match=r"moved to .*kept\.db"):
        await opened(tmp_path)


async def test_damage_found_by_a_backup_is_reported_too(tmp_path: Path) -> None:
    await fill(tmp_path, *(f"number {n} " * 150 for n in range(15)))
    spoil(tmp_path / NAME, b"number 7 ")
    async with open_store(tmp_path, SETTINGS, CLOCK) as store:
        with pytest.raises(StoreDamaged):
            await store.backup(tmp_path / "backups" / "new.db")
        assert not store.health().writable
    assert not (tmp_path / "backups" / "new.db").exists()


async def test_statement_that_each_turn_runs_once_is_compiled_once(tmp_path: Path) -> None:
    """A turn with a sub-agent runs 300 statements in the writer; with room for 256, forty were compiled every time."""
    once, often = "SELECT count(*) FROM turns", "SELECT count(*) FROM inbox"
    async with open_store(tmp_path, SETTINGS, CLOCK):
        with closing(database.connect(tmp_path / NAME, SETTINGS, None, writes=False)) as connection:
            for _ in range(3):
                connection.execute(once).fetchall()
                for _ in range(300):
                    connection.execute(often).fetchall()
            before = connection.cache_stats()["misses"]
            connection.execute(once).fetchall()
            assert connection.cache_stats()["misses"] == before


async def test_opening_keeps_neither_the_pages_nor_the_statements_of_its_checks(tmp_path: Path) -> None:
    """A start reads a page of every table and index, each with a statement of its own: together 1 MiB."""
    for _ in range(2):
        connection = database.open_database(tmp_path, SETTINGS, CLOCK.now()).connection
        assert connection.status(apsw.SQLITE_DBSTATUS_STMT_USED)[0] < 100_000
        assert connection.status(apsw.SQLITE_DBSTATUS_CACHE_USED)[0] < 100_000
        connection.close()


async def test_copies_of_a_killed_backup_or_upgrade_are_removed_at_the_next_start(tmp_path: Path) -> None:
    await fill(tmp_path, "hello")
    backups = tmp_path / "backups"
    backups.mkdir()
    halves = [
        tmp_path / f"{NAME}.upgrading",
        backups / ".daily-20260501T040000Z.db.77.part",
        backups / ".mine.db.8.part",
    ]
    for half in halves:
        half.write_bytes(b"half")
    whole = backups / "mine.db"
    whole.write_bytes(b"whole")
    await fill(tmp_path)
    assert [half for half in halves if half.exists()] == []
    assert whole.exists()


async def test_half_of_a_file_is_removed_after_an_unclean_end(tmp_path: Path) -> None:
    async with open_store(tmp_path, SETTINGS, CLOCK) as store:
        whole = store.blobs.path_of(await store.blobs.put(b"picture", "image/png"))
        half = whole.with_name("tmp1234.part")
        half.write_bytes(b"pict")
        await store.abandon()
    async with open_store(tmp_path, SETTINGS, CLOCK):
        assert (whole.exists(), half.exists()) == (True, False)
