"""What is near in meaning is found too, and an embedder that fails is told of."""

import asyncio
import math
import random
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from operator import mul
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hob.core.content.media import Embeddings
from hob.core.errors import ModelError, ModelFault
from hob.core.memory import Layer, MemoryItem, Scope
from hob.core.trust.labels import OWNER_LABEL
from hob.memory.embedding import MemoryEmbedder
from hob.memory.retrieval.dense import BinaryVectorIndex, _multiply
from hob.memory.retrieval.other_profiles import Profile, reciprocal_ranks, weighted
from hob.memory.retrieval.retriever import Retriever
from hob.store.memory.vectors import signs
from hob.store.settings import StoreSettings
from hob.store.store import Store, open_store
from hob.testing.clock import ManualClock
from hob.testing.memory_store import memory_store

OWNER, OTHER = Scope("owner"), Scope("telegram:group")
SENSES = ("hound dog puppy", "car tram train", "bread cake bakery", "rain snow storm")


class SenseEmbedder:
    """Implements `Embedder`: words of one sense point the same way."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.fails: ModelError | None = None
        self.longest = 10_000

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        if self.fails:
            raise self.fails
        if any(len(text) > self.longest for text in texts):
            raise ModelError(ModelFault.CONTEXT_OVERFLOW, "too long")
        self.asked += texts
        return Embeddings(tuple(self._vector(text) for text in texts), "sense")

    def _vector(self, text: str) -> tuple[float, ...]:
        words = text.lower().replace(".", "").split()
        near = [1.0 + 9 * sum(word in sense.split() for word in words) for sense in SENSES]
        numbers = [each * (1 if place % 3 else -1) for each in near for place in range(16)]
        mean = sum(near) / len(near)
        numbers = [value if near[n // 16] > mean else -value * 0.1 for n, value in enumerate(numbers)]
        length = math.hypot(*numbers)
        return tuple(value / length for value in numbers)


def said(text: str, n: int = 0, scope: Scope = OWNER) -> MemoryItem:
    return MemoryItem(
        scope=scope, layer=Layer.CONVERSATION, source="conversation:local", text=text, label=OWNER_LABEL, at=float(n),
        session=f"s{n}", position=n, turn=f"t{n}", speaker="Anna",
    )  # fmt: skip


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    async with memory_store(ManualClock()) as store:
        yield store


def embedder_of(store: Store, sense: SenseEmbedder, model: str = "sense") -> MemoryEmbedder:
    return MemoryEmbedder(sense, "test", model, store.memory_vectors, ManualClock())


async def embed_all(embedder: MemoryEmbedder) -> None:
    while await embedder.embed_some():
        pass


TEXTS = ["The puppy is asleep.", "The tram was late.", "A cake for all.", "Much snow today."]


async def test_item_without_a_common_word_is_found_by_its_meaning(store: Store) -> None:
    sense = SenseEmbedder()
    embedder = embedder_of(store, sense)
    await store.items.add([said(text, n) for n, text in enumerate(TEXTS)])
    await store.items.add([said("A hound of others.", 9, OTHER)])
    await embed_all(embedder)
    retriever = Retriever(store.memory_index, embedder)
    found = await retriever.search("Anna's hound", scope=OWNER, now=10.0)
    assert found[0].item.text == TEXTS[0]
    assert found[0].parts["meaning"] > 0.2
    assert {each.item.scope for each in found} == {OWNER}
    assert sense.asked[-1] == "hound"  # names tell nothing of meaning


async def test_item_that_waits_for_its_vector_ranks_by_its_words(store: Store) -> None:
    embedder = embedder_of(store, SenseEmbedder())
    await store.items.add([said(text, n) for n, text in enumerate([*TEXTS, "The hound and the dog sleep."])])
    await embed_all(embedder)
    await store.items.add([said("The hound and the dog took the tram.", 9)])
    found = await Retriever(store.memory_index, embedder).search("hound dog tram", scope=OWNER, now=10.0)
    assert found[0].item.text == "The hound and the dog took the tram."


async def test_items_beside_a_near_one_are_lent_some_of_its_nearness(store: Store) -> None:
    embedder = embedder_of(store, SenseEmbedder())
    texts = ["A cake for all.", "The puppy is asleep.", "A cake at home.", "A cake for Bob."]
    items = [replace(said(text, n), session="one", position=n, id="") for n, text in enumerate(texts)]
    await store.items.add(items)
    await embed_all(embedder)
    found = await Retriever(store.memory_index, embedder).search("hound", scope=OWNER, now=10.0)
    meaning = {each.item.text: each.parts["meaning"] for each in found}
    before, near, after, far = (meaning[text] for text in texts)
    assert near > before > after > far


@pytest.mark.parametrize("profile", list(Profile))
async def test_every_profile_combines_words_and_meaning(store: Store, profile: Profile) -> None:
    embedder = embedder_of(store, SenseEmbedder())
    await store.items.add([said(text, n) for n, text in enumerate(TEXTS)])
    await embed_all(embedder)
    found = await Retriever(store.memory_index, embedder, profile).search("hound tram", scope=OWNER, now=10.0)
    assert {each.item.text for each in found[:2]} == set(TEXTS[:2])
    found = await Retriever(store.memory_index, None, profile).search("tram", scope=OWNER, now=10.0)
    assert found[0].item.text == TEXTS[1]


async def test_failing_embedder_is_an_error_and_the_queue_resumes_later(store: Store) -> None:
    sense = SenseEmbedder()
    embedder = embedder_of(store, sense)
    await store.items.add([said(text, n) for n, text in enumerate(TEXTS)])
    sense.fails = ModelError(ModelFault.NETWORK, "no route")
    assert not await embedder.embed_some()
    assert "no route" in embedder.problem
    with pytest.raises(ModelError):
        await Retriever(store.memory_index, embedder).search("hound", scope=OWNER, now=10.0)
    sense.fails = None
    with pytest.raises(ModelError, match="no route"):  # for a while no question waits for what has just failed
        await embedder.embed_question("hound")
    await embed_all(embedder)
    assert (await embedder.waiting(), embedder.problem) == (0, "")
    assert await embedder.embed_question("hound")


async def test_successful_question_clears_an_earlier_problem(tmp_path: Path) -> None:
    clock, sense = ManualClock(), SenseEmbedder()
    async with open_store(tmp_path, StoreSettings(), clock) as store:
        embedder = MemoryEmbedder(sense, "fake", "sense", store.memory_vectors, clock)
        sense.fails = ModelError(ModelFault.NETWORK, "no route")
        with pytest.raises(ModelError):
            await embedder.embed_question("hound")
        assert "no route" in embedder.problem
        sense.fails = None
        await clock.advance(31)
        await embedder.embed_question("hound")
        assert embedder.problem == ""


async def test_question_does_not_wait_for_an_embedder_that_hangs(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    class Hanging(SenseEmbedder):
        async def embed(self, texts: Sequence[str]) -> Embeddings:
            await asyncio.Event().wait()
            raise AssertionError

    monkeypatch.setattr("hob.memory.embedding._DEADLINE_SECONDS", 0.01)
    embedder = embedder_of(store, Hanging())
    with pytest.raises(ModelError) as caught:
        await embedder.embed_question("hound")
    assert caught.value.fault is ModelFault.TIMEOUT


async def test_old_vectors_serve_while_another_model_re_embeds(store: Store) -> None:
    await store.items.add([said(text, n) for n, text in enumerate(TEXTS)])
    old_sense, new_sense = SenseEmbedder(), SenseEmbedder()
    await embed_all(embedder_of(store, old_sense, "old"))
    asked: list[str] = []

    def former(name: str) -> SenseEmbedder:
        asked.append(name)
        return old_sense

    new = MemoryEmbedder(new_sense, "test", "new", store.memory_vectors, ManualClock(), former)
    retriever = Retriever(store.memory_index, new)
    found = await retriever.search("hound", scope=OWNER, now=10.0)
    assert (found[0].item.text, asked, new_sense.asked) == (TEXTS[0], ["test/old"], [])
    await embed_all(new)
    found = await retriever.search("hound", scope=OWNER, now=10.0)
    assert (found[0].item.text, asked, new_sense.asked[-1]) == (TEXTS[0], ["test/old"], "hound")


async def test_queue_resumes_after_a_restart_without_embedding_twice(tmp_path: Path) -> None:
    first, second = SenseEmbedder(), SenseEmbedder()
    async with open_store(tmp_path, StoreSettings(), ManualClock()) as store:
        await store.items.add([said(text, n) for n, text in enumerate(TEXTS)])
        await embed_all(embedder_of(store, first))
    asked = len(first.asked)
    async with open_store(tmp_path, StoreSettings(), ManualClock()) as store:
        await store.items.add([said("More rain.", 5)])
        embedder = embedder_of(store, second)
        await embed_all(embedder)
        assert second.asked == ["More rain."]
        found = await Retriever(store.memory_index, embedder).search("hound", scope=OWNER, now=10.0)
        assert found[0].item.text == TEXTS[0]
    assert asked <= 2 * len(TEXTS)


async def test_other_model_re_embeds_and_then_drops_the_old_vectors(store: Store) -> None:
    await store.items.add([said(text, n) for n, text in enumerate(TEXTS)])
    old = embedder_of(store, SenseEmbedder(), "old")
    await embed_all(old)
    new = embedder_of(store, SenseEmbedder(), "new")
    await embed_all(new)
    assert new.number != old.number
    found = await Retriever(store.memory_index, new).search("hound", scope=OWNER, now=10.0)
    assert found[0].item.text == TEXTS[0]
    assert await store.memory_index.read(OWNER, lambda index: index.bits(old.number, 0, 9)) == ((), b"")


class SlowEmbedder(SenseEmbedder):
    """Holds back the vectors of memories until told; a question is answered at once."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.held = asyncio.Event(), asyncio.Event()

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        if texts == ["hound"]:
            self.held.set()
        else:
            self.begun.set()
            await self.held.wait()
        return await super().embed(texts)


