"""What a message is shown of memory by itself: what helps with it, and nothing where memory knows nothing of it."""

from collections.abc import AsyncIterator

import pytest

from hob.core.ids import SessionKey, TurnId, new_span_id, new_trace_id
from hob.core.memory import Layer, MemoryItem, Scope
from hob.core.messages import Address, Inbound, Sender
from hob.core.trust.labels import OWNER_LABEL, SenderClass
from hob.core.turns import Turn
from hob.memory.retrieval.retriever import Retriever
from hob.memory.service import MemoryService
from hob.memory.settings import MemorySettings
from hob.testing.channel import message
from hob.testing.clock import ManualClock
from hob.testing.memory_store import memory_store

KNOWN = (
    "My mother's birthday is on 14 March, she likes tulips.",
    "The wifi password of the guest network is on a note behind the router.",
    "My favourite colour is green, the leaves in spring, 2 of them.",
    "Good morning, I slept badly because of the heating.",
    "The heating was repaired by Mr. Schulz, he wrote an invoice for 240 euros.",
    "My sister Clara lives in Leipzig and plays the violin.",
    "My Spanish course starts in January at the community college.",
    "I prefer Python over Java for scripts.",
    "My dog is called Bello and he is afraid of thunder.",
)


@pytest.fixture
async def service() -> AsyncIterator[MemoryService]:
    clock = ManualClock()
    async with memory_store(clock) as store:
        await store.items.add([
            MemoryItem(scope=Scope("owner"), layer=Layer.CONVERSATION, source="conversation:local", text=text,
                       label=OWNER_LABEL, at=float(number), session=f"local:{number}")
            for number, text in enumerate(KNOWN)
        ])  # fmt: skip
        yield MemoryService(store.items, store.facts, Retriever(store.memory_index), MemorySettings(), clock)


async def shown(service: MemoryService, text: str) -> list[str]:
    plain = message(text)
    sender = Sender("1", "Ada", SenderClass.OWNER)
    inbound = Inbound(plain.id, plain.key, Address("local", "1"), sender, text, OWNER_LABEL, plain.trace)
    turn = Turn(TurnId("t_1"), SessionKey("local:now"), new_trace_id(), new_span_id(), (inbound,))
    return [memory.text for memory in await service.recall_for(turn, text, 6, 0)]


@pytest.mark.parametrize(
    "request_",
    [
        "Write a haiku about autumn leaves.",
        "What is 2+2?",
        "Translate 'good morning' to Spanish",
        "Write a Python function that reverses a string",
        "Generate a strong password with 16 characters",
        "Explain how a heating element in a toaster works",
    ],
)
async def test_unrelated_request_recalls_nothing(service: MemoryService, request_: str) -> None:
    assert await shown(service, request_) == []


@pytest.mark.parametrize(
    ("request_", "place"),
    [
        ("When is my mother's birthday?", 0),
        ("Write a birthday card for my mother", 0),
        ("Where is the wifi password?", 1),
        ("Write an email to Mr. Schulz about the invoice", 4),
        ("What is my dog's name?", 8),
        ("I had a long day, the train was late and it rained, so tell me something nice about Clara and her violin", 5),
    ],
)
async def test_helpful_memories_are_recalled(service: MemoryService, request_: str, place: int) -> None:
    assert KNOWN[place] in await shown(service, request_)


async def test_explicit_search_also_returns_weak_matches(service: MemoryService) -> None:
    assert await service.search("Write a haiku about autumn leaves.", Scope("owner"), 6)
    assert await service.recall("Write a haiku about autumn leaves.", SessionKey("owner"), 6)
