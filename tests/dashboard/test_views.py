"""Single views of the page, in Chromium against the real daemon."""

import asyncio
import json
import os
import re
from pathlib import Path

from playwright.async_api import Browser, Locator, Page, Route, expect

from hob.core.clock import SystemClock
from hob.store.audit.audit import AuditEntry
from hob.store.settings import StoreSettings
from hob.store.store import open_store
from hob.testing.model_server import Reply
from tests.dashboard.conftest import PRESS_AT_ONCE, notifications_are_on, open_tab
from tests.dashboard.scene import ASKED, at_the_socket, scene
from tests.journeys.world import World, until


async def test_facts_show_their_validity_and_the_state_on_a_day(world: World, browser: Browser) -> None:
    async with scene(world, asking=False):
        tab = await open_tab(world, browser, "/memory?show=facts")
        page = tab.page
        axis = page.get_by_role("list", name="Facts and when they apply")
        work = axis.get_by_role("listitem").filter(has_text="you work at")
        await expect(work).to_have_text([re.compile("Siemens.*since.*until"), re.compile("Bosch.*since")])
        before, now = [await each.bounding_box() for each in await work.locator("[data-bar]").all()]
        assert before
        assert now
        assert before["x"] + before["width"] <= now["x"] + 4
        day = await page.evaluate("new Date(Date.now() - 1000 * 86400000).toLocaleDateString('sv')")
        await page.get_by_label("As of").fill(day)
        await expect(work).to_have_count(1)
        await expect(work).to_contain_text("Siemens")
        await page.get_by_label("as known that day").check()
        await expect(work).to_contain_text("Siemens")
        await expect(page).to_have_url(re.compile("known=true"))
        await page.get_by_role("button", name="Show current").click()
        await expect(work).to_have_count(2)
        assert tab.errors == []


async def test_memory_pipeline_counts_queued_and_derived_items_and_links_to_them(
    world: World, browser: Browser
) -> None:
    async with scene(world, asking=False):
        tab = await open_tab(world, browser, "/memory")
        page = tab.page
        waits, made = (page.get_by_role("group", name=name) for name in ("Queue", "Derived"))
        await expect(waits.get_by_role("link", name="for fact extraction")).to_have_text(
            re.compile("for fact extraction[1-9]")
        )
        await expect(made.get_by_role("link", name="Facts")).to_have_text("Facts3")
        await expect(made.get_by_role("link", name="Goals")).to_have_text("Goals0")
        async with at_the_socket(world) as client:
            (await client.post("/memory/goals", json={"text": "Learn to sail"})).raise_for_status()
        await expect(made.get_by_role("link", name="Goals")).to_have_text("Goals1")  # live
        await waits.get_by_role("link", name="for fact extraction").click()
        await expect(page.get_by_role("region", name="Facts not extracted yet")).to_be_visible()
        items = page.get_by_role("article", name="memory")
        await expect(items.filter(has_text="Plan a weekend in Potsdam")).to_have_count(1)
        waiting = int((await waits.get_by_role("link", name="for fact extraction").inner_text()).split()[-1])
        await expect(items).to_have_count(waiting)
        await made.get_by_role("link", name="Goals").click()
        await expect(page.get_by_text("Learn to sail")).to_be_visible()
        assert tab.errors == []


async def test_memories_are_listed_to_the_oldest_one(world: World, browser: Browser) -> None:
    async with world.serve():
        async with at_the_socket(world) as client:
            for n in range(130):
                (await client.post("/memory/items", json={"text": f"Note {n}."})).raise_for_status()
        tab = await open_tab(world, browser, "/memory?layer=fact")
        page = tab.page
        items, older = page.get_by_role("article", name="memory"), page.get_by_role("button", name="Show older")
        for count in (60, 120):
            await expect(items).to_have_count(count)
            await older.click()
        await expect(items).to_have_count(130)
        await expect(older).to_have_count(0)
        notes = await items.all_inner_texts()
        assert [int(re.findall(r"Note (\d+)", each)[0]) for each in notes] == [*reversed(range(130))]
        assert tab.errors == []


async def test_memory_is_searched_as_of_a_day(world: World, browser: Browser) -> None:
    async with scene(world, asking=False):
        tab = await open_tab(world, browser, "/memory")
        page = tab.page
        items = page.get_by_role("article", name="memory")
        await page.get_by_role("searchbox", name="Search memory").fill("Where does Anna live in Potsdam or Berlin?")
        await expect(items.filter(has_text="Anna moved to Potsdam")).to_have_count(1)
        day = await page.evaluate("new Date(Date.now() - 400 * 86400000).toLocaleDateString('sv')")
        await page.get_by_label("As of").fill(day)
        await expect(page.get_by_role("region", name=re.compile("as of"))).to_be_visible()
        await expect(items.filter(has_text="Anna moved to Potsdam")).to_have_count(0)
        await expect(items.filter(has_text="Anna lives in Berlin").first).to_be_visible()
        await page.get_by_role("button", name="Show current").click()
        await expect(items.filter(has_text="Anna moved to Potsdam")).to_have_count(1)
        assert tab.errors == []