async def test_first_question_while_the_first_memories_are_embedded_leaves_one_vector_each(store: Store) -> None:
    await store.items.add([said(text, n) for n, text in enumerate(TEXTS)])
    slow = SlowEmbedder()
    embedder = embedder_of(store, slow)
    first = asyncio.create_task(embedder.embed_some())
    await slow.begun.wait()
    await embedder.embed_question("hound")
    await first
    await embed_all(embedder)
    assert embedder.number
    assert await embedder.counts() == (4, 0)
    assert await store.memory_index.read(OWNER, lambda index: index.bits(0, 0, 9)) == ((), b"")


async def test_reindexing_while_memories_are_embedded_embeds_all_again(store: Store) -> None:
    await store.items.add([said(text, n) for n, text in enumerate(TEXTS[:3])])
    slow = SlowEmbedder()
    embedder = embedder_of(store, slow)
    slow.held.set()
    await embed_all(embedder)
    slow.begun.clear()
    slow.held.clear()
    await store.items.add([said(TEXTS[3], 3)])
    late = asyncio.create_task(embedder.embed_some())
    await slow.begun.wait()
    assert await embedder.reindex() == 3
    slow.held.set()
    await late
    await embed_all(embedder)
    assert await embedder.counts() == (4, 0)


async def test_changed_model_under_the_same_name_re_embeds(store: Store) -> None:
    sense, version = SenseEmbedder(), "one"
    embedder = MemoryEmbedder(
        sense, "local", "/models/it", store.memory_vectors, ManualClock(), lambda _: sense, lambda: version
    )
    await store.items.add([said(text, n) for n, text in enumerate(TEXTS)])
    await embed_all(embedder)
    before, asked = embedder.number, len(sense.asked)
    assert embedder.fingerprint == "local|/models/it@sha256:one|64|true"
    version = "two"
    assert await embedder.waiting() == len(TEXTS)
    assert (await embedder.embed_question("hound"))[0] not in {0, before}  # what was in the folder before is gone
    await embed_all(embedder)
    assert len(sense.asked) >= asked + len(TEXTS)
    found = await Retriever(store.memory_index, embedder).search("hound", scope=OWNER, now=10.0)
    assert found[0].item.text == TEXTS[0]


