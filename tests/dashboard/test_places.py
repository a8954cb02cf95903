"""Places of the page: long lists, times, titles and the keyboard, in a browser."""

import asyncio
import json
import re
import time
from datetime import UTC, datetime

import httpx2
from playwright.async_api import Browser, Locator, Page, Route, expect

from hob.testing.model_server import Reply
from tests.dashboard.conftest import open_tab
from tests.dashboard.scene import ASKED, DAY, at_the_socket, facts
from tests.dashboard.test_viewer import signed_in
from tests.journeys.world import World

MOST_ROWS = 100


async def expect_long_list(page: Page, rows: Locator, region: str, near: str, last: str) -> None:
    """The list keeps few rows in the page, tells their places, and is scrolled to its last one."""
    await expect(rows.filter(has_text=near)).to_be_visible()
    await expect(rows.first).to_have_attribute("aria-posinset", "1")
    assert await rows.count() <= MOST_ROWS
    await page.get_by_role("region", name=region).focus()
    await page.keyboard.press("End")
    await expect(rows.filter(has_text=last)).to_be_in_viewport()
    assert await rows.count() <= MOST_ROWS


async def test_many_facts_keep_few_rows_in_the_page_and_are_all_reached(world: World, browser: Browser) -> None:
    async with world.serve():
        now = time.time()
        first, *_ = facts(now)
        lines = []
        for n in range(1500):
            told = {"subject": f"Guest {n:04}", "valid_to": None, "recorded_from": now - 5 * DAY}
            said = {"text": f"Guest {n:04} works at Siemens: “So it is, {n}.”", "at": now - 5 * DAY}
            lines.append(json.dumps({**first, **said, "fact": {**first["fact"], **told, "change": f"change {n}"}}))
        async with at_the_socket(world) as client:
            (await client.post("/memory/import", json={"text": "\n".join(lines)})).raise_for_status()
        tab = await open_tab(world, browser, "/memory?show=facts")
        page = tab.page
        rows = page.get_by_role("list", name="Facts and when they apply").get_by_role("listitem")
        await expect_long_list(page, rows, "Memory", "Guest 0003", "Guest 1499")
        await expect(rows.filter(has_text="Guest 1499")).to_have_attribute("aria-posinset", "1500")
        assert tab.errors == []


async def test_long_log_keeps_few_rows_in_the_page(world: World, browser: Browser) -> None:
    async with world.serve():
        with (world.home / "logs" / "hob.log").open("a") as log:
            for n in range(250):
                log.write(f"2026-11-28T10:{n // 60:02}:{n % 60:02}.000+00:00 INFO hob.test - Line {n}.\n")
        tab = await open_tab(world, browser, "/settings?tab=log")
        page = tab.page
        rows = page.get_by_role("region", name="Log").get_by_role("listitem")
        await expect_long_list(page, rows, "Log", "Line 240.", "Line 0.")
        await page.get_by_label("Search the log").fill("line 24")
        await expect(rows).to_have_count(11)
        await page.get_by_label("Minimum level").select_option("warning")
        await expect(page.get_by_text("No log entries at this level.")).to_be_visible()
        assert tab.errors == []


async def test_expired_memories_are_pruned_in_the_browser(world: World, browser: Browser) -> None:
    async with world.serve():
        tab = await open_tab(world, browser, "/memory")
        page = tab.page
        async with page.expect_response("**/api/v1/memory/prune") as told:
            await page.get_by_role("button", name="Prune").click()
        deleted = (await (await told.value).json())["deleted"]
        await expect(page.get_by_role("button", name=f"{deleted} pruned")).to_be_visible()
        assert tab.errors == []


async def test_failed_login_is_in_the_open_audit_log_at_once(world: World, browser: Browser) -> None:
    async with world.serve():
        tab = await open_tab(world, browser, "/trust?tab=audit")
        page = tab.page
        await expect(page.get_by_role("region", name="Audit")).to_be_visible()
        logins = page.get_by_role("row").filter(has_text="login")
        before = await logins.count()
        async with httpx2.AsyncClient(base_url=tab.base, headers={"authorization": "Bearer wrong"}) as stranger:
            assert (await stranger.get("/api/v1/tasks")).status_code == 401
        await expect(logins).to_have_count(before + 1)
        assert tab.errors == []


