"""The daily backup: its time, its folder, and the number of kept files."""

import asyncio
import logging
import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any

from hob.app.maintenance.settings import BackupSettings
from hob.core.clock import Clock
from hob.core.errors import StoreError
from hob.core.events.tracing import CONTENT_FREE
from hob.core.values import dataclass
from hob.store.store import Store

FOLDER = "backups"
_NAME = "daily-{stamp}.db"
_NAMED = re.compile(r"daily-(\d{8}T\d{6}Z)\.db", re.ASCII)
_STAMP = "%Y%m%dT%H%M%SZ"

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Backup:
    """A complete backup; it gets its final name once all of it is on disk."""

    file: Path
    at: datetime


class DailyBackups:
    """Makes daily backups in the home's `backups/`. A missed one is made at the next check."""

    def __init__(
        self, store: Store, home: Path, settings: BackupSettings, clock: Clock, timezone: tzinfo | None = None
    ) -> None:
        self.settings = settings
        self._store = store
        self._folder = home / FOLDER
        self._clock = clock
        self._timezone = timezone
        self._problem = ""
        self._making = False

    def found(self) -> list[Backup]:
        """Return the backups, oldest first."""
        try:
            files = list(self._folder.iterdir())
        except OSError:  # there was no backup yet
            return []
        backups = []
        for file in files:
            named = _NAMED.fullmatch(file.name)
            if named is not None:
                with suppress(ValueError):
                    backups.append(Backup(file, datetime.fromisoformat(named[1])))
        return sorted(backups, key=lambda backup: backup.at)

    async def due(self) -> bool:
        """Return whether a backup is due: none since today's hour, in a home that was in use before it."""
        if not self.settings.daily:
            return False
        hour, past = self.last_hour(), self._not_in_future(self.found())
        if past and hour <= past[-1].at:
            return False
        return await self._store.began() < hour.timestamp()

    async def make(self) -> None:
        """Make a backup and drop the oldest ones. Failures are logged and shown in `view`."""
        now = self._clock.now()
        file = self._folder / _NAME.format(stamp=now.astimezone(UTC).strftime(_STAMP))
        began = self._clock.monotonic()
        self._making = True
        try:
            await self._store.backup(file, force=True)
            await asyncio.to_thread(self._drop_oldest)
        except (StoreError, OSError) as error:
            self._problem = str(error)
            log.error("the daily backup could not be made: %s", error)
        else:
            self._problem = ""
            seconds = self._clock.monotonic() - began
            log.info("the daily backup was made in %.1f s: %s", seconds, file.name, extra=CONTENT_FREE)
        finally:
            self._making = False

    def last_hour(self) -> datetime:
        """Return when the backup hour last occurred."""
        return last_hour(self._clock.now(), self.settings.hour, self._timezone)

    def view(self) -> Mapping[str, Any]:
        """Return the newest complete backup, the time of the next, and the last problem."""
        found = self.found()
        newest = (self._not_in_future(found) or found)[-1] if found else None
        next_at = _next_hour(self._clock.now(), self.settings.hour, self._timezone).timestamp()
        return {
            "daily": self.settings.daily,
            "kept": len(found),
            "newest": str(newest.file) if newest else None,
            "at": newest.at.timestamp() if newest else None,
            "next_at": next_at if self.settings.daily else None,
            "running": self._making,
            "problem": self._problem or None,
        }

    def _drop_oldest(self) -> None:
        for backup in self._not_in_future(self.found())[: -self.settings.keep]:
            backup.file.unlink(missing_ok=True)

    def _not_in_future(self, found: list[Backup]) -> list[Backup]:
        """Return the backups that a wrong clock has not dated in the future; the others never count as the newest."""
        now = self._clock.now()
        return [backup for backup in found if backup.at <= now]


def last_hour(now: datetime, hour: int, timezone: tzinfo | None = None) -> datetime:
    """Return when this hour of the day last occurred in this zone; None is the machine's."""
    today = now.astimezone(timezone)
    return next(at for days in (0, 1) if (at := _at_hour(today - timedelta(days=days), hour, timezone)) <= now)


def _next_hour(now: datetime, hour: int, timezone: tzinfo | None) -> datetime:
    today = now.astimezone(timezone)
    return next(at for days in (0, 1) if (at := _at_hour(today + timedelta(days=days), hour, timezone)) > now)


def _at_hour(day: datetime, hour: int, timezone: tzinfo | None) -> datetime:
    # rebuilt, so that the UTC offset is that of this hour, not of now
    return day.replace(hour=hour, minute=0, second=0, microsecond=0, tzinfo=timezone, fold=0).astimezone(UTC)
