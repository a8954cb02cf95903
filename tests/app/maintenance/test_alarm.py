"""The owner hears once of replies that do not arrive, and nothing wakes while nothing is pending."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from hob.app.notifications.outbox_alarm import MAX_PENDING_SECONDS, OutboxAlarm
from hob.core.errors import SendFailed
from hob.store.settings import StoreSettings
from hob.store.store import Store, open_store
from hob.testing.channel import message
from hob.testing.clock import ManualClock, settle
from tests.app.visiting import ME, visited
from tests.samples import outbound_to


class Watched:
    def __init__(self, store: Store, clock: ManualClock) -> None:
        self.store = store
        self.clock = clock
        self.told: list[tuple[str, str, str]] = []
        self.heard = asyncio.Event()
        self.alarm = OutboxAlarm(store, clock, self._tell, "en")

    async def _tell(self, text: str, key: str, channel: str) -> None:
        self.told.append((text, key, channel))
        self.heard.set()

    async def enqueue(self, id: str, channel: str = "telegram") -> None:
        await self.store.outbox.enqueue([outbound_to(message("hi", channel=channel), id)])
        self.alarm.on_pending()

    async def pass_by(self, seconds: float) -> None:
        """So much time, with what real threads do meanwhile."""
        for _ in range(3):
            await self.store.outbox.counts()
            await settle()
        await self.clock.advance(seconds)
        for _ in range(3):
            await self.store.outbox.counts()
            await settle()


@asynccontextmanager
async def watched(home: Path) -> AsyncIterator[Watched]:
    clock = ManualClock()
    async with open_store(home, StoreSettings(), clock) as store, asyncio.TaskGroup() as group:
        made = Watched(store, clock)
        running = group.create_task(made.alarm.run())
        await made.pass_by(0)
        yield made
        running.cancel()


async def test_no_timer_runs_while_nothing_is_pending(tmp_path: Path) -> None:
    async with watched(tmp_path) as hob:
        assert hob.clock.sleepers() == 0
        await hob.enqueue("one")
        await hob.pass_by(0)
        assert hob.clock.sleepers() == 1
        await hob.store.outbox.sending(outbound_to(message(""), "one").id)
        await hob.store.outbox.sent(outbound_to(message(""), "one").id, "")
        await hob.pass_by(MAX_PENDING_SECONDS)
        assert hob.clock.sleepers() == 0
        assert hob.told == []


async def test_owner_is_notified_after_five_minutes_and_not_before(tmp_path: Path) -> None:
    async with watched(tmp_path) as hob:
        await hob.enqueue("one")
        await hob.pass_by(5 * 60 - 1)
        assert hob.told == []
        await hob.pass_by(2)
        async with asyncio.timeout(10):
            await hob.heard.wait()
        assert [key for _, key, _ in hob.told] == ["one"]


async def test_each_incident_is_reported_once(tmp_path: Path) -> None:
    async with watched(tmp_path) as hob:
        for number in range(2):
            await hob.enqueue(f"one {number}")
            await hob.pass_by(MAX_PENDING_SECONDS - 1)
            await hob.enqueue(f"two {number}")
            assert len(hob.told) == number
            for _ in range(4):
                await hob.pass_by(MAX_PENDING_SECONDS)
            assert len(hob.told) == number + 1
            assert hob.alarm.since is not None
            for id in (f"one {number}", f"two {number}"):
                await hob.store.outbox.sending(outbound_to(message(""), id).id)
                await hob.store.outbox.sent(outbound_to(message(""), id).id, "")
            await hob.pass_by(MAX_PENDING_SECONDS)
            assert hob.alarm.since is None
        text, key, channel = hob.told[0]
        assert "telegram" in text
        assert "hob status" in text
        assert (key, channel) == ("one 0", "telegram")


async def test_unfetched_reply_is_no_delay(tmp_path: Path) -> None:
    async with watched(tmp_path) as hob:
        await hob.enqueue("fetched", "local")
        for _ in range(3):
            await hob.pass_by(MAX_PENDING_SECONDS)
        assert hob.told == []
        assert hob.clock.sleepers() == 0


async def test_delay_left_by_an_earlier_run_is_reported_at_once(tmp_path: Path) -> None:
    async with open_store(tmp_path, StoreSettings(), ManualClock()) as store:
        await store.outbox.enqueue([outbound_to(message("hi", channel="telegram"), "old")])
    clock = ManualClock()
    await clock.advance(MAX_PENDING_SECONDS + 1)
    async with open_store(tmp_path, StoreSettings(), clock) as store, asyncio.TaskGroup() as group:
        hob = Watched(store, clock)
        running = group.create_task(hob.alarm.run())
        async with asyncio.timeout(10):
            await hob.heard.wait()
        running.cancel()
    assert [key for _, key, _ in hob.told] == ["old"]


async def test_owner_is_notified_of_a_stuck_channel_through_another(tmp_path: Path) -> None:
    async with visited(tmp_path) as hob:
        await hob.knows()
        await hob.app.api.people.link("signal:+4915112345678", "owner", "")
        telegram, signal = hob.channels["telegram"], hob.channels["signal"]
        telegram.faults = [SendFailed("the network is down") for _ in range(100)]
        await hob.comes("hi", ME)
        async with asyncio.timeout(60):
            # the first send fails before any time passes, or there is no reason to tell yet
            while (oldest := await hob.app.store.outbox.oldest()) is None or not oldest.reason:
                await settle()
            while not signal.sent:
                await hob.clock.advance(10)
                for _ in range(5):  # what is read and written meanwhile has been: time does not run away from it
                    await hob.app.store.outbox.counts()
                    await settle()
        assert signal.sent[0].to.chat == "+4915112345678"
        assert "telegram" in signal.sent[0].text
        assert "the network is down" in signal.sent[0].text
        status = await hob.app.operations.status()
        assert status["late_since"] is not None
        assert status["oldest_owed_seconds"] >= MAX_PENDING_SECONDS
