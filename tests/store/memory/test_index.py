"""The index holds what the items say, and nothing of those that are gone."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import apsw
from hypothesis import given
from hypothesis import strategies as st

from hob.core.memory import Layer, MemoryItem, Scope
from hob.core.trust.labels import OWNER_LABEL
from hob.store.database.migration import apply_migrations, migrations
from hob.store.database.rows import all_rows
from hob.store.memory import index
from hob.store.memory.analysis import Analyzer, stem_german, words_of
from hob.store.memory.search import ScopedIndex
from hob.store.settings import StoreSettings
from hob.store.store import open_store
from hob.testing.clock import ManualClock


def item(seq: int, text: str, who: str = "owner", session: str = "s") -> MemoryItem:
    return MemoryItem(
        scope=Scope(who), layer=Layer.CONVERSATION, source="conversation:x", text=text, label=OWNER_LABEL, at=0.0,
        session=session, seq=seq,
    )  # fmt: skip


def indexed(*batches: list[MemoryItem]) -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    apply_migrations(connection)
    for batch in batches:
        index.add(connection, batch)
    return connection


SAID = st.lists(st.tuples(st.sampled_from(["tea", "tea tea", "coffee tea", "x"]), st.sampled_from("ab")), min_size=1)


@given(SAID, st.data())
def test_index_after_removal_equals_one_without_the_removed_items(
    said: list[tuple[str, str]], data: st.DataObject
) -> None:
    items = [item(n * 400 + 1, text, session=session) for n, (text, session) in enumerate(said)]
    gone = data.draw(st.sets(st.sampled_from(items), max_size=len(items)).map(lambda some: {each.seq for each in some}))
    connection = indexed(items[::2], items[1::2])
    index.remove(connection, sorted(gone))
    left = [each for each in items if each.seq not in gone]
    fresh = indexed(left)
    assert {seq for (seq,) in connection.execute("SELECT seq FROM memory_words")} == {each.seq for each in left}
    postings = "SELECT scope, term, block, length(postings) FROM memory_postings ORDER BY 1, 2, 3"
    assert connection.execute(postings).fetchall() == fresh.execute(postings).fetchall()
    assert connection.execute("SELECT items, words FROM memory_scopes").fetchall()[0] == (
        len(left), connection.execute("SELECT coalesce(sum(length), 0) FROM memory_words").fetchall()[0][0]
    )  # fmt: skip
    sessions = connection.execute("SELECT count(*), coalesce(sum(words), 0) FROM memory_sessions").fetchall()
    assert connection.execute("SELECT sessions, session_words FROM memory_scopes").fetchall() == sessions


def test_index_of_an_older_release_is_readable() -> None:
    said = replace(item(1, "Sow leeks", session="a"), speaker="Anna", role="user", kind="turn", at=7.0, importance=0.25)
    fresh, older = indexed([said]), apsw.Connection(":memory:")
    apply_migrations(older, 34)
    for sql in (
        "INSERT INTO content (id, hash, text) VALUES (1, x'00', 'Sow leeks')",
        "INSERT INTO memory_items (seq, id, scope, layer, source, session, speaker, role, kind, at, origin, trust,"
        " importance, stone, text) VALUES (1, 'i', 'owner', 'conversation', 'conversation:x', 'a', 'Anna', 'user',"
        " 'turn', 7.0, 'owner', 'trusted', 0.25, x'00', 1)",
    ):
        older.execute(sql)
    for table in ("memory_scopes (id, person, agent, items, words)", "memory_sessions (id, scope, name, items, words)",
                  "memory_words (seq, scope, session, length, kind, stems)"):  # fmt: skip
        columns = table.partition("(")[2].rstrip(")")
        for row in fresh.execute(f"SELECT {columns} FROM {table.split()[0]}").fetchall():  # noqa: S608
            older.execute(f"INSERT INTO {table} VALUES ({','.join('?' * len(row))})", row)  # noqa: S608
    apply_migrations(older)
    read = [ScopedIndex(connection, Scope("owner")) for connection in (fresh, older)]
    assert read[1].entries([1]) == read[0].entries([1])
    assert (read[1].sessions, read[1].session_mean) == (read[0].sessions, read[0].session_mean) == (1, 6)


async def test_items_an_older_release_stored_in_may_are_found_by_month(tmp_path: Path) -> None:
    """It had read the month as the small word `may`."""
    may = datetime(2026, 5, 3, tzinfo=UTC).timestamp()
    async with open_store(tmp_path, StoreSettings(), ManualClock()) as store:
        kept = [replace(item(0, text, session=text), at=may, id="") for text in ("We walked.", "Wir sind gelaufen.")]
        await store.items.add(kept)
    whole = "SELECT scope, term, block, hex(postings) FROM memory_postings ORDER BY 1, 2, 3"
    connection = apsw.Connection(str(tmp_path / "hob.db"))
    fresh = connection.execute(whole).fetchall()
    low = all_rows(connection, "SELECT postings FROM memory_postings WHERE term = '5m'")[0][0][4:]
    connection.execute("UPDATE memory_words SET stems = replace(stems, '5m ', '') WHERE seq = 1")
    connection.execute("UPDATE memory_postings SET postings = ? WHERE term = '5m'", (low,))
    (mend,) = (file for file in migrations() if file.name.endswith("_may.sql"))
    for _ in range(2):  # the second time there is nothing to do
        connection.execute(mend.read_text())
        assert _sorted(connection.execute(whole).fetchall()) == _sorted(fresh)
    index.remove(connection, [1, 2])
    assert connection.execute("SELECT count(*) FROM memory_postings").fetchall() == [(0,)]


def _sorted(postings: list[tuple[object, ...]]) -> list[tuple[object, ...]]:
    """Items of a block stand in any order."""
    return [(*key, sorted(str(hex_)[at : at + 8] for at in range(0, len(str(hex_)), 8))) for *key, hex_ in postings]


def test_memories_that_an_older_release_embedded_are_embedded_again() -> None:
    connection = apsw.Connection(":memory:")
    apply_migrations(connection, 39)
    connection.execute("INSERT INTO memory_embedders (id, fingerprint, place) VALUES (1, 'test|sense|64|true', 2)")
    connection.execute("INSERT INTO memory_bits (embedder, scope, seq, bits) VALUES (1, 1, 1, x'01'), (1, 1, 2, x'02')")
    connection.execute("INSERT INTO memory_vectors (seq, embedder, vector) VALUES (1, 1, x'01'), (2, 1, x'02')")
    apply_migrations(connection)
    found = ScopedIndex(connection, Scope("owner"))
    assert found.vectors(1, [1, 2]) == {}
    assert connection.execute("SELECT count(*) FROM memory_bits").get == 0
    assert connection.execute("SELECT place FROM memory_embedders").get == 0


async def test_erased_item_leaves_no_stem_in_the_file(tmp_path: Path) -> None:
    async with open_store(tmp_path, StoreSettings(), ManualClock()) as store:
        said = MemoryItem(
            scope=Scope("owner"), layer=Layer.CONVERSATION, source="conversation:local", text="It is zanzibarium.",
            label=OWNER_LABEL, at=5.0, session="local:main", turn="t_1",
        )  # fmt: skip
        await store.items.add([said])
        assert await store.erasure.erase_session("local:main", "asked to") == 1  # type: ignore[arg-type]
    for file in tmp_path.glob("hob.db*"):
        assert b"zanzibari" not in file.read_bytes()


def test_german_word_family_shares_one_stem() -> None:
    for family in (("kaufen", "gekauft", "kaufte", "kauft"), ("Häuser", "Haus"), ("Straße", "Strassen")):
        assert len({stem_german(word.lower()) for word in family}) == 1, family


@given(st.lists(st.text("aegilnrstu5", min_size=1), max_size=9))
def test_words_stemmed_together_have_the_same_stems_as_alone(words: list[str]) -> None:
    together, alone = Analyzer(), Analyzer()
    together.learn([words])
    assert together.stems(words) == alone.stems(words)


@given(st.text("aB5é_' -\u30ab", max_size=30))
def test_words_are_the_same_beside_a_letter_outside_ascii(text: str) -> None:
    assert words_of(f"{text} \u00f6") == [*words_of(text), "\u00f6"]


def many(count: int, first: int = 0) -> list[MemoryItem]:
    return [item(0, f"apple number {n}", session=f"s{n // 20}") for n in range(first, first + count)]


async def test_large_batch_is_acknowledged_before_indexing_and_still_found(tmp_path: Path) -> None:
    async with open_store(tmp_path, StoreSettings(), ManualClock()) as store:
        await store.items.add(many(120))
        await store.items.add(many(3, 120))  # the order of the index is that of the rows
        assert await store.memory_index.read(Scope("owner"), lambda found: found.sizes(["appl"])) == {"appl": 123}
        await store.items.add(many(2, 123))
        assert await store.memory_index.read(Scope("owner"), lambda found: (found.size, len(found.speakers()))) == (
            125,
            0,
        )
        await store.items.add(many(120, 125))
        assert len(await store.memory_vectors.pending(0, 1_000)) == 245  # none is passed over


async def test_items_left_unindexed_at_shutdown_are_indexed_at_the_next_start(tmp_path: Path) -> None:
    async with open_store(tmp_path, StoreSettings(), ManualClock()) as store:
        await store.items.add(many(200))
    async with open_store(tmp_path, StoreSettings(), ManualClock()) as store:
        assert await store.memory_index.read(Scope("owner"), lambda found: found.sizes(["appl"])) == {"appl": 200}
