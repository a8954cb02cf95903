"""Items are kept once, read by their owner alone, and gone when they are erased."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hob.core.clock import SystemClock
from hob.core.memory import Layer, MemoryItem, Scope
from hob.core.trust.labels import OWNER_LABEL
from hob.store.database.migration import apply_migrations
from hob.store.memory.items import add_items
from hob.store.settings import StoreSettings
from hob.store.store import Store, open_store
from hob.testing.clock import ManualClock
from hob.testing.memory_store import memory_store

OWNER, GROUP = Scope("owner"), Scope("telegram:group")


def item(text: str, scope: Scope = OWNER, turn: str = "t_1", at: float = 5.0) -> MemoryItem:
    return MemoryItem(
        scope=scope, layer=Layer.CONVERSATION, source="conversation:local", text=text, label=OWNER_LABEL, at=at,
        session="local:main", turn=turn,
    )  # fmt: skip


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    async with memory_store(ManualClock()) as store:
        yield store


async def test_item_is_read_as_stored_and_stored_once(store: Store) -> None:
    (kept,) = await store.items.add([item("tea"), item("tea")])
    assert kept.seq
    assert await store.items.add([item("tea")]) == []
    assert await store.items.of(OWNER).select() == [kept]


def test_item_id_is_deterministic() -> None:
    assert item("tea").id == item("tea").id
    others = {item("tea", GROUP).id, item("tea", turn="t_2").id, item("coffee").id}
    assert len(others | {item("tea").id}) == 4


async def test_forgotten_item_returns_only_if_it_is_said_again(store: Store) -> None:
    await store.items.add([item("tea")])
    assert await store.erasure.erase_session("local:main", "asked to") == 1  # type: ignore[arg-type]
    assert await store.items.add([item("tea")]) == []
    later = ManualClock().now().timestamp() + 60
    assert len(await store.items.add([item("tea", at=later)])) == 1


@given(st.lists(st.tuples(st.sampled_from(["owner", "o", "x:1", "x:%", "' OR 1 --"]), st.text(min_size=1)), max_size=8))
def test_scope_reads_no_other_scopes_items(said: list[tuple[str, str]]) -> None:
    connection = apsw.Connection(":memory:")
    apply_migrations(connection)
    from_whom = {each.id: each.scope for each in add_items(connection, [item(text, Scope(who)) for who, text in said])}
    for who in {who for who, _ in said}:
        ids = {row[0] for row in connection.execute("SELECT id FROM memory_items WHERE scope = ?", (who,))}
        assert ids == {id for id, scope in from_whom.items() if scope.person == who}


async def test_memories_of_an_earlier_release_are_migrated_to_items(tmp_path: Path) -> None:
    connection = apsw.Connection(str(tmp_path / "hob.db"))
    apply_migrations(connection, 18)
    connection.execute("INSERT INTO content (id, text, hash) VALUES (1, 'Anna likes tea', x'00')")
    connection.execute(
        "INSERT INTO memories (session, place, turn, at, stone, origin, trust, text)"
        " VALUES ('owner', 'local:main', 't_1', 5.25, x'ab12', 'model', 'untrusted', 1)"
    )
    connection.close()
    async with open_store(tmp_path, StoreSettings(), SystemClock()) as store:
        (found,) = await store.items.of(OWNER).select()
        assert (found.text, found.layer, found.session, found.turn, found.at, found.label.trusted) == (
            "Anna likes tea", Layer.FACT, "local:main", "t_1", 5.25, False,
        )  # fmt: skip
        assert await store.items.of(GROUP).select() == []


async def test_talk_of_others_never_displaces_what_the_owner_said(store: Store) -> None:
    mine = [replace(item(f"tea {n}", at=5.0 + n), expires_at=9e18) for n in range(3)]
    theirs = [replace(item(f"chat {n}", GROUP, at=50.0 + n), expires_at=9e18) for n in range(10)]
    await store.items.add([*mine, *theirs])
    assert await store.memory_lifecycle.prune(4) == 9
    assert [kept.text for kept in await store.items.of(OWNER).select()] == ["tea 2", "tea 1", "tea 0"]
    assert [kept.text for kept in await store.items.of(GROUP).select()] == ["chat 9"]
