"""States that the screenshots of places do not show: cards, first visit, limits, offline, a plug-in's page, zoom."""

from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from tests.dashboard.conftest import Tab, open_tab
from tests.dashboard.scene import ASKED, link_of, scene
from tests.dashboard.screenshots import VIEWS, show
from tests.dashboard.test_browser import AXE, faults_in_both_themes
from tests.dashboard.test_needs import FAILS, WHY
from tests.dashboard.test_questions import QUESTION, ask
from tests.dashboard.test_view import site_of
from tests.journeys.world import World

pytestmark = pytest.mark.skipif(not AXE.exists(), reason="make web brings axe")


async def check(tab: Tab, state: str) -> None:
    """Check the open page on a desktop and on a phone, light and dark."""
    found: dict[str, object] = {}
    for width, height in ((1280, 800), (360, 740)):
        await tab.page.set_viewport_size({"width": width, "height": height})
        found |= await faults_in_both_themes(tab.page, f"{state} {width}")
        assert await tab.page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"), state
    assert found == {}


async def test_cards_that_need_the_owner_have_no_serious_accessibility_violation(
    world: World, browser: Browser
) -> None:
    async with world.serve() as daemon:
        world.model.script.append(FAILS)
        await daemon.post("What I asked first.", session="main")
        await ask(world, daemon)
        world.model.script.append(ASKED[2])
        await daemon.post("Clean up.", session="second")
        tab = await open_tab(world, browser)
        needs = tab.page.get_by_role("region", name="Needs you")
        for text in (QUESTION, f"no answer: {WHY}"):
            await expect(needs.get_by_text(text)).to_be_visible()
        await expect(needs.get_by_role("button", name="Deny", exact=True)).to_be_visible()
        await check(tab, "needs you")
        for session, text in (("gate", QUESTION), ("main", "No answer")):
            await tab.go(f"/chat?session=api:{session}")
            await expect(tab.page.get_by_test_id("conversation").get_by_text(text).first).to_be_visible()
            await check(tab, f"chat {session}")
        assert tab.errors == []


async def test_first_visit_without_a_model_has_no_serious_accessibility_violation(
    world: World, browser: Browser
) -> None:
    async with world.serve(HOB_MODEL_NAME="", OPENAI_API_KEY="", OPENAI_BASE_URL=""):
        tab = await open_tab(world, browser)
        await expect(tab.page.get_by_role("heading", name="Connect a model")).to_be_visible()
        await check(tab, "first visit")
        await tab.page.get_by_label("1. Choose a provider").select_option("server")
        await tab.page.get_by_label("Server address").fill("http://127.0.0.1:9/v1")
        await tab.page.get_by_role("button", name="3. Test and connect").click()
        await expect(tab.page.get_by_text("Nothing was saved.")).to_be_visible(timeout=20_000)
        await check(tab, "a model that cannot be reached")


async def test_reached_limit_and_offline_page_have_no_serious_accessibility_violation(
    world: World, browser: Browser, port: str
) -> None:
    async with world.serve(HOB_SPENDING_DAILY_TOKENS="1", HOB_DASHBOARD_PORT=port) as daemon:
        await daemon.post("The first.", session="main")
        await daemon.post("The second.", session="main")
        tab = await open_tab(world, browser)
        limit = tab.page.get_by_text("Limit spending.daily_tokens reached")
        await expect(limit.first).to_be_visible()
        await check(tab, "limit")
    await expect(tab.page.get_by_text("Showing the last known state")).to_be_visible()
    await check(tab, "offline")


async def test_page_of_a_plugin_has_no_serious_accessibility_violation(
    world: World, browser: Browser, tmp_path: Path
) -> None:
    site = str(site_of(tmp_path))
    assert (await world.hob("plugins", "enable", "sundial", "--yes", PYTHONPATH=site)).status == 0
    async with world.serve(PYTHONPATH=site):
        tab = await open_tab(world, browser, "/view/sundial")
        await expect(tab.page.frame_locator("iframe[title=Sundial]").get_by_role("status")).to_contain_text("shadow")
        await check(tab, "plug-in")


async def test_every_place_fits_the_screen_at_200_percent_zoom(world: World, browser: Browser) -> None:
    async with scene(world):
        context = await browser.new_context(  # what a browser of 1280 x 800 does at 200 %
            locale="en-US",
            reduced_motion="reduce",
            viewport={"width": 640, "height": 400},
            device_scale_factor=2,
            service_workers="block",
        )
        page = await context.new_page()
        await page.goto(await link_of(world))
        await page.locator("#main").wait_for()
        for view in VIEWS.keys() - {"login"}:
            await show(page, view, nth=0)
            outside = await page.evaluate("() => document.documentElement.scrollWidth > innerWidth")
            assert not outside, f"{view} is wider than the screen"
            main = await page.locator("#main").bounding_box()
            assert main, view
            assert main["height"] >= 200, f"{view} leaves no room to read"
