"""The browser in an open Hob: offered, started by a call, shown in status, closed."""

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from hob.app.composition import App, open_app
from hob.app.diagnostics.checks.browser import CHECKS
from hob.app.diagnostics.context import DiagnosticContext
from hob.app.home import make_home
from hob.app.settings.sections import SECTIONS
from hob.config.loading import load_config
from hob.core.models import ModelReply, ToolMessage
from hob.gateway.chat.inbound import owners_inbound
from hob.gateway.chat.outcome import follow
from hob.testing.model import ScriptedModel, calls
from hob.tools.browser.detection import EXTRA
from tests.stand_ins import stand_ins
from tests.tools.browser.conftest import THERE
from tests.tools.browser.program import program
from tests.tools.web.server import WebServer, reply, web_server

NEEDS = pytest.mark.skipif(not THERE, reason="Playwright or Chromium is not installed")


@asynccontextmanager
async def hob(root: Path, *replies: str | ModelReply, **more: str) -> AsyncIterator[tuple[App, ScriptedModel]]:
    environ = {
        "HOB_MODEL_BASE_URL": "http://127.0.0.1:9/v1",
        "HOB_MODEL_NAME": "m",
        "HOB_WORKSPACE_PATH": str(root / "w"),
        "HOB_BROWSER_PROGRAM": program(root),
        "HOB_BROWSER_HOSTS": '["localhost"]',
        **more,
    }
    model = ScriptedModel(*replies)
    config = load_config(SECTIONS, home=root / "home", environ=environ)
    async with open_app(config.home, config, subsystems=stand_ins(model)) as app:
        yield app, model


async def said(app: App, text: str) -> str:
    inbound = owners_inbound({"message": text}, None, app.api.clock)
    return str([event async for event in follow(app.api, inbound, 60)][-1].data.get("reply"))


def results(model: ScriptedModel) -> list[str]:
    return [each.text for each in model.requests[-1].messages if isinstance(each, ToolMessage)]


@NEEDS
@pytest.mark.slow
async def test_page_is_opened_and_the_browser_state_is_shown(tmp_path: Path) -> None:
    opening, web = calls(("load_tools", '{"names": ["browser"]}')), WebServer()
    web.pages["/"] = reply(b"<h1>My wiki</h1>")
    async with web_server(web):
        url = web.url("/", "localhost")
        going = calls(("browser", f'{{"action": "navigate", "url": "{url}"}}'))
        async with hob(tmp_path, "hi", opening, going, "done") as (app, model):
            await said(app, "hello")
            assert "\nbrowser: pages: click, type, look" in model.requests[0].tools[-1].description
            assert "playwright" not in str(await app.operations.status())
            assert await said(app, "/browser") == "Browser: closed"
            assert await said(app, "/browser take") in (
                "There is no display here: the browser cannot be shown.",
                "No browser is open in this conversation.",
            )
            await said(app, f"Look at {url}")
            assert 'heading "My wiki"' in results(model)[-1]
            assert (await app.operations.status())["browsers"] == 1
            noted = [row for row in await app.store.audit.latest(50, "action") if row.entry.name == "network"]
            reached = [row.detail for row in noted if row.entry.outcome == "reached"]
            assert [str(web.port) in str(detail) and "by the browser of" in str(detail) for detail in reached] == [True]
            assert await said(app, "/browser") == "Browser: open, with a profile of this conversation"
            assert await said(app, "/browser close") == "The browser is closed."
            assert await said(app, "/browser close") == "No browser is open in this conversation."
            assert await said(app, "/browser dance") == "Say what: /browser take, back or close"
            assert await said(app, "/browser back") == "You have not taken the browser of this conversation."
    assert [*(tmp_path / "home/browser").iterdir()] == []


async def test_without_the_extra_the_tool_is_hidden_and_the_next_step_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "playwright", None)
    async with hob(tmp_path, "hi") as (app, model):
        await said(app, "hello")
        assert "browser:" not in model.requests[0].tools[-1].description
        assert EXTRA in await said(app, "/browser")
    assert EXTRA in told(tmp_path)[0]


@NEEDS
def test_doctor_reports_missing_chromium(tmp_path: Path) -> None:
    as_root = ["Chromium does not run as root"] if os.geteuid() == 0 else []
    assert [expected in each for each, expected in zip(told(tmp_path), as_root, strict=True)] == [True] * len(as_root)
    assert "browser.program" in "".join(told(tmp_path, HOB_BROWSER_PROGRAM="no-such-browser"))
    assert "install the package chromium" in "".join(told(tmp_path, PATH=str(tmp_path)))


def told(root: Path, **more: str) -> list[str]:
    """Return the titles and advice of the check's findings."""
    home = root / "examined"
    if not home.exists():
        make_home(home)
    environ: dict[str, Any] = {"PATH": os.environ["PATH"], "HOME": str(root), "HOB_HOME": str(home), **more}
    (check,) = CHECKS
    found = check.run(DiagnosticContext(home, environ, online=False))
    return [f"{each.title} {each.advice} {each.where}" for each in found]