async def test_contradicting_facts_are_shown_side_by_side_and_one_is_kept(world: World, browser: Browser) -> None:
    async with scene(world, asking=False):
        tab = await open_tab(world, browser, "/memory?show=facts")
        page = tab.page
        rivals = page.get_by_role("group", name="Contradictions")
        await expect(rivals).to_contain_text("Munich")
        sure, unsure = (rivals.locator("> div").filter(has_text=each) for each in ("Munich", "Hamburg"))
        left, right = await sure.bounding_box(), await unsure.bounding_box()
        assert left
        assert right
        assert abs(left["y"] - right["y"]) < 2
        await expect(unsure).to_contain_text("not sure")
        await sure.get_by_role("button", name="Keep this").click()
        await expect(rivals).to_have_count(0)
        axis = page.get_by_role("list", name="Facts and when they apply")
        await expect(axis).to_contain_text("Munich")
        await expect(axis).not_to_contain_text("Hamburg")
        assert tab.errors == []


async def test_last_nights_changes_are_shown_as_a_diff_with_undo(world: World, browser: Browser) -> None:
    async with scene(world, asking=False):
        tab = await open_tab(world, browser)
        page = tab.page
        await page.get_by_role("region", name="Learned since yesterday").get_by_role("link").click()
        news = page.get_by_role("region", name="New since yesterday")
        await expect(news).to_contain_text(re.compile(".*Berlin.*\\+.*Potsdam.*Anna moved to Potsdam.*changed"))
        await news.get_by_role("button", name="Undo").click()
        axis = page.get_by_role("list", name="Facts and when they apply")
        await expect(axis).not_to_contain_text("Potsdam")
        await expect(axis.get_by_role("listitem").filter(has_text="Berlin")).to_have_count(1)
        assert tab.errors == []


async def test_keys_focus_a_decision_and_take_it_with_the_second_press(world: World, browser: Browser) -> None:
    async with world.serve() as daemon:
        world.model.script.extend([ASKED[2], Reply("It is clean.")])
        asked = (await daemon.post("Clean up.", session="main")).json()
        tab = await open_tab(world, browser, "/trust")
        page = tab.page
        deny = page.get_by_role("button", name="Deny")
        await expect(page.get_by_role("button", name="Allow once")).to_be_enabled()
        for _ in range(3):  # a key that is held down repeats itself, and decides nothing
            await page.keyboard.down("d")
        await expect(deny).to_be_focused()
        await page.keyboard.up("d")
        await page.keyboard.press("a")  # press the other key before anything is decided
        await expect(page.get_by_role("button", name="Allow once")).to_be_focused()
        assert (await daemon.get(asked["id"]))["state"] == "parked"
        await page.keyboard.press("a")
        assert (await daemon.get(asked["id"], wait=20))["reply"] == "It is clean."
        world.model.script.append(Reply("A long story " + "that goes on " * 30, pause=0.1))
        await daemon.post("Tell.", session="main", wait=0)
        await tab.go("/")
        stop = page.get_by_role("button", name="Stop", exact=True)
        await expect(stop).to_be_enabled()
        await page.keyboard.press(".")
        await expect(stop).to_be_focused()
        await page.keyboard.press(".")
        await expect(stop).to_have_count(0)
        assert tab.errors == []


async def test_permanent_approval_is_confirmed_and_applies_in_other_conversations(
    world: World, browser: Browser
) -> None:
    async with world.serve() as daemon:
        world.model.script.extend([ASKED[2], Reply("It is clean.")])
        asked = (await daemon.post("Clean up.", session="main")).json()
        tab = await open_tab(world, browser, "/trust")
        page = tab.page
        card = page.get_by_role("article", name="Approval for exec")
        await card.get_by_role("button", name="Always…").click()
        assert (await daemon.get(asked["id"]))["state"] == "parked"
        await card.get_by_role("button", name="Yes, exactly this, always").click()
        assert (await daemon.get(asked["id"], wait=20))["reply"] == "It is clean."
        await expect(page.get_by_role("region", name="Standing approvals")).to_contain_text("everywhere")
        world.model.script.extend([ASKED[2], Reply("Clean again.")])
        assert (await daemon.post("Clean up.", session="other")).json()["reply"] == "Clean again."
        await page.get_by_role("button", name="Revoke").click()
        await expect(page.get_by_text("None. Hob asks every time.")).to_be_visible()
        assert tab.errors == []


async def test_approval_that_just_appeared_takes_no_click_meant_for_something_else(
    world: World, browser: Browser
) -> None:
    async with world.serve() as daemon:
        tab = await open_tab(world, browser, "/trust")
        page = tab.page
        await expect(page.get_by_text("Nothing to approve.")).to_be_visible()
        await page.evaluate(PRESS_AT_ONCE, "Allow once")
        world.model.script.extend([ASKED[2], Reply("It is clean.")])
        asked = (await daemon.post("Clean up.", session="main")).json()
        card = page.get_by_role("article", name="Approval for exec")
        await expect(page.locator("body")).to_have_attribute("data-pressed", "Allow once")
        await card.get_by_role("button", name="Always…").dblclick()  # the second click meets the confirmation
        await expect(card.get_by_role("button", name="Yes, exactly this, always")).to_be_enabled()
        assert (await daemon.get(asked["id"]))["state"] == "parked"
        await card.get_by_role("button", name="Allow once").click()
        assert (await daemon.get(asked["id"], wait=20))["reply"] == "It is clean."
        await expect(page.get_by_text("None. Hob asks every time.")).to_be_visible()
        assert tab.errors == []


