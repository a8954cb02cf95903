"""Cost of screening what is sent to a model and what it answers."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from pathlib import Path
from statistics import median

from benchmarks.bench import Bench
from benchmarks.rows import Row
from hob.core.models import AssistantMessage, ModelEvent, ModelReply, ModelRequest, TextDelta, UserMessage
from hob.core.screening.detectors import find_sensitive
from hob.core.screening.kinds import PII, SECRETS
from hob.guard.screening.model_calls.prompt_guard import PromptGuard, restore_events
from hob.guard.screening.model_calls.sanitizer import Sanitizer
from hob.guard.screening.model_calls.settings import PromptGuardSettings, SanitizerSettings, ScreeningAction

_PROSE = (Path(__file__).parents[1] / "docs/explanation/durability.md").read_text("utf-8")
_KB = len(_PROSE) / 1000
_EVENTS = 20_000
_HISTORY = 40  # messages of 2 kB that stay in the prompt
_ASKED = ModelRequest("m", "You are Hob.", (UserMessage("hello"),))

Wrap = Callable[[AsyncIterator[ModelEvent]], AsyncIterator[ModelEvent]]


def measure(bench: Bench) -> Iterator[Row]:
    """Measure microseconds per 1,000 screened characters, per request and per streamed event."""
    times = bench.times(50, 5)
    beside = "the same text in lower case"
    minimum = _seconds(lambda: _PROSE.lower(), times) / _KB * 1e6
    for name, kinds, limit in (("secrets", SECRETS, 150), ("personal data", PII, 100)):
        took = _seconds(lambda kinds=kinds: find_sensitive(_PROSE, kinds), times) / _KB * 1e6  # type: ignore[misc]
        yield Row(f"looking for {name}", took, "µs/kB", limit, baseline=minimum, beside=beside)
    guard = PromptGuard(PromptGuardSettings(pii=ScreeningAction.REDACT), b"a key")
    request = _conversation()
    guard.screen(request)
    took = _seconds(lambda: guard.screen(request), times) * 1000
    yield Row(f"a request with {_HISTORY} known messages", took, "ms", 1)
    passed = asyncio.run(_per_event(_passed, times))
    beside = "an async generator that passes events on"
    for name, wrap in (
        ("cleaning an answer", Sanitizer(SanitizerSettings())),
        ("taking secrets out of one", _strict()),
    ):
        took = asyncio.run(_per_event(_cleaned(wrap), times))
        yield Row(f"{name}, per event", took, "µs", 3, baseline=passed, beside=beside)
    took = asyncio.run(_per_event(lambda events: restore_events(events, {"[EMAIL-abcdefghij]": "a@b.de"}), times))
    yield Row("putting values back, per event", took, "µs", 3, baseline=passed, beside=beside)


def _seconds(work: Callable[[], object], times: int) -> float:
    """Return the median CPU seconds."""
    took: list[float] = []
    for _ in range(times):
        began = time.process_time()
        work()
        took.append(time.process_time() - began)
    return median(took)


def _conversation() -> ModelRequest:
    texts = [_PROSE[n * 100 : n * 100 + 2000] for n in range(_HISTORY)]
    messages = tuple(UserMessage(text) if n % 2 == 0 else AssistantMessage(text) for n, text in enumerate(texts))
    return ModelRequest("m", _PROSE, messages)


def _strict() -> Sanitizer:
    return Sanitizer(SanitizerSettings(secrets=True))


def _cleaned(sanitizer: Sanitizer) -> Wrap:
    return lambda events: sanitizer.clean(_ASKED, events)


async def _answer() -> AsyncGenerator[ModelEvent]:
    event = TextDelta("word ")
    for _ in range(_EVENTS):
        yield event
    yield ModelReply("word " * _EVENTS)


async def _passed(events: AsyncIterator[ModelEvent]) -> AsyncGenerator[ModelEvent]:
    async for event in events:
        yield event


async def _per_event(wrap: Wrap, times: int) -> float:
    """Return the CPU microseconds that the wrapper adds to each event."""
    took: list[float] = []
    for _ in range(max(3, times // 10)):
        alone = await _drain(_answer())
        took.append(await _drain(wrap(_answer())) - alone)
    return median(took) / _EVENTS * 1e6


async def _drain(events: AsyncIterator[ModelEvent]) -> float:
    began = time.process_time()
    async for _ in events:
        pass
    return time.process_time() - began
