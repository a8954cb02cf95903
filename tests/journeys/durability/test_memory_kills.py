"""Killed while memories are embedded and while facts, observations and summaries are made: none is lost or doubled."""

import asyncio
import itertools
import json
import re
import subprocess
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import apsw
import pytest

from hob.core.clock import SystemClock
from hob.core.memory import OWNER, MemoryItem, Scope
from hob.memory.background_model import CONSOLIDATION, FACTS, OBSERVER, REFLECTOR
from hob.memory.observations.consolidation import SOURCE as SUMMARY
from hob.store.settings import StoreSettings
from hob.store.store import Store, open_store
from hob.testing.model_server import Action, HttpRequest, ModelServer, Reply
from tests.journeys import remembering
from tests.journeys.fork_server import fork_server

EMBEDDING, ANSWER = "embedding", "answer"
WORK = (EMBEDDING, FACTS, OBSERVER, CONSOLIDATION, REFLECTOR)
BEGINNINGS = {
    "You keep the lists": FACTS,
    "You compress": OBSERVER,
    "You condense": REFLECTOR,
    "Summarise a conversation": CONSOLIDATION,
}
PATIENCE = 40
"""Messages after which it is killed although the awaited work was not begun."""
SCOPE = Scope(OWNER)
KITE = re.compile(r"\bkite\d+x\d+\b")
CONTEXT = re.compile("<context>.*?</context>", re.S)
LINE = re.compile(r"^(\d+)\. \[[^]]*\] (user|assistant): (.*)$", re.M)
LONGEST_LINE = 280


class BackgroundServer(ModelServer):
    """Answers each task of the background, and announces in `reached` that the awaited work was begun."""

    def __init__(self) -> None:
        super().__init__(otherwise=self._answer, delay=0.01)
        self._wanted, self.left = "", 0
        self.reached = asyncio.Event()

    def await_work(self, task: str, nth: int) -> None:
        """Set `reached` when this task is begun the nth time from now; `left` counts down."""
        self._wanted, self.left = task, nth

    def respond(self, http_request: HttpRequest) -> Iterable[Action]:
        task = EMBEDDING if http_request.path.endswith("/embeddings") else _task(http_request.json())
        if task == self._wanted and self.left:
            self.left -= 1
            if not self.left:
                self.reached.set()
        return super().respond(http_request)

    def _answer(self, request: Mapping[str, Any]) -> Reply:
        asked = str(request["messages"][-1]["content"])
        lines = LINE.findall(asked)
        match _task(request):
            case "facts":
                return Reply(json.dumps([*_facts(asked)]))
            case "observer":
                own = [(number, KITE.findall(text)[0]) for number, role, text in lines if role == "user"]
                return Reply("\n".join(f"- [LOW] the owner owns {kite} ({number})" for number, kite in own))
            case "reflector":
                return Reply("\n".join(_condensed(lines)))
            case "consolidation":
                return Reply(f"The owner told of kites to fly in the garden, of {', '.join(KITE.findall(asked)[:3])}.")
        name = KITE.findall(CONTEXT.sub("", asked))[-1]
        return Reply(f"{name} is noted as the next one of the collection. {'It flies well. ' * 6}")


def _task(request: Mapping[str, Any]) -> str:
    system = str(request["messages"][0]["content"])
    return next((task for text, task in BEGINNINGS.items() if system.startswith(text)), ANSWER)


def _facts(asked: str) -> Iterator[Mapping[str, object]]:
    for number, text in re.findall(r"^M(\d+) \([^)]*\): (.*)$", asked, re.M):
        yield {
            "do": "ADD", "message": int(number), "subject": "owner", "predicate": "owns",
            "object": KITE.findall(text)[0],
        }  # fmt: skip


def _condensed(lines: Iterable[tuple[str, str, str]]) -> Iterator[str]:
    """As few lines as there is room for, which name every kite once."""
    names, numbers = list[str](), list[str]()
    for number, _, text in lines:
        found = KITE.findall(text)
        if names and len(", ".join([*names, *found])) > LONGEST_LINE - 20:
            yield f"- [LOW] the owner owns {', '.join(names)} ({', '.join(numbers)})"
            names, numbers = [], []
        names += found
        numbers.append(number)
    yield f"- [LOW] the owner owns {', '.join(names)} ({', '.join(numbers)})"