async def test_pairing_request_that_just_appeared_takes_no_click_meant_for_another(
    world: World, browser: Browser
) -> None:
    requests = [
        {"code": each, "address": f"chat:{each}", "name": each, "asked": 1, "expires": 2e9} for each in ("anna", "eve")
    ]
    admitted: list[str] = []

    async def pairing(route: Route) -> None:
        if route.request.method == "POST":
            admitted.append(json.loads(route.request.post_data or "{}")["code"])
        await route.fulfill(json={"requests": [each for each in requests if each["code"] not in admitted]})

    async with world.serve():
        tab = await open_tab(world, browser, "/trust")
        page = tab.page
        await page.route("**/api/v1/pairing**", pairing)
        await page.reload()
        await expect(page.get_by_text("Nothing to approve.")).to_be_visible()
        await page.evaluate(PRESS_AT_ONCE, "Approve")
        await tab.go("/trust?tab=people")
        await expect(page.locator("body")).to_have_attribute("data-pressed", "Approve")
        assert admitted == []
        await page.get_by_role("button", name="Approve").first.click()
        await expect(page.get_by_text("chat:anna")).to_have_count(0)
        await expect(page.get_by_role("button", name="Approve")).to_be_enabled()
        assert admitted == ["anna"]
        assert tab.errors == []


PRESS = """async () => {
  const [shown] = await self.registration.getNotifications();
  if (!shown) return false;
  self.dispatchEvent(new NotificationEvent('notificationclick', { notification: shown }));
  return true;
}"""


async def test_notification_click_leads_to_the_approval(world: World, full_browser: Browser) -> None:
    async with world.serve() as daemon:
        tab = await open_tab(world, full_browser, "/costs", service_workers="allow")
        page = tab.page
        await notifications_are_on(tab)
        world.model.script.append(ASKED[2])
        await daemon.post("Clean up.", session="main")
        (worker,) = page.context.service_workers
        async with page.expect_event("framenavigated"):
            while not await worker.evaluate(PRESS):
                await page.wait_for_timeout(50)
        await expect(page.get_by_role("article", name="Approval for exec")).to_be_visible()
        assert await worker.evaluate("async () => (await self.registration.getNotifications()).length") == 0


async def test_second_tab_follows_changes_of_memory_and_web_users_in_the_first(world: World, browser: Browser) -> None:
    async with world.serve():
        tab = await open_tab(world, browser, "/memory")
        other = await tab.beside("/memory")
        await expect(other.page.get_by_role("article", name="memory").first).to_be_visible()
        await tab.page.get_by_role("button", name="Remember something").click()
        await tab.page.get_by_label("What Hob should remember").fill("Anna likes green tea.")
        await tab.page.get_by_role("button", name="Remember", exact=True).click()
        await expect(other.page.get_by_text("Anna likes green tea.")).to_be_visible()
        for each in (other, tab):
            await each.go("/settings?tab=delivery")
        await expect(other.page.get_by_role("heading", name="Web users")).to_be_visible()
        await tab.page.get_by_label("Name").fill("Anna")
        await tab.page.get_by_role("button", name="Add").click()
        linked = other.page.get_by_label("Linked chat")
        await expect(linked).to_be_visible()
        await tab.page.get_by_label("Linked chat").fill("telegram:12345")
        await tab.page.get_by_role("button", name="Link", exact=True).click()
        await expect(other.page.get_by_text("linked", exact=True)).to_be_visible()
        assert tab.errors + other.errors == []


async def test_costs_are_grouped_by_tool_and_a_trace_zooms_and_marks_its_critical_path(
    world: World, browser: Browser
) -> None:
    async with scene(world, asking=False):
        tab = await open_tab(world, browser, "/costs")
        page = tab.page
        await page.get_by_role("group", name="Group by").get_by_role("button", name="Tools").click()
        for name in ("exec", "write", "no tool"):
            await expect(page.get_by_role("cell", name=name, exact=True)).to_be_visible()
        await tab.go("/timeline?text=disk+space")
        await page.get_by_role("link", name="Trace").first.click()
        spans = page.get_by_role("listbox", name="Spans")
        decisive = spans.get_by_role("option").filter(has=page.locator("[data-critical]"))
        await expect(decisive.filter(has_text="exec").first).to_be_visible()
        chosen = spans.get_by_role("option").filter(has_text="exec").first
        await chosen.click()
        width = await bar_of(chosen)
        await page.get_by_role("button", name="Zoom to selection").click()
        assert await bar_of(chosen) > max(2 * width, 100)
        await page.get_by_role("button", name="Show all").click()
        assert await bar_of(chosen) == width
        assert tab.errors == []


async def bar_of(span: Locator) -> float:
    """Return the length of a span's bar."""
    box = await span.locator("span > span[style]").last.bounding_box()
    assert box
    return box["width"]


async def look(page: Page, name: str) -> float:
    """Press this button and return the width of the rail."""
    await page.get_by_role("button", name=name).click()
    return float(await page.evaluate("document.querySelector('nav').getBoundingClientRect().width"))


