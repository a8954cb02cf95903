"""The page in Chromium, against the real daemon and a scripted model server."""

import asyncio
import base64
import json
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, FilePayload, Page, expect

from hob.testing.model_server import Reply
from tests.conftest import Rounds
from tests.dashboard.conftest import notifications, notifications_are_on, open_tab
from tests.dashboard.scene import ASKED, at_the_socket, fill, link_of, scene
from tests.dashboard.screenshots import HEADLESS, VIEWS, chromium, go, show
from tests.journeys.world import World

AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"
SOUND = b"RIFF\x2c\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\x80\x3e\0\0\2\0\x10\0data\x08\0\0\0" + bytes(8)
DOT = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
NASTY = "<img src=x onerror=alert(1)><script>alert(2)</script>[x](javascript:alert(3))<svg onload=alert(4)>"


async def say(page: Page, text: str) -> None:
    await page.get_by_label("Message to Hob").fill(text)
    await page.get_by_role("button", name="Send").click()


async def test_first_visit_leads_to_the_first_answer(world: World, browser: Browser) -> None:
    async with world.serve():
        tab = await open_tab(world, browser)
        page = tab.page
        assert "login=" not in page.url
        await expect(page.get_by_text("Nothing needs you.")).to_be_visible()
        await page.get_by_role("link", name="Start a conversation").click()
        world.model.script.append(Reply("Good to **see** you.", pause=0.02))
        await say(page, "Hello, Hob!")
        conversation = page.get_by_test_id("conversation")
        await expect(conversation.get_by_text("Good to see you.")).to_be_visible()
        await expect(conversation.get_by_text("Hello, Hob!")).to_have_count(1)
        await conversation.get_by_role("link", name="Trace").last.click()
        await expect(page.get_by_role("listbox", name="Spans")).to_contain_text("model call")
        assert tab.errors == []


async def test_frame_of_the_page_shows_before_its_code_once_signed_in(world: World, browser: Browser) -> None:
    async with world.serve():
        tab = await open_tab(world, browser)
        frame = tab.page.locator(".frame")
        await expect(frame).to_have_count(0)
        await tab.page.route("**/app/*.js", lambda route: route.abort())
        await tab.page.reload()
        await expect(frame).to_be_visible()
        await tab.page.evaluate("() => localStorage.clear()")
        await tab.page.reload()
        await expect(frame).to_be_hidden()


async def test_approval_is_given_in_the_browser_after_a_kill(world: World, browser: Browser, port: str) -> None:
    world.model.script.extend([ASKED[2], Reply("It is clean now.")])
    async with world.serve(HOB_DASHBOARD_PORT=port) as daemon:
        asked = (await daemon.post("Clean up.", session="main")).json()
        assert asked["approvals"]
        daemon.kill()
        await daemon.gone()
    async with world.serve(HOB_DASHBOARD_PORT=port) as daemon:
        tab = await open_tab(world, browser, "/trust")
        card = tab.page.get_by_role("article", name="Approval for exec")
        await expect(card).to_contain_text("rm -rf .")
        await card.get_by_role("button", name="Allow once").click()
        await expect(tab.page.get_by_text("Nothing to approve.")).to_be_visible()
        assert (await daemon.get(asked["id"], wait=20))["reply"] == "It is clean now."
        await tab.page.goto(f"{tab.base}/chat?session=api:main")
        await expect(tab.page.get_by_test_id("conversation")).to_contain_text("It is clean now.")
        assert tab.errors == []


async def test_approval_denied_in_one_tab_disappears_from_the_other(world: World, browser: Browser) -> None:
    async with scene(world):
        tab = await open_tab(world, browser, "/trust")
        other = await tab.beside()
        card = other.page.get_by_role("article", name="Approval for exec")
        await expect(card).to_be_visible()
        await tab.page.get_by_role("button", name="Deny").click()
        await expect(card).to_have_count(0)


async def test_no_event_is_lost_when_the_daemon_restarts(world: World, browser: Browser, port: str) -> None:
    async with world.serve(HOB_DASHBOARD_PORT=port) as daemon:
        await daemon.post("one", session="main")
        tab = await open_tab(world, browser, "/timeline")
        feed = tab.page.get_by_role("feed")
        await expect(feed.get_by_text("one", exact=True)).to_be_visible()
        daemon.kill()
        await daemon.gone()
    async with world.serve(HOB_DASHBOARD_PORT=port) as daemon:
        await daemon.post("two", session="main")
        await expect(feed.get_by_text("two", exact=True)).to_be_visible(timeout=15_000)
        await daemon.post("three", session="main")
        await expect(feed.get_by_text("three", exact=True)).to_be_visible()
        for text in ("one", "two", "three"):
            await expect(feed.get_by_text(text, exact=True)).to_have_count(1)
        assert tab.errors == []


async def test_tab_loaded_while_the_daemon_was_down_receives_later_events(
    world: World, browser: Browser, port: str
) -> None:
    async with world.serve(HOB_DASHBOARD_PORT=port):
        tab = await open_tab(world, browser, service_workers="allow")
        await tab.page.evaluate("() => navigator.serviceWorker.ready.then(() => true)")
        await tab.page.reload()  # the service worker serves the page
        await expect(tab.page.get_by_text("Nothing needs you.")).to_be_visible()
    await tab.page.goto(f"{tab.base}/")
    await expect(tab.page.get_by_role("status").filter(has_text="Offline since")).to_be_visible(timeout=10_000)
    async with world.serve(HOB_DASHBOARD_PORT=port) as daemon:
        await expect(tab.page.get_by_role("banner")).to_contain_text("live", timeout=15_000)
        world.model.script.append(ASKED[2])
        await daemon.post("Clean up.", session="main")
        await expect(tab.page.get_by_role("banner")).to_contain_text("1 needs you")
        assert tab.errors == []


