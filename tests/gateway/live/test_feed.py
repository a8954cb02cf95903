"""Shared reads of events: one per position, and never older than the last commit."""

import asyncio
from dataclasses import replace

from hob.core.ids import new_event_id
from hob.gateway.live.feed import EncodedEvents, EventFeed
from hob.store.store import Store
from hob.testing.channel import message
from hob.testing.memory_store import memory_store
from tests.samples import event_of


async def told(feed: EventFeed, store: Store, after: int = 0, *, reads: bool = True) -> EncodedEvents:
    return await feed.follow(store.timeline, after, 50, sessions=(), kinds=(), reads=reads)


async def test_concurrent_requests_share_one_read_and_encoding() -> None:
    async with memory_store() as store:
        await store.timeline.add([event_of(message("Where is the key?"))])
        feed = EventFeed()
        first, second, hidden = await asyncio.gather(
            told(feed, store), told(feed, store), told(feed, store, reads=False)
        )
        assert first is second
        assert "Where is the key?" in first.messages[0][1]
        assert "key" not in hidden.messages[0][1]


async def test_request_after_a_commit_includes_it_despite_a_pending_read() -> None:
    async with memory_store() as store:
        feed, event = EventFeed(), event_of(message("hello"))
        waiting = asyncio.ensure_future(told(feed, store))
        await asyncio.sleep(0)  # its request has started
        await store.timeline.add([replace(event, id=new_event_id())])
        later = await told(feed, store)
        assert [each["cursor"] for each, _ in later.messages] == [1]
        await waiting


async def test_cancelled_request_does_not_affect_others() -> None:
    async with memory_store() as store:
        await store.timeline.add([event_of(message("hello"))])
        feed = EventFeed()
        gone, stays = asyncio.ensure_future(told(feed, store)), asyncio.ensure_future(told(feed, store))
        await asyncio.sleep(0)
        gone.cancel()
        assert (await stays).upto == 1
