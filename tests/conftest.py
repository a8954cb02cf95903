"""Test profiles: quick ones for every change, the figures of the issues with HOB_TEST_FULL=1."""

import gc
import os
import shutil
import signal
from collections.abc import Generator, Iterator
from contextlib import nullcontext
from types import FrameType

import pytest
from hypothesis import HealthCheck, settings

from tests.made_once import disk_not_waited_for, made_once
from tests.scans import recorded

FULL = os.environ.get("HOB_TEST_FULL") == "1"
QUICK = os.environ.get("HOB_TEST_QUICK") == "1"

# nothing of whoever starts the tests: neither their terminal, nor their language, nor that a shell starts programs in
# the background with Ctrl-C ignored, which all that tests start would inherit
os.environ["TERM"] = "xterm-256color"
os.environ["LC_ALL"] = "C.UTF-8"
os.environ.pop("NO_COLOR", None)


def interrupt(_number: int, _frame: FrameType | None) -> None:
    """Ctrl-C. In place of Python's own handler asyncio puts one for every call of a loop, and takes it away again by
    comparing it, for which `signal` formats the task with all that the test's coroutine returned."""
    raise KeyboardInterrupt


signal.signal(signal.SIGINT, interrupt)

# as often as a program of a few objects needs it, garbage is looked for in ten thousand tests and syntax trees in vain
gc.set_threshold(50_000, 20, 20)

_slow_ok = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
settings.register_profile("quick", max_examples=20, deadline=None, suppress_health_check=_slow_ok, print_blob=True)
# a change is not to blame for an example that nobody has seen yet: those are looked for by hand and in full runs
settings.register_profile("ci", settings.get_profile("quick"), derandomize=True)
settings.register_profile("brief", settings.get_profile("quick"), max_examples=5)
settings.register_profile("full", max_examples=1000, deadline=None, suppress_health_check=_slow_ok, print_blob=True)
settings.load_profile("full" if FULL else "brief" if QUICK else "ci" if os.environ.get("CI") else "quick")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage among what is collected, now or later: all of it lives as long as the process."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    wanting = {} if FULL else {"full": "runs in make test-full"}
    if shutil.which("bwrap") is None:
        wanting["bubblewrap"] = "bubblewrap is not installed"
    for item in items:
        for name, reason in wanting.items():
            if item.get_closest_marker(name):
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session", autouse=True)
def no_statement_walks_through_a_table_that_grows() -> Iterator[None]:
    """Of all that the tests of this process run; it fails with the last of them."""
    with recorded() as statements:
        yield
    found = sorted(statements.scans())
    assert not found, "\n".join(found)


@pytest.fixture(scope="session", autouse=True)
def what_takes_long_is_made_once() -> Iterator[None]:
    with made_once(), disk_not_waited_for() if QUICK else nullcontext():
        yield


@pytest.fixture
def rounds() -> "Rounds":
    """How often to repeat: `rounds(40, 1000)` is 40, and 1000 in the full run."""
    return Rounds()


class Rounds:
    def __call__(self, quick: int, full: int) -> int:
        return full if FULL else quick