async def test_long_timeline_keeps_at_most_100_rows_in_the_dom(world: World, browser: Browser, rounds: Rounds) -> None:
    count = rounds(3_000, 100_000)
    await fill(world, count)
    async with world.serve():
        tab = await open_tab(world, browser, "/timeline")
        page, rows = tab.page, tab.page.locator("[data-row]")
        await expect(page.get_by_text(f"Event number {count - 1}", exact=True)).to_be_visible()
        for _ in range(40):
            assert await rows.count() <= 100
            await page.get_by_test_id("timeline").evaluate("box => box.scrollBy(0, 4000)")
            await page.evaluate("() => new Promise(requestAnimationFrame)")
        assert await rows.count() <= 100
        await page.get_by_label("Search the timeline").fill("number 7")
        await expect(page).to_have_url(re.compile("text=number"))
        await expect(page.get_by_role("feed")).to_contain_text("Event number 7")
        assert tab.errors == []


async def test_untrusted_content_never_runs_scripts(world: World, browser: Browser) -> None:
    world.model.script.extend(
        [
            Reply(calls=(("write", json.dumps({"path": "<img src=x onerror=alert(5)>.md", "content": NASTY})),)),
            Reply(f"{NASTY}\n\n![p](https://example.org/x.png)"),
        ]
    )
    async with world.serve() as daemon:
        await daemon.post(NASTY, session="main")
        tab = await open_tab(world, browser)
        for view in ("home", "chat-approval", "timeline", "trace", "audit", "memory", "files-changes", "work"):
            await show(tab.page, view, nth=0)
            assert await tab.page.locator("#main img, #main script, #main [onerror], #main [onload]").count() == 0, view
            assert await tab.page.locator("a[href^='javascript:']").count() == 0, view
        assert tab.errors == []


async def test_tool_output_memory_and_names_never_run_scripts(world: World, browser: Browser) -> None:
    printed = f"printf '%s' {shlex.quote(NASTY)}"
    commands = [json.dumps({"command": each}) for each in (printed, f"rm -rf . # {NASTY}")]
    prints, cleans = (Reply(calls=(("exec", each),)) for each in commands)
    world.model.script.extend([prints, Reply("Printed."), cleans])
    async with world.serve() as daemon:
        await daemon.post("Print it.", session="main")
        await daemon.post(NASTY, session="main")
        async with at_the_socket(world) as client:
            (await client.post("/memory/items", json={"text": NASTY})).raise_for_status()
            (await client.post("/memory/goals", json={"text": NASTY})).raise_for_status()
            (
                await client.post("/sessions/change", json={"session": "api:main", "title": NASTY[:80]})
            ).raise_for_status()
        tab = await open_tab(world, browser, "/timeline")
        page = tab.page

        async def is_inert(view: str) -> None:
            assert await page.locator("body img, body svg[onload], #main script, body [onerror]").count() == 0, view
            assert await page.locator("a[href^='javascript:']").count() == 0, view

        await page.get_by_role("article", name="tool exec").get_by_role("link").click()
        await page.get_by_role("option").filter(has_text="exec").first.click()
        await expect(page.get_by_role("region", name="Details")).to_contain_text("onerror=alert(1)")
        await is_inert("details of a call")
        for path, text in (
            ("/chat?session=api:main", "Printed."),
            ("/memory?query=alert", "alert(2)"),
            ("/memory?show=goals", "alert(2)"),
            ("/trust", "alert(2)"),
            ("/work", "alert(2)"),
        ):
            await tab.go(path)
            await expect(page.locator("#main")).to_contain_text(text)
            await is_inert(path)
        await page.keyboard.press("Control+k")
        await page.get_by_role("dialog").get_by_role("combobox").fill("img src")
        await expect(page.get_by_role("dialog")).to_contain_text("onerror")
        await is_inert("palette")
        assert tab.errors == []


async def test_token_signs_in_and_sign_out_ends_the_login(world: World, browser: Browser) -> None:
    async with world.serve() as daemon:
        tab = await open_tab(world, browser)
        page = tab.page
        await page.get_by_role("button", name="Sign out").click()
        await page.get_by_label("Or paste a token").fill("wrong-token-wrong-token")
        await page.get_by_role("button", name="Sign in").click()
        await expect(page.get_by_role("alert")).to_contain_text("This token is wrong")
        await expect(page.get_by_role("alert")).not_to_contain_text("Bearer")
        token = daemon.client.headers["authorization"].removeprefix("Bearer ")
        await page.get_by_label("Or paste a token").fill(token)
        await page.get_by_role("button", name="Sign in").click()
        await expect(page.get_by_role("navigation").first).to_be_visible()


