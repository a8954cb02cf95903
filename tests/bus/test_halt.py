"""Stopping everything: all work ends, and autonomous work is held across restarts until lifted."""

import asyncio
from dataclasses import replace
from pathlib import Path

from hob.bus.halt import halt, lift_halt
from hob.core.events.notices import Settled
from hob.core.ports.accept import Accepted
from hob.testing.channel import message
from tests.bus.bench import Bench, open_bench, until
from tests.bus.test_session_queues import Gate, parking


async def say_to_itself(bench: Bench, text: str) -> Accepted:
    return await bench.bus.accept(replace(message(text, chat="child"), hops=1, background=True))


async def test_halt_ends_running_parked_and_waiting_work(tmp_path: Path) -> None:
    async with open_bench(tmp_path, scripts={"wait": Gate(), "park": parking()}) as bench:
        parked = await bench.say("park", "first")
        await until(lambda: bool(bench.turns.begun) and not bench.bus.session_queues._queues)
        running = await bench.say("wait", "second")
        await until(lambda: bench.turns.active == 1)
        behind = await bench.bus.accept(replace(message("behind", chat="second"), model="other"))
        assert await halt(bench.bus.session_queues, "/stop all") == 3
        assert [(await bench.outcome(one)).state for one in (parked, running, behind)] == ["cancelled"] * 3


async def test_halt_ends_running_turns_before_parked_ones(tmp_path: Path) -> None:
    async with open_bench(tmp_path, scripts={"wait": Gate(), "park": parking()}) as bench:
        for n in range(4):
            await bench.say("park", f"parked {n}")
        await until(lambda: len(bench.turns.begun) == 4 and not bench.bus.session_queues._queues)
        running = await bench.say("wait", "running")
        await until(lambda: bench.turns.active == 1)
        with bench.bus.hub.subscribe() as notices:
            await halt(bench.bus.session_queues, "/stop all")
            async for notice in notices:
                if isinstance(notice, Settled):
                    assert notice.inbounds == (running.id,)
                    break


async def test_turn_woken_during_a_halt_does_not_run(tmp_path: Path) -> None:
    async with open_bench(tmp_path, scripts={"park": parking()}) as bench:
        said = [await bench.say("park", f"parked {n}") for n in range(8)]
        await until(lambda: len(bench.turns.begun) == 8 and not bench.bus.session_queues._queues)
        last = bench.turns.begun[-1].id
        await asyncio.gather(halt(bench.bus.session_queues, "/stop all"), bench.bus.session_queues.wake(last))
        assert [(await bench.outcome(one)).state for one in said] == ["cancelled"] * 8
        assert len(bench.turns.begun) == 8


async def test_halt_holds_autonomous_work_across_restarts_until_lifted(tmp_path: Path) -> None:
    async with open_bench(tmp_path) as bench:
        await halt(bench.bus.session_queues, "/stop all")
        held = await say_to_itself(bench, "by myself")
        assert await bench.replies(await bench.say("are you there?")) == ["are you there?"]
        await bench.crash()
    async with open_bench(tmp_path) as bench:
        assert await bench.replies(await bench.say("still?")) == ["still?"]
        assert (await bench.store.inbox.counts()).waiting == 1
        assert await lift_halt(bench.bus.session_queues)
        assert await bench.replies(held) == ["by myself"]
        assert not await lift_halt(bench.bus.session_queues)


async def test_turn_not_ended_because_of_a_crash_ends_at_the_next_start(tmp_path: Path) -> None:
    async with open_bench(tmp_path, scripts={"wait": Gate()}) as bench:
        said = await bench.say("wait")
        await until(lambda: bench.turns.active == 1)
        now = bench.bus.clock.now().timestamp()
        await bench.store.channel_state.put("hob", "", {"halted": repr(now)})
        await bench.crash()
    async with open_bench(tmp_path) as bench:
        assert (await bench.outcome(said)).state == "cancelled"