async def test_times_go_on_and_today_begins_again_at_midnight(world: World, browser: Browser) -> None:
    async with world.serve() as daemon:
        world.model.script.append(Reply("Good evening."))
        await daemon.post("Hello.", session="main")
        tab = await open_tab(world, browser)
        page = tab.page
        recent = page.get_by_role("region", name="Recent").locator("time")
        await page.clock.install(time=datetime.fromtimestamp(time.time(), UTC))
        await page.reload()
        await expect(recent).to_have_text("just now")
        await page.clock.fast_forward("19:00")
        await expect(recent).to_have_text("19 min. ago")
        asked = []
        page.on("request", lambda request: asked.append(request.url))
        await page.clock.fast_forward("05:00")
        await expect(recent).to_have_text("24 min. ago")
        assert [url for url in asked if "/api/" in url and "today" in url] == []
        async with page.expect_response(lambda answer: "/api/v1/today" in answer.url):
            await page.clock.fast_forward("24:00:00")
        assert tab.errors == []


async def test_titles_name_the_place_and_a_trace_is_read_with_the_keyboard(world: World, browser: Browser) -> None:
    async with world.serve() as daemon:
        world.model.script.extend([Reply(calls=(("exec", json.dumps({"command": "date"})),)), Reply("Late.")])
        trace = (await daemon.post("What time is it?", session="main")).json()["trace_id"]
        tab = await open_tab(world, browser, "/timeline")
        page = tab.page
        for path, title in (
            ("/timeline", "Timeline"),
            ("/costs", "Costs"),
            ("/", "Home"),
            (f"/trace/{trace}", "Trace"),
        ):
            await tab.go(path)
            await expect(page).to_have_title(f"{title} · Hob")
        await expect(page.get_by_role("heading", name="What time is it?")).to_be_focused()
        spans = page.get_by_role("listbox", name="Spans").get_by_role("option")
        await page.get_by_role("option", selected=True).focus()
        await page.keyboard.press("Home")
        await expect(spans.first).to_be_focused()
        await page.keyboard.press("ArrowDown")
        await expect(spans.nth(1)).to_be_focused()
        await expect(spans.nth(1)).to_have_attribute("aria-selected", "true")
        for width, beside in ((1280, True), (390, False)):
            await page.set_viewport_size({"width": width, "height": 800})
            waterfall = await page.get_by_role("listbox", name="Spans").bounding_box()
            detail = await page.get_by_role("region", name="Details").bounding_box()
            assert waterfall
            assert detail
            assert (detail["x"] >= waterfall["x"] + waterfall["width"]) == beside
            assert (detail["y"] >= waterfall["y"] + waterfall["height"]) != beside
        assert tab.errors == []


async def test_palette_keeps_the_choice_in_sight_and_opens_nothing_of_an_earlier_text(
    world: World, browser: Browser
) -> None:
    async with world.serve() as daemon:
        for text in ("Hello.", "A weekend in Potsdam."):  # the conversation is called after its first message
            await daemon.post(text, session="main")
        tab = await open_tab(world, browser)
        page, found = tab.page, tab.page.get_by_role("listbox", name="Results").get_by_role("option")
        await page.set_viewport_size({"width": 800, "height": 360})
        await page.keyboard.press("Control+k")
        box = page.get_by_role("dialog").get_by_role("combobox")
        await expect(box).to_be_focused()
        for key, place in (("ArrowDown", 8), ("ArrowUp", 0)):
            for _ in range(8):
                await page.keyboard.press(key)
            await expect(found.nth(place)).to_have_attribute("aria-selected", "true")
            await expect(found.nth(place)).to_be_in_viewport(ratio=1)
            await expect(box).to_be_in_viewport(ratio=1)
        await box.fill("in potsdam")
        message = found.filter(has_text="A weekend in Potsdam.")
        await expect(message.first).to_be_visible()
        answered = asyncio.Event()

        async def held(route: Route) -> None:
            await answered.wait()
            await route.continue_()

        asked = re.compile("text=zzqq|query=zzqq")
        await page.route(asked, held)
        async with page.expect_request(asked):
            await box.fill("zzqq")
        await expect(message.first).to_be_visible()
        await page.keyboard.press("Enter")
        answered.set()
        await expect(page.get_by_role("dialog")).to_contain_text("No results.")
        assert page.url == f"{tab.base}/"
        await box.fill("in potsdam")
        await expect(message.first).to_be_visible()
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("dialog")).to_have_count(0)
        assert page.url != f"{tab.base}/"
        assert tab.errors == []