async def killed(home: Path, server: BackgroundServer, round_: int, after: float) -> list[str]:
    """Return what was acknowledged before the kill, so many seconds after the work was begun."""
    server.reached.clear()
    arguments = [remembering.__file__, str(home), server.url, str(round_)]
    with (home / "stderr.log").open("ab") as errors:
        process = await fork_server().start(arguments, {}, stdout=subprocess.PIPE, stderr=errors)
    assert process.stdout is not None
    lines = list[str]()

    async def listen(stdout: asyncio.StreamReader) -> None:
        async for line in stdout:
            lines.append(line.decode().strip())
            if len(lines) >= PATIENCE:
                server.reached.set()
        server.reached.set()

    listening = asyncio.create_task(listen(process.stdout))
    async with asyncio.timeout(120):
        await server.reached.wait()
    await asyncio.sleep(after)
    assert process.returncode is None, (home / "stderr.log").read_text()
    process.kill()
    await listening
    await process.communicate()
    return lines


async def settle(home: Path, url: str, hours: int, done: Callable[[Store], Awaitable[bool]]) -> None:
    """Let Hob work until this holds."""
    async with remembering.opened(home, url, hours) as (app, _), asyncio.timeout(120):
        while not await done(app.store):  # noqa: ASYNC110 - real threads work
            await asyncio.sleep(0.02)


async def said(store: Store) -> list[MemoryItem]:
    return await store.items.of(SCOPE).select("i.layer = 'conversation' AND i.role = 'user'")


async def is_worked_through(store: Store) -> bool:
    work, (embedder, _) = store.memory_work, await store.memory_vectors.other(0)
    left = [(await work.sessions_since(await work.place(task)))[1] for task in (OBSERVER, CONSOLIDATION)]
    return not any((*await work.waiting([FACTS]), *left, (await store.memory_vectors.counts(embedder))[1]))


def kites(texts: Iterable[str]) -> Counter[str]:
    return Counter(kite for text in texts for kite in KITE.findall(text))


async def check(store: Store, acknowledged: Sequence[str]) -> None:
    """Check that each message is remembered once, and was worked into each kind of memory once."""
    messages = await said(store)
    once = kites(each.text for each in messages)
    assert {*acknowledged} <= once.keys()
    assert {*once.values()} == {1}
    assert Counter(fact.object for fact in await store.facts.recorded(SCOPE)) == once
    (session,) = {each.session for each in messages}
    place = await store.memory_work.place(OBSERVER, f"{SCOPE.person}\n{SCOPE.agent}\n{session}")
    observed = kites(each.text for each in await store.memory_work.observations(SCOPE))
    assert observed == kites(each.text for each in messages if each.seq <= place)
    summaries = await store.items.of(SCOPE).select("i.source = ?", (SUMMARY,))
    summarised = Counter(id for each in summaries for id in each.evidence)
    assert {*summarised.values()} == {1}


def check_file(file: Path) -> None:
    """Check that the database is intact, and that each item has one vector."""
    connection = apsw.Connection(str(file))
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    items = connection.execute("SELECT seq FROM memory_items ORDER BY seq").fetchall()
    assert connection.execute("SELECT seq FROM memory_vectors ORDER BY seq").fetchall() == items
    assert connection.execute("SELECT seq FROM memory_bits ORDER BY seq").fetchall() == items
    connection.close()


@pytest.mark.timeout(3600)
async def test_kills_during_background_work_lose_and_double_nothing(
    tmp_path: Path, rounds: Callable[[int, int], int]
) -> None:
    dice, acknowledged, interrupted = Random(7), list[str](), Counter[str]()
    kills = rounds(10, 100)
    async with BackgroundServer() as server:
        for round_, work in zip(range(kills), itertools.cycle(WORK), strict=False):
            server.await_work(work, 1 if work == CONSOLIDATION else dice.randint(1, 2))
            acknowledged += await killed(tmp_path, server, round_, dice.uniform(0.0, 0.05))
            interrupted[work] += server.left == 0

        async def all_said(store: Store) -> bool:
            return {*acknowledged} <= kites(each.text for each in await said(store)).keys()

        await settle(tmp_path, server.url, kills + 1, all_said)
        await settle(tmp_path, server.url, kills + 2, is_worked_through)
        async with open_store(tmp_path / "state", StoreSettings(), SystemClock()) as store:
            await check(store, acknowledged)
        check_file(tmp_path / "state" / "hob.db")
    print(f"{kills} kills, {len(acknowledged)} messages, interrupted: {dict(interrupted)}")
    assert min(interrupted[work] for work in WORK) > 0