async def test_overlong_text_is_embedded_by_its_beginning(store: Store) -> None:
    sense = SenseEmbedder()
    sense.longest = 600
    embedder = embedder_of(store, sense)
    await store.items.add([said("puppy " + "and so on " * 500)])
    await embed_all(embedder)
    assert await embedder.waiting() == 0


async def test_vector_of_an_erased_item_is_deleted(store: Store) -> None:
    embedder = embedder_of(store, SenseEmbedder())
    await store.items.add([said(text, n) for n, text in enumerate(TEXTS)])
    await embed_all(embedder)
    retriever = Retriever(store.memory_index, embedder)
    assert (await retriever.search("hound", scope=OWNER, now=10.0))[0].item.text == TEXTS[0]
    await store.erasure.erase_session("s0", "asked to")  # type: ignore[arg-type]
    assert TEXTS[0] not in [each.item.text for each in await retriever.search("hound", scope=OWNER, now=10.0)]
    assert len((await store.memory_index.read(OWNER, lambda index: index.bits(embedder.number, 0, 9)))[0]) == 3


async def test_nearest_signs_are_found_in_any_order_of_insertion(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hob.memory.retrieval.dense._BLOCK_ITEMS", 1_024)
    draw, embedder = random.Random(7), await store.memory_vectors.begin("test|random|96|true")
    growing, vectors = BinaryVectorIndex(embedder), dict[int, tuple[float, ...]]()
    for count in (5, 32, 500, 2_000):
        kept = await store.items.add([said(f"number {len(vectors) + n}", len(vectors) + n) for n in range(count)])
        new = {item.seq: unit(draw, 96) for item in kept}
        await store.memory_vectors.pending(embedder, 1)  # many at once are indexed later
        place = await store.memory_vectors.place(embedder)
        await store.memory_vectors.keep(embedder, (place, kept[-1].seq), list(new.items()))
        vectors |= new
        asked = unit(draw, 96)
        near = await store.memory_index.read(OWNER, lambda index, asked=asked: growing.find(index, asked))  # type: ignore[misc]
        assert near == await store.memory_index.read(
            OWNER,
            lambda index, asked=asked: BinaryVectorIndex(embedder).find(index, asked),  # type: ignore[misc]
        )
        found, last = near
        assert (len(found), last) == (min(200, len(vectors)), max(vectors))
        exact = {seq: sum(map(mul, asked, vector)) for seq, vector in vectors.items()}
        assert all(cosine == pytest.approx(exact[seq], abs=1e-2) for seq, cosine in found.items())
        best = sorted(exact, key=exact.__getitem__)[-20:]
        assert len(found.keys() & set(best)) >= min(18, len(vectors))
    taken = await store.memory_index.read(OWNER, lambda index: index.bits(embedder, 0, 10_000))
    assert (list(taken[0]), taken[1]) == (sorted(vectors), b"".join(signs(vectors[seq]) for seq in sorted(vectors)))


async def test_sentence_nearer_to_the_question_than_its_message_counts_more(store: Store) -> None:
    draw, embedder = random.Random(7), await store.memory_vectors.begin("test|random|96|true")
    asked = unit(draw, 96)
    kept = await store.items.add([said(f"number {n}", n) for n in range(3)])
    wholes = [between(asked, unit(draw, 96), share) for share in (0.2, 0.4, 0.6)]
    sentences = {
        kept[0].seq: [unit(draw, 96), between(asked, unit(draw, 96), 0.9)],
        kept[1].seq: [between(asked, unit(draw, 96), 0.1)],
    }
    vectors = [(item.seq, vector) for item, vector in zip(kept, wholes, strict=True)]
    await store.memory_vectors.pending(embedder, 1)
    await store.memory_vectors.keep(embedder, (0, kept[-1].seq), vectors, sentences)
    found, _ = await store.memory_index.read(OWNER, lambda index: BinaryVectorIndex(embedder).find(index, asked))
    exact = [sum(map(mul, asked, vector)) for vector in wholes]
    nearer = sum(map(mul, asked, sentences[kept[0].seq][1]))
    assert nearer > exact[0] + 0.3
    assert found[kept[0].seq] == pytest.approx(exact[0] + 0.6 * (nearer - exact[0]), abs=6e-3)
    assert found[kept[1].seq] == pytest.approx(exact[1], abs=6e-3)
    assert found[kept[2].seq] == pytest.approx(exact[2], abs=6e-3)


async def test_aside_at_the_end_of_a_message_is_found(store: Store) -> None:
    """The message is about something else, and so is its vector as a whole."""
    sense = SenseEmbedder()
    aside = said("Which tram or train or car should I take into town? By the way, we got a puppy.", 0)
    others = [said(f"The tram and the train and the car were late again, day {n}.", n) for n in range(1, 40)]
    answer = replace(said("Take the tram, then the train. A puppy may ride along.", 40), role="assistant")
    await store.items.add([aside, *others, answer])
    embedder = embedder_of(store, sense)
    await embed_all(embedder)
    assert "By the way, we got a puppy." in sense.asked
    assert "A puppy may ride along." not in sense.asked  # what the assistant said is long, and counts less anyway
    found = await Retriever(store.memory_index, embedder).search("hound", scope=OWNER, now=99.0)
    assert found[0].item.text == aside.text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We met the new neighbours. They keep bees!", ["We met the new neighbours.", "They keep bees!"]),
        ("One sentence only, with no end", []),
        ("Yes. No. The third one is long enough.", []),
        ("我们昨天在公园里遇见了新邻居他们很友好。他们家养了很多蜜蜂也种了苹果树。", None),
        ("The first line is here\nThe second line is here", ["The first line is here", "The second line is here"]),
        (
            " ".join(f"This is sentence number {n}." for n in range(9)),
            [f"This is sentence number {n}." for n in range(4, 9)],
        ),
        ("This sentence is repeated. " * 100, []),
    ],
)
async def test_last_five_sentences_of_a_message_get_vectors(
    store: Store, text: str, expected: list[str] | None
) -> None:
    sense = SenseEmbedder()
    await store.items.add([said(text)])
    await embed_all(embedder_of(store, sense))
    sentences = [f"{part}。" for part in text.split("。")[:-1]] if expected is None else expected
    assert list(dict.fromkeys(sense.asked)) == [text, *sentences]