@pytest.mark.skipif(not AXE.exists(), reason="make web brings axe")
@pytest.mark.parametrize(
    ("size", "colours"),  # a tablet shows nothing that neither a desktop nor a phone shows, but in other places
    [((1280, 800), True), ((768, 1024), False), ((360, 740), True)],
    ids=["desktop", "tablet", "phone"],
)
@pytest.mark.timeout(360)  # axe reads some forty views
async def test_no_view_has_a_serious_accessibility_violation(
    world: World, browser: Browser, size: tuple[int, int], colours: bool
) -> None:
    found: dict[str, Any] = {}
    async with scene(world):
        tab = await open_tab(world, browser)
        await tab.page.set_viewport_size({"width": size[0], "height": size[1]})
        for view in VIEWS:
            if view == "login":
                continue
            await show(tab.page, view)
            if colours:
                found |= await faults_in_both_themes(tab.page, view)
            else:
                found |= await faults(tab.page, view, without=COLOURS)
            wide = await tab.page.evaluate("() => document.documentElement.scrollWidth > innerWidth")
            assert not wide, f"{view} is wider than the screen"
    assert found == {}


@pytest.mark.skipif(not AXE.exists(), reason="make web brings axe")
@pytest.mark.timeout(360)  # axe reads some forty views
async def test_no_empty_view_has_a_serious_accessibility_violation(world: World, browser: Browser) -> None:
    found: dict[str, Any] = {}
    async with world.serve():
        tab = await open_tab(world, browser)
        for view in dict.fromkeys(path for name, path in VIEWS.items() if not name.startswith(("trace", "login"))):
            await tab.go(view)
            found |= await faults(tab.page, view)
    assert found == {}


GERMAN_VIEWS = ("/", "/chat?session=api:weekend", "/timeline", "/memory", "/files", "/trust", "/costs", "/settings")


@pytest.mark.skipif(not AXE.exists(), reason="make web brings axe")
@pytest.mark.timeout(180)
async def test_login_and_german_views_have_no_serious_accessibility_violation(world: World, browser: Browser) -> None:
    async with scene(world):
        url = await link_of(world)
        base = url.partition("/#")[0]
        context = await browser.new_context(
            locale="de-DE", reduced_motion="reduce", viewport={"width": 360, "height": 740}, service_workers="block"
        )
        page = await context.new_page()
        await page.goto(base)
        await expect(page.get_by_role("button", name="Anmelden")).to_be_visible()
        found = await faults(page, "login")
        await page.goto(url)
        await page.locator("#main").wait_for()
        for view in GERMAN_VIEWS:
            await go(page, view)
            found |= await faults(page, view)
    assert found == {}


LEVELS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa")
COLOURS = ("color-contrast", "link-in-text-block")


async def faults_in_both_themes(page: Page, view: str) -> dict[str, Any]:
    """Return axe's serious and critical violations; a theme changes colours alone, so only those are read twice."""
    set_theme = "theme => { document.documentElement.dataset.theme = theme; }"
    await page.evaluate(set_theme, "dark")
    found = await faults(page, f"{view} dark", only=COLOURS)
    await page.evaluate(set_theme, "light")
    return found | await faults(page, f"{view} light")


async def faults(page: Page, view: str, *, only: Sequence[str] = LEVELS, without: Sequence[str] = ()) -> dict[str, Any]:
    """Return axe's serious and critical violations of the rules with these tags or names."""
    if not await page.evaluate("() => 'axe' in window"):
        await page.evaluate(await asyncio.to_thread(AXE.read_text, "utf-8"))
    options = {"runOnly": only, "rules": {each: {"enabled": False} for each in without}, "resultTypes": ["violations"]}
    told = await page.evaluate("options => axe.run(document, options)", options)
    serious = [each for each in told["violations"] if each["impact"] in ("serious", "critical")]
    return {
        f"{view} {each['id']}": (each["nodes"][0]["html"][:200], each["nodes"][0]["failureSummary"][:300])
        for each in serious
    }


async def test_memory_is_added_found_and_forgotten_in_the_browser(world: World, browser: Browser) -> None:
    async with world.serve():
        tab = await open_tab(world, browser, "/memory")
        page = tab.page
        await page.get_by_role("button", name="Remember something").click()
        await expect(page.get_by_label("What Hob should remember")).to_be_focused()
        await page.keyboard.type("The key lies under the third stone.")
        await page.get_by_role("button", name="Remember", exact=True).click()
        await expect(page.get_by_role("button", name="Fact what you said")).to_contain_text("1")
        await page.get_by_label("Search memory").fill("third stone")
        item = page.get_by_role("article", name="memory")
        await expect(item).to_have_count(1)
        await item.get_by_role("button").first.click()
        await expect(item.get_by_label("Score breakdown")).to_be_visible()
        await item.get_by_role("button", name="Forget…").click()
        await expect(page.get_by_role("dialog")).to_contain_text("The key lies under")
        await page.get_by_role("button", name="Forget", exact=True).click()
        await expect(item).to_have_count(0)
        assert tab.errors == []


async def test_trace_shows_what_was_recalled_and_why(world: World, browser: Browser) -> None:
    async with world.serve() as daemon:
        async with at_the_socket(world) as client:
            for text in ("The key lies under the third stone.", "The third stone is grey."):
                (await client.post("/memory/items", json={"text": text})).raise_for_status()
            await daemon.post("Under which third stone is the key?", session="main")
            kept = (await client.get("/memory/items", params={"query": "grey"})).json()["items"][0]["id"]
            (await client.post("/memory/forget", json={"id": kept, "preview": False})).raise_for_status()
        tab = await open_tab(world, browser, "/timeline")
        page = tab.page
        await page.get_by_role("article", name="message").first.get_by_role("link", name="Trace").click()
        memories = page.get_by_role("group").filter(has_text="2 memories recalled").get_by_role("listitem")
        await expect(memories.filter(has_text="since forgotten")).to_have_count(1)
        key = memories.filter(has_text="The key lies")
        await expect(key.get_by_label("Score breakdown")).to_contain_text("words")
        await key.get_by_role("link").press("Enter")
        await expect(page.get_by_role("article", name="memory")).to_contain_text("The key lies under the third stone.")
        assert tab.errors == []


