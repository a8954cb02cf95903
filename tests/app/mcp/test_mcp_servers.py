"""MCP servers of a home: tools in turns, questions to the owner, status."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hob.app.composition import App, open_app
from hob.app.settings.sections import SECTIONS
from hob.app.tools import catalog
from hob.config.loading import Config, load_config
from hob.core.content.canvas import CanvasPage
from hob.core.errors import InvalidRequest, NotFound
from hob.core.ids import SessionKey
from hob.core.models import ModelReply, ModelRequest, Usage
from hob.gateway.chat.inbound import owners_inbound
from hob.gateway.chat.outcome import follow
from hob.gateway.tools import PageCall, ToolCatalog
from hob.testing.model import ScriptedModel, calls
from hob.tools.mcp import toolset
from hob.tools.mcp.accepted import save_accepted
from tests.bus.bench import until
from tests.stand_ins import stand_ins
from tests.tools.mcp.reaching import accept, connected, ours

pytestmark = [pytest.mark.slow, pytest.mark.bubblewrap]  # each test starts a sandboxed program


def configured(home: Path, sampling: int = 0) -> Config:
    server = ours()
    home.mkdir(parents=True, exist_ok=True)
    (home / "config.toml").write_text(
        f'[mcp.notes]\nabout = "what is in the house"\ncommand = {json.dumps(server.command)}\n'
        f"read = {json.dumps(server.read)}\nsampling = {sampling}\n"
    )
    environ = {
        "HOB_MODEL_BASE_URL": "http://127.0.0.1:9/v1",
        "HOB_MODEL_NAME": "m",
        "HOB_POLICY_MODE": "full",
        "HOB_WORKSPACE_PATH": str(home.parent / "w"),
    }
    return load_config(SECTIONS, home=home, environ=environ)


@asynccontextmanager
async def hob_with_notes(
    home: Path, model: ScriptedModel, *, protocol: str = "", sampling: int = 0
) -> AsyncIterator[App]:
    config = configured(home, sampling)
    async with connected(home, ours()) as connection:
        accepted = await accept(connection)
    save_accepted(home, replace(accepted, protocol=protocol or accepted.protocol))
    async with open_app(home, config, subsystems=stand_ins(model)) as app:
        yield app


async def said(app: App, text: str) -> dict[str, Any]:
    inbound = owners_inbound({"message": text}, None, app.api.clock)
    async with aclosing(follow(app.api, inbound, 60)) as events:
        async for event in events:
            if event.name in ("question", "result", "error"):  # events after a question would never come
                return event.data
    raise AssertionError("nothing came of it")


def tool_names(request: ModelRequest) -> list[str]:
    return [spec.name for spec in request.tools]


async def test_server_is_one_line_and_not_reached_before_its_first_call(tmp_path: Path) -> None:
    model = ScriptedModel(
        "hello",
        calls(("load_tools", '{"query": "read a note"}')),
        calls(("notes__get_note", '{"name": "tea"}')),
        "Green tea.",
    )
    async with hob_with_notes(tmp_path / "home", model) as app:
        await said(app, "hi")
        loader = model.requests[0].tools[-1]
        assert "\nmcp_notes: what is in the house" in loader.description
        assert "notes__get_note" not in tool_names(model.requests[0])
        assert (await app.operations.status())["mcp"] == {"notes": {"state": "idle", "tools": 9}}
        assert (await said(app, "what do I need?"))["reply"] == "Green tea."
        assert "notes__get_note" in tool_names(model.requests[-1])
        assert "Buy green tea." in model.requests[-1].messages[-1].text
        assert (await app.operations.status())["mcp"]["notes"]["state"] == "connected"


async def test_server_question_is_asked_in_the_conversation_and_the_call_resumes(tmp_path: Path) -> None:
    model = ScriptedModel(
        calls(("load_tools", '{"names": ["notes__delete_note"]}')),
        calls(("notes__delete_note", '{"name": "tea"}')),
        "Gone.",
    )
    async with hob_with_notes(tmp_path / "home", model, protocol="2025-11-25") as app:
        asked = await said(app, "delete my note about tea")
        assert "notes: Delete tea?" in asked["question"]
        await said(app, "yes")
        await until(lambda: len(model.requests) == 3)
        assert "tea: accept True" in model.requests[-1].messages[-1].text


async def test_disabled_server_disappears_on_reload(tmp_path: Path) -> None:
    model = ScriptedModel("hello", "hello again")
    async with hob_with_notes(tmp_path / "home", model) as app:
        await said(app, "hi")
        with (tmp_path / "home/config.toml").open("a") as file:
            file.write("on = false\n")
        app.services.reloading()
        await said(app, "hi again")
        assert "mcp_notes" in model.requests[0].tools[-1].description
        assert "mcp_notes" not in model.requests[1].tools[-1].description


async def test_server_samples_within_its_daily_tokens(tmp_path: Path) -> None:
    reading = calls(("notes__get_poem", '{"name": "tea"}'))
    model = ScriptedModel(calls(("load_tools", '{"names": ["notes__get_poem"]}')), reading, "Done.", reading, "Done.")
    model.background += [ModelReply("Leaves unfold", usage=Usage(300, 200))]
    async with hob_with_notes(tmp_path / "home", model, sampling=500) as app:
        await said(app, "read me the poem about tea")
        assert "tea: Leaves unfold" in model.requests[2].messages[-1].text
        asked = model.background_requests[-1]
        assert (asked.tools, asked.max_tokens) == ((), 60)
        assert asked.messages[-1].text == "A line about Buy green tea."
        spent = await app.store.ledger.spent(task="sampling", session=SessionKey("mcp:notes"))
        assert (spent.usage.input, spent.usage.output) == (300, 200)
        await said(app, "again")
        assert "0 are left today" in model.requests[4].messages[-1].text
        assert len(model.background_requests) == 1
        noted = await app.store.audit.latest(50, "action")
        assert [row.entry.outcome for row in noted if row.entry.name == "sampling"] == ["done", "refused"]


OVEN_PAGE = (
    calls(("load_tools", '{"names": ["notes__oven"]}')),
    calls(("notes__oven", '{"room": "kitchen"}')),
    "It is hot.",
)


async def until_page(app: App) -> None:
    async with asyncio.timeout(20):
        while not await app.store.canvas.pages():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def shown_oven(app: App) -> CanvasPage:
    """Show the app's page with scripts allowed."""
    asked = await said(app, "how hot is it?")
    await said(app, f"approve:{asked['approvals'][0]}")
    await until_page(app)
    (page,) = await app.store.canvas.pages()
    return await app.store.canvas.let_run(page)


