"""Canvas pages in Chromium: shown, questioned, and isolated."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from playwright.async_api import Browser, expect

from hob.testing.model_server import Reply
from tests.dashboard.conftest import PRESS_AT_ONCE, open_tab
from tests.journeys.world import World

CLOCK = """<!doctype html><title>Sales</title><h1>Sum</h1><p id=n></p>
<script>document.querySelector('#n').textContent = 6 * 7</script>"""
HOSTILE = """<!doctype html><title>Prize</title><p id=p>You won</p><script>
const tried = [];
const attempt = async (name, does) => {
  try { tried.push(`${name}: ${await does()}`); } catch { tried.push(`${name}: no`); }
};
(async () => {
  await attempt("cookie", () => document.cookie);
  await attempt("storage", () => localStorage.getItem("hob.csrf"));
  await attempt("around", () => parent.document.title);
  await attempt("same", () => fetch("/api/v1/status").then((found) => found.status));
  await attempt("away", () => fetch("URL/fetch").then((found) => found.status));
  const socket = () => new WebSocket("URL/socket".replace("http", "ws"));
  await attempt("socket", () => new Promise((_, no) => { socket().onerror = no; }));
  await attempt("window", () => open("URL/window").closed);
  new Image().src = "URL/image";
  document.head.insertAdjacentHTML("beforeend", "<link rel=stylesheet href='URL/style'>");
  const form = document.createElement("form");
  form.action = "URL/form";
  document.body.append(form);
  try { form.submit(); } catch { /* not allowed */ }
  try {
    new RTCPeerConnection({ iceServers: [{ urls: "stun:HOST" }] }).createDataChannel("x");
  } catch { /* not allowed */ }
  document.querySelector("#p").textContent = tried.join("; ");
  setTimeout(() => { try { location = "URL/location"; } catch { /* not allowed */ } }, 3000);
})();
</script>"""

NOTHING = "cookie: no; storage: no; around: no; same: no; away: no; socket: no; window: no"


def present(html: str, **more: object) -> Reply:
    return Reply(calls=(("canvas", json.dumps({"action": "present", "html": html, **more})),))


OPENED = Reply(calls=(("load_tools", '{"names": ["canvas"]}'),))


async def test_presented_page_is_shown_at_once_and_answers_a_script(world: World, browser: Browser) -> None:
    async with world.serve() as daemon:
        tab = await open_tab(world, browser, "/canvas")
        page = tab.page
        await expect(page.get_by_text("No pages yet.")).to_be_visible()
        world.model.script.extend([OPENED, present(CLOCK), Reply("There it is.")])
        await daemon.post("Show me the sales.", session="main")
        await expect(page.get_by_role("heading", name="Sales")).to_be_visible()
        await expect(page.frame_locator("iframe").locator("#n")).to_have_text("42")
        world.model.script.extend(
            [
                Reply(calls=(("canvas", '{"action": "eval", "script": "document.title + await Promise.resolve(1)"}'),)),
                Reply("Done."),
            ]
        )
        await daemon.post("Is it right?", session="main")
        assert b"\nSales1\n" in world.model.requests[-1].body.replace(b"\\n", b"\n")
        await page.get_by_role("button", name="Hide").click()
        await expect(page.get_by_text("No pages yet.")).to_be_visible()
        assert tab.errors == []


@asynccontextmanager
async def stranger() -> AsyncIterator[tuple[str, list[bytes]]]:
    """A server that must not be reached: its URL, and the bytes of each connection."""
    heard: list[bytes] = []

    async def hear(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(b"")
        heard[-1] += await reader.read(200)
        writer.close()

    async with await asyncio.start_server(hear, "127.0.0.1") as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", heard


def hostile(url: str) -> str:
    return HOSTILE.replace("URL", url).replace("HOST", url.removeprefix("http://"))


async def test_page_survives_a_kill_and_makes_no_requests(world: World, browser: Browser, port: str) -> None:
    async with stranger() as (url, heard):
        async with world.serve(HOB_DASHBOARD_PORT=port) as daemon:
            world.model.script.extend([OPENED, present(hostile(url)), Reply("There.")])
            await daemon.post("Show me the prize.", session="main")
            daemon.kill()
            await daemon.gone()
        async with world.serve(HOB_DASHBOARD_PORT=port):
            tab = await open_tab(world, browser, "/canvas")
            told = tab.page.frame_locator("iframe").locator("#p")
            await expect(told).to_have_text(NOTHING)
            await expect(tab.page.frame_locator("iframe").locator("form")).to_have_count(1)
            await expect(told).to_have_count(0)  # its last attempt: a blocked address takes its place
            assert not any(heard)  # Chromium may connect before it knows that it must not send


async def test_page_from_a_file_makes_no_requests_until_the_owner_allows_scripts(
    world: World, browser: Browser
) -> None:
    async with stranger() as (url, heard), world.serve() as daemon:
        static = "".join(f"<link rel={each} href='{url}/'>" for each in ("preconnect", "dns-prefetch", "stylesheet"))
        refresh = f"<meta http-equiv=refresh content='0; url={url}/'><base href='{url}/'>"
        html = f"{static}{refresh}{hostile(url)}<img src='{url}/i'><p onclick=x style='background: url({url}/b)'>."
        world.model.script.extend(
            [
                Reply(calls=(("write", json.dumps({"path": "prize.html", "content": html})),)),
                OPENED,
                Reply(calls=(("canvas", '{"action": "present", "file": "prize.html"}'),)),
                Reply("There."),
            ]
        )
        await daemon.post("Show me the prize.", session="main")
        tab = await open_tab(world, browser, "/canvas")
        told = tab.page.frame_locator("iframe").locator("#p")
        await expect(told).to_have_text("You won")
        await tab.page.get_by_text("Scripts are off").wait_for()
        await tab.page.wait_for_load_state("networkidle")
        assert heard == []
        await tab.page.get_by_role("button", name="Run scripts").click()
        await expect(tab.page.get_by_text("Scripts are off")).to_have_count(0)
        assert not any(heard)


async def test_page_of_an_mcp_server_calls_its_tools_under_the_policy(world: World, browser: Browser) -> None:
    pytest.importorskip("mcp")
    from hob.tools.mcp.accepted import save_accepted
    from hob.tools.mcp.settings import McpServer
    from tests.tools.mcp.reaching import accept, connected, on_loopback

    async with on_loopback(world.root) as url:
        world.home.mkdir(exist_ok=True)
        async with connected(world.home, McpServer(url=url)) as connection:
            save_accepted(world.home, await accept(connection))
        (world.home / "config.toml").write_text(f'[mcp.notes]\nurl = "{url}"\n')
        (world.home / "config.toml").chmod(0o600)
        await _decide(world, browser)


async def _decide(world: World, browser: Browser) -> None:
    world.model.script.extend(
        [
            Reply(calls=(("load_tools", '{"names": ["notes__oven"]}'),)),
            Reply(calls=(("notes__oven", '{"room": "kitchen"}'),)),
            Reply("It is hot."),
        ]
    )
    async with world.serve(HOB_POLICY_MODE="full", HOB_POLICY_AUTONOMY="autonomous") as daemon:
        await daemon.post("How hot is it?", session="main")
        tab = await open_tab(world, browser, "/canvas")
        page, inside = tab.page, tab.page.frame_locator("iframe")
        await page.get_by_role("button", name="Run scripts").click()
        said = inside.locator("#said")
        await inside.get_by_role("button", name="Read").click()
        await expect(said).to_have_text("Buy green tea.")
        await page.evaluate(PRESS_AT_ONCE, "Allow once")
        await inside.get_by_role("button", name="Bake").click()
        await expect(page.locator("body")).to_have_attribute("data-pressed", "Allow once")
        question = page.get_by_role("alertdialog", name="This page wants to use notes__bake")
        await expect(question).to_contain_text('"what": "pie"')
        if shot := os.environ.get("HOB_TEST_SHOT"):
            await page.screenshot(path=shot)
        await question.get_by_role("button", name="Deny").click()
        await expect(said).to_have_text("no: the user did not allow it")
        await inside.get_by_role("button", name="Bake").click()
        await question.get_by_role("button", name="Allow once").click()
        await expect(said).to_have_text("pie is baked")
        await expect(question).to_have_count(0)
        await inside.get_by_role("button", name="Miss").click()
        await expect(said).to_contain_text("no: notes: ")
        await inside.get_by_role("button", name="Look").click()
        await expect(said).to_have_text("Buy green tea.")
        await inside.get_by_role("button", name="Run").click()
        await expect(said).to_contain_text("offers no tool exec")
        assert tab.errors == []