async def test_change_is_reviewed_and_committed_in_the_browser(world: World, browser: Browser) -> None:
    async with scene(world, asking=False):
        tab = await open_tab(world, browser, "/files?tab=changes")
        page = tab.page
        await expect(page.get_by_role("region", name="Changes")).to_contain_text("Sanssouci")
        await page.get_by_label("Commit message").fill("Notes on Potsdam")
        await page.get_by_role("button", name="Commit one file").click()
        await expect(page.get_by_text("No changes. Everything is committed.")).to_be_visible()
        await page.get_by_role("button", name="History").click()
        await expect(page.get_by_text("Notes on Potsdam")).to_be_visible()
        assert tab.errors == []


async def test_stop_button_ends_running_and_queued_turns(world: World, browser: Browser) -> None:
    async with world.serve() as daemon:
        for session in ("one", "two"):
            world.model.script.append(ASKED[2])
            await daemon.post("Clean up.", session=session)
        tab = await open_tab(world, browser, "/work")
        await tab.page.get_by_role("button", name="Stop everything").click()
        await tab.page.get_by_role("button", name="Yes, stop all 2").click()
        await expect(tab.page.get_by_text("Hob is idle.")).to_be_visible()
        await expect(tab.page.get_by_text("stopped", exact=True).nth(2)).to_be_visible()
        await expect(tab.page.get_by_text("Everything is paused.")).to_be_visible()
        await tab.page.get_by_role("button", name="Resume").click()
        await expect(tab.page.get_by_text("Everything is paused.")).not_to_be_visible()


async def test_conversation_is_renamed_archived_and_deleted_in_the_browser(world: World, browser: Browser) -> None:
    async with world.serve() as daemon:
        for text in ("one", "two"):
            world.model.script.append(Reply("Fine."))
            await daemon.post(text, session=f"api:{text}")
        tab = await open_tab(world, browser, "/chat?session=api:one")
        listed = tab.page.get_by_role("complementary", name="Conversations")
        await listed.get_by_role("button", name="Rename").click()
        await listed.get_by_label("Title").fill("Plans")
        await listed.get_by_role("button", name="Save").click()
        await expect(listed.get_by_role("button", name="Plans")).to_be_visible()
        await listed.get_by_role("button", name="Archive", exact=True).click()
        await expect(listed.get_by_role("button", name="Plans")).not_to_be_visible()
        await listed.get_by_role("button", name="Archived conversations").click()
        await listed.get_by_role("button", name="Plans").click()
        other = (await tab.beside("/chat?session=api:one")).page
        await expect(other.get_by_test_id("conversation").get_by_text("one", exact=True)).to_be_visible()
        await listed.get_by_role("button", name="Delete").click()
        await listed.get_by_role("button", name="Delete permanently").click()
        await expect(listed.get_by_text("No archived conversations.")).to_be_visible()
        await expect(other.get_by_text("What can Hob do for you?")).to_be_visible()
        await expect(other.get_by_test_id("conversation").get_by_text("one", exact=True)).to_have_count(0)
        assert tab.errors == []


async def test_edited_message_continues_in_a_fork(world: World, browser: Browser) -> None:
    async with world.serve() as daemon:
        for text, answer in (("one", "First."), ("two", "Second.")):
            world.model.script.append(Reply(answer))
            await daemon.post(text, session="main")
        tab = await open_tab(world, browser, "/chat?session=api:main")
        page, conversation = tab.page, tab.page.get_by_test_id("conversation")
        await expect(conversation.get_by_text("Second.")).to_be_visible()
        await conversation.get_by_role("button", name="Edit").last.click()
        world.model.script.append(Reply("Better."))
        await page.keyboard.press("Control+a")
        await page.keyboard.type("two, but better")
        await page.keyboard.press("Shift+Enter")
        await page.keyboard.type("and longer")
        await page.keyboard.press("Enter")
        await expect(page).to_have_url(re.compile("session=api%3Amain-"))
        await expect(conversation.get_by_text("Better.", exact=True)).to_be_visible()
        await expect(conversation.get_by_text("First.")).to_be_visible()
        await expect(conversation.get_by_text("Second.")).to_have_count(0)
        await tab.go("/chat?session=api:main")
        await expect(conversation.get_by_text("Second.")).to_be_visible()
        assert tab.errors == []


async def test_trace_shows_the_prompt_the_graph_and_undo(world: World, browser: Browser) -> None:
    async with scene(world, asking=False):
        tab = await open_tab(world, browser, "/chat?session=api:weekend")
        page = tab.page
        traces = page.get_by_test_id("conversation").get_by_role("link", name="Trace")
        await traces.nth(3).click()  # the second answer's: every message and every answer has one
        await expect(page.get_by_text("cacheable").first).to_be_visible()
        await page.get_by_role("button", name="Graph").click()
        await page.get_by_role("region", name="Spans").get_by_role("button", name="turn").click()
        await expect(page.get_by_role("region", name="Changes")).to_contain_text("Sanssouci")
        await page.get_by_role("button", name="Undo").click()
        await page.get_by_role("button", name="Restore").click()
        await tab.go("/files")
        await expect(page.get_by_text("empty", exact=True)).to_be_visible()
        assert tab.errors == []


