"""Delivery: in order within a chat, at least once, and limited to the channel's pace."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from hob.bus.settings import BusSettings
from hob.core.errors import SendFailed, StoreFull
from hob.core.events.timeline import EventKind
from hob.core.ids import OutboxId, SessionKey, new_trace_id
from hob.core.messages import Address, Inbound, Outbound, OutboundKind
from hob.core.ports.channel import Delivered, Repeats
from hob.core.states import OutboxState
from hob.testing.channel import MemoryChannel
from hob.testing.clock import ManualClock
from tests.bus.bench import Bench, open_bench, until
from tests.bus.scripts import TableCommands

FAST = BusSettings(send_pause_seconds=0.01, send_pause_most_seconds=0.01, failure_seconds=0.01)


def chunk(n: int, chat: str = "chat", channel: str = "memory") -> Outbound:
    to = Address(channel, chat)
    return Outbound(OutboxId(f"{chat}.{n}"), to, f"{chat} {n}", OutboundKind.REPLY, None, new_trace_id(), n)


async def enqueue(bench: Bench, *chunks: Outbound) -> None:
    await bench.store.outbox.enqueue(chunks)
    bench.bus.delivery.pending()


async def state(bench: Bench, id: str) -> OutboxState | None:
    row = await bench.store.outbox.find(OutboxId(id))
    return None if row is None else row.state


class StuckChannel(MemoryChannel):
    """A channel in which some chats hang, or fail in a way no channel should."""

    def __init__(self, repeats: Repeats = Repeats.SHOWN_ONCE, **stuck: Exception | None) -> None:
        super().__init__(repeats=repeats)
        self.stuck = stuck
        self.tried = 0

    async def send(self, message: Outbound) -> Delivered:
        if message.to.chat in self.stuck:
            self.tried += 1
            error = self.stuck[message.to.chat]
            if error is not None:
                raise error
            await asyncio.Event().wait()
        return await super().send(message)


async def test_reply_reaches_its_channel_and_the_timeline_says_so(tmp_path: Path) -> None:
    channel = MemoryChannel()
    async with open_bench(tmp_path, channels=[channel]) as bench, channel.run(bench.bus.accept):
        accepted = await channel.say("hello")
        await until(lambda: len(channel.sent) == 1)
        await bench.bus.drain(5)
        assert (channel.sent[0].text, channel.sent[0].to.chat) == ("hello", "chat")
        assert await state(bench, channel.sent[0].id) is OutboxState.SENT
        kinds = [event.kind for event in await bench.store.timeline.trace(accepted.trace)]
        assert (kinds[0], kinds[-1], kinds.count(EventKind.DELIVERY)) == (EventKind.INBOUND, EventKind.DELIVERY, 1)


async def test_chunks_of_a_chat_arrive_in_order_despite_failures(tmp_path: Path) -> None:
    channel = MemoryChannel()
    channel.faults = [SendFailed("busy"), SendFailed("busy")]
    async with open_bench(tmp_path, channels=[channel], settings=FAST) as bench:
        await enqueue(bench, *(chunk(n) for n in range(6)))
        await until(lambda: len(channel.sent) == 6)
        assert [message.chunk for message in channel.sent] == list(range(6))


async def test_failing_or_hanging_chat_does_not_block_another(tmp_path: Path) -> None:
    channel = StuckChannel(hanging=None, broken=ZeroDivisionError(), refused=SendFailed("no"))
    async with open_bench(tmp_path, channels=[channel], settings=FAST) as bench:
        await enqueue(bench, *(chunk(n, chat) for n in range(3) for chat in ("hanging", "broken", "refused", "fine")))
        await until(lambda: len(channel.sent) == 3)
        assert {message.to.chat for message in channel.sent} == {"fine"}


async def test_retry_after_of_a_channel_is_honoured(tmp_path: Path) -> None:
    clock = ManualClock(jump=True)
    channel = MemoryChannel()
    channel.faults = [SendFailed("slow down", retry_after=500.0)]
    async with open_bench(tmp_path, channels=[channel], clock=clock) as bench:
        await enqueue(bench, chunk(0))
        await until(lambda: len(channel.sent) == 1)
        assert 500 <= clock.monotonic() - 1000 < 1000


async def test_chat_does_not_wait_for_a_time_of_a_clock_that_was_ahead(tmp_path: Path) -> None:
    # without a network a send fails and the clock is not set; then both come
    clock = ManualClock(datetime(2031, 1, 1, tzinfo=UTC))
    channel = MemoryChannel()
    channel.faults = [SendFailed("no network")]
    async with open_bench(tmp_path, channels=[channel], clock=clock) as bench:
        await enqueue(bench, chunk(0), chunk(1))
        await until(lambda: not channel.faults)
        row = await bench.store.outbox.find(OutboxId("chat.0"))
        while row is not None and row.attempts == 0:
            row = await bench.store.outbox.find(OutboxId("chat.0"))
        clock.set_wall(datetime(2026, 1, 1, tzinfo=UTC))
        async with asyncio.timeout(10):
            while len(channel.sent) < 2:  # within hours, not years
                await clock.advance(60)
                await asyncio.sleep(0.005)


async def test_undeliverable_row_is_dead_with_its_reason(tmp_path: Path) -> None:
    channel = MemoryChannel()
    channel.faults = [SendFailed("the chat is gone", permanent=True)]
    async with open_bench(tmp_path, channels=[channel]) as bench:
        await enqueue(bench, chunk(0), chunk(1))
        await until(lambda: len(channel.sent) == 1)
        row = await bench.store.outbox.find(OutboxId("chat.0"))
        assert row is not None
        assert (row.state, row.reason) == (OutboxState.DEAD, "the chat is gone")
        (event,) = await bench.store.timeline.trace(row.outbound.trace)
        assert (event.status, event.text) == ("undeliverable", "the chat is gone")


async def test_message_is_abandoned_after_too_many_failures(tmp_path: Path) -> None:
    settings = BusSettings(send_attempts=3, send_pause_seconds=0.0, send_pause_most_seconds=0.0)
    channel = StuckChannel(refused=SendFailed("no"))
    async with open_bench(tmp_path, channels=[channel], settings=settings) as bench:
        await enqueue(bench, chunk(0, "refused"))
        async with asyncio.timeout(10):
            while await state(bench, "refused.0") is not OutboxState.DEAD:  # noqa: ASYNC110
                await asyncio.sleep(0.001)
        assert channel.tried == 3


async def test_hanging_send_is_cancelled_and_retried(tmp_path: Path) -> None:
    clock = ManualClock(jump=True)
    channel = StuckChannel(chat=None)
    async with open_bench(tmp_path, channels=[channel], clock=clock) as bench:
        await enqueue(bench, chunk(0))
        await until(lambda: channel.tried == 2)
        del channel.stuck["chat"]
        await until(lambda: len(channel.sent) == 1)


@pytest.mark.parametrize("error", [ZeroDivisionError(), TimeoutError()])
async def test_channel_without_repeats_parks_messages_that_may_have_arrived(tmp_path: Path, error: Exception) -> None:
    channel = StuckChannel(Repeats.NEVER, bad=error)
    async with open_bench(tmp_path, channels=[channel], settings=FAST) as bench:
        await enqueue(bench, chunk(0, "bad"), chunk(1, "bad"))
        async with asyncio.timeout(10):
            while await state(bench, "bad.1") is not OutboxState.PARKED:  # noqa: ASYNC110
                await asyncio.sleep(0.001)
        assert await state(bench, "bad.0") is OutboxState.PARKED
        assert channel.tried == 2


async def test_message_and_its_event_are_parked_in_one_transaction(tmp_path: Path) -> None:
    channel = StuckChannel(Repeats.NEVER, bad=ZeroDivisionError())
    async with open_bench(tmp_path, channels=[channel], settings=FAST) as bench:
        park = bench.store.outbox.park

        async def crash_after(*arguments: Any) -> None:
            await park(*arguments)
            await bench.crash()

        bench.store.outbox.park = crash_after  # type: ignore[assignment, method-assign]
        broken = chunk(0, "bad")
        await enqueue(bench, broken)
        await until(lambda: channel.tried == 1)
        await bench.bus.drain(1)
    async with open_bench(tmp_path) as bench:
        assert await state(bench, "bad.0") is OutboxState.PARKED
        (event,) = await bench.store.timeline.trace(broken.trace)
        assert event.status == "parked"


async def test_store_failure_after_parking_does_not_end_the_bus(tmp_path: Path) -> None:
    channel = StuckChannel(Repeats.NEVER, bad=ZeroDivisionError())
    async with open_bench(tmp_path, channels=[channel], settings=FAST) as bench:
        park, calls = bench.store.outbox.park, []

        async def fail_once(*arguments: Any) -> None:
            calls.append(arguments)
            await park(*arguments)
            if len(calls) == 1:
                raise StoreFull

        bench.store.outbox.park = fail_once  # type: ignore[assignment, method-assign]
        await enqueue(bench, chunk(0, "bad"))
        await until(lambda: len(calls) == 2)
        await enqueue(bench, chunk(0, "fine"))
        await until(lambda: len(channel.sent) == 1)
        assert await bench.replies(await bench.say("still there?")) == ["still there?"]


async def test_channel_that_cancels_itself_does_not_block_its_chat(tmp_path: Path) -> None:
    class Cancelling(MemoryChannel):
        cancelled = False

        async def send(self, message: Outbound) -> Delivered:
            if not self.cancelled:
                self.cancelled = True
                raise asyncio.CancelledError
            return await super().send(message)

    channel = Cancelling()
    async with open_bench(tmp_path, channels=[channel], settings=FAST) as bench:
        await enqueue(bench, chunk(0), chunk(1))
        await until(lambda: len(channel.sent) == 2)
        assert [message.chunk for message in channel.sent] == [0, 1]


@pytest.mark.parametrize(
    ("repeats", "sent", "found"),
    [
        (Repeats.SHOWN_ONCE, 1, OutboxState.SENT),
        (Repeats.SHOWN_AGAIN, 2, OutboxState.SENT),
        (Repeats.NEVER, 1, OutboxState.PARKED),
    ],
)
async def test_send_interrupted_by_a_crash_is_repeated_only_if_the_channel_allows(
    tmp_path: Path, repeats: Repeats, sent: int, found: OutboxState
) -> None:
    channel = MemoryChannel(repeats=repeats)
    async with open_bench(tmp_path) as bench:
        await bench.store.outbox.enqueue([chunk(0)])
        await bench.store.outbox.sending(OutboxId("chat.0"))
        await channel.send(chunk(0))
        await bench.crash()
    async with open_bench(tmp_path, channels=[channel]) as bench:
        async with asyncio.timeout(10):
            while await state(bench, "chat.0") is not found:  # noqa: ASYNC110
                await asyncio.sleep(0.001)
        row = await bench.store.outbox.find(OutboxId("chat.0"))
        assert row is not None
        assert row.repeats == (repeats is not Repeats.NEVER)
        assert len(channel.sent) == sent


async def test_rows_of_absent_channels_are_kept(tmp_path: Path) -> None:
    channel = MemoryChannel("other")
    async with open_bench(tmp_path, channels=[channel]) as bench:
        await enqueue(bench, chunk(0), chunk(0, "there", "other"))
        await until(lambda: len(channel.sent) == 1)
        assert await state(bench, "chat.0") is OutboxState.READY
    async with open_bench(tmp_path, channels=[late := MemoryChannel()]):
        await until(lambda: len(late.sent) == 1)


async def test_hanging_send_does_not_block_a_shutdown(tmp_path: Path) -> None:
    clock = ManualClock(jump=True)
    channel = StuckChannel(hanging=None)
    async with open_bench(tmp_path, channels=[channel], clock=clock) as bench:
        await enqueue(bench, chunk(0, "hanging"))
        await until(lambda: channel.tried == 1)
        began = clock.monotonic()
        await bench.bus.drain(30)
        assert clock.monotonic() - began <= 6
        assert await state(bench, "hanging.0") is OutboxState.SENDING


async def test_shutdown_delivers_the_replies_of_the_last_turns(tmp_path: Path) -> None:
    channel = MemoryChannel()
    async with open_bench(tmp_path, channels=[channel]) as bench:
        for n in range(5):
            await bench.say("bye", chat=str(n))
        await until(lambda: len(bench.turns.begun) == 5)
        await bench.bus.drain(10)
        assert len(channel.sent) == 5


async def test_long_command_answer_is_split_for_the_channel(tmp_path: Path) -> None:
    async def long(inbound: Inbound, session: SessionKey) -> str:
        return "word " * 100

    channel = MemoryChannel(text_limit=100)
    async with open_bench(tmp_path, channels=[channel], commands=TableCommands(session_queue={"/long": long})) as bench:
        await bench.say("/long")
        await until(lambda: sum(len(message.text) for message in channel.sent) >= 495)
        assert all(len(message.text) <= 100 for message in channel.sent)
