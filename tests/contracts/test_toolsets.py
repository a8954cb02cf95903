"""Every toolset keeps the contract, and the contract finds violations."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from hob.core.ports.tools import Toolset
from hob.testing.toolset import FunctionTools, tool
from hob.testing.toolset_check import check_toolset


async def shout(arguments: Mapping[str, Any]) -> str:
    return str(arguments["text"]).upper()


@asynccontextmanager
async def functions() -> AsyncIterator[Toolset]:
    yield FunctionTools(tool("shout", shout))


@asynccontextmanager
async def none() -> AsyncIterator[Toolset]:
    yield FunctionTools()


@asynccontextmanager
async def badly_named() -> AsyncIterator[Toolset]:
    yield FunctionTools(tool("shout at", shout))


async def test_tools_made_of_functions_keep_the_contract() -> None:
    await check_toolset(functions, {"shout": {"text": "hi"}})


async def test_no_tools_keep_the_contract() -> None:
    await check_toolset(none, {})


async def test_name_that_no_provider_takes_is_found() -> None:
    with pytest.raises(AssertionError, match="every provider takes"):
        await check_toolset(badly_named, {"shout at": {"text": "hi"}})
