"""Skip these tests without the library or Chromium."""

import os
from collections.abc import AsyncIterator
from importlib.util import find_spec

import pytest
import pytest_asyncio

from hob.tools.browser.detection import find_program

from .browsing import Desk, open_desk

THERE = find_spec("playwright") is not None and bool(find_program("", os.environ.get("PATH", "")))
collect_ignore_glob = [] if THERE or os.environ.get("CI") else ["test_*.py"]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def opened(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Desk]:
    async with open_desk(tmp_path_factory.mktemp("desk")) as desk:
        yield desk


@pytest_asyncio.fixture(loop_scope="module")
async def desk(opened: Desk) -> Desk:
    """The module's browser, reset to one tab without events."""
    for _ in range(10):
        if "no page" in (told := await opened.say(action="close")):
            break
    else:
        pytest.fail(f"tabs stay: {told}")
    opened.web.pages.clear()
    opened.web.heads.clear()
    opened.web.bodies.clear()
    return opened
