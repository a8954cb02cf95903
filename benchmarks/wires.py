"""Cost of a request to a model server and of its answer, on every wire."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import aclosing
from statistics import median

import httpx2

from benchmarks.bench import Bench
from benchmarks.rows import Row
from hob.core.clock import SystemClock
from hob.core.models import ModelRequest, UserMessage
from hob.providers.http.server import Server
from hob.providers.http.transport import HttpModel
from hob.providers.http.wire import Wire
from hob.providers.wires.anthropic.wire import AnthropicMessages
from hob.providers.wires.gemini.wire import GenerateContent
from hob.providers.wires.ollama.wire import OllamaChat
from hob.providers.wires.openai_chat.wire import ChatCompletions
from hob.providers.wires.openai_responses.wire import Responses

WIRES: tuple[Wire, ...] = (ChatCompletions(), AnthropicMessages(), GenerateContent(), OllamaChat(), Responses())
_EVENTS = 5_000
_REQUEST = ModelRequest("claude-x", "You are Hob.", (UserMessage("hello"),))


def measure(bench: Bench) -> Iterator[Row]:
    """Measure CPU microseconds per event when many arrive at once, and milliseconds per request with a short answer."""
    for wire in WIRES:
        events, bare_events, request, bare_request = asyncio.run(_costs(bench, wire))
        beside = "bare httpx2 that reads the bytes"
        yield Row(f"an event of {wire.name}", events, "µs CPU", 25, baseline=bare_events, beside=beside)
        yield Row(f"a request of {wire.name}", request, "ms CPU", 2, baseline=bare_request, beside=beside)


async def _costs(bench: Bench, wire: Wire) -> tuple[float, float, float, float]:
    root = bench.model.removesuffix("/v1")
    address = bench.model if wire.name == "openai_chat" else root
    long, short = "word " * _EVENTS, "Hello."
    async with aclosing(HttpModel(wire, Server(address), SystemClock())) as model, httpx2.AsyncClient() as client:

        async def ask() -> None:
            async with aclosing(model.stream(_REQUEST)) as events:
                async for _ in events:
                    pass

        async def read() -> None:
            body = wire.encode(_REQUEST, model=_REQUEST.model, images={})
            url = wire.chat_url(address, _REQUEST.model)
            async with client.stream("POST", url, content=body, headers=dict(wire.headers("any"))) as response:
                async for _ in response.aiter_raw():
                    pass

        async def cost(text: str, times: int) -> tuple[float, float]:
            took: dict[bool, list[float]] = {True: [], False: []}
            for number in range(2 * (times + 1)):
                (await client.post(f"{root}/_fake/script", json=[text])).raise_for_status()
                began = time.process_time()
                await (ask() if number % 2 else read())
                took[number % 2 == 1].append(time.process_time() - began)
            return median(took[True][1:]), median(took[False][1:])

        request, bare_request = await cost(short, bench.times(200, 30))
        events, bare_events = await cost(long, bench.times(20, 5))
    per_event = 1e6 / _EVENTS
    return events * per_event, bare_events * per_event, request * 1000, bare_request * 1000