async def test_page_opens_offline(world: World, browser: Browser, port: str) -> None:
    async with world.serve(HOB_DASHBOARD_PORT=port):
        tab = await open_tab(world, browser, service_workers="allow")
        await tab.page.evaluate("() => navigator.serviceWorker.ready.then(() => true)")
        await tab.page.reload()
        await expect(tab.page.get_by_text("Nothing needs you.")).to_be_visible()
    await tab.page.goto(f"{tab.base}/")
    await expect(tab.page.get_by_role("status").filter(has_text="Offline since")).to_be_visible(timeout=10_000)
    for place in ("files", "trust", "costs", "settings"):  # not opened before
        await tab.page.goto(f"{tab.base}/{place}")
        await expect(tab.page.get_by_role("heading", level=1)).to_be_visible()


async def test_web_user_is_linked_and_silent_mode_enabled_in_the_browser(world: World, browser: Browser) -> None:
    async with world.serve():
        tab = await open_tab(world, browser, "/settings?tab=delivery")
        await tab.page.get_by_label("Name").fill("Anna")
        await tab.page.get_by_role("button", name="Add").click()
        await tab.page.get_by_label("Linked chat").fill("telegram:77")
        await tab.page.get_by_role("button", name="Link", exact=True).click()
        await expect(tab.page.get_by_text("linked", exact=True)).to_be_visible()
        await tab.page.get_by_role("switch", name="Silent mode").click()
        await expect(tab.page.get_by_role("switch", name="Silent mode")).to_be_checked()
        await tab.page.reload()
        await expect(tab.page.get_by_role("switch", name="Silent mode")).to_be_checked()
        await expect(tab.page.get_by_label("Linked chat")).to_have_value("telegram:77")
        await tab.page.get_by_role("link", name="Open in chat").click()
        await expect(tab.page).to_have_url(re.compile("session=api%3Aweb-"))
        assert tab.errors == []


async def test_turn_is_replayed_with_another_model_in_the_browser(world: World, browser: Browser) -> None:
    async with world.serve() as daemon:
        world.model.script.append(Reply("Seven times eight is 56."))
        await daemon.post("What is seven times eight?")
        world.model.script.append(Reply("It is 56."))
        tab = await open_tab(world, browser, "/chat?session=api:main")
        await tab.page.get_by_test_id("conversation").get_by_role("link", name="Trace").last.click()
        await tab.page.get_by_role("button", name="Replay").click()
        await expect(tab.page.get_by_text("identical", exact=True)).to_be_visible()
        await tab.page.get_by_role("combobox", name="Model").fill("fake-2")
        await tab.page.get_by_label("Replay").get_by_role("button", name="Replay").click()
        await expect(tab.page.get_by_text("It is 56.").first).to_be_visible()
        assert tab.errors == []


async def test_first_visit_connects_a_model_in_the_browser(world: World, browser: Browser) -> None:
    async with world.serve(HOB_MODEL_NAME="", OPENAI_API_KEY="", OPENAI_BASE_URL=""):
        tab = await open_tab(world, browser)
        page = tab.page
        await expect(page.get_by_role("heading", name="Connect a model")).to_be_visible()
        await page.get_by_label("1. Choose a provider").select_option("server")
        await page.get_by_label("Server address").fill("http://127.0.0.1:9/v1")
        await page.get_by_role("button", name="3. Test and connect").click()
        await expect(page.get_by_text("Nothing was saved.")).to_be_visible(timeout=20_000)
        assert not list((world.home / "secrets").glob("model*"))
        for provider in ("anthropic", "server"):
            await page.get_by_label("1. Choose a provider").select_option(provider)
            await expect(page.get_by_text("Nothing was saved.")).to_have_count(0)
        await page.get_by_label("Server address").fill(world.model.url)
        await page.get_by_label("2. API key, if required").fill("a-key-of-mine")
        world.model.script.extend([Reply("ready"), Reply(calls=(("report", '{"word": "ready"}'),))])
        await page.get_by_role("button", name="3. Test and connect").click()
        await expect(page.get_by_role("heading", name="Connect a model")).not_to_be_visible()
        assert (world.home / "secrets" / "model.api_key").read_text() == "a-key-of-mine\n"
        await page.get_by_role("link", name="Start a conversation").click()
        world.model.script.append(Reply("Good to see you."))
        await say(page, "Hello, Hob!")
        await expect(page.get_by_test_id("conversation").get_by_text("Good to see you.")).to_be_visible()
        assert tab.errors == []


async def test_phone_access_is_opened_and_closed_in_the_browser(world: World, browser: Browser) -> None:
    async with world.serve():
        async with at_the_socket(world) as owner:
            opened = await owner.post("/settings", json={"values": {"dashboard.phone": "127.0.0.9"}})
            opened.raise_for_status()
        tab = await open_tab(world, browser, "/settings?tab=phone")
        page = tab.page
        await expect(page.get_by_text("https://127.0.0.9:")).to_be_visible()
        await expect(
            page.get_by_role("link", name="Download the certificate to transfer it another way")
        ).to_be_visible()
        await page.get_by_role("button", name="Show QR code").click()
        await expect(page.get_by_role("img", name="QR code")).to_be_visible()
        await page.get_by_role("button", name="Close access").click()
        await expect(page.get_by_role("button", name="Open access").first).to_be_visible()
        assert tab.errors == []