async def test_display_preferences_persist_and_the_permission_mode_is_beside_the_input(
    world: World, browser: Browser
) -> None:
    async with world.serve(HOB_MODEL_FALLBACKS='["fake-2"]') as daemon:
        await daemon.post("hello", session="main")
        tab = await open_tab(world, browser, "/chat?session=api:main")
        page = tab.page
        assert await look(page, "Collapse sidebar") < 80
        await page.get_by_role("button", name="Compact spacing").click()
        await page.reload()
        await expect(page.get_by_role("button", name="Comfortable spacing")).to_be_visible()
        assert await look(page, "Expand sidebar") > 150
        other = await tab.beside("/chat?session=api:main")
        await page.get_by_label("Model", exact=True).select_option("fake-1")
        await expect(other.page.get_by_label("Model", exact=True)).to_have_value("fake-1")
        await page.get_by_label("Permission mode").select_option("read-only")
        await expect(other.page.get_by_label("Permission mode")).to_have_value("read-only")
        assert tab.errors == []


async def test_chat_panel_shows_steps_files_and_memories_of_a_message(world: World, browser: Browser) -> None:
    async with scene(world, asking=False):
        tab = await open_tab(world, browser, "/chat?session=api:weekend")
        page = tab.page
        await expect(page.get_by_text("It is in")).to_be_visible()
        await page.get_by_role("button", name="Details").nth(3).click()  # of the second answer
        panel = page.get_by_role("complementary", name="Message details")
        await expect(panel.get_by_role("listitem").filter(has_text="write")).to_be_visible()
        await expect(panel).to_contain_text("1 file was changed")
        await panel.get_by_role("button", name="Close").click()
        await page.get_by_role("button", name="Details").first.click()  # of the request for a plan
        await expect(panel).to_contain_text("Potsdam trips start from Wannsee, by S7.")
        await panel.get_by_role("button", name="Close").click()
        await expect(panel).to_have_count(0)
        assert tab.errors == []


async def test_approval_shows_the_origin_of_the_request_and_a_trace_the_effects_of_a_tool(
    world: World, browser: Browser
) -> None:
    async with scene(world):
        tab = await open_tab(world, browser, "/trust")
        page = tab.page
        chain = page.get_by_role("list", name="Where this request may come from").get_by_role("listitem")
        told = ["output of exec", "read in this conversation", "wants to use exec"]
        await expect(chain).to_have_text(told)
        card = page.locator("[data-approval]").first
        await expect(card.get_by_role("heading")).to_have_text("Hob wants to run rm -rf .")
        await expect(card).to_contain_text("It deletes '.', part of the workspace.")
        await page.get_by_role("button", name="Deutsch").click()
        await expect(card).to_contain_text("Es löscht")
        await page.get_by_role("button", name="English").click()
        await tab.go("/timeline?text=disk+space")
        await page.get_by_role("link", name="Trace").first.click()
        await page.get_by_role("option").filter(has_text="exec").first.click()
        await expect(page.get_by_role("region", name="Details")).to_contain_text("Can ")
        assert tab.errors == []


async def test_settings_are_described_in_german_on_a_german_page(world: World, browser: Browser) -> None:
    async with world.serve():
        tab = await open_tab(world, browser, "/settings?find=spending.daily_tokens")
        page = tab.page
        about = page.locator("p", has_text="spending.daily_tokens").locator("xpath=following-sibling::p")
        english = await about.inner_text()
        await page.get_by_role("button", name="Deutsch").click()
        await expect(about).not_to_have_text(english)
        await expect(about).to_have_text(re.compile("Token"))
        assert tab.errors == []


async def test_settings_section_is_rendered_when_opened_or_found(world: World, browser: Browser) -> None:
    async with world.serve():
        tab = await open_tab(world, browser, "/settings")
        page = tab.page
        heading = page.get_by_role("heading", name="Spending limits", exact=True)
        await expect(heading).to_be_visible()
        assert await page.locator("*").count() < 700
        budget = page.get_by_label("spending.daily", exact=True)
        await expect(budget).to_have_count(0)
        await heading.click()
        await expect(budget).to_be_visible()
        await heading.click()
        await expect(budget).to_have_count(0)
        await page.get_by_label("Find a setting").fill("spending.daily")
        await expect(budget).to_be_visible()
        await page.get_by_label("Find a setting").fill("")
        await expect(budget).to_have_count(0)
        assert tab.errors == []


async def test_settings_sections_and_channels_have_titles(world: World, browser: Browser) -> None:
    async with world.serve():
        tab = await open_tab(world, browser, "/settings")
        page = tab.page
        await page.get_by_label("Find a setting").fill("who may talk to")
        await expect(page.get_by_role("heading", level=2)).to_have_text(["Who may talk to Hob"])
        await page.get_by_role("button", name="Deutsch").click()
        await expect(page.get_by_role("heading", name="Wer mit Hob reden darf")).to_be_visible()
        await tab.go("/settings?tab=channels")
        await expect(page.locator("#main")).to_contain_text("Ausgehende Webhooks")
        await expect(page.locator("#main").get_by_text(re.compile("^(hob|report|webhook(_out)?) *$"))).to_have_count(0)
        assert tab.errors == []


