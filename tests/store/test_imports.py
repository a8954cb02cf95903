"""Imported messages of other assistants are history and nothing else."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from hob.core.clock import SystemClock
from hob.core.errors import InvalidRequest
from hob.core.ids import CallId, SessionKey
from hob.core.models import Role, TranscriptEntry
from hob.core.tools import ToolCall
from hob.core.trust.labels import Label, Origin, Trust
from hob.store.imports import PastEntry
from hob.store.projections.rebuild import check_projections, rebuild_projections
from hob.store.settings import StoreSettings
from hob.store.store import Store, open_store
from hob.testing.channel import message
from hob.testing.memory_store import memory_store
from tests.turns import SESSION, put_message

THERE = SessionKey("openclaw:main/1")
OWNER = Label(Origin.OWNER, Trust.UNTRUSTED)


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    async with memory_store() as opened:
        yield opened


def said(key: str, text: str, role: Role = "user", at: float = 1_700_000_000.0) -> PastEntry:
    return PastEntry(key, TranscriptEntry(0, role, text, OWNER, "", at))


async def texts(store: Store, session: SessionKey = THERE) -> Sequence[str]:
    return [entry.text for entry in await store.transcript.history(session)]


TALK = (said("a", "Hello"), said("b", "Hi!", "assistant", 1_700_000_001.0), said("c", "Bye", at=1_700_000_002.0))


async def test_imported_messages_keep_times_and_order(store: Store) -> None:
    assert await store.imports.add(THERE, "Hello", TALK) == 3
    found = await store.transcript.history(THERE)
    assert [(each.n, each.text, each.at) for each in found] == [
        (1, "Hello", 1_700_000_000.0), (2, "Hi!", 1_700_000_001.0), (3, "Bye", 1_700_000_002.0),
    ]  # fmt: skip
    assert found[0].turn == found[1].turn != found[2].turn
    session = await store.sessions.get(THERE)
    assert (session.title, session.entries, session.updated) == ("Hello", 3, 1_700_000_002.0)


async def test_same_message_is_imported_once_and_later_ones_are_appended(store: Store) -> None:
    await store.imports.add(THERE, "Hello", TALK[:2])
    assert await store.imports.add(THERE, "Hello", (*TALK, TALK[2])) == 1
    assert await store.imports.add(THERE, "Hello", TALK, preview=True) == 0
    assert await texts(store) == ["Hello", "Hi!", "Bye"]


async def test_preview_writes_nothing(store: Store) -> None:
    assert await store.imports.add(THERE, "Hello", TALK, preview=True) == 3
    assert await store.sessions.find() == ()


async def test_imported_messages_are_not_answered_or_sent(store: Store) -> None:
    await store.imports.add(THERE, "Hello", TALK)
    assert (await store.inbox.counts()).waiting == 0
    assert (await store.outbox.counts()).open == 0
    assert (await store.turns.counts()).ready == 0
    assert await store.tasks.find(10) == ()


async def test_hobs_own_session_accepts_no_import(store: Store) -> None:
    await put_message(store, message("mine"))
    with pytest.raises(InvalidRequest, match="of Hob's own"):
        await store.imports.add(SESSION, "", TALK)


async def test_erased_messages_are_not_imported_again(store: Store) -> None:
    await store.imports.add(THERE, "Hello", TALK)
    await store.erasure.erase_session(THERE, "asked")
    assert await store.imports.add(THERE, "Hello", TALK) == 0
    assert await texts(store) == []
    assert (await store.sessions.get(THERE)).title == ""


async def test_future_time_does_not_count_as_last_use(store: Store) -> None:
    await store.imports.add(THERE, "", (said("a", "from the future", at=4_000_000_000.0),))
    assert (await store.sessions.get(THERE)).updated < 4_000_000_000.0


async def test_calls_stay_with_their_results(store: Store) -> None:
    call = ToolCall(CallId("c1"), "exec", '{"command": "ls"}')
    asked = PastEntry("a", TranscriptEntry(0, "assistant", "", OWNER, "", 5.0, calls=(call,)))
    given = PastEntry("b", TranscriptEntry(0, "tool", "a b", OWNER, "", 6.0, call=CallId("c1"), is_error=True))
    await store.imports.add(THERE, "", (asked, given))
    first, second = await store.transcript.history(THERE)
    assert (first.calls, second.call, second.is_error) == ((call,), "c1", True)


async def test_imported_session_can_be_rebuilt_from_the_timeline(tmp_path: Path) -> None:
    async with open_store(tmp_path, StoreSettings(), SystemClock()) as store:
        await store.imports.add(THERE, "Hello", TALK[:2])
        await store.imports.add(THERE, "Hello", TALK)
        await store.sessions.change(THERE, archived=True)
    assert all(each.differences == 0 for each in check_projections(tmp_path))
    assert (await asyncio.to_thread(rebuild_projections, tmp_path)).backup is None
