"""Tasks and Apps: slow calls, and results with a page."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from hob.core.content.canvas import CanvasPage
from hob.core.errors import OutcomeUnknown, ToolFailed, UserInputNeeded
from hob.core.ids import CallId
from hob.core.ports.tools import CallContext
from hob.core.tools import ToolCall
from hob.tools.mcp.connection import Connection
from hob.tools.mcp.settings import McpServer
from hob.tools.mcp.toolset import McpToolset
from tests.bus.bench import until
from tests.tools.keeping import FolderBlobs
from tests.tools.mcp.reaching import (
    Begun,
    Told,
    a_task,
    a_turn,
    accept,
    connected,
    on_loopback,
    ours,
    toolset,
)

pytestmark = [pytest.mark.slow, pytest.mark.bubblewrap]  # each test starts a sandboxed program


@pytest.fixture
async def notes(tmp_path: Path) -> AsyncIterator[Connection]:
    async with connected(tmp_path / "home", ours()) as connection:
        yield connection


async def bake(notes: Connection, what: str, *answers: str) -> str:
    result = await notes.call("bake", {"what": what}, a_turn(*answers), a_task())
    return str(result.content[0].text)


def is_given_up(home: Path, task: str) -> bool:
    return (home / "mcp" / "data" / "notes" / f"{task}.cancelled").exists()


async def test_call_waits_for_the_task_that_answers_it(notes: Connection) -> None:
    assert await bake(notes, "bread") == "bread is baked"


async def test_failed_task_reports_its_reason(notes: Connection) -> None:
    with pytest.raises(ToolFailed, match="stones do not bake"):
        await bake(notes, "stone")


async def test_task_that_asks_the_user_is_restarted_with_the_answer(notes: Connection, tmp_path: Path) -> None:
    with pytest.raises(UserInputNeeded, match="With nuts"):
        await bake(notes, "cake")
    assert is_given_up(tmp_path / "home", "cake")
    assert await bake(notes, "cake", "yes") == "cake is baked accept"


async def test_cancelled_call_cancels_its_task(notes: Connection, tmp_path: Path) -> None:
    await notes.tools()
    call = asyncio.create_task(bake(notes, "forever"))
    await until(lambda: (tmp_path / "home/mcp/data/notes/forever.begun").exists())
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert is_given_up(tmp_path / "home", "forever")


@asynccontextmanager
async def baking(folder: Path, url: str, begun: Begun) -> AsyncIterator[McpToolset]:
    server = McpServer(url=url)
    async with connected(folder / "home", server) as connection:
        yield toolset(await accept(connection), server, connection, folder, begun=begun)


SLOW = ToolCall(CallId("c"), "notes__bake", '{"what": "slow"}')


async def test_next_process_continues_polling_a_task(tmp_path: Path) -> None:
    begun = Begun()
    async with on_loopback(tmp_path) as url:
        async with baking(tmp_path, url, begun) as tools:
            call = asyncio.create_task(tools.call(SLOW, CallContext(a_turn(), is_shutting_down=lambda: True)))
            await until(lambda: (tmp_path / "slow.begun").exists())
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
        (tmp_path / "slow.done").touch()
        async with baking(tmp_path, url, begun) as tools:
            result = await tools.call(SLOW, CallContext(a_turn(), resumed=True))
    assert result.text == "slow is baked"
    assert (tmp_path / "slow.calls").read_text() == "."
    assert not (tmp_path / "slow.cancelled").exists()


@pytest.mark.parametrize("task", ["", "of another server"])
async def test_interrupted_call_without_a_task_is_not_repeated(tmp_path: Path, task: str) -> None:
    async with on_loopback(tmp_path) as url, baking(tmp_path, url, Begun(c=task) if task else Begun()) as tools:
        with pytest.raises(OutcomeUnknown):
            await tools.call(SLOW, CallContext(a_turn(), resumed=True))
    assert not (tmp_path / "slow.calls").exists()


async def test_task_of_a_vanished_server_has_an_unknown_outcome(tmp_path: Path) -> None:
    async with on_loopback(tmp_path) as url, connected(tmp_path / "home", McpServer(url=url)) as connection:
        accepted = await accept(connection)
    async with connected(tmp_path / "home", McpServer(url=url)) as connection:
        tools = toolset(accepted, McpServer(url=url), connection, tmp_path, begun=Begun(c="slow"))
        with pytest.raises(OutcomeUnknown):
            await tools.call(SLOW, CallContext(a_turn(), resumed=True))


@pytest.mark.parametrize("protocol", ["2025-11-25", "2026-07-28"])
async def test_app_page_is_shown_with_its_call_and_scripts_off(tmp_path: Path, protocol: str) -> None:
    shown: list[tuple[CanvasPage, str]] = []

    async def present(page: CanvasPage, html: str) -> CanvasPage:
        shown.append((page, html))
        return replace(page, version=1)

    async with connected(tmp_path / "home", ours(), protocol=protocol) as connection:

        async def connect() -> Connection:
            return connection

        tools = McpToolset(await accept(connection), ours(), connect, FolderBlobs(tmp_path), Told(), Begun(), present)
        call = ToolCall(CallId("c"), "notes__oven", json.dumps({"room": "</script>kitchen"}))
        result = await tools.call(call, CallContext(a_turn()))
    ((page, html),) = shown
    assert result.text.startswith("180 degrees in the </script>kitchen\n(the user sees it as a page")
    assert f"/canvas/{page.id}" in result.text
    assert (page.name, page.title, page.scripts) == ("notes: oven", "The oven", False)
    assert html.startswith("<!doctype html><html><head><script>")
    assert '"arguments": {"room": "\\u003c/script>kitchen"}' in html
    assert html.index("180 degrees") < html.index("<title>The oven")