async def test_phone_without_the_certificate_is_signed_in_and_warned(world: World, browser: Browser) -> None:
    async with world.serve():
        async with at_the_socket(world) as owner:
            opened = await owner.post("/settings", json={"values": {"dashboard.phone": "127.0.0.9"}})
            opened.raise_for_status()
            url = (await owner.post("/dashboard/phone")).json()["url"]
        # like a user who continues past the warning
        context = await browser.new_context(ignore_https_errors=True, locale="en-US")
        page = await context.new_page()
        await page.goto(url)
        await expect(page.get_by_text("Nothing needs you.")).to_be_visible()
        await expect(page.get_by_role("link", name="Download and install the certificate.")).to_be_visible()


async def test_page_over_plain_http_says_what_is_off(world: World, browser: Browser) -> None:
    """Under a name of the owner's network, not this machine's own address, which browsers trust."""
    async with world.serve(HOB_GATEWAY_HOSTS='["hob.home"]'):
        url = (await link_of(world)).replace("127.0.0.1", "hob.home")
        async with chromium("--host-resolver-rules=MAP hob.home 127.0.0.1", program=HEADLESS) as opened:
            page = await (await opened.new_context(locale="en-US")).new_page()
            await page.goto(url)
            await expect(page.get_by_text("Over plain HTTP, the browser disables installing")).to_be_visible()
            assert await page.evaluate("[isSecureContext, 'serviceWorker' in navigator]") == [False, False]


async def test_timeline_plays_voice_notes_and_enlarges_images(world: World, browser: Browser) -> None:
    async with world.serve():
        world.model.script.extend([Reply("Heard."), Reply("Seen."), Reply("Both seen.")])
        tab = await open_tab(world, browser, "/chat?session=api:main")
        page = tab.page
        for name, kind, data in (("a.wav", "audio/wav", SOUND), ("a.png", "image/png", DOT)):
            await page.locator("input[type=file]").set_input_files({"name": name, "mimeType": kind, "buffer": data})
            await page.get_by_role("button", name="Send").click()
            await expect(page.get_by_test_id("conversation")).to_contain_text("Heard." if name == "a.wav" else "Seen.")
        await tab.go("/timeline")
        await expect(page.get_by_label("Voice note")).to_be_visible()
        await page.get_by_role("button", name="Enlarge image").click()
        await expect(page.get_by_role("dialog", name="a.png").get_by_role("img", name="a.png")).to_be_visible()
        await page.keyboard.press("Escape")
        files: list[FilePayload] = [
            {"name": name, "mimeType": "image/png", "buffer": DOT + name.encode()} for name in ("1.png", "2.png")
        ]
        other = await tab.beside("/chat?session=api:main")
        await other.page.locator("input[type=file]").set_input_files(files)
        await other.page.get_by_role("button", name="Send").click()
        await expect(page.get_by_role("button", name="Enlarge image")).to_have_count(3)
        await page.reload()
        await expect(page.get_by_role("button", name="Enlarge image")).to_have_count(3)
        await page.get_by_role("button", name="More filters").click()
        await page.get_by_label("Tool, model or channel").fill("api")
        await expect(page).to_have_url(re.compile("name=api"))
        await expect(page.get_by_label("Voice note")).to_be_visible()
        await page.get_by_label("Minimum cost ($)").fill("1")
        await expect(page.get_by_text("No matching events.")).to_be_visible()
        await page.get_by_role("button", name="Show everything").click()
        await page.get_by_role("button", name="Focus").first.click()
        for key in ("j", "j", "Enter"):
            await page.keyboard.press(key)
        await page.get_by_role("listbox").wait_for()
        assert tab.errors == []


WATCH_SPOKEN = """() => {
  window.spoken = [];
  const live = [...document.querySelectorAll('[aria-live], [role=alert], [role=log], #main [role=status]')];
  const heard = new MutationObserver((changes) => {
    for (const { type, target, addedNodes } of changes) {
      for (const node of type === 'characterData' ? [target] : addedNodes) {
        if (node.textContent) window.spoken.push(node.textContent);
      }
    }
  });
  for (const each of live) heard.observe(each, { childList: true, characterData: true, subtree: true });
}"""


async def test_streamed_answer_is_announced_once_when_it_is_whole(world: World, browser: Browser) -> None:
    async with world.serve():
        tab = await open_tab(world, browser, "/chat?session=api:main")
        page, conversation = tab.page, tab.page.get_by_test_id("conversation")
        await expect(conversation.get_by_text("What can Hob do for you?")).to_be_visible()
        await page.evaluate(WATCH_SPOKEN)
        words = "One two three four five six seven eight nine ten."
        for heard in (1, 2):  # the same words are announced again
            world.model.script.append(Reply(f"**{words}**", pause=0.05))
            await say(page, "Count.")
            await expect(conversation.get_by_text("One two")).to_have_count(heard)
            await expect(conversation.get_by_text(words)).to_have_count(heard)
            await page.wait_for_function("count => window.spoken.length >= count", arg=heard)
            assert await page.evaluate("window.spoken") == [words] * heard
        answer = conversation.get_by_text(words).first
        assert await answer.evaluate("node => !node.closest('[aria-live], [role=status], [role=log], [role=alert]')")
        assert tab.errors == []


