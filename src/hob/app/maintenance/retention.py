"""Retention: deletes data older than `[retention]` allows."""

import asyncio
import logging
from pathlib import Path

from hob.app.logs.log_file import FOLDER as LOGS
from hob.app.logs.log_file import full_files
from hob.app.maintenance.settings import RetentionSettings
from hob.app.tools.undo_port import UndoneFiles
from hob.core.clock import Clock
from hob.core.errors import HobError
from hob.core.events.tracing import CONTENT_FREE
from hob.gateway.chat.untaken_uploads import drop_untaken
from hob.store.store import Store

_DAY = 86_400.0
_UNFETCHED_DAYS = 30

log = logging.getLogger(__name__)


class RetentionJob:
    """Applies retention once per call; deletions that fail are retried with the next one."""

    def __init__(
        self, store: Store, tool_runtime: UndoneFiles, home: Path, settings: RetentionSettings, clock: Clock
    ) -> None:
        self.settings = settings
        self._store = store
        self._tool_runtime = tool_runtime
        self._logs = home / LOGS
        self._clock = clock

    async def __call__(self) -> None:
        settings, now = self.settings, self._clock.now().timestamp()
        try:
            if settings.logs_days:
                await asyncio.to_thread(self._drop_logs, now - settings.logs_days * _DAY)
            if settings.snapshots_days:
                await self._drop_snapshots(now - settings.snapshots_days * _DAY, now)
            if settings.details_days:
                before = now - settings.details_days * _DAY
                _log_count("details", await self._store.retention.drop_details(before))
            _log_count("expired records of plug-ins", await self._store.retention.drop_expired_records(now))
            _log_count(
                "replies that nobody fetched", await self._store.outbox.expire("api", now - _UNFETCHED_DAYS * _DAY)
            )
            if settings.once_days:
                before = now - settings.once_days * _DAY
                _log_count("texts of single requests", await self._store.retention.drop_one_turn_sessions(before))
            if settings.blobs_days:
                _log_count("files", await self._store.retention.drop_blobs(now - settings.blobs_days * _DAY))
            if settings.uploads_days:
                dropped = await drop_untaken(self._store, now - settings.uploads_days * _DAY)
                _log_count("files that no message named", dropped)
        except (HobError, OSError) as error:
            log.warning("what is old could not be let go of: %s", error)

    def _drop_logs(self, before: float) -> None:
        for file in full_files(self._logs):
            if file.stat().st_mtime < before:
                file.unlink(missing_ok=True)

    async def _drop_snapshots(self, before: float, now: float) -> None:
        if old := await self._store.retention.drop_undo(before, now):
            await self._tool_runtime.prune()
            _log_count("turns' former files", old)


def _log_count(what: str, count: int) -> None:
    if count:
        log.info("retention: %d %s were let go of", count, what, extra=CONTENT_FREE)
