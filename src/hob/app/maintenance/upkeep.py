"""The daemon's daily jobs: the times of backup and retention, and their retries."""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hob.agent.sessions import zone_of
from hob.agent.settings import AgentSettings
from hob.app.contribution import Contribution, Job
from hob.app.kernel import Kernel
from hob.app.logs.log_file import FOLDER as LOGS
from hob.app.logs.service_log import NAME as SERVICE_LOG
from hob.app.logs.service_log import trim_service_log
from hob.app.maintenance.backups import DailyBackups
from hob.app.maintenance.retention import RetentionJob
from hob.app.maintenance.settings import BackupSettings, RetentionSettings
from hob.app.tools.undo_port import UndoneFiles
from hob.bus.waiting import wait_for_event
from hob.config.loading import Config
from hob.core.clock import Clock
from hob.core.errors import StoreError

log = logging.getLogger(__name__)

_NAP = 3_600.0
"""Seconds between checks of the hour: the machine may sleep, and its clock may be changed."""


class Upkeep:
    """Runs the daily jobs beside the bus."""

    def __init__(self, backups: DailyBackups, tidying: RetentionJob, clock: Clock, logs: Path) -> None:
        self._logs = logs
        self._backups = backups
        self._tidying = tidying
        self._clock = clock
        self._changed = asyncio.Event()

    def change(self, config: Config) -> None:
        """Apply these settings."""
        self._backups.settings = config[BackupSettings]
        self._tidying.settings = config[RetentionSettings]
        self._changed.set()

    async def run(self) -> None:
        """Run the jobs once after the start, then daily, until cancelled."""
        tidied = datetime.min.replace(tzinfo=UTC)
        while True:
            self._changed.clear()
            try:
                await asyncio.to_thread(trim_service_log, self._logs / SERVICE_LOG)
                if await self._backups.due():
                    await self._backups.make()
                if tidied < self._backups.last_hour():
                    tidied = self._clock.now()
                    await self._tidying()
            except (StoreError, OSError) as error:
                log.warning("the day's work waits: %s", error)
            await wait_for_event(self._changed, self._clock, _NAP)

    def view(self) -> Mapping[str, Any]:
        """Return the status of the backups."""
        return {"backups": self._backups.view()}


@asynccontextmanager
async def open_maintenance(kernel: Kernel) -> AsyncIterator[Contribution]:
    """Open maintenance; nothing runs before its job starts."""
    config, store, clock = kernel.config, kernel.store, kernel.clock
    zone = zone_of(config[AgentSettings].timezone)
    backups = DailyBackups(store, config.home, config[BackupSettings], clock, zone)
    tidying = RetentionJob(store, kernel.port(UndoneFiles), config.home, config[RetentionSettings], clock)
    upkeep = Upkeep(backups, tidying, clock, config.home / LOGS)
    job = Job("maintenance", lambda _: upkeep.run())
    yield Contribution(jobs=(job,), status=upkeep.view, on_settings=upkeep.change)