async def test_second_tab_follows_messages_sent_and_removed_in_the_first(world: World, browser: Browser) -> None:
    async with world.serve():
        tab = await open_tab(world, browser, "/chat?session=api:main")
        other = await tab.beside("/chat?session=api:main")
        mine, theirs = (each.page.get_by_test_id("conversation") for each in (tab, other))
        await expect(theirs.get_by_text("What can Hob do for you?")).to_be_visible()
        await say(tab.page, "/queue followup")
        await expect(mine.get_by_text("followup").last).to_be_visible()
        slow = "A long story that " + "goes on and " * 30 + "ends."
        world.model.script.extend([Reply(slow, pause=0.1), Reply("Short.")])
        await say(tab.page, "Tell a story, please, about a kettle that stood on a hob until somebody came home late.")
        await expect(theirs.get_by_text("until somebody came home late.")).to_be_visible()
        await tab.page.get_by_label("Message to Hob").fill("And a second one.")
        await tab.page.keyboard.press("Enter")
        await expect(theirs.get_by_role("button", name="Remove")).to_be_visible()
        await tab.page.get_by_role("button", name="1 running · 1 queued").click()
        running = tab.page.get_by_role("dialog", name="Running now")
        await expect(running.get_by_role("button", name="Stop")).to_have_count(2)
        await tab.page.keyboard.press("Escape")
        await other.page.reload()
        await expect(theirs.get_by_role("button", name="Remove")).to_be_visible()
        await theirs.get_by_role("button", name="Remove").click()
        await expect(mine.get_by_role("button", name="Remove")).to_have_count(0)
        await other.page.get_by_role("button", name="Stop", exact=True).click()
        for conversation in (mine, theirs):
            await expect(conversation.get_by_label("Hob is working on it")).to_have_count(0)
        world.model.script.clear()
        world.model.script.append(Reply("All is well."))
        await say(other.page, "And now?")
        for conversation in (mine, theirs):
            await expect(conversation.get_by_text("All is well.")).to_have_count(1)
            await expect(conversation.get_by_text("And now?")).to_have_count(1)
        assert tab.errors + other.errors == []


async def test_second_tab_follows_changes_of_settings_and_conversations_in_the_first(
    world: World, browser: Browser
) -> None:
    async with world.serve() as daemon:
        for session in ("api:one", "api:two"):
            await daemon.post("hello", session=session)
        tab = await open_tab(world, browser, "/settings?tab=delivery")
        other = await tab.beside("/settings?tab=delivery")
        await tab.page.get_by_role("switch", name="Silent mode").click()
        await expect(other.page.get_by_role("switch", name="Silent mode")).to_be_checked()
        await tab.go("/timeline")
        await expect(tab.page.get_by_text("delivery.silent_mode = true")).to_be_visible()
        for each in (tab, other):
            await each.go("/chat?session=api:one")
        listed, seen = (each.page.get_by_role("complementary", name="Conversations") for each in (tab, other))
        await listed.get_by_role("button", name="Rename").click()
        await listed.get_by_label("Title").fill("Plans")
        await listed.get_by_role("button", name="Save").click()
        await expect(seen.get_by_role("button", name="Plans")).to_be_visible()
        await listed.get_by_role("button", name="Delete").click()
        await listed.get_by_role("button", name="Delete permanently").click()
        await expect(seen.get_by_role("button", name="Plans")).to_have_count(0)
        assert tab.errors + other.errors == []


async def test_browser_notifies_of_an_approval_while_the_page_is_hidden(world: World, full_browser: Browser) -> None:
    async with world.serve() as daemon:
        tab = await open_tab(world, full_browser, "/trust", service_workers="allow")
        page = tab.page
        await notifications_are_on(tab)
        world.model.script.append(ASKED[2])
        asked = (await daemon.post("Clean up.", session="main")).json()
        (shown,) = await notifications(tab, 1)
        assert (shown["title"], shown["tag"]) == ("Hob wants to run rm -rf .", asked["approvals"][0])
        await page.get_by_role("button", name="Deny").click()
        assert await notifications(tab, 0) == []
        assert tab.errors == []


async def test_voice_note_is_recorded_and_sent(world: World, voice: Browser) -> None:
    async with world.serve():
        tab = await open_tab(world, voice, "/chat?session=api:main")
        page = tab.page
        await page.context.grant_permissions(["microphone"], origin=tab.base)
        world.model.script.append(Reply("Heard."))
        record, finish = (page.get_by_role("button", name=f"{each} voice note") for each in ("Record", "Finish"))
        notes = page.get_by_role("button", name="Remove voice.webm")
        await record.hover()
        await page.mouse.down()
        await expect(finish).to_be_visible()
        await page.wait_for_timeout(600)
        await page.mouse.up()  # it was held: the note ends with it
        await expect(notes).to_have_count(1)
        await notes.click()
        for key in ("", "Enter"):
            await (record.press(key) if key else record.click())
            await page.wait_for_timeout(600)
            await (finish.press(key) if key else finish.click())
            await expect(notes).to_have_count(1)
            if not key:
                await notes.click()
        await page.get_by_role("button", name="Send").click()
        await expect(page.get_by_test_id("conversation")).to_contain_text("Heard.")
        await tab.go("/timeline")
        await expect(page.get_by_label("Voice note")).to_be_visible()
        assert await page.get_by_label("Voice note").evaluate("""sound => new Promise((done) => {
          sound.onloadeddata = () => done(true);
          sound.onerror = () => done(false);
          sound.load();
        })""")
        assert tab.errors == []


LATE = """() => {
  const open = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
  window.streams = [];
  window.allow = [];
  navigator.mediaDevices.getUserMedia = async (wanted) => {
    await new Promise((done) => window.allow.push(done));
    window.streams.push(await open(wanted));
    return window.streams.at(-1);
  };
}"""
"""Gives the microphone only when the test says so, like an owner who is asked for it."""

