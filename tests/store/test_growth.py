"""The database cost of a turn does not depend on the history: counted in SQLite virtual machine steps."""

from collections.abc import Iterator

import apsw
import pytest

from hob.core.ids import SessionKey
from hob.store.messages.inbox import InboxLimits
from hob.store.store import Store
from hob.testing.channel import message
from hob.testing.memory_store import memory_store
from tests.samples import ASKED, event_of, finish_of

SESSION = SessionKey("memory:chat")


@pytest.fixture
def count() -> Iterator[list[int]]:
    """A counter that grows with every ten steps of any connection opened from now on."""
    counted = [0]

    def step() -> bool:
        counted[0] += 1
        return False

    def hook(connection: apsw.Connection) -> None:
        connection.set_progress_handler(step, 10)

    apsw.connection_hooks.append(hook)
    yield counted
    apsw.connection_hooks.remove(hook)


async def test_turn_after_five_hundred_reads_no_more_than_the_twentieth(count: list[int]) -> None:
    async with memory_store() as store:
        early = [await cost_of_turn(store, count) for _ in range(20)]
        late = [await cost_of_turn(store, count) for _ in range(500)]
    assert min(late[-5:]) <= 1.1 * min(early[15:])


async def cost_of_turn(store: Store, count: list[int]) -> int:
    before = count[0]
    inbound = message("hello")
    accepted = await store.inbox.accept(inbound, session=SESSION, limits=InboxLimits(), event=event_of(inbound))
    await store.inbox.waiting(SESSION)
    turn = await store.inbox.claim(SESSION, [inbound.id])
    await store.journal.load_steps(turn.id)
    await store.sessions.get(SESSION)
    await store.transcript.load_view(SESSION, 20)
    await store.journal.append(turn.id, [ASKED])
    await store.journal.steer(turn.id, [inbound.id])
    await store.journal.finish(finish_of(turn, "hello"))
    await store.results.find(accepted.id)
    await store.outbox.picked_up(turn.id, ["memory"])
    await store.outbox.next("memory", "", 1e12)
    return count[0] - before