@given(
    st.integers(1, 40).flatmap(
        lambda width: st.tuples(
            st.dictionaries(st.integers(0, width - 1), st.integers(-(10**6), 10**6)),
            st.lists(st.binary(min_size=width, max_size=width), max_size=20),
            st.just(width),
        )
    )
)
def test_all_products_at_once_are_those_of_each_row(told: tuple[dict[int, int], list[bytes], int]) -> None:
    asked, rows, width = told
    one_by_one = [sum(factor * (row[place] - 128) for place, factor in asked.items()) for row in rows]
    assert _multiply(asked, b"".join(rows), width) == one_by_one


async def test_long_vectors_are_compared_by_their_largest_dimensions(store: Store) -> None:
    draw, embedder = random.Random(7), await store.memory_vectors.begin("test|random|1536|true")
    asked = unit(draw, 1_536)
    kept = await store.items.add([said(f"number {n}", n) for n in range(150)])
    vectors = {item.seq: between(asked, unit(draw, 1_536), n / 150) for n, item in enumerate(kept)}
    await store.memory_vectors.pending(embedder, 1)
    await store.memory_vectors.keep(embedder, (0, kept[-1].seq), list(vectors.items()))
    found, _ = await store.memory_index.read(OWNER, lambda index: BinaryVectorIndex(embedder).find(index, asked))
    exact = {seq: sum(map(mul, asked, vector)) for seq, vector in vectors.items()}
    assert found.keys() == exact.keys()
    assert all(cosine == pytest.approx(exact[seq], abs=0.03) for seq, cosine in found.items())
    nothing = await store.memory_index.read(OWNER, lambda index: BinaryVectorIndex(embedder).find(index, [0.0] * 1_536))
    assert set(nothing.cosines.values()) == {0.0}