ALLOW = """async () => {
  const given = window.streams.length + window.allow.length;
  window.allow.splice(0).forEach((done) => done());
  while (window.streams.length < given) await new Promise((done) => setTimeout(done, 20));
}"""
OFF = "() => window.streams.every((each) => each.getTracks().every((one) => one.readyState === 'ended'))"


async def test_microphone_given_late_records_only_what_is_still_wanted(world: World, voice: Browser) -> None:
    async with world.serve():
        tab = await open_tab(world, voice, "/chat?session=api:main")
        page = tab.page
        await page.context.grant_permissions(["microphone"], origin=tab.base)
        await page.evaluate(LATE)
        record, finish = (page.get_by_role("button", name=f"{each} voice note") for each in ("Record", "Finish"))
        notes = page.get_by_role("button", name="Remove voice.webm")

        await record.dblclick()
        await page.evaluate(ALLOW)
        await expect(finish).to_be_visible()
        await page.wait_for_timeout(600)
        await finish.click()
        await expect(notes).to_have_count(1)
        await page.wait_for_function(OFF)

        await record.hover()
        await page.mouse.down()
        await page.wait_for_timeout(600)
        await page.mouse.up()  # the hold ends before the microphone is given
        await page.evaluate(ALLOW)
        await page.wait_for_function(OFF)
        await expect(record).to_be_visible()

        await record.click()
        await tab.go("/timeline")
        await page.evaluate(ALLOW)
        await page.wait_for_function(OFF)
        assert tab.errors == []


async def test_tool_is_tried_in_the_browser(world: World, browser: Browser) -> None:
    async with scene(world, asking=False):
        tab = await open_tab(world, browser, "/trust?tab=tools")
        page = tab.page
        await page.get_by_label("Find a tool").fill("read")
        await page.get_by_text("read", exact=True).click()
        await page.get_by_label("Arguments (JSON, or just the main one)").fill("potsdam.md")
        await page.get_by_role("button", name="Test", exact=True).click()
        await expect(page.get_by_text("- Sanssouci")).to_be_visible()
        await page.get_by_label("Find a tool").fill("exec")
        await page.get_by_text("exec", exact=True).click()
        await page.get_by_label("Arguments (JSON, or just the main one)").fill("rm -rf .")
        await page.get_by_role("button", name="Test", exact=True).click()
        await expect(page.get_by_role("button", name="Proceed anyway")).to_be_visible()
        assert tab.errors == []


async def test_session_approval_is_offered_for_untainted_turns_and_can_be_revoked(
    world: World, browser: Browser
) -> None:
    async with world.serve() as daemon:
        world.model.script.extend([ASKED[2], Reply("It is clean.")])
        asked = (await daemon.post("Clean up.", session="main")).json()
        tab = await open_tab(world, browser, "/trust")
        page = tab.page
        card = page.get_by_role("article", name="Approval for exec")
        await expect(card.get_by_role("button", name="Always…")).to_be_visible()
        await card.get_by_role("button", name="For this session…").click()
        await card.get_by_role("button", name="Yes, exactly this, for this session").click()
        assert (await daemon.get(asked["id"], wait=20))["reply"] == "It is clean."
        await expect(page.get_by_text("in main")).to_be_visible()
        await page.get_by_role("button", name="Revoke").click()
        await expect(page.get_by_text("None. Hob asks every time.")).to_be_visible()
        world.model.script.append(ASKED[2])  # the conversation has read a command's output
        await daemon.post("Once more.", session="main")
        await expect(card.get_by_role("button", name="Allow once")).to_be_visible()
        await expect(card.get_by_role("button", name="For this session…")).to_have_count(0)
        await expect(card.get_by_role("button", name="Always…")).to_have_count(0)
        assert tab.errors == []


async def test_search_finds_conversations_messages_memory_files_and_commands(world: World, browser: Browser) -> None:
    async with scene(world, asking=False):
        tab = await open_tab(world, browser)
        page, found = tab.page, tab.page.get_by_role("listbox", name="Results")
        await page.keyboard.press("Control+k")
        await expect(found).to_be_visible()
        await page.keyboard.type("potsdam")
        for text in ("Plan a weekend in Potsdam for me, please.", "Potsdam trips start from Wannsee", "# Potsdam"):
            await expect(found.get_by_text(text).first).to_be_visible()
        plan = found.get_by_text("Plan a weekend in Potsdam for me, please.")
        await expect(plan).to_have_count(3)  # the conversation, its message, and the memory of it
        await page.get_by_role("combobox").fill("stop")
        await expect(found.get_by_text("/stop").first).to_be_visible()
        await page.get_by_role("combobox").fill("# Potsdam")
        await found.get_by_text("# Potsdam").first.click()
        await expect(page.get_by_role("heading", name="Potsdam", exact=True)).to_be_visible()
        assert tab.errors == []


async def test_goal_is_marked_reached_and_memory_shows_its_internals(world: World, browser: Browser) -> None:
    async with scene(world, asking=False):
        async with at_the_socket(world) as client:
            (await client.post("/memory/goals", json={"text": "Run ten kilometres"})).raise_for_status()
        tab = await open_tab(world, browser, "/memory?show=goals")
        page = tab.page
        await expect(page.get_by_text("Run ten kilometres")).to_be_visible()
        await page.get_by_role("button", name="Mark as reached").click()
        await expect(page.get_by_role("button", name="Mark as reached")).to_have_count(0)
        await page.get_by_role("button", name="Internals").click()
        await expect(page.get_by_role("region", name="What Hob is good at")).to_contain_text("%")
        assert tab.errors == []