async def test_costs_show_localized_days_and_link_to_the_limit(world: World, browser: Browser) -> None:
    async with world.serve():
        tab = await open_tab(world, browser, "/costs?days=7")
        page = tab.page
        days = page.get_by_role("list", name="Tokens by day")
        first = await page.evaluate(
            "new Date(Date.now() - 6 * 86400000).toLocaleDateString('en', { day: 'numeric', month: 'long' })"
        )
        await expect(days.get_by_role("listitem").first).to_have_text(re.compile(f"^{first}"))
        await expect(page.locator("#main").get_by_text(first, exact=True)).to_be_visible()
        assert not re.search(r"\d{4}-\d\d-\d\d", await page.locator("#main").inner_text())
        await page.get_by_role("link", name="spending.daily").click()
        await expect(page.get_by_label("spending.daily", exact=True)).to_be_visible()
        assert tab.errors == []


async def test_commands_in_doctor_and_connect_texts_are_shown_as_code(world: World, browser: Browser) -> None:
    async with (
        await asyncio.start_server(refuse, "127.0.0.1", 0) as server,
        world.serve(HOB_MODEL_NAME="", OPENAI_API_KEY="", OPENAI_BASE_URL=""),
    ):
        tab = await open_tab(world, browser, "/settings?tab=doctor")
        main = tab.page.locator("#main")
        await expect(main.locator("p code").first).to_be_visible(timeout=20_000)
        assert "`" not in await main.inner_text()
        await tab.go("/settings?tab=models")
        await tab.page.get_by_label("1. Choose a provider").select_option("server")
        port = server.sockets[0].getsockname()[1]
        await tab.page.get_by_label("Server address").fill(f"http://127.0.0.1:{port}/v1")
        await tab.page.get_by_label("Model (empty for the default)").fill("small")
        await tab.page.get_by_role("button", name="3. Test and connect").click()
        await expect(main.locator("p code")).to_have_text("pull small", timeout=20_000)
        assert tab.errors == []


