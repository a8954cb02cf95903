"""What needs the owner: failures, the badge, and the next step; in a browser."""

import re

from playwright.async_api import Browser, expect

from hob.core.states import TaskState
from hob.core.translation.code_words import FAULT_WORDS
from hob.testing.model_server import Fault, Reply
from tests.dashboard.conftest import open_tab
from tests.dashboard.scene import ASKED, link_of
from tests.dashboard.screenshots import go
from tests.dashboard.test_browser import say
from tests.journeys.world import World

FAILS = Reply(fault=Fault.FILTERED)
WHY = FAULT_WORDS["filtered"]


async def test_failure_stays_until_it_is_retried_or_dismissed(world: World, browser: Browser) -> None:
    async with world.serve() as daemon:
        world.model.script.append(FAILS)
        await daemon.post("What I asked first.", session="first")
        world.model.script.append(FAILS)
        await daemon.post("What I asked second.", session="second")
        for number in range(8):
            await daemon.post(f"Something else, {number}.", session="main")
        tab = await open_tab(world, browser)
        page = tab.page
        needs = page.get_by_role("region", name="Needs you")
        await expect(needs.get_by_text("What I asked first.")).to_be_visible()
        await expect(needs.get_by_text(f"no answer: {WHY}")).to_have_count(2)
        banner = page.get_by_role("banner")
        badge = banner.get_by_role("link", name="2 need you")
        await expect(badge).to_be_visible()
        await expect(page).to_have_title("(2) Home · Hob")
        second = needs.locator("div", has_text="What I asked second.").filter(has=page.get_by_role("button")).last
        await second.get_by_role("button", name="Dismiss").click()
        await expect(banner.get_by_role("link", name="1 needs you")).to_be_visible()
        await page.reload()
        await expect(needs.get_by_text("What I asked first.")).to_be_visible()
        await expect(needs.get_by_text("What I asked second.")).to_have_count(0)
        world.model.script.append(Reply("Here it is."))
        await needs.get_by_role("button", name="Try again").click()
        await expect(needs).to_contain_text("Nothing needs you.")
        assert [each["state"] for each in (await daemon.ask("/tasks", state=TaskState.FAILED, all=True))["tasks"]] == [
            TaskState.FAILED
        ]
        assert tab.errors == []


async def test_turn_that_waited_counts_once_in_todays_figures(world: World, browser: Browser) -> None:
    async with world.serve() as daemon:
        world.model.script.extend([ASKED[2], Reply("It is clean.")])
        asked = (await daemon.post("Clean up.", session="main")).json()
        tab = await open_tab(world, browser)
        page = tab.page
        await page.get_by_role("button", name="Deny").click()
        assert (await daemon.get(asked["id"], wait=20))["reply"] == "It is clean."
        await page.reload()
        turns = page.get_by_role("region", name="Today").get_by_role("link", name="Turns")
        await expect(turns).to_have_text("Turns1")
        assert tab.errors == []


async def test_message_without_a_model_leads_to_connecting_one(world: World, browser: Browser) -> None:
    async with world.serve(HOB_MODEL_NAME="", OPENAI_API_KEY="", OPENAI_BASE_URL=""):
        tab = await open_tab(world, browser, "/chat?session=api:main")
        page = tab.page
        await say(page, "Are you there?")
        told = page.get_by_role("alert").filter(has_text="No answer")
        await expect(told).to_contain_text("no model is connected")
        await expect(told).to_contain_text("Your message is kept")
        await expect(told).not_to_contain_text(re.compile("`|hob |API_KEY"))
        await expect(page.get_by_text("Couldn't load this.")).to_have_count(0)
        await told.get_by_role("link", name="Connect a model").click()
        await expect(page.get_by_label("1. Choose a provider")).to_be_visible()
        await tab.go("/")
        needs = page.get_by_role("region", name="Needs you")
        await expect(needs.get_by_role("link", name="Connect a model")).to_be_visible()
        assert "`" not in await page.locator("#main").inner_text()
        assert tab.errors == []


async def test_reached_token_limit_is_shown_with_the_way_to_change_it(world: World, browser: Browser) -> None:
    async with world.serve(HOB_SPENDING_DAILY_TOKENS="1") as daemon:
        await daemon.post("The first.", session="main")
        tab = await open_tab(world, browser, "/chat?session=api:main")
        page = tab.page
        await say(page, "The second.")
        told = page.get_by_role("alert").filter(has_text="No answer")
        await expect(told.get_by_role("link", name="Change limit")).to_be_visible()
        await page.reload()
        await expect(told).to_contain_text("spending.daily_tokens")
        await expect(told.get_by_role("button", name="Try again")).to_be_visible()
        await told.get_by_role("link", name="Change limit").click()
        await expect(page.get_by_label("spending.daily_tokens", exact=True)).to_be_visible()
        await tab.go("/")
        await expect(page.get_by_role("region", name="Needs you")).to_contain_text(
            "Limit spending.daily_tokens reached"
        )
        await expect(page.get_by_role("region", name="Today")).to_contain_text("Tokens of 1")
        await tab.go("/costs")
        limits = page.get_by_role("region", name="Limits")
        await expect(limits.get_by_role("meter", name="spending.daily_tokens")).to_have_attribute(
            "aria-valuenow", "100"
        )
        assert tab.errors == []


async def test_message_is_queued_with_the_send_button_while_a_turn_runs(world: World, browser: Browser) -> None:
    world.model.script.append(Reply("A long story, " * 60, pause=0.2))
    async with world.serve():
        tab = await open_tab(world, browser, "/chat?session=api:main")
        page = tab.page
        await say(page, "Tell me something.")
        await expect(page.locator("form").get_by_role("button", name="Stop")).to_be_visible()
        await say(page, "And something else.")
        await expect(page.get_by_test_id("conversation").get_by_text("queued")).to_be_visible()
        await page.locator("form").get_by_role("button", name="Stop").click()
        assert tab.errors == []


async def test_enter_breaks_the_line_on_a_touch_device(world: World, browser: Browser) -> None:
    async with world.serve():
        context = await browser.new_context(locale="en-US", has_touch=True, is_mobile=True, service_workers="block")
        page = await context.new_page()
        await page.goto(await link_of(world))
        await page.locator("#main").wait_for()
        await go(page, "/chat?session=api:main")
        box = page.get_by_label("Message to Hob")
        await box.press_sequentially("one")
        await box.press("Enter")
        await box.press_sequentially("two")
        await expect(box).to_have_value("one\ntwo")