async def called(app: App, page: CanvasPage, tool: str, arguments: str, *, confirmed: bool = False) -> Any:
    asked = PageCall(page.id, page.version, tool, arguments, confirmed)
    return await app.api.port(ToolCatalog).call_for_page(asked)


async def test_app_page_calls_its_servers_tools_under_the_policy(tmp_path: Path) -> None:
    async with hob_with_notes(tmp_path / "home", ScriptedModel(*OVEN_PAGE)) as app:
        page = await shown_oven(app)
        read = await called(app, page, "get_note", '{"name": "tea"}')
        assert (read["done"], read["result"]["content"][0]["text"]) == (True, "Buy green tea.")
        asked = await called(app, page, "bake", '{"what": "pie"}')
        assert (asked["done"], asked["verdict"], asked["tool"]) == (False, "ask", "notes__bake")
        assert '"what": "pie"' in asked["shown"]
        baked = await called(app, page, "bake", '{"what": "pie"}', confirmed=True)
        assert baked["result"]["content"][0]["text"] == "pie is baked"
        noted = await app.store.audit.latest(50, "action")
        assert [row.entry.outcome for row in noted if row.entry.name == "app_call"] == ["done", "done"]


async def test_app_page_cannot_call_foreign_or_model_only_tools(tmp_path: Path) -> None:
    async with hob_with_notes(tmp_path / "home", ScriptedModel(*OVEN_PAGE)) as app:
        page = await shown_oven(app)
        for tool in ("exec", "notes__bake", "resources"):
            with pytest.raises(NotFound):
                await called(app, page, tool, "{}", confirmed=True)
        secret = await called(app, page, "crash", "{}", confirmed=True)
        assert "does not let its pages call" in secret["result"]["content"][0]["text"]


async def test_app_page_reads_resources_within_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with hob_with_notes(tmp_path / "home", ScriptedModel(*OVEN_PAGE)) as app:
        page = await shown_oven(app)
        read = await called(app, page, "resources/read", '{"uri": "note://tea"}')
        assert (read["done"], read["tool"]) == (True, "notes__resources")
        assert read["result"]["contents"][0]["text"] == "Buy green tea."
        gone = await called(app, page, "resources/read", '{"uri": "note://gone"}')
        assert gone["result"]["isError"]
        monkeypatch.setattr(toolset, "MAX_HTML", 20)
        long = await called(app, page, "resources/read", '{"uri": "note://tea"}')
        assert "more than 20 characters" in long["result"]["content"][0]["text"]


async def test_app_page_calls_nothing_when_scripts_are_off_or_hob_is_halted(
    tmp_path: Path,
) -> None:
    async with hob_with_notes(tmp_path / "home", ScriptedModel(*OVEN_PAGE)) as app:
        page = await shown_oven(app)
        still = await app.store.canvas.present(replace(page, scripts=False), "<p>still")
        own = await app.store.canvas.present(
            CanvasPage(page.session, "notes: oven 2", page.turn, scripts=True), "<p>own"
        )
        for each in (still, own):
            with pytest.raises(InvalidRequest, match="only a page of an MCP server"):
                await called(app, each, "get_note", '{"name": "tea"}')
        await app.operations.stop_all("test")
        with pytest.raises(InvalidRequest, match="everything is stopped"):
            await called(app, page, "get_note", '{"name": "tea"}')


async def test_app_page_calls_are_rate_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog, "MAX_PAGE_CALLS", 2)
    async with hob_with_notes(tmp_path / "home", ScriptedModel(*OVEN_PAGE)) as app:
        page = await shown_oven(app)
        for _ in range(2):
            await called(app, page, "get_note", '{"name": "tea"}')
        with pytest.raises(InvalidRequest, match="a minute"):
            await called(app, page, "get_note", '{"name": "tea"}')
