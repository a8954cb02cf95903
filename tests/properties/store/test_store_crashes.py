"""A power cut at any point of a message's life loses nothing acknowledged and leaves nothing half-written."""

import asyncio
import tempfile
from pathlib import Path
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from hob.core.clock import SystemClock
from hob.core.errors import StoreError
from hob.core.ids import InboundId, SessionKey
from hob.core.messages import Inbound
from hob.core.states import TurnState
from hob.core.steps import Noted
from hob.core.turns import Turn
from hob.store.messages.inbox import InboxLimits
from hob.store.settings import StoreSettings
from hob.store.store import Store, open_store
from hob.testing.channel import message
from tests.samples import ASKED, event_of, finish_of
from tests.store.faulty_vfs import FaultyDisk

ROOM = InboxLimits()


class Life:
    """Runs messages through their life until the power goes, and records what was acknowledged."""

    def __init__(self) -> None:
        self.accepted: list[InboundId] = []
        self.claimed: dict[InboundId, Turn] = {}
        self.journalled: dict[InboundId, int] = {}
        self.finished: set[InboundId] = set()
        self.sent: set[InboundId] = set()

    async def run(self, store: Store, session_queue: int) -> None:
        """Process the messages of one session one after the other, for ever."""
        while True:
            inbound = message("hello")
            await self._one(store, inbound, SessionKey(f"s{session_queue}"))

    async def _one(self, store: Store, inbound: Inbound, session: SessionKey) -> None:
        await store.inbox.accept(inbound, session=session, limits=ROOM, event=event_of(inbound))
        self.accepted.append(inbound.id)
        turn = await store.inbox.claim(session, [inbound.id])
        self.claimed[inbound.id] = turn
        await store.journal.append(turn.id, [ASKED, Noted("one")])
        self.journalled[inbound.id] = 2
        await store.journal.append(turn.id, [Noted("two")], [event_of(inbound)])
        self.journalled[inbound.id] = 3
        finish = finish_of(turn, "hi")
        await store.journal.finish(finish)
        self.finished.add(inbound.id)
        chunk = finish.outbounds[0].id
        await store.outbox.sending(chunk)
        await store.outbox.sent(chunk, "receipt")
        self.sent.add(inbound.id)


async def live_until_dark(home: Path, disk: FaultyDisk, life: Life, operations: int, session_queues: int) -> None:
    try:
        async with open_store(home, StoreSettings(), SystemClock(), vfs=disk.name) as store:
            disk.cut_power_after(operations)
            await asyncio.gather(
                *(life.run(store, session_queue) for session_queue in range(session_queues)), return_exceptions=True
            )
            await store.abandon()
    except StoreError:
        assert not disk.powered


async def check(home: Path, disk: FaultyDisk, life: Life) -> None:
    async with open_store(home, StoreSettings(), SystemClock(), vfs=disk.name) as store:
        sound = await store._readers.read(lambda connection: connection.execute("PRAGMA integrity_check").get)
        assert sound == "ok"
        for id in life.accepted:
            await check_one(store, life, id)
        await check_whole(store)


async def check_one(store: Store, life: Life, id: InboundId) -> None:
    result = await store.results.find(id)
    assert result is not None
    if id in life.claimed:
        assert result.turn == life.claimed[id].id
        assert len(await store.journal.load_steps(life.claimed[id].id)) >= life.journalled.get(id, 0)
    if id in life.finished:
        assert (result.state, result.reply) == (TurnState.DONE, "hi")
    if id in life.sent:
        assert result.picked_up


async def check_whole(store: Store) -> None:
    """Check that each transaction is there entirely or not at all."""
    whole = {
        "messages without task, key or event": "SELECT count(*) FROM inbox i WHERE NOT EXISTS (SELECT 1 FROM tasks t"
        " WHERE t.id = i.id) OR NOT EXISTS (SELECT 1 FROM dedup d WHERE d.inbound = i.id) OR NOT EXISTS (SELECT 1 FROM"
        " timeline e WHERE e.trace_id = i.trace_id)",
        "claimed without turn": "SELECT count(*) FROM inbox i WHERE i.state <> 'waiting' AND NOT EXISTS"
        " (SELECT 1 FROM turns t WHERE t.id = i.turn)",
        "journals of the wrong length": "SELECT count(*) FROM turns t WHERE position <>"
        " (SELECT count(*) FROM steps s WHERE s.turn = t.id)",
        "ended without chunk or entries": "SELECT count(*) FROM turns t WHERE state = 'done' AND (NOT EXISTS"
        " (SELECT 1 FROM outbox o WHERE o.turn = t.id) OR"
        " (SELECT count(*) FROM transcript c WHERE c.turn = t.id) <> 2)",
        "entries of what has not ended": "SELECT count(*) FROM transcript c JOIN turns t ON t.id = c.turn"
        " WHERE t.state <> 'done'",
    }
    for what, sql in whole.items():
        count = await store._readers.read(lambda connection, sql=sql: connection.execute(sql).get)  # type: ignore[misc]
        assert count == 0, what


@given(
    cuts=st.lists(st.integers(1, 900), min_size=1, max_size=4),
    session_queues=st.integers(1, 4),
    seed=st.integers(0, 2**32),
)
def test_power_cut_at_any_point_loses_nothing_acknowledged(cuts: list[int], session_queues: int, seed: int) -> None:
    disk, life, choice = FaultyDisk(), Life(), Random(seed)
    with tempfile.TemporaryDirectory(prefix="hob-", dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
        for cut in cuts:
            asyncio.run(live_until_dark(Path(folder), disk, life, cut, session_queues))
            disk.restore_power(choice)
        asyncio.run(check(Path(folder), disk, life))
    disk.close()
