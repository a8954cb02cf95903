"""After `kill -9` at any moment nothing that was acknowledged is missing from memory, and nothing is there twice."""

import asyncio
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import cast

import pytest

from hob.app.followers import FollowerJob
from hob.app.memory.opening import follower_of
from hob.app.running_app import RunningServices
from hob.core.clock import SystemClock
from hob.core.ids import SessionKey
from hob.core.memory import Fact, FactChange, Layer, MemoryItem, Scope
from hob.core.trust.labels import OWNER_LABEL
from hob.memory.background_model import CONSOLIDATION
from hob.memory.facts.decisions import supersede
from hob.memory.retrieval.retriever import Retriever
from hob.memory.settings import MemorySettings
from hob.store.memory.facts import SOURCE
from hob.store.settings import StoreSettings
from hob.store.store import Store, open_store
from hob.testing.channel import message
from tests.calling import calling
from tests.conftest import FULL
from tests.samples import finish_of
from tests.turns import make_turn

KILLS = 100 if FULL else 10
SCOPE = Scope("owner")
EMBEDDER = "fake|embed|64|1"
NOBODY = cast(RunningServices, None)


async def write(folder: str, round_: int) -> None:
    """Say something in turns and keep items beside, for ever; each is told on stdout when it is durable."""
    async with open_store(Path(folder), StoreSettings(), SystemClock()) as store:
        job = FollowerJob(follower_of(MemorySettings()), store, SystemClock())
        await job.begin()
        following = asyncio.ensure_future(job.job.run(NOBODY))
        n = 0
        while not following.done():
            n += 1
            turn = await make_turn(store, message(f"said{round_}x{n} in the garden"))
            await store.journal.finish(finish_of(turn, "fine"))
            print(f"said{round_}x{n}", flush=True)
            await store.items.add([item_of(f"kept{round_}x{n}x{each} in the house") for each in range(5)])
            print(*(f"kept{round_}x{n}x{each}" for each in range(5)), sep="\n", flush=True)
            await store.facts.change(SCOPE, [partial(moved, f"fact{round_}x{n}")], f"e{round_}x{n}", ("facts", "", n))
            print(f"fact{round_}x{n}", flush=True)
            await consolidate(store, f"summary{round_}x{n}", n)
            print(f"summary{round_}x{n}", flush=True)
            await embed(store)


async def consolidate(store: Store, name: str, n: int) -> None:
    """Keep a summary with how far the work has come, as the work in the background does."""
    place = await store.memory_work.place(CONSOLIDATION, name)
    assert place == 0
    item = replace(item_of(f"{name} of the house"), layer=Layer.OBSERVATION, kind="summary")
    await store.memory_work.keep(SCOPE, [item], (CONSOLIDATION, name, n))


async def embed(store: Store) -> None:
    """Give the next rows their vectors."""
    embedder = await store.memory_vectors.begin(EMBEDDER)
    place = await store.memory_vectors.place(embedder)
    if rows := await store.memory_vectors.pending(embedder, 8):
        await store.memory_vectors.keep(embedder, (place, rows[-1][0]), [(seq, [1.0, -1.0] * 32) for seq, *_ in rows])


def moved(where: str, known: Sequence[Fact]) -> FactChange:
    """Somebody lives elsewhere now: the old record is closed, and two are written."""
    fact = Fact(subject="owner", predicate="lives_in", object=where, at=5.0)
    old = [each for each in known if each.valid_to is None]
    return FactChange(tuple(each.id for each in old), tuple(supersede(fact, old)))


def item_of(text: str) -> MemoryItem:
    return MemoryItem(
        scope=SCOPE, layer=Layer.FACT, source="fact:test", text=text, label=OWNER_LABEL, at=5.0, session="memory:main"
    )


async def killed(home: Path, round_: int, after: int) -> list[str]:
    """What a writer acknowledged before it was killed, behind its so many lines."""
    process = await calling(write, home, round_)
    assert process.stdout is not None
    lines = [(await process.stdout.readline()).decode().strip() for _ in range(after)]
    process.kill()
    rest = (await process.communicate())[0].decode()
    return [*lines, *rest[: rest.rfind("\n") + 1].split()]


async def remembered(store: Store) -> Counter[str]:
    said = (item.text.split()[0] for item in await store.items.of(SCOPE).select("i.source != ?", (SOURCE,)))
    return Counter([*said, *(fact.object for fact in await store.facts.known(SCOPE))])


@pytest.mark.slow
@pytest.mark.timeout(900)
async def test_no_acknowledged_item_is_lost_or_doubled_by_kills(tmp_path: Path) -> None:
    dice, acknowledged = random.Random(7), list[str]()
    for round_ in range(KILLS):
        acknowledged += await killed(tmp_path, round_, dice.randint(1, 60))
    async with open_store(tmp_path, StoreSettings(), SystemClock()) as store:
        job = FollowerJob(follower_of(MemorySettings()), store, SystemClock())
        await job.begin()
        task = asyncio.ensure_future(job.job.run(NOBODY))
        async with asyncio.timeout(20):
            while set(acknowledged) - (found := await remembered(store)).keys():  # noqa: ASYNC110 - a thread writes it
                await asyncio.sleep(0.01)
        task.cancel()
        assert max(found.values()) == 1
        embedder = await store.memory_vectors.begin(EMBEDDER)
        embedded, waiting = await store.memory_vectors.counts(embedder)
        assert embedded + waiting == len(await store.items.of(SCOPE).select())  # no row was passed over
        assert embedded > 0
        assert [fact.valid_to for fact in await store.facts.known(SCOPE)].count(None) == 1
        word = next(each for each in reversed(acknowledged) if not each.startswith("fact"))
        seen = await Retriever(store.memory_index).search(word, scope=SCOPE, now=6.0, limit=50)
        assert word in {each.item.text.split()[0] for each in seen}


async def test_search_never_returns_another_persons_items(tmp_path: Path) -> None:
    """Whatever the text and the names look like."""
    dice, words = random.Random(11), ["tea", "owner", "' OR 1=1 --", "person:anna", "*", "\N{GREEK SMALL LETTER ALPHA}"]
    people = [SessionKey(name) for name in ("owner", "person:anna", "telegram:group:1", "telegram:1", "own", "owner ")]
    async with open_store(tmp_path, StoreSettings(), SystemClock()) as store:
        for n in range(120):
            who = dice.choice(people)
            text = f"{' '.join(dice.choices(words, k=4))} number {n}"
            await store.items.add([MemoryItem(
                scope=Scope(who), layer=Layer.FACT, source="fact:test", text=text, label=OWNER_LABEL, at=5.0
            )])  # fmt: skip
        retriever = Retriever(store.memory_index)
        for who in people:
            for _ in range(20):
                query = " ".join([*dice.choices(words, k=3), *(str(dice.randrange(120)) for _ in range(3))])
                for each in await retriever.search(query, scope=Scope(who), now=6.0, limit=50):
                    assert each.item.scope == Scope(who)
