"""What a daemon does for itself, day by day: its backup, and letting go of what is old."""

import asyncio
import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hob.agent.sessions import zone_of
from hob.agent.settings import AgentSettings
from hob.app.logs.log_file import FOLDER as LOGS
from hob.app.logs.service_log import NAME as SERVICE_LOG
from hob.app.logs.service_log import trim_service_log
from hob.app.maintenance.backups import DailyBackups
from hob.app.maintenance.retention import RetentionJob
from hob.app.maintenance.settings import BackupSettings, RetentionSettings
from hob.app.notifications.outbox_alarm import OutboxAlarm
from hob.app.tools.lazy_runtime import LazyToolRuntime
from hob.bus.waiting import wait_for_event
from hob.config.loading import Config
from hob.core.clock import Clock
from hob.core.errors import StoreError
from hob.store.store import Store

log = logging.getLogger(__name__)

_NAP = 3_600.0
"""Seconds. A machine may sleep and its clock be set, so it is looked once an hour whether the day's hour has come."""


class Upkeep:
    """Runs beside the bus. `view` is how it stands."""

    def __init__(
        self, backups: DailyBackups, tidying: RetentionJob, alarm: OutboxAlarm, clock: Clock, logs: Path
    ) -> None:
        self.alarm = alarm
        self._logs = logs
        self._backups = backups
        self._tidying = tidying
        self._clock = clock
        self._changed = asyncio.Event()

    def change(self, config: Config) -> None:
        """Go on by these settings."""
        self._backups.settings = config[BackupSettings]
        self._tidying.settings = config[RetentionSettings]
        self._changed.set()

    async def run(self) -> None:
        """Once after the start, then once each day."""
        self._backups.tidy()
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
        """The backups, and since when replies do not arrive."""
        return {"backups": self._backups.view(), "late_since": self.alarm.since}


def open_upkeep(
    config: Config, store: Store, tool_runtime: LazyToolRuntime, alarm: OutboxAlarm, clock: Clock
) -> Upkeep:
    """By these settings; nothing is done before `run`."""
    backups = DailyBackups(store, config.home, config[BackupSettings], clock, zone_of(config[AgentSettings].timezone))
    tidying = RetentionJob(store, tool_runtime, config.home, config[RetentionSettings], clock)
    return Upkeep(backups, tidying, alarm, clock, config.home / LOGS)
