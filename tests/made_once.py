"""What every home has and takes long to make is made once in this process: tests get copies of it, or links to it.

The programs that tests start make it for themselves, as do the tests of the making.
"""

import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from unittest.mock import patch

import apsw

from hob.providers.catalog.price_table import PriceTable
from hob.store.database import database, migration
from hob.store.erasure.content import WriteConnection
from hob.store.settings import StoreSettings
from hob.tools.sandbox import places
from hob.workspace import seeding
from hob.workspace.repositories import begin_repository

_apply = migration.apply_migrations
make_etc = places.write_etc
make_repository = begin_repository
make_prices = PriceTable._make
connect_durably = database.connect
_files = migration.migrations()


@contextmanager
def made_once() -> Iterator[None]:
    """New databases, the /etc of commands, lists of prices, and repositories of new workspaces."""
    with ExitStack() as stack:
        shared = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hob-made-")))

        @cache
        def etc_of(written: frozenset[tuple[str, str]]) -> Path:
            folder = shared / str(len(list(shared.iterdir())))
            make_etc(folder, dict(written))
            return folder

        def link_etc(folder: Path, written: Mapping[str, str]) -> None:
            if folder.is_dir() and not folder.is_symlink():  # of a process of its own, as in the journeys
                shutil.rmtree(folder)
            folder.unlink(missing_ok=True)
            folder.symlink_to(etc_of(frozenset(written.items())))

        async def copy_prices(table: PriceTable) -> str:
            first = PriceTable(shared / "prices.json")
            problem = "" if first.is_ready() else await make_prices(first)
            if first.is_ready():
                table._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                shutil.copyfile(first._file, table._file)
            return problem

        @cache
        def place_of(*_made_from: object) -> Path:
            place = shared / str(len(list(shared.iterdir())))
            place.mkdir()
            return place / ".git"

        def copy_repository(folder: Path, names: Sequence[str] = (), *, ignored: Sequence[str] = ()) -> bool:
            present = tuple((name, (folder / name).read_bytes()) for name in names if (folder / name).is_file())
            git, owners = shutil.which("git"), Path.home() / ".gitconfig"
            first = place_of(git, owners.exists() and owners.read_bytes(), present, tuple(ignored))
            if first.exists() and git is not None:
                shutil.rmtree(folder / ".hob-begins", ignore_errors=True)
                shutil.copytree(first, folder / ".git")
                return True
            made = make_repository(folder, names, ignored=ignored)
            if made:
                shutil.copytree(folder / ".git", first, ignore=shutil.ignore_patterns("*.sample"))
            return made

        stack.enter_context(patch.object(seeding, "begin_repository", copy_repository))
        stack.enter_context(patch.object(PriceTable, "_make", copy_prices))
        stack.enter_context(patch.object(migration, "apply_migrations", _copy))
        stack.enter_context(patch.object(places, "write_etc", link_etc))
        yield


@contextmanager
def disk_not_waited_for() -> Iterator[None]:
    """No commit waits for the disk: all is lost with the machine's power, nothing with the process."""
    with patch.object(database, "connect", _connect):
        yield


def _connect(path: Path, settings: StoreSettings, vfs: str | None, *, writes: bool) -> WriteConnection:
    connection = connect_durably(path, settings, vfs, writes=writes)
    if writes and vfs is None:  # a disk that a test breaks tells of it by what it is asked
        connection.execute("PRAGMA synchronous = OFF")
    return connection


@cache
def _made() -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    _apply(connection)
    return connection


def _copy(connection: apsw.Connection, upto: int | None = None) -> None:
    # not on a disk that a test breaks, nor with other migrations
    plain = connection.open_vfs == apsw.vfs_names()[0] and migration.migrations() == _files
    if upto is None and plain and not migration.version_of(connection):
        with connection.backup("main", _made(), "main") as backup:
            backup.step()
    else:
        _apply(connection, upto)
