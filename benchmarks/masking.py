"""Cost of masking known secrets in texts, and of recording decisions in the audit log."""

import asyncio
import textwrap
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

from benchmarks.bench import Bench
from benchmarks.rows import Row
from hob.core.clock import SystemClock
from hob.core.ids import CallId, TurnId
from hob.core.models import ModelEvent, ModelReply, ModelRequest, TextDelta, UserMessage
from hob.guard.screening.masking.known_secrets import KnownSecrets
from hob.guard.screening.masking.models import MaskedModel
from hob.store.audit.audit import AuditEntry
from hob.store.decisions import PolicyDecision
from hob.store.settings import StoreSettings
from hob.store.store import open_store

_PIECES = [f"word{number} " for number in range(2_000)]
_TEXT = textwrap.fill("".join(_PIECES)[:10_000], 80)
_SECRETS = {f"secret {number}": f"sk-{number:04}-Zq8/Lw+2mKt7Vb31" for number in range(5)}
_REQUEST = ModelRequest("m", _TEXT, (UserMessage("hi"),))


class _Speaking:
    """Implements `Model`: answers in many small pieces."""

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        for piece in _PIECES:
            yield TextDelta(piece)
        yield ModelReply(_TEXT)


def measure(bench: Bench) -> Iterator[Row]:
    """Measure masking a text and a streamed piece with five known secrets, and a decision and its entry in one
    transaction.
    """
    known, times = KnownSecrets(_SECRETS), bench.times(500, 50)
    began = time.process_time()
    for _ in range(times):
        known(_TEXT)
    took = (time.process_time() - began) / times * 1000
    yield Row("masking 10 kB of text", took, "ms CPU", 0.3)
    runs = bench.times(40, 4)
    plain, masked = (asyncio.run(_stream(model, runs)) for model in (_Speaking(), MaskedModel(_Speaking(), known)))
    beside = "the same unmasked"
    yield Row("a masked piece of a stream", masked, "µs CPU", 15, baseline=plain, beside=beside)
    alone, told = asyncio.run(_told(bench.home(), times))
    yield Row("a decision with its entry", told, "ms CPU", 1, baseline=alone, beside="a decision without it")


async def _stream(model: _Speaking | MaskedModel, runs: int) -> float:
    began = time.process_time()
    for _ in range(runs):
        async for _event in model.stream(_REQUEST):
            pass
    return (time.process_time() - began) / runs / len(_PIECES) * 1_000_000


async def _told(home: Path, times: int) -> tuple[float, float]:
    costs = []
    async with open_store(home, StoreSettings(), SystemClock()) as store:
        for entries in ((), (AuditEntry("decision", "read", "allow", detail="{}"),)):
            began = time.process_time()
            for number in range(times):
                decided = PolicyDecision(TurnId("t"), CallId(f"c_{number}"), "read", "hash", "allow", "rule")
                await store.decisions.add(decided, *entries)
            costs.append((time.process_time() - began) / times * 1000)
    return costs[0], costs[1]
