"""What it costs to reach out: a call of an MCP server's tool, and a sub-agent."""

import asyncio
import time
from collections.abc import Iterator

from benchmarks.bench import Bench
from benchmarks.rows import Row
from benchmarks.turn import CALL, least_cpu, write_note
from hob.core.ids import CallId
from hob.core.ports.tools import CallContext
from hob.core.tools import ToolCall
from tests.tools.mcp.reaching import a_turn, accept, connected, ours, toolset


def measure(bench: Bench) -> Iterator[Row]:
    """CPU of Hob's process for a call over stdio in the sandbox; what a sub-agent costs beside the turns it takes."""
    for protocol in ("2025-11-25", "2026-07-28"):
        took = asyncio.run(_called(bench, protocol, bench.times(200, 20)))
        yield Row(f"a call of an MCP server ({protocol})", took, "ms CPU", 8)
    home = bench.home()
    write_note(bench, home)
    with bench.daemon(home) as daemon:
        plain = least_cpu(daemon, lambda number: f"message {number}", bench.times(5, 2), 20)
        called = least_cpu(daemon, lambda _: CALL, bench.times(5, 2), 20)
        daemon.client().say('CALL load_tools {"names": ["spawn", "sessions_yield"]}')
        spawned = least_cpu(daemon, _spawning, bench.times(5, 2), 20)
    yield Row("a sub-agent and the wait, over a call and two turns", spawned - called - 2 * plain, "ms CPU", 20)


def _spawning(number: int) -> str:
    return f'CALL spawn {{"task": "count to {number}"}}\nCALL sessions_yield {{}}'


async def _called(bench: Bench, protocol: str, times: int) -> float:
    home = bench.home()
    async with connected(home, ours(), protocol=protocol) as connection:
        tools = toolset(await accept(connection), ours(), connection, home)
        call = ToolCall(CallId("c"), "notes__get_note", '{"name": "tea"}')
        context = CallContext(a_turn())
        for _ in range(10):
            await tools.call(call, context)
        began = time.process_time()
        for _ in range(times):
            result = await tools.call(call, context)
            assert result.text == "Buy green tea.", result.text
        return (time.process_time() - began) / times * 1000
