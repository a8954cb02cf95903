"""The bus under everything at once: messages, duplicates, modes, pauses, cancels, parking, defects, crashes.

Every accepted message has exactly one outcome, sessions keep their order, one turn runs per session at a time and no
more than the slots allow, and no reply is shown twice.
"""

import asyncio
import shutil
import tempfile
from collections.abc import Awaitable
from pathlib import Path
from typing import Any, TypeVar

import apsw
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from hob.bus.settings import BusSettings
from hob.core.errors import Busy
from hob.core.ids import SessionKey
from hob.core.messages import Inbound
from hob.core.ports.accept import Accepted
from hob.core.ports.turns import TurnControl
from hob.core.states import TaskState
from hob.core.steps import Noted
from hob.core.turns import Outcome, Parked, QueueMode, Turn, WaitsFor
from hob.testing.channel import MemoryChannel
from tests.bus.bench import Bench, open_bench
from tests.bus.scripts import Script, ScriptedTurns, TableCommands

T = TypeVar("T")
CHATS = ("one", "two", "three")
SLOTS = 2
SETTINGS = BusSettings(
    slots=SLOTS, session_waiting=6, failure_seconds=0.001, failure_most_seconds=0.002, suspect_seconds=0.01
)


async def note_once(turns: ScriptedTurns, turn: Turn) -> bool:
    """Whether this is the turn's first run, durably."""
    if await turns.journal.load_steps(turn.id):
        return False
    await turns.journal.append(turn.id, [Noted("begun")])
    return True


async def park(turns: ScriptedTurns, turn: Turn, control: TurnControl) -> Outcome:
    return Parked(WaitsFor.ANSWER) if await note_once(turns, turn) else await turns.echo(turn)


async def record_defect(turns: ScriptedTurns, turn: Turn, control: TurnControl) -> Outcome:
    if await note_once(turns, turn):
        raise ZeroDivisionError
    return await turns.echo(turn)


async def broken(turns: ScriptedTurns, turn: Turn, control: TurnControl) -> Outcome:
    raise ZeroDivisionError


async def fresh(inbound: Inbound, session: SessionKey) -> str:
    return "fresh"


class BusMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.home = Path(tempfile.mkdtemp())
        self.channel = MemoryChannel()
        self.accepted: dict[str, Accepted] = {}
        self.turns: list[ScriptedTurns] = []
        self.keys = 0
        self.do(self._start())

    def do(self, work: Awaitable[T]) -> T:
        async def wrapped() -> T:
            async with asyncio.timeout(30):
                return await work

        return self.runner.run(wrapped())

    # The life of the process

    async def _start(self) -> None:
        self.gate = asyncio.Event()
        self.end = asyncio.Event()
        started: asyncio.Future[Bench] = asyncio.get_running_loop().create_future()
        self.process = asyncio.ensure_future(self._live(started))
        await asyncio.wait((self.process, started), return_when=asyncio.FIRST_COMPLETED)
        self.bench = await started
        self.turns.append(self.bench.turns)

    async def _live(self, started: "asyncio.Future[Bench]") -> None:
        scripts: dict[str, Script] = {
            "hold": self._hold, "steer": self._steer, "park": park, "stumble": record_defect, "broken": broken,
        }  # fmt: skip
        commands = TableCommands(session_queue={"/new": fresh})
        async with open_bench(
            self.home, scripts=scripts, commands=commands, channels=[self.channel], settings=SETTINGS
        ) as bench:
            started.set_result(bench)
            await self.end.wait()

    async def _hold(self, turns: ScriptedTurns, turn: Turn, control: TurnControl) -> Outcome:
        await self.gate.wait()
        return await turns.echo(turn)

    async def _steer(self, turns: ScriptedTurns, turn: Turn, control: TurnControl) -> Outcome:
        await self.gate.wait()
        if offered := control.joinable():
            control.mark_joined([inbound.id for inbound in await turns.journal.steer(turn.id, offered)])
        return await turns.echo(turn)

    async def _stop(self) -> None:
        self.end.set()
        await self.process

    async def _crash(self) -> None:
        await self.bench.crash()
        self.process.cancel()
        await asyncio.wait((self.process,))

    # Events

    @rule(
        chat=st.sampled_from(CHATS),
        word=st.sampled_from(("hi", "hi", "hold", "steer", "park", "stumble", "broken", "/new")),
        wait=st.integers(0, 2),
    )
    def say(self, chat: str, word: str, wait: int) -> None:
        self.keys += 1
        key = f"key {self.keys}"

        async def act() -> None:
            try:
                self.accepted[key] = await self.bench.say(word, chat=chat, key=key)
            except Busy:
                return
            await asyncio.sleep(wait / 1000)

        self.do(act())

    @precondition(lambda self: self.accepted)
    @rule(data=st.data())
    def say_again(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.accepted)))
        first = self.accepted[key]
        again = self.do(self.bench.say("again", chat="elsewhere", key=key))
        assert (again.id, again.session, again.duplicate) == (first.id, first.session, True)

    @rule(chat=st.sampled_from(CHATS), mode=st.sampled_from(QueueMode))
    def choose_mode(self, chat: str, mode: QueueMode) -> None:
        self.do(self.bench.store.sessions.change(SessionKey(chat), mode=mode))

    @rule(chat=st.sampled_from(CHATS))
    def pause(self, chat: str) -> None:
        self.do(self.bench.store.sessions.change(SessionKey(chat), paused=True))

    @rule(chat=st.sampled_from(CHATS))
    def resume(self, chat: str) -> None:
        self.do(self.bench.bus.session_queues.resume(SessionKey(chat)))

    @rule(chat=st.sampled_from(CHATS))
    def stop(self, chat: str) -> None:
        self.do(self.bench.bus.session_queues.stop(SessionKey(chat), "stopped"))

    @precondition(lambda self: self.accepted)
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.accepted)))
        self.do(self.bench.bus.session_queues.cancel(self.accepted[key].id, "cancelled"))

    @rule()
    def open_gate(self) -> None:
        self.gate.set()

    @rule()
    def wake(self) -> None:
        self.do(self._wake())

    async def _wake(self) -> None:
        for task in await self.bench.store.tasks.find(limit=10_000, open_only=True):
            if task.turn is not None and task.state is TaskState.WAITING:
                await self.bench.bus.session_queues.wake(task.turn)

    @rule()
    def restart(self) -> None:
        async def act() -> None:
            await self._stop()
            await self._start()

        self.do(act())

    @rule()
    def crash(self) -> None:
        async def act() -> None:
            await self._crash()
            await self._start()

        self.do(act())

    # Final invariants

    def teardown(self) -> None:
        try:
            self.do(self._settle())
            self._check()
        finally:
            self.runner.close()
            shutil.rmtree(self.home)

    async def _settle(self) -> None:
        self.gate.set()
        for chat in CHATS:
            # Only if it is paused: resuming also makes the queue look, which would hide a forgotten message.
            if (await self.bench.store.sessions.get(SessionKey(chat))).paused:
                await self.bench.bus.session_queues.resume(SessionKey(chat))
        while not await self._all_settled():
            await self._wake()
            await asyncio.sleep(0.002)
        while self.bench.bus.session_queues._queues or (await self.bench.store.outbox.counts()).open:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        await self._stop()

    async def _all_settled(self) -> bool:
        results = [await self.bench.store.results.find(one.id) for one in self.accepted.values()]
        return all(result is not None and result.settled for result in results)

    def _check(self) -> None:
        for turns in self.turns:
            assert turns.overlaps == []
            assert turns.maximum <= SLOTS
        shown = [message.id for message in self.channel.sent]
        assert len(shown) == len(set(shown))
        self._check_rows()

    def _check_rows(self) -> None:
        connection = apsw.Connection(str(self.home / "hob.db"), flags=apsw.SQLITE_OPEN_READONLY)
        ids = {row[0] for row in connection.execute("SELECT id FROM inbox")}
        assert ids == {accepted.id for accepted in self.accepted.values()}
        order: dict[str, list[int]] = {}
        sql = "SELECT i.session, t.seq, t.id, t.state FROM inbox i JOIN turns t ON t.id = i.turn ORDER BY i.seq"
        again = dict(connection.execute("SELECT retried_by, id FROM turns WHERE retried_by IS NOT NULL"))
        answered: dict[str, Any] = {}
        for session, seq, turn, state in connection.execute(sql):
            if state in ("ready", "running", "parked"):  # retried by itself after everything had ended
                assert turn in again
                continue
            answered[turn] = session
            # a cancelled waiting message ends before those ahead of it, a retried one after them
            if state != "cancelled" and turn not in again:
                order.setdefault(session, []).append(seq)
        assert all(seqs == sorted(seqs) for seqs in order.values())
        # One notice for every ended turn, from whichever process.
        told = [row[0] for row in connection.execute("SELECT turn FROM outbox ORDER BY seq")]
        told = [turn for turn in told if turn not in again.values()]
        assert sorted(told) == sorted(answered)
        connection.close()


BusMachine.TestCase.settings = settings(stateful_step_count=25)
TestBus = BusMachine.TestCase
