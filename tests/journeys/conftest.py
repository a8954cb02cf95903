"""A world of its own for each journey."""

import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hob.testing.openai_server import OpenAIServer

from .world import World


@pytest.fixture
async def world() -> AsyncIterator[World]:
    # not tmp_path: a Unix socket's path has to be short
    with tempfile.TemporaryDirectory(prefix="hob") as root:
        async with OpenAIServer() as model:
            yield World(Path(root), model)
