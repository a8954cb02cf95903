"""The day's tidying: what no message named goes after a day, by the daemon's own hands."""

import os
from datetime import timedelta
from pathlib import Path

import pytest

from hob.app.maintenance.retention import RetentionJob
from hob.app.maintenance.settings import RetentionSettings
from hob.core.errors import NotFound
from hob.core.ids import BlobId
from hob.testing.clock import ManualClock
from tests.gateway.conftest import machine


@pytest.mark.parametrize(("days", "gone"), [(1, True), (3, False), (0, False)])
async def test_unused_upload_is_deleted_after_the_configured_days(tmp_path: Path, days: int, gone: bool) -> None:
    async with machine(tmp_path) as hob:
        id = BlobId((await hob.tcp.post("/attachments", content=b"left behind")).json()["id"])
        clock = ManualClock(hob.app.api.clock.now())
        tidying = RetentionJob(
            hob.app.store, hob.app.operations._tool_runtime, hob.app.home, RetentionSettings(uploads_days=days), clock
        )
        await tidying()
        assert await hob.app.store.blobs.load(id)
        await clock.advance(timedelta(days=2).total_seconds())
        await tidying()
        if gone:
            with pytest.raises(NotFound):
                await hob.app.store.blobs.load(id)
        else:
            assert await hob.app.store.blobs.load(id)


async def test_full_log_files_are_deleted_after_the_configured_days(tmp_path: Path) -> None:
    async with machine(tmp_path) as hob:
        now = hob.app.api.clock.now().timestamp()
        logs = hob.app.home / "logs"
        logs.mkdir(exist_ok=True)
        for name, days in (("hob.log", 40), ("hob.log.1", 1), ("hob.log.2", 29), ("hob.log.3", 31)):
            (logs / name).touch()
            os.utime(logs / name, (now - days * 86_400,) * 2)
        settings = RetentionSettings(logs_days=30)
        clock = ManualClock(hob.app.api.clock.now())
        await RetentionJob(hob.app.store, hob.app.operations._tool_runtime, hob.app.home, settings, clock)()
        assert sorted(file.name for file in logs.glob("hob.log*")) == ["hob.log", "hob.log.1", "hob.log.2"]
