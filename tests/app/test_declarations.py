"""The declarations of Hob's own features are read while nothing is open, and cost next to nothing."""

import subprocess
import sys

from benchmarks.startup import DECLARATIONS
from hob.app.subsystems import SUBSYSTEMS, TOOL_GROUPS

HEAVY = {"asyncio", "apsw", "starlette", "httpx2", "uvicorn", "hob.app.kernel", "hob.store.store", "hob.app.operations"}


def test_reading_all_declarations_loads_no_library_or_implementation() -> None:
    code = "import sys, hob.app.subsystems; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert HEAVY.isdisjoint(done.stdout.split())


def test_reading_all_declarations_takes_a_mebibyte_at_most() -> None:
    code = DECLARATIONS.format(before="tracemalloc.start()", after="tracemalloc.get_traced_memory()[0]")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) <= 1 << 20


def test_features_have_unique_names() -> None:
    names = [each.name for each in SUBSYSTEMS]
    assert len(set(names)) == len(names)


def test_specs_of_tools_are_declared_once() -> None:
    names = [spec.name for group in TOOL_GROUPS for spec in group.tools]
    assert len(set(names)) == len(names)
    assert len({group.name for group in TOOL_GROUPS}) == len(TOOL_GROUPS)
