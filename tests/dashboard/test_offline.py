"""The page while Hob is offline: it says so, shows the last known state, and disables actions."""

from playwright.async_api import Browser, expect

from hob.testing.model_server import Reply
from tests.dashboard.conftest import open_tab
from tests.dashboard.scene import ASKED
from tests.journeys.world import World


async def test_actions_are_disabled_while_hob_is_offline(world: World, browser: Browser, port: str) -> None:
    world.model.script.append(ASKED[2])
    async with world.serve(HOB_DASHBOARD_PORT=port) as daemon:
        await daemon.post("Clean up.", session="main")
        tab = await open_tab(world, browser, "/chat?session=api:main")
        page = tab.page
        buttons = [page.get_by_role("button", name=each, exact=True) for each in ("Allow once", "Deny", "Stop")]
        for button in buttons:
            await expect(button).to_be_enabled()
    for button in buttons:
        await expect(button).to_be_disabled()
        await expect(button).to_have_attribute("title", "Offline. Available again when Hob is back.")
    await expect(page.get_by_role("article", name="Approval for exec")).to_contain_text(
        "can decide this when Hob is back"
    )
    await expect(page.get_by_text("Showing the last known state")).to_be_visible()
    world.model.script.append(Reply("It is clean now."))
    async with world.serve(HOB_DASHBOARD_PORT=port):
        await expect(buttons[0]).to_be_enabled(timeout=15_000)
        await buttons[0].click()
        await expect(page.get_by_test_id("conversation")).to_contain_text("It is clean now.")
    assert tab.errors == []


async def test_page_reloaded_while_offline_says_what_is_unavailable(world: World, browser: Browser, port: str) -> None:
    async with world.serve(HOB_DASHBOARD_PORT=port):
        tab = await open_tab(world, browser, service_workers="allow")
        page = tab.page
        await page.evaluate("() => navigator.serviceWorker.ready.then(() => true)")
        await page.reload()  # the service worker serves the page
        await expect(page.get_by_text("Nothing needs you.")).to_be_visible()
    for path in ("/", "/chat?session=api:main", "/trust"):
        await page.goto(f"{tab.base}{path}")
        await expect(page.get_by_text("Not available offline").first).to_be_visible()
        await expect(page.get_by_role("status", name="Loading")).to_have_count(0)
        await expect(page.get_by_text("Nothing needs you.")).to_have_count(0)
    await expect(page.get_by_text("Offline since")).to_be_visible()
    await expect(page.get_by_text("Showing the last known state")).to_have_count(0)


async def test_browser_without_a_network_still_reaches_a_local_hob(world: World, browser: Browser) -> None:
    async with world.serve():
        tab = await open_tab(world, browser)
        await tab.page.add_init_script("Object.defineProperty(navigator, 'onLine', { get: () => false })")
        await tab.page.evaluate("() => window.dispatchEvent(new Event('offline'))")
        await tab.page.get_by_role("link", name="Costs").first.click()
        await expect(tab.page.get_by_role("heading", name="Costs", level=1)).to_be_visible()
        await expect(tab.page.get_by_role("status", name="Loading")).to_have_count(0)
        await tab.page.get_by_role("link", name="Settings").first.click()
        await expect(tab.page.get_by_role("status", name="Loading")).to_have_count(0)
        assert tab.errors == []