async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer a request like a model server that says what to run."""
    await reader.readuntil(b"\r\n\r\n")
    body = b'{"error": {"message": "run `pull small` first"}}'
    head = f"HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n"
    writer.write(f"{head}connection: close\r\n\r\n".encode() + body)
    await writer.drain()
    writer.close()


async def test_home_shows_todays_figures_upcoming_jobs_and_a_reached_limit(world: World, browser: Browser) -> None:
    async with scene(world, asking=False):
        async with at_the_socket(world) as client:
            due = {"text": "Learn to sail", "due": 4_000_000_000}
            (await client.post("/memory/goals", json=due)).raise_for_status()
        tab = await open_tab(world, browser)
        page = tab.page
        today = page.get_by_role("region", name="Today")
        await expect(today.get_by_role("link", name="Turns")).to_have_text("Turns5")
        await expect(today.get_by_role("link", name="Tool calls")).to_have_text("Tool calls5")
        await expect(today.get_by_role("link", name="Memories added")).to_have_text(re.compile("added[1-9]"))
        following = page.get_by_role("region", name="Up next")
        await expect(following.get_by_role("link")).to_have_text([re.compile("Backup"), re.compile("Learn to sail")])
        await expect(page.get_by_role("region", name="Needs you")).to_contain_text("Nothing needs you.")
        await page.get_by_role("link", name="Try a tool").click()
        await expect(page.get_by_role("searchbox", name="Find a tool")).to_be_visible()
        assert tab.errors == []


async def test_trust_shows_secrets_by_reference_and_the_sandbox_permissions(world: World, browser: Browser) -> None:
    settings = {"HOB_SANDBOX_HOSTS": '["example.org"]', "GITHUB_TOKEN": "canary-77e1"}
    credential = '[sandbox.credentials.github]\nhost = "example.org"\nvalue = "env:GITHUB_TOKEN"\n'
    world.home.mkdir(mode=0o700, exist_ok=True)
    (world.home / "config.toml").write_text(credential)
    async with world.serve(**settings):
        tab = await open_tab(world, browser, "/trust?tab=secrets")
        page = tab.page
        await expect(page.get_by_text("sandbox.credentials.github.value")).to_be_visible()
        await expect(page.get_by_text("env:GITHUB_TOKEN", exact=True)).to_be_visible()
        await page.get_by_role("button", name="Sandbox").click()
        await expect(page.get_by_role("region", name="Command sandbox")).to_contain_text("sandbox.backend")
        may = page.get_by_role("region", name="Command permissions")
        await expect(may).to_contain_text("example.org")
        held = page.get_by_role("region", name="Secrets injected into requests")
        await expect(held).to_contain_text(re.compile("github.*only for example.org.*for main"))
        assert "canary" not in await page.content()
        assert tab.errors == []


async def test_settings_are_edited_by_their_kind_and_shown_as_a_file(world: World, browser: Browser) -> None:
    world.home.mkdir(exist_ok=True)
    file = world.home / "config.toml"
    file.touch(0o600)
    file.write_text('# Mine.\n[model.providers.mistral]\napi_key = "a-canary-of-mistral"\n')
    async with world.serve():
        tab = await open_tab(world, browser, "/settings?find=delivery.silent")
        page = tab.page
        await page.get_by_role("checkbox", name="delivery.silent_mode").check()
        await expect(page.get_by_role("checkbox", name="delivery.silent_mode")).to_be_checked()
        channels = page.get_by_role("textbox", name="delivery.silent_channels")
        await channels.fill("telegram\nmail\n")
        await page.get_by_role("button", name="Save").click()
        await expect(page.get_by_role("button", name="Save")).to_have_count(0)
        await page.reload()
        await expect(page.get_by_role("checkbox", name="delivery.silent_mode")).to_be_checked()
        await expect(channels).to_have_value("telegram\nmail")
        await page.get_by_role("checkbox", name="Raw").check()
        shown = page.get_by_role("region", name=str(file)).last
        await expect(shown).to_contain_text('# Mine. [model.providers.mistral] api_key = "•••"')
        stored = page.get_by_role("region", name="Changed while Hob runs").last
        await expect(stored).to_contain_text('delivery.silent_channels = ["telegram", "mail"]')
        await expect(stored).to_contain_text("delivery.silent_mode = true")
        assert "canary" not in await page.content()
        assert tab.errors == []


async def test_setting_is_not_undone_by_an_answer_from_before_its_change(world: World, browser: Browser) -> None:
    saved, asked = asyncio.Event(), list[Route]()

    async def held(route: Route) -> None:
        if route.request.method == "PATCH":
            await route.fulfill(response=await route.fetch())
            saved.set()
            return
        asked.append(route)
        if len(asked) == 1:
            before = await route.fetch()
            await saved.wait()
            await route.fulfill(response=before)

    async with world.serve():
        tab = await open_tab(world, browser, "/settings?find=delivery.silent_mode")
        page, silent = tab.page, tab.page.get_by_role("checkbox", name="delivery.silent_mode")
        await expect(silent).to_be_enabled()
        await page.route("**/api/v1/settings", held)
        await page.get_by_role("button", name="Deutsch").click()  # settings are described in each language
        await expect(page.get_by_role("button", name="English")).to_be_visible()
        async with page.expect_response(lambda got: got.request.method == "GET" and got.url.endswith("/settings")):
            await silent.click()
        await expect(silent).to_be_enabled()
        await expect(silent).to_be_checked()
        await page.unroute_all(behavior="ignoreErrors")


async def test_audit_shows_values_and_is_searched_and_paged(world: World, browser: Browser) -> None:
    world.home.mkdir(exist_ok=True)
    changes = [json.dumps({"value": n + 1, "before": n or None}) for n in range(105)]
    async with open_store(world.home, StoreSettings(), SystemClock()) as store:
        await store.audit.add(*(AuditEntry("setting", "spending.daily", "set", detail=each) for each in changes))
    async with world.serve():
        tab = await open_tab(world, browser, "/trust?tab=audit")
        page = tab.page
        rows = page.get_by_role("row").filter(has_text="spending.daily")
        await expect(rows.first).to_contain_text("now 105, before 104")
        await expect(page.get_by_role("row")).to_have_count(101)
        await page.get_by_role("button", name="Older entries").click()
        await expect(rows.filter(has_text="before not set")).to_have_count(1)
        await expect(page.get_by_role("button", name="Older entries")).to_have_count(0)
        await page.get_by_label("Search the audit log").fill('"value": 42')
        await expect(rows).to_have_count(1)
        await expect(rows).to_contain_text("now 42, before 41")
        assert tab.errors == []


async def test_memory_light_tells_when_memory_is_unavailable(world: World, browser: Browser) -> None:
    async with world.serve():
        tab = await open_tab(world, browser)
        page = tab.page
        light = page.get_by_role("banner").get_by_role("link", name="memory is healthy")
        await expect(light).to_be_visible()
        await page.route("**/api/v1/memory/status", lambda route: route.fulfill(status=404, json={"code": "not_found"}))
        await page.reload()
        await expect(page.get_by_role("banner").get_by_role("link", name="memory is unavailable")).to_be_visible()
        assert tab.errors == []


async def test_running_turn_shows_its_current_step(world: World, browser: Browser) -> None:
    command = "touch here; until [ -e go ]; do sleep 0.1; done"
    world.model.script.extend([Reply(calls=(("exec", json.dumps({"command": command})),)), Reply("It is there.")])
    async with world.serve() as daemon:
        tab = await open_tab(world, browser, "/work")
        now = tab.page.get_by_role("region", name="Now")
        message = asyncio.ensure_future(daemon.post("Wait for it.", session="main"))
        await expect(now).to_contain_text(f"running {command}")
        await until((world.work / "here").exists)
        (world.work / "go").touch()
        await expect(now).to_contain_text("Hob is idle.")
        assert (await message).json()["reply"] == "It is there."
        world.model.script.append(ASKED[2])
        await daemon.post("Clean up.", session="main")
        await expect(now).to_contain_text(re.compile(r"waiting for your approval since \d+:\d\d"))
        assert tab.errors == []


async def test_page_opened_during_a_call_shows_the_call_at_once_and_its_end(world: World, browser: Browser) -> None:
    command = "touch here; until [ -e go ]; do sleep 0.1; done"
    world.model.script.extend([Reply(calls=(("exec", json.dumps({"command": command})),)), Reply("It is there.")])
    async with world.serve() as daemon:
        tab = await open_tab(world, browser, "/costs")
        page = tab.page
        message = asyncio.ensure_future(daemon.post("Wait for it.", session="main"))
        await until((world.work / "here").exists)
        for place, region in (("/", "Running now"), ("/work", "Now")):
            await page.goto(f"{tab.base}{place}")
            await expect(page.get_by_role("region", name=region)).to_contain_text(f"running {command}")
        await page.get_by_role("region", name="Now").get_by_role("link").click()
        call = page.get_by_role("option").filter(has_text="exec")
        await expect(call).to_contain_text(command)
        await expect(call).to_contain_text("running")
        await expect(page.get_by_text("Long waits are shortened")).to_have_count(0)  # a call under way is no wait
        await call.click()
        await expect(page.get_by_role("region", name="Details")).to_contain_text(command)
        (world.work / "go").touch()
        assert (await message).json()["reply"] == "It is there."
        await expect(call).to_have_count(1)
        await expect(call).not_to_contain_text("running")
        assert tab.errors == []


async def test_open_trace_shows_a_call_as_soon_as_it_begins(world: World, browser: Browser) -> None:
    commands = [f"touch here{n}; until [ -e go{n} ]; do sleep 0.1; done" for n in (1, 2)]
    world.model.script.extend(Reply(calls=(("exec", json.dumps({"command": each})),)) for each in commands)
    world.model.script.append(Reply("They are there."))
    async with world.serve() as daemon:
        tab = await open_tab(world, browser, "/work")
        message = asyncio.ensure_future(daemon.post("Wait for it.", session="main"))
        await tab.page.get_by_role("region", name="Now").get_by_role("link").click()
        calls = tab.page.get_by_role("option").filter(has_text="exec")
        for n in (1, 2):
            await expect(calls).to_have_count(n)
            await expect(calls.last).to_contain_text("running")
            await until((world.work / f"here{n}").exists)
            (world.work / f"go{n}").touch()
        assert (await message).json()["reply"] == "They are there."
        await expect(calls.filter(has_text="running")).to_have_count(0)
        assert tab.errors == []


async def test_task_that_begins_while_the_page_loads_is_shown(world: World, browser: Browser) -> None:
    # events were heard from a place known only after the tasks had been read
    async with world.serve() as daemon:
        tab = await open_tab(world, browser, "/work")

        async def begun(route: Route) -> None:
            await daemon.accepted("FAULT silence", "key", session="main")
            await route.continue_()

        await tab.page.route("**/api/v1/timeline?limit=1", begun)
        await tab.page.reload()
        await expect(tab.page.get_by_role("region", name="Now")).to_contain_text("FAULT silence")
        assert tab.errors == []


async def test_long_change_is_approved_after_its_whole_diff_was_shown(world: World, browser: Browser) -> None:
    content = "".join(f"Line {n}.\n" for n in range(30))
    async with world.serve(HOB_POLICY_MODE="guarded", HOB_POLICY_AUTONOMY="supervised") as daemon:
        call = ("write", json.dumps({"path": "notes.md", "content": content}))
        world.model.script.extend([Reply(calls=(call,)), Reply("Written.")])
        await daemon.post("Write it down.", session="main")
        tab = await open_tab(world, browser)
        card = tab.page.get_by_role("article", name="Approval for write")
        await expect(card.get_by_role("heading")).to_have_text("Hob wants to write notes.md")
        await expect(card).to_contain_text("Line 1.")
        await expect(card.get_by_text("Line 29.")).not_to_be_visible()
        await expect(card).to_contain_text(re.compile(r"until .*\d:\d\d"))
        for name in ("Allow once", "Deny"):
            await expect(card.get_by_role("button", name=name)).to_have_count(0)
        await card.get_by_role("button", name=re.compile(r"Show all \d+ lines to decide")).click()
        await expect(card.get_by_text("Line 29.").first).to_be_visible()
        await card.get_by_text("Exact arguments").click()
        await expect(card.locator("details pre")).to_contain_text("notes.md")
        await card.get_by_role("button", name="Allow once").click()
        await expect(card).to_have_count(0)
        assert tab.errors == []


async def test_diff_of_an_approval_shows_every_line_and_every_character(world: World, browser: Browser) -> None:
    hidden = "".join(chr(0xE0100 + each) for each in (3, 5))
    content = "".join(f"Line {n}.\n" for n in range(3_100)) + f"end{hidden}{' ' * 300}more\n"
    async with world.serve(HOB_POLICY_MODE="guarded", HOB_POLICY_AUTONOMY="supervised") as daemon:
        world.model.script.append(Reply(calls=(("write", json.dumps({"path": "notes.md", "content": content})),)))
        await daemon.post("Write it down.", session="main")
        tab = await open_tab(world, browser, "/trust")
        card = tab.page.get_by_role("article", name="Approval for write")
        await card.get_by_role("button", name=re.compile(r"Show all [\d,]+ lines to decide")).click()
        end = card.get_by_role("region", name="Changes").locator("p").last
        await expect(end).to_contain_text(r"end\u{e0103}\u{e0105}⟨300 ␣⟩more", timeout=20_000)
        assert tab.errors == []


async def test_keys_go_to_places_and_show_themselves(world: World, browser: Browser) -> None:
    async with world.serve():
        tab = await open_tab(world, browser)
        page = tab.page
        for key, path in (
            ("c", "/chat"),
            ("t", "/timeline"),
            ("m", "/memory"),
            ("f", "/files"),
            ("s", "/settings"),
            ("h", "/"),
        ):
            await page.locator("#main").focus()  # the chat's input takes keys as text
            await page.keyboard.press("g")
            await page.keyboard.press(key)
            await page.wait_for_url(f"{tab.base}{path}")
        await page.keyboard.press("?")
        keys = page.get_by_role("dialog", name="Keyboard shortcuts")
        await expect(keys).to_contain_text("Timeline")
        await page.keyboard.press("Escape")
        await expect(keys).to_have_count(0)
        assert tab.errors == []


FOCUSED = """() => {
  const at = document.activeElement;
  return at.getAttribute("aria-label") || at.title || at.innerText.trim();
}"""


async def test_tab_key_reaches_every_place_and_button_in_order(world: World, browser: Browser) -> None:
    async with world.serve():
        tab = await open_tab(world, browser)
        page = tab.page
        await page.get_by_text("Start a conversation").first.wait_for()  # what arrives later would take the focus away
        await page.evaluate("() => document.activeElement.blur()")
        seen: list[str] = []
        for _ in range(40):
            await page.keyboard.press("Tab")
            seen.append(await page.evaluate(FOCUSED))
            if seen[-1] == "Start a conversation":
                break
        assert seen[0] == "Skip to content"
        places = ["Home", "Chat", "Timeline", "Memory", "Work", "Files", "Trust", "Costs", "Settings"]
        assert [each for each in seen if each in places] == places
        later = seen[seen.index("Settings") :]
        assert {"Dark theme", "Deutsch", "Sign out", "Start a conversation"} <= set(later)
        assert tab.errors == []


async def test_open_page_follows_the_systems_theme_until_one_is_chosen(world: World, browser: Browser) -> None:
    async with world.serve():
        tab = await open_tab(world, browser)
        page = tab.page
        root = page.locator("html")
        await page.get_by_role("button", name="Dark theme").wait_for()
        await page.emulate_media(color_scheme="dark")
        await expect(root).to_have_attribute("data-theme", "dark")
        await page.get_by_role("button", name="Light theme").click()
        await expect(root).to_have_attribute("data-theme", "light")
        await page.emulate_media(color_scheme="light")
        await page.emulate_media(color_scheme="dark")
        await expect(page.get_by_role("button", name="Dark theme")).to_be_visible()
        await expect(root).to_have_attribute("data-theme", "light")
        assert tab.errors == []


GH = """#!/bin/sh
case "$1" in
  auth) [ -e "$HOME/signed-in" ] && echo "Logged in to github.com" ;;
  pr) echo https://github.com/anna/work/pull/1 ;;
