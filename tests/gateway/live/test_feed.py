"""Events for many connections: read once, and never older than what was committed."""

import asyncio
from dataclasses import replace

from hob.core.ids import new_event_id
from hob.gateway.live.feed import EventFeed, ToldEvents
from hob.store.store import Store
from hob.testing.channel import message
from hob.testing.memory_store import memory_store
from tests.samples import event_of


async def told(feed: EventFeed, store: Store, after: int = 0, *, reads: bool = True) -> ToldEvents:
    return await feed.follow(store.timeline, after, 50, sessions=(), kinds=(), reads=reads)


async def test_what_many_ask_for_at_once_is_read_and_written_out_once() -> None:
    async with memory_store() as store:
        await store.timeline.add([event_of(message("Where is the key?"))])
        feed = EventFeed()
        first, second, hidden = await asyncio.gather(
            told(feed, store), told(feed, store), told(feed, store, reads=False)
        )
        assert first is second
        assert "Where is the key?" in first.messages[0][1]
        assert "key" not in hidden.messages[0][1]


async def test_who_asks_after_a_commit_is_told_of_it_though_others_still_wait() -> None:
    async with memory_store() as store:
        feed, event = EventFeed(), event_of(message("hello"))
        waiting = asyncio.ensure_future(told(feed, store))
        await asyncio.sleep(0)  # it has asked
        await store.timeline.add([replace(event, id=new_event_id())])
        later = await told(feed, store)
        assert [each["cursor"] for each, _ in later.messages] == [1]
        await waiting


async def test_one_who_goes_away_takes_nothing_from_the_others() -> None:
    async with memory_store() as store:
        await store.timeline.add([event_of(message("hello"))])
        feed = EventFeed()
        gone, stays = asyncio.ensure_future(told(feed, store)), asyncio.ensure_future(told(feed, store))
        await asyncio.sleep(0)
        gone.cancel()
        assert (await stays).upto == 1
