"""The declarations of Hob's own features are read while nothing is open, and cost next to nothing."""

import subprocess
import sys

import pytest

from hob.app.subsystems import SUBSYSTEMS, TOOL_GROUPS

HEAVY = {"asyncio", "apsw", "starlette", "httpx2", "uvicorn", "hob.app.kernel", "hob.store.store", "hob.app.operations"}
MEASURE = """
import sys, time, tracemalloc, hob.config.loading
import hob.app.maintenance.settings, hob.channels.webhooks.settings, hob.gateway.dashboard.settings
import hob.gateway.webhooks.settings
import hob.app.diagnostics.settings, hob.memory.settings, hob.tools.sandbox.settings, hob.tools.web.settings
import hob.app.subagents.settings, hob.bus.settings, hob.memory.er1.settings, hob.memory.knowledge.settings
import hob.tools.mcp.settings
{before}
began = time.process_time()
import hob.app.subsystems
print(time.process_time() - began, {after}, *sys.modules)
"""


# Sections of the configuration are read by every command that reads settings; what is measured comes on top.


def measured(before: str = "", after: str = "0") -> list[str]:
    code = MEASURE.format(before=before, after=after)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_reading_all_declarations_loads_no_library_or_implementation() -> None:
    code = "import sys, hob.app.subsystems; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert HEAVY.isdisjoint(done.stdout.split())


@pytest.mark.slow
def test_reading_all_declarations_is_fast() -> None:
    """Some 6 ms on a quick machine; the bound is for a slow one, where it took 15."""
    assert min(float(measured()[0]) for _ in range(10)) <= 0.040


def test_reading_all_declarations_takes_a_mebibyte_at_most() -> None:
    _, size, *_ = measured("tracemalloc.start()", "tracemalloc.get_traced_memory()[0]")
    assert int(size) <= 1 << 20


def test_features_have_unique_names() -> None:
    names = [each.name for each in SUBSYSTEMS]
    assert len(set(names)) == len(names)


def test_specs_of_tools_are_declared_once() -> None:
    names = [spec.name for group in TOOL_GROUPS for spec in group.tools]
    assert len(set(names)) == len(names)
    assert len({group.name for group in TOOL_GROUPS}) == len(TOOL_GROUPS)