esac
"""


async def git(*arguments: str) -> None:
    process = await asyncio.create_subprocess_exec("git", *arguments)
    assert await process.wait() == 0


async def test_branch_is_made_pushed_and_offered_as_a_pull_request(
    world: World, browser: Browser, tmp_path: Path
) -> None:
    gh, remote = tmp_path / "bin" / "gh", tmp_path / "remote.git"
    gh.parent.mkdir()
    gh.write_text(GH)
    gh.chmod(0o755)
    await git("init", "-q", "--bare", str(remote))
    path = f"{gh.parent}:{os.environ['PATH']}"
    write = ("write", json.dumps({"path": "notes.md", "content": "# Notes"}))
    world.model.script.extend([Reply(calls=(write,)), Reply("Written.")])
    async with world.serve(PATH=path) as daemon:
        await daemon.post("Write it down.", session="main")
        notes = world.work / "notes.md"
        await git("-C", str(notes.parent), "remote", "add", "origin", str(remote))
        tab = await open_tab(world, browser, "/files?tab=changes")
        page = tab.page
        await page.get_by_label("Branch", exact=True).select_option("New branch…")
        await page.get_by_role("dialog", name="New branch").get_by_label("Name").fill("plan")
        await page.get_by_role("button", name="Create").click()
        await expect(page.get_by_label("Branch", exact=True)).to_have_value("plan")
        await page.get_by_label("Commit message").fill("Notes")
        await page.get_by_role("button", name=re.compile("^Commit")).click()
        await expect(page.get_by_text("No changes. Everything is committed.")).to_be_visible()
        await page.get_by_role("button", name="Pull request").click()
        dialog = page.get_by_role("dialog", name="Pull request")
        await expect(dialog.get_by_role("alert")).to_contain_text("gh auth login")
        await page.keyboard.press("Escape")
        (world.root / "signed-in").touch()
        await page.get_by_role("button", name="Pull request").click()
        await dialog.get_by_label("Title").fill("A plan")
        await dialog.get_by_role("button", name="Create").click()
        await expect(page.get_by_role("status").filter(has_text="github.com")).to_have_text(
            "https://github.com/anna/work/pull/1"
        )
        assert tab.errors == []


async def test_work_shows_sub_agents_and_what_comes_next(world: World, browser: Browser) -> None:
    world.model.script += [
        Reply(calls=(("load_tools", '{"names": ["agents"]}'),)),
        Reply(calls=(("spawn", '{"task": "look", "label": "Scout"}'),)),
    ]
    async with world.serve(HOB_MEMORY_BACKGROUND_TOKENS="100000") as daemon:
        await daemon.post("Find out.", session="main")
        tab = await open_tab(world, browser, "/work")
        agents = tab.page.get_by_role("region", name="Sub-agents")
        await expect(agents.get_by_role("link").filter(has_text="Scout").first).to_be_visible()
        await expect(tab.page.get_by_role("region", name="Up next")).to_contain_text("Backup")
        await agents.get_by_role("link", name="Timeline").click()
        await expect(tab.page.get_by_role("feed").get_by_role("article").filter(has_text="Scout").first).to_be_visible()
        assert tab.errors == []