def between(one: Sequence[float], other: Sequence[float], share: float) -> tuple[float, ...]:
    """A vector of unit length that is so near to the one."""
    return of_unit_length([a * share + b * (1 - share) for a, b in zip(one, other, strict=True)])


def unit(draw: random.Random, dimension: int) -> tuple[float, ...]:
    return of_unit_length([draw.gauss(0, 1) for _ in range(dimension)])


def of_unit_length(numbers: Sequence[float]) -> tuple[float, ...]:
    length = math.hypot(*numbers)
    return tuple(number / length for number in numbers)


LISTS = st.lists(st.integers(1, 40), unique=True)


@given(LISTS, LISTS)
def test_fusion_keeps_the_order_of_what_both_lists_agree_on(words: list[int], meaning: list[int]) -> None:
    scores = reciprocal_ranks(words, meaning)
    assert scores.keys() == {*words, *meaning}
    assert all(scores[a] > scores[b] for a in words for b in words if _before(words, a, b) and _before(meaning, a, b))
    cosines = {seq: 1 - place / 50 for place, seq in enumerate(meaning)}
    joined = weighted(words, cosines)
    assert joined.keys() <= {*words, *meaning}
    assert all(
        joined[a] >= joined[b] for a in joined for b in joined if _before(words, a, b) and _before(meaning, a, b)
    )


def _before(ranked: Sequence[int], a: int, b: int) -> bool:
    return a in ranked and b in ranked and ranked.index(a) < ranked.index(b)
