"""Calls without the token reach the audit log: the first at once, a series as one entry, and none is lost."""

import asyncio
from contextlib import suppress

from hob.app.trust.auth_failures import AuthFailureLog
from hob.testing.clock import ManualClock
from hob.testing.memory_store import memory_store


async def test_series_of_failures_is_one_entry_per_minute_and_place() -> None:
    clock = ManualClock()
    async with memory_store() as store:
        attempts = AuthFailureLog(store.audit, store.timeline, clock)
        attempts("10.0.0.7")
        running = asyncio.create_task(attempts.run())
        while not (await store.timeline.follow(0, 10)).events:  # noqa: ASYNC110 - nobody tells when it is written
            await asyncio.sleep(0)
        for _ in range(30):
            attempts("10.0.0.7")
        for number in range(100):
            attempts(f"10.0.1.{number}")
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running
        rows = await store.audit.latest(100, "authentication")
        events = [event for _, event in (await store.timeline.follow(0, 10)).events]
        assert (await store.audit.verify()).whole
    assert [row.entry.outcome for row in rows[:2]] == ["wrong", "too_often"]
    assert "30 times" in rows[1].entry.detail
    assert len(rows) == 1 + 50 + 1
    assert "others, 51 times" in rows[-1].entry.detail
    assert [(event.name, event.status) for event in events] == [("audit", "changed")] * 2  # an open page reads it again
