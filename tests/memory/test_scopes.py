"""No way of asking returns another scope's memory, whatever the texts, vectors and questions are."""

import asyncio
import math
import random
from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from hob.core.content.media import Embeddings
from hob.core.ids import TurnId
from hob.core.memory import Fact, FactChange, Goal, Layer, MemoryItem, Scope
from hob.core.trust.labels import OWNER_LABEL
from hob.memory.embedding import MemoryEmbedder
from hob.memory.retrieval.retriever import Retriever
from hob.memory.service import MemoryService
from hob.memory.settings import MemorySettings
from hob.store.store import Store
from hob.testing.clock import ManualClock
from hob.testing.memory_store import memory_store

SCOPES = [Scope("owner"), Scope("owner", "second"), Scope("person:anna"), Scope("telegram:group:1"), Scope("' OR 1 --")]
WORDS = st.sampled_from(["tea", "Anna lives in Oslo", "where does the owner live now", "last year", "\" ' % * NEAR("])
TEXT = st.one_of(WORDS, st.text(min_size=1, max_size=40))
LAYERS = st.sampled_from([Layer.CONVERSATION, Layer.DOCUMENT, Layer.TOOL, Layer.OBSERVATION])
TOLD = st.lists(st.tuples(st.integers(0, len(SCOPES) - 1), LAYERS, TEXT), min_size=2, max_size=6)
TIMES = st.sampled_from([0.0, 3.5, math.inf])


class AnyVectors:
    """Implements `Embedder` with vectors that depend on `seed`; half of the texts get the same one."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        return Embeddings(tuple(self._vector(text) for text in texts), "any")

    def _vector(self, text: str) -> tuple[float, ...]:
        numbers = random.Random(f"{self._seed} {text if len(text) % 2 else ''}")
        return tuple(numbers.choice((-0.125, 0.125)) for _ in range(64))


async def fill(store: Store, told: list[tuple[int, Layer, str]]) -> list[MemoryItem]:
    items = [
        MemoryItem(
            scope=SCOPES[who], layer=layer, source=f"{layer}:same", text=text, label=OWNER_LABEL, at=float(n),
            session="same", position=n, kind="turn" if layer is Layer.CONVERSATION else "section",
        )
        for n, (who, layer, text) in enumerate(told)
    ]  # fmt: skip
    await store.items.add(items)
    for n, scope in enumerate(SCOPES):
        await learn(store, scope, Fact(subject="owner", predicate="lives_in", object=f"Town{n}", at=float(n)))
        await store.goals.add(scope, Goal(text=f"Leave Town{n}", label=OWNER_LABEL))
    return items


async def learn(store: Store, scope: Scope, fact: Fact) -> None:
    await store.facts.change(scope, [lambda _: FactChange(added=(fact,))], f"e_{fact.object}")


@settings(max_examples=15, deadline=None)
@given(TOLD, TEXT, TIMES, st.integers(0, 9))
def test_no_way_of_asking_crosses_scopes(
    told: list[tuple[int, Layer, str]], question: str, as_of: float, seed: int
) -> None:
    asyncio.run(ask_everything(told, question, as_of, seed))


async def ask_everything(told: list[tuple[int, Layer, str]], question: str, as_of: float, seed: int) -> None:
    async with memory_store(clock := ManualClock()) as store:
        items = await fill(store, told)
        embedder = MemoryEmbedder(AnyVectors(seed), "test", "any", store.memory_vectors, clock)
        while await embedder.embed_some():
            pass
        retriever = Retriever(store.memory_index, embedder)
        service = MemoryService(store.items, store.facts, retriever, MemorySettings(), clock)
        dense = 0
        for n, scope in enumerate(SCOPES):
            for asked in (question, *(text for _, _, text in told), "where does the owner live"):
                found = await service.search(asked, scope, 20, as_of=as_of)
                assert {each.item.scope for each in found} <= {scope}
                assert {each.asked.scope for each in found if each.asked} <= {scope}
                dense += sum("meaning" in each.parts for each in found)
            for item in items:
                if item.scope != scope:
                    assert await service.find(item.id, scope) is None
                assert {each.scope for each in await service.around(item.id, scope)} <= {scope}
            assert {each.scope for each in await service.sections("same", scope)} <= {scope}
            at = min(as_of, clock.now().timestamp())
            for facts in (
                await store.facts.known(scope), await store.facts.known_at(scope, at),
                await store.facts.recorded(scope), await store.facts.news(scope, TurnId("t_1")),
            ):  # fmt: skip
                assert {fact.object for fact in facts if fact.predicate == "lives_in"} <= {f"Town{n}"}
            assert [goal.text for goal in await store.goals.goals(scope)] == [f"Leave Town{n}"]
        assert dense or as_of != math.inf
