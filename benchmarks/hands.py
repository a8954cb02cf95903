"""Cost of outside work: a call of an MCP server's tool, and a sub-agent."""

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
    """Measure the CPU of Hob's process for a call over stdio in the sandbox, and of a sub-agent beyond the turns it
    takes.
    """
    for protocol in ("2025-11-25", "2026-07-28"):
        took = asyncio.run(_called(bench, protocol, bench.times(200, 20)))
        yield Row(f"a call of an MCP server ({protocol})", took, "ms CPU", 8)
    yield Row("a sub-agent and the wait, over the turns they are", _spawned(bench), "ms CPU", 20)


_TURNS = 10
"""Turns per round. Hob accepts sixty messages per hour from itself, which is enough for five rounds and a warm-up."""
_SHOWN, _ASKED = 60, 240
"""Characters of the sub-agent's result that the spawning turn sees, and of the text added to the sub-agent's task."""


def _spawned(bench: Bench) -> float:
    """Return the CPU milliseconds that a sub-agent adds to the same work without one.

    That is a turn with two calls, and the first turn of a session. Their requests and answers are as long as those of
    the turns they stand for: a streamed word takes a tenth of a millisecond.
    """
    home, rounds = bench.home(), bench.times(5, 2)
    write_note(bench, home)
    (bench.workspace(home) / "work" / "report.md").write_text("word " * (_SHOWN // 5))
    rest = "word " * (_ASKED // 5)
    with bench.daemon(home) as daemon:
        calls = least_cpu(daemon, lambda _: f'{CALL}\nCALL read {{"path": "report.md"}}', rounds, _TURNS)
        first = least_cpu(daemon, lambda number: f"count to {number}\n\n{rest}", rounds, _TURNS, fresh=True)
        daemon.client().say('CALL load_tools {"names": ["spawn", "sessions_yield"]}')
        spawned = least_cpu(daemon, _spawning, min(rounds, 4), _TURNS)
    return spawned - calls - first


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
