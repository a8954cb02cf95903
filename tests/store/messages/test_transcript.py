"""The transcript, and which part of it is shown."""

from collections.abc import AsyncIterator
from typing import Any

import apsw
import pytest

from hob.core.ids import BlobId, CallId, SessionKey
from hob.core.models import Image, TranscriptEntry
from hob.core.tools import ToolCall
from hob.core.trust.labels import HOB_LABEL, OWNER_LABEL, Label, Origin, Trust
from hob.core.turns import Finish, Summary
from hob.store.store import Store
from hob.testing.channel import message
from hob.testing.memory_store import memory_store
from tests.samples import event_of, finish_of
from tests.turns import SESSION, make_turn


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    async with memory_store() as opened:
        yield opened


async def talk(store: Store, *texts: str, session: SessionKey = SESSION) -> None:
    """One turn per text, answered with the same in capitals."""
    for text in texts:
        turn = await make_turn(store, message(text), session=session)
        await store.journal.finish(finish_of(turn, text.upper()))


async def shown(store: Store, at_most: int = 100) -> list[str]:
    return [entry.text for entry in (await store.transcript.load_view(SESSION, at_most)).entries]


async def summarise(store: Store, upto: int, text: str = "summary") -> None:
    await store.transcript.summarise(SESSION, Summary(upto, text, HOB_LABEL, "m"), event_of(message("")))


async def test_entries_round_trip_and_are_numbered(store: Store) -> None:
    turn = await make_turn(store, message("hello"))
    web = Label(Origin.WEB, Trust.UNTRUSTED)
    entries = (
        TranscriptEntry(0, "user", "look", OWNER_LABEL, turn.id, 1.5, images=(Image(BlobId("b"), "image/png"),)),
        TranscriptEntry(0, "assistant", "", HOB_LABEL, turn.id, 2.0, calls=(ToolCall(CallId("c"), "fetch", "{}"),)),
        TranscriptEntry(0, "tool", "page", web, turn.id, 3.0, call=CallId("c"), is_error=True),
    )
    finish = finish_of(turn, "done")
    await store.journal.finish(Finish(**{**_fields(finish), "entries": entries}))
    loaded = (await store.transcript.load_view(SESSION, 10)).entries
    assert [entry.n for entry in loaded] == [1, 2, 3]
    assert [TranscriptEntry(**{**_fields(entry), "n": 0}) for entry in loaded] == list(entries)


async def test_hidden_entries_are_kept_and_only_the_last_is_shown_and_counted(store: Store) -> None:
    await talk(store, "before")
    turn = await make_turn(store, message("bad words"))
    await store.journal.finish(Finish(**{**_fields(finish_of(turn, "no")), "hidden": True}))
    view = await store.transcript.load_view(SESSION, 10)
    assert ([entry.text for entry in view.entries], view.total) == (["before", "BEFORE", "no"], 3)
    assert "bad words" in [entry.text for entry in await store.transcript.history(SESSION)]


def _fields(value: Any) -> dict[str, Any]:
    return {name: getattr(value, name) for name in value.__dataclass_fields__}


async def test_view_contains_the_last_entries_and_counts_all(store: Store) -> None:
    await talk(store, "a", "b", "c")
    view = await store.transcript.load_view(SESSION, 3)
    assert ([entry.text for entry in view.entries], view.total) == (["B", "c", "C"], 6)


async def test_sessions_do_not_see_each_other(store: Store) -> None:
    await talk(store, "a")
    await talk(store, "b", session=SessionKey("other"))
    assert await shown(store) == ["a", "A"]


async def test_unknown_session_is_empty(store: Store) -> None:
    view = await store.transcript.load_view(SESSION, 3)
    assert (view.entries, view.summary, view.total) == ((), None, 0)


async def test_summary_replaces_the_entries_it_covers(store: Store) -> None:
    await talk(store, "a", "b", "c")
    await summarise(store, 4)
    view = await store.transcript.load_view(SESSION, 10)
    assert view.summary == Summary(4, "summary", HOB_LABEL, "m")
    assert ([entry.text for entry in view.entries], view.total) == (["c", "C"], 2)


async def test_undone_summary_shows_its_entries_again(store: Store) -> None:
    await talk(store, "a", "b")
    await summarise(store, 2, "first")
    await summarise(store, 4, "second")
    assert await store.transcript.undo_summary(SESSION)
    view = await store.transcript.load_view(SESSION, 10)
    assert view.summary is not None
    assert (view.summary.text, view.total) == ("first", 2)
    assert await store.transcript.undo_summary(SESSION)
    assert await shown(store) == ["a", "A", "b", "B"]
    assert not await store.transcript.undo_summary(SESSION)


async def test_reset_hides_the_history_and_keeps_the_log(store: Store) -> None:
    await talk(store, "a")
    await summarise(store, 1)
    await store.sessions.reset(SESSION, "daily")
    view = await store.transcript.load_view(SESSION, 10)
    assert (view.entries, view.summary, view.total) == ((), None, 0)
    assert [entry.text for entry in await store.transcript.history(SESSION)] == ["a", "A"]
    await talk(store, "b")
    assert await shown(store) == ["b", "B"]


async def test_turns_are_undone_one_by_one(store: Store) -> None:
    await talk(store, "a", "b")
    assert [entry.text for entry in await store.transcript.hide_last_turn(SESSION)] == ["b", "B"]
    view = await store.transcript.load_view(SESSION, 10)
    assert ([entry.text for entry in view.entries], view.total) == (["a", "A"], 2)
    await talk(store, "c")
    assert await shown(store) == ["a", "A", "c", "C"]
    await store.transcript.hide_last_turn(SESSION)
    assert [entry.text for entry in await store.transcript.hide_last_turn(SESSION)] == ["a", "A"]
    assert await store.transcript.hide_last_turn(SESSION) == ()
    assert len(await store.transcript.history(SESSION)) == 6


async def test_entries_covered_by_a_summary_are_not_undone(store: Store) -> None:
    await talk(store, "a")
    await summarise(store, 2)
    assert await store.transcript.hide_last_turn(SESSION) == ()


async def test_raw_log_is_read_in_parts(store: Store) -> None:
    await talk(store, "a", "b")
    first = await store.transcript.history(SESSION, limit=3)
    rest = await store.transcript.history(SESSION, after=first[-1].n)
    assert [entry.text for entry in (*first, *rest)] == ["a", "A", "b", "B"]


async def test_view_costs_the_same_for_any_history(store: Store) -> None:
    await talk(store, "a")
    few = await _steps_of_a_view(store)
    await store._writer.write(_lengthen)
    many = await _steps_of_a_view(store)
    assert (await store.transcript.load_view(SESSION, 2)).total == 20_002
    assert many <= few * 1.2 + 50


def _lengthen(connection: apsw.Connection) -> None:
    connection.execute(
        "WITH RECURSIVE places(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM places WHERE value < 20000)"
        " INSERT INTO transcript (session, n, version, role, turn, at, origin, trust, text) SELECT ?, value + 2, 1,"
        " 'user', 't', 0, 'owner', 'trusted', 1 FROM places",
        (SESSION,),
    )
    connection.execute("UPDATE sessions SET entries = entries + 20000 WHERE key = ?", (SESSION,))


async def _steps_of_a_view(store: Store) -> int:
    """Return the number of SQLite virtual machine instructions of one view."""
    count = 0

    def tick() -> bool:
        nonlocal count
        count += 1
        return False

    await store._readers.read(lambda c: c.set_progress_handler(tick, 1))
    await store.transcript.load_view(SESSION, 2)
    await store._readers.read(lambda c: c.set_progress_handler(None))
    return count