async def test_command_of_the_palette_goes_to_the_open_conversation_and_loses_no_draft(
    world: World, browser: Browser
) -> None:
    async with world.serve() as daemon:
        for session in ("main", "api:garden"):
            await daemon.post("Hello.", session=session)
        tab = await open_tab(world, browser)
        page, box = tab.page, tab.page.get_by_label("Message to Hob")

        async def choose(command: str) -> None:
            await page.keyboard.press("Control+k")
            await page.get_by_role("dialog").get_by_role("combobox").fill(command)
            await page.get_by_role("listbox", name="Results").get_by_role("option").filter(has_text=command).click()

        for start, end in (
            ("/chat", "/chat"),
            ("/chat?session=api%3Agarden", "/chat?session=api%3Agarden"),
            ("/work", "/chat"),
        ):
            await tab.go(end)
            await box.fill(f"A draft in {end}")
            await tab.go(start)
            await choose("/compact")
            await expect(box).to_have_value("/compact")
            await expect(box).to_be_focused()
            assert page.url == f"{tab.base}{end}"
            await page.reload()
            await expect(box).to_have_value("/compact")
            await box.fill("")
            await expect(box).to_have_value(f"A draft in {end}")
        await choose("/status")
        await expect(box).to_have_value("/status")
        await page.keyboard.press("Enter")
        await expect(page.get_by_text("/status", exact=True)).to_be_visible()
        await expect(box).to_have_value("A draft in /chat")
        assert tab.errors == []


async def test_viewer_is_told_that_something_waits_for_the_owner(world: World, browser: Browser) -> None:
    async with world.serve() as daemon:
        session, text, reply = ASKED
        world.model.script.append(reply)
        await daemon.post(text, session=session)
        page, _, errors = await signed_in(world, browser, "view", daemon)
        needs = page.get_by_role("region", name="Needs you")
        await expect(needs).to_contain_text("Something waits for the owner's answer.")
        await expect(needs).not_to_contain_text("Ask Hob something")
        assert errors == []


async def test_header_tells_todays_cost_and_a_place_that_loads_shows_its_shape(world: World, browser: Browser) -> None:
    async with world.serve(HOB_MODEL_PRICES='{ "fake-1" = { input = 100.0, output = 100.0 } }') as daemon:
        await daemon.post("hello", session="main")
        tab = await open_tab(world, browser)
        page = tab.page
        await expect(page.get_by_title("Cost today")).to_have_text(re.compile(r"^\$(0\.[1-9]\d|[1-9])"))
        may_answer = asyncio.Event()

        async def held(route: Route) -> None:
            await may_answer.wait()
            await route.continue_()

        await page.route("**/api/v1/tasks?ended=true*", held)
        await page.get_by_role("navigation").get_by_role("link", name="Work").first.click()
        shapes = page.get_by_role("region", name="Earlier").locator(".skeleton")
        await expect(shapes.first).to_be_visible()
        may_answer.set()
        await expect(shapes).to_have_count(0)
        assert tab.errors == []


async def test_approval_of_a_command_names_each_program_that_it_runs(world: World, browser: Browser) -> None:
    async with world.serve() as daemon:
        command = json.dumps({"command": "cd / && FOO=1 rm -rf ./build | tee log"})
        world.model.script.append(Reply(calls=(("exec", command),)))
        await daemon.post("Clean up.", session="main")
        tab = await open_tab(world, browser, "/trust")
        card = tab.page.get_by_role("article", name="Approval for exec")
        await expect(card).to_contain_text("It would run:")
        for each in ("cd /", "FOO=1 rm -rf ./build", "tee log"):
            await expect(card.locator("pre")).to_contain_text(re.compile(rf"│ {re.escape(each)}(\n|$)"))
        assert tab.errors == []
