"""Requests of model calls: stored once, masked by the secrets known when stored."""

from collections.abc import AsyncIterator

import pytest

from hob.core.ids import SessionKey
from hob.core.models import AssistantMessage, ModelRequest, UserMessage
from hob.core.steps import ModelAsked
from hob.core.tools import ToolSpec
from hob.core.trust.labels import Trust
from hob.guard.screening.masking.known_secrets import KnownSecrets
from hob.store.store import Store
from hob.testing.channel import message
from hob.testing.memory_store import memory_store
from tests.turns import make_turn

SECRET = "s3cr3t-of-the-owner"
TOOLS = (ToolSpec("read", "Read a file.", {"type": "object"}),)


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    async with memory_store() as opened:
        yield opened


def request(*texts: str, tools: tuple[ToolSpec, ...] = TOOLS) -> ModelRequest:
    kinds = (UserMessage, AssistantMessage)
    messages = tuple(kinds[place % 2](text) for place, text in enumerate(texts))
    return ModelRequest("p/m", "You are Hob.", messages, tools, 100, cache_key=SessionKey("main"))


async def keep(store: Store, asked: ModelRequest) -> ModelRequest:
    """Store it as the request of a new turn; return what is read back."""
    turn = await make_turn(store, message("hello"))
    await store.journal.append(turn.id, [ModelAsked("p/m", "h", 1, None, Trust.TRUSTED)], (), asked)
    (kept,) = (await store.requests.load(turn.id)).values()
    return kept


async def parts(store: Store) -> int:
    return len(await store._readers.read(lambda c: c.execute("SELECT id FROM request_parts").fetchall()))


async def test_request_round_trips_and_shares_its_parts_with_the_next(store: Store) -> None:
    first, second = request("hi"), request("hi", "Hello.", "and now?")
    kept = await keep(store, first)
    assert (kept.system, kept.messages, kept.tools[0].name) == (first.system, first.messages, "read")
    assert await parts(store) == 4
    assert (await keep(store, second)).messages == second.messages
    assert await parts(store) == 6


async def test_request_with_other_tools_stores_those(store: Store) -> None:
    await keep(store, request("hi"))
    other = (ToolSpec("write", "Write a file.", {"type": "object"}),)
    assert (await keep(store, request("hi", tools=other))).tools[0].name == "write"
    assert (await keep(store, request("hi", tools=()))).tools == ()


async def test_secret_learned_later_is_masked_in_requests_stored_after(store: Store) -> None:
    known = KnownSecrets({"other": "another-secret-value"})
    store._writer._connection.mask = known
    assert SECRET in str(await keep(store, request(f"it is {SECRET}")))
    known.learn({"mine": SECRET})
    assert SECRET not in str(await keep(store, request(f"it is {SECRET}")))
