"""Logins without all scopes: what they may do is offered, and nothing that would be refused."""

import re

from playwright.async_api import Browser, Page, Response, expect

from hob.testing.model_server import Fault, Reply
from tests.dashboard.conftest import open_tab, watch
from tests.dashboard.scene import dashboard_of, scene
from tests.dashboard.screenshots import go
from tests.journeys.world import Daemon, World

ACTS = ("Send", "Delete", "Rename", "Archive", "New conversation", "Stop everything", "Stop", "Retry", "Try again")
ACTS_IN_FILES = ("Commit one file", "Pull", "Push", "Pull request", "Initialize repository", "Test")
ACTS_ON_ANSWERS = ("Allow once", "Deny", "Edit", "Undo", "Replay")


async def test_viewer_is_offered_no_action_that_would_be_refused(world: World, browser: Browser) -> None:
    async with scene(world) as (daemon, _):
        page, refused, errors = await signed_in(world, browser, "view", daemon)
        await expect(page.get_by_text("live · standalone")).to_be_visible()
        await daemon.post("What nobody who views may read.", session="other")
        turns = page.get_by_role("region", name="Today").get_by_role("link", name="Turns")
        await expect(turns).to_have_text(re.compile("7"))  # updated at once, without message content
        assert "nobody who views" not in await page.content()
        rail = page.get_by_role("navigation", name="Navigation").first
        await expect(rail.get_by_role("link")).to_have_text(["Hob", "Home", "Timeline", "Work", "Costs"])
        for place in ("Timeline", "Work", "Costs", "Home"):
            await rail.get_by_role("link", name=place).click()
            await looked_at(page)
        await rail.get_by_role("link", name="Costs").click()
        await expect(page.get_by_text("spending.daily", exact=True)).to_be_visible()
        await expect(page.get_by_role("link", name="spending.daily")).to_have_count(0)
        await rail.get_by_role("link", name="Timeline").click()
        await page.get_by_role("article", name="message").first.get_by_role("link", name="Trace").click()
        await page.get_by_role("option").filter(has_text="model call").first.click()
        await looked_at(page)
        assert refused == []
        await go(page, "/chat?session=api:main")
        await expect(page.get_by_role("alert")).to_contain_text("You don't have access to this.")
        await looked_at(page)
        assert errors == []


async def test_reader_can_read_conversations_but_not_change_them(world: World, browser: Browser) -> None:
    async with scene(world) as (daemon, _):
        page, refused, errors = await signed_in(world, browser, "read", daemon)
        rail = page.get_by_role("navigation", name="Navigation").first
        await expect(rail.get_by_role("link")).to_contain_text(
            ["Hob", "Home", "Chat", "Timeline", "Work", "Files", "Trust", "Costs", "Canvas"]
        )
        await go(page, "/chat?session=api:weekend")
        await expect(page.get_by_test_id("conversation")).to_contain_text("Sanssouci park")
        await expect(page.get_by_text("Read-only access")).to_be_visible()
        paths = ("/", "/chat?session=api:main", "/files?tab=changes", "/trust", "/trust?tab=tools", "/trust?tab=audit")
        for path in paths:
            await go(page, path)
            await looked_at(page)
        assert refused == []
        assert errors == []


async def test_nothing_that_one_login_saw_or_typed_is_shown_to_the_next(world: World, browser: Browser) -> None:
    async with scene(world, asking=False):
        tab = await open_tab(world, browser, "/chat?session=api:weekend")
        other = (await tab.beside("/timeline")).page
        page = tab.page
        await page.get_by_label("Message to Hob").fill("A draft of mine.")
        await tab.go("/timeline")
        for each in (page, other):
            await expect(each.get_by_role("feed")).to_contain_text("seven times eight")
        token = (await world.hob("token", "new", "hallway", "--scope", "view")).out.split()[0]
        await page.get_by_role("button", name="Sign out").click()
        await page.get_by_label("Or paste a token").fill(token)
        await page.get_by_role("button", name="Sign in").click()
        for each in (page, other):
            await expect(each.get_by_text("hidden for this token").first).to_be_visible()
            assert "seven times eight" not in await each.content()
            assert "draft" not in await each.evaluate("() => JSON.stringify({...sessionStorage})")
        assert tab.errors == []


async def signed_in(world: World, browser: Browser, scope: str, daemon: Daemon) -> tuple[Page, list[str], list[str]]:
    """Return a page with a token of this scope, its refused requests from then on, and its errors."""
    world.model.script.append(Reply(fault=Fault.FILTERED))
    await daemon.post("What fails.", session="failing")
    told = await world.hob("token", "new", "hallway", "--scope", scope)
    token = told.out.split()[0]
    errors: list[str] = []
    refused: list[str] = []
    context = await browser.new_context(locale="en-US", reduced_motion="reduce", service_workers="block")
    page = await context.new_page()
    watch(page, errors)
    await page.goto(await dashboard_of(world))
    await page.get_by_label("Or paste a token").fill(token)
    await page.get_by_role("button", name="Sign in").click()
    await page.locator("#main").wait_for()

    def look(response: Response) -> None:
        if response.status in (401, 403):
            refused.append(response.url)

    page.on("response", look)
    await page.reload()
    await looked_at(page)
    return page, refused, errors


async def looked_at(page: Page) -> None:
    """Assert that the place has loaded and offers none of the acts."""
    await page.locator("#main").wait_for()
    await expect(page.locator(".skeleton")).to_have_count(0)
    for name in (*ACTS, *ACTS_IN_FILES, *ACTS_ON_ANSWERS):
        await expect(page.get_by_role("button", name=name, exact=True)).to_have_count(0)
    await expect(page.get_by_label("Message to Hob")).to_have_count(0)
