"""The backup of each day: made when it is due, kept as many as are wanted, never taken for whole when it is not."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from hob.app.maintenance.backups import DailyBackups, last_hour
from hob.app.maintenance.settings import BackupSettings
from hob.store.backup.backup import restore
from hob.store.database.database import NAME
from hob.store.settings import StoreSettings
from hob.store.store import open_store
from hob.testing.clock import ManualClock

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


@asynccontextmanager
async def opened(home: Path, clock: ManualClock, settings: BackupSettings | None = None) -> AsyncIterator[DailyBackups]:
    async with open_store(home, StoreSettings(), clock) as store:
        (home / "backups").mkdir(exist_ok=True)
        yield DailyBackups(store, home, settings or BackupSettings(), clock)


async def test_backup_is_due_daily_from_its_hour_in_a_used_home(tmp_path: Path) -> None:
    clock = ManualClock(NOON)
    async with opened(tmp_path, clock) as backups:
        assert not await backups.due()  # a new home has nothing that was missed
        await clock.advance(backups.view()["next_at"] - NOON.timestamp() - 1)
        assert not await backups.due()
        await clock.advance(1)
        assert await backups.due()
        await backups.make()
        assert not await backups.due()
        assert backups.view()["next_at"] - clock.now().timestamp() == pytest.approx(86_400, abs=3_700)
    await clock.advance(3 * 86_400)
    async with opened(tmp_path, clock) as backups:  # Hob was off
        assert await backups.due()


async def test_backup_dated_in_the_future_neither_blocks_nor_displaces_others(tmp_path: Path) -> None:
    clock = ManualClock(NOON)
    async with opened(tmp_path, clock) as backups:
        clock.set_wall(NOON + timedelta(days=900))
        await backups.make()
        clock.set_wall(NOON + timedelta(days=1))
        for day in range(1, 10):
            clock.set_wall(NOON + timedelta(days=day))
            assert await backups.due()
            await backups.make()
            await clock.advance(3_600)
            assert not await backups.due()  # once a day, not once an hour
            assert backups.view()["at"] < clock.now().timestamp()
        found = [backup.at for backup in backups.found()]
        assert len(found) == BackupSettings().keep + 1
        assert found[-2] - found[0] == timedelta(days=BackupSettings().keep - 1)


async def test_newest_backups_are_kept_and_restorable(tmp_path: Path) -> None:
    clock, home = ManualClock(NOON), tmp_path / "home"
    async with opened(home, clock, BackupSettings(keep=3)) as backups:
        (home / "backups" / "before-upgrade-1.db").write_bytes(b"mine")
        for _ in range(5):
            await backups.make()
            await clock.advance(86_400)
        found = backups.found()
        assert [backup.at.day for backup in found] == [3, 4, 5]
        view = backups.view()
        assert (view["kept"], view["newest"], view["problem"]) == (3, str(found[-1].file), None)
    assert (home / "backups" / "before-upgrade-1.db").exists()
    restore(tmp_path / "other", found[0].file)
    assert (tmp_path / "other" / NAME).exists()


async def test_failed_backup_is_reported_and_tried_again(tmp_path: Path) -> None:
    clock = ManualClock(NOON)
    async with opened(tmp_path, clock) as backups:
        await clock.advance(86_400)
        (tmp_path / "backups").rmdir()
        (tmp_path / "backups").write_text("no folder")
        await backups.make()
        assert "backups" in backups.view()["problem"]
        (tmp_path / "backups").unlink()
        assert await backups.due()
        await backups.make()
        assert backups.view()["problem"] is None


async def test_backup_is_not_made_without_the_setting(tmp_path: Path) -> None:
    clock = ManualClock(NOON)
    async with opened(tmp_path, clock) as backups:
        await clock.advance(3 * 86_400)
        backups.settings = replace(backups.settings, daily=False)
        assert not await backups.due()


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "America/St_Johns", "Pacific/Apia"])
def test_hour_comes_once_per_local_day_across_clock_changes(zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        seen = {last_hour(NOON + timedelta(minutes=30 * n), 2) for n in range(48 * 366)}
        gaps = {(later - sooner).total_seconds() / 3600 for sooner, later in pairwise(sorted(seen))}
        assert gaps <= {23.0, 24.0, 25.0}
        assert len(seen) in (366, 367)
    finally:
        monkeypatch.undo()
        time.tzset()


def test_hour_is_that_of_the_owners_time_zone() -> None:
    assert last_hour(NOON, 3, ZoneInfo("Asia/Tokyo")) == datetime(2026, 4, 30, 18, tzinfo=UTC)
