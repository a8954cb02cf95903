"""The page while Hob is offline: it says so, shows the last known state, disables actions, and loses nothing."""

import signal

import pytest
from playwright.async_api import Browser, Page, expect

from hob.testing.model_server import Reply
from tests.dashboard.conftest import open_tab
from tests.dashboard.scene import ASKED
from tests.dashboard.test_chat import say
from tests.journeys.world import Daemon, World


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


async def live(page: Page) -> None:
    await expect(page.get_by_text("live ·")).to_have_count(1, timeout=15_000)


async def said(daemon: Daemon) -> list[str]:
    """Return what is in the history of the main conversation."""
    return [each["text"] for each in (await daemon.ask("/sessions/show", session="api:main"))["last"]]


async def test_message_sent_to_a_dying_hob_is_sent_again_after_its_restart(
    world: World, browser: Browser, port: str
) -> None:
    # it showed "The answer appears once the connection is back" for ever, and was never sent
    async with world.serve(HOB_DASHBOARD_PORT=port) as daemon:
        tab = await open_tab(world, browser, "/chat?session=api:main")
        page, conversation = tab.page, tab.page.get_by_test_id("conversation")
        await live(page)
        daemon.signal(signal.SIGSTOP)
        await say(page, "Water the plants.")
        daemon.kill()
        await expect(conversation.get_by_text("It is sent again once the connection is back.")).to_be_visible()
    world.model.script.append(Reply("I will remind you."))
    async with world.serve(HOB_DASHBOARD_PORT=port) as daemon:
        await expect(conversation.get_by_text("I will remind you.")).to_be_visible(timeout=15_000)
        await expect(conversation.get_by_text("Water the plants.", exact=True)).to_have_count(1)
        await expect(conversation.get_by_text("It is sent again")).to_have_count(0)
        assert (await said(daemon)).count("Water the plants.") == 1
    assert tab.errors == []


@pytest.mark.parametrize("arrived", [True, False])
async def test_unconfirmed_message_outlives_its_page_and_is_in_the_history_once(
    world: World, browser: Browser, port: str, arrived: bool
) -> None:
    async with world.serve(HOB_DASHBOARD_PORT=port) as daemon:
        tab = await open_tab(world, browser, "/chat?session=api:main")
        page, conversation = tab.page, tab.page.get_by_test_id("conversation")
        await live(page)
        daemon.signal(signal.SIGSTOP)
        await say(page, "Water the plants.")
        if not arrived:
            daemon.kill()
        await page.goto("about:blank")
        daemon.signal(signal.SIGCONT)
        if arrived:
            await page.goto(f"{tab.base}/chat?session=api:main")
            await expect(conversation.get_by_text("Water the plants.", exact=True)).to_have_count(1)
            await live(page)
            kept = conversation.locator("[data-n]").get_by_text("Water the plants.", exact=True)
            await expect(kept).to_have_count(1, timeout=15_000)
            await expect(page.get_by_role("status", name="Hob is working on it")).to_have_count(0)
            assert (await said(daemon)).count("Water the plants.") == 1
    if not arrived:
        async with world.serve(HOB_DASHBOARD_PORT=port) as daemon:
            await page.goto(f"{tab.base}/trust")  # any place sends it
            await live(page)
            await tab.go("/chat?session=api:main")
            await expect(conversation.locator("[data-n]").get_by_text("Water the plants.", exact=True)).to_have_count(1)
            await expect(conversation.get_by_text("Water the plants.", exact=True)).to_have_count(1)
            await expect(page.get_by_role("status", name="Hob is working on it")).to_have_count(0)
            assert (await said(daemon)).count("Water the plants.") == 1
    assert tab.errors == []


async def test_connection_that_brings_no_answer_is_lost(world: World, browser: Browser) -> None:
    # a stopped Hob stayed "live" for as long as its connection was open
    async with world.serve() as daemon:
        tab = await open_tab(world, browser)
        page = tab.page
        await page.clock.install()
        await page.reload()
        await live(page)
        for looks in (
            "() => undefined",
            "() => document.dispatchEvent(new Event('visibilitychange'))",
            "() => dispatchEvent(new Event('online'))",
        ):
            daemon.signal(signal.SIGSTOP)
            await page.evaluate(looks)
            await page.clock.fast_forward(8_000 if "dispatch" in looks else 25_000)
            if "dispatch" not in looks:
                await live(page)
                await page.clock.fast_forward(8_000)
            await expect(page.get_by_text("not connected")).to_have_count(1)
            daemon.signal(signal.SIGCONT)
            await live(page)
    assert tab.errors == []


WATCH = """new MutationObserver(() => {
  for (const word of ["connecting", "not connected", "Offline"])
    if (document.body.textContent.includes(word) || document.querySelector(`[placeholder*="${word}"]`))
      (window.seen ??= new Set()).add(word);
}).observe(document, { childList: true, subtree: true, characterData: true, attributes: true })"""


async def test_page_that_has_just_loaded_is_connecting_and_not_offline(world: World, browser: Browser) -> None:
    async with world.serve():
        tab = await open_tab(world, browser, "/chat?session=api:main")
        page = tab.page
        await page.add_init_script(WATCH)
        await page.reload()
        await live(page)
        await expect(page.get_by_label("Message to Hob")).to_be_visible()
        assert await page.evaluate("[...window.seen]") == ["connecting"]


async def test_offline_line_of_the_composer_goes_once_hob_is_back(world: World, browser: Browser, port: str) -> None:
    async with world.serve(HOB_DASHBOARD_PORT=port):
        tab = await open_tab(world, browser, "/chat?session=api:main")
        page, box = tab.page, tab.page.get_by_label("Message to Hob")
        await live(page)
    line = page.locator("form").get_by_role("alert")
    await expect(page.get_by_text("Offline since")).to_be_visible()
    await box.fill("A thought.")
    await box.press("Enter")
    await expect(line).to_have_text("Offline. Your draft is kept but not sent.")
    async with world.serve(HOB_DASHBOARD_PORT=port):
        await live(page)
        await expect(line).to_have_count(0)
        await expect(box).to_have_value("A thought.")
    assert tab.errors == []


async def test_earlier_message_is_not_repeated_offline_and_its_edit_says_why(
    world: World, browser: Browser, port: str
) -> None:
    async with world.serve(HOB_DASHBOARD_PORT=port) as daemon:
        await daemon.post("Plan a trip.", session="main")
        tab = await open_tab(world, browser, "/chat?session=api:main")
        conversation = tab.page.get_by_test_id("conversation")
        retry = conversation.get_by_role("button", name="Retry")
        await expect(retry).to_be_enabled()
    await expect(retry).to_be_disabled()
    await conversation.get_by_role("button", name="Edit").click()
    await conversation.get_by_label("Edit message").press("Enter")
    alert = conversation.get_by_role("alert")
    await expect(alert).to_contain_text("Not sent.")
    await expect(alert).to_contain_text("Can't reach Hob.")
    await expect(conversation.get_by_label("Edit message")).to_have_value("Plan a trip.")
