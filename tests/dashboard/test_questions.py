"""Questions of a turn, and conversations and task lists longer than a page, in a browser."""

import json
import signal

from playwright.async_api import Browser, Page, expect

from hob.testing.model_server import Reply
from tests.dashboard.conftest import notifications, notifications_are_on, open_tab
from tests.dashboard.scene import ASKED
from tests.dashboard.test_browser import say
from tests.journeys.world import Daemon, World

QUESTION = "Which colour should the gate be?"
ASKS = Reply(calls=(("ask_user", json.dumps({"question": QUESTION, "options": ["red", "blue"]})),))


async def ask(world: World, daemon: Daemon, session: str = "gate") -> None:
    world.model.script.append(ASKS)
    asked = (await daemon.post("Paint the gate.", session=session)).json()
    assert asked["choices"] == ["red", "blue"]


async def test_question_and_its_options_are_shown_in_chat_and_the_answer_stays(world: World, browser: Browser) -> None:
    async with world.serve():
        tab = await open_tab(world, browser, "/chat?session=api:gate")
        page = tab.page
        conversation = page.get_by_test_id("conversation")
        card = conversation.get_by_role("article", name="Hob's question")
        world.model.script.extend([ASKS, Reply("The gate is red now.")])
        await say(page, "Paint the gate.")
        await expect(card.get_by_text(QUESTION)).to_be_visible()
        await expect(card.get_by_role("button")).to_have_text(["red", "blue"])
        await page.reload()
        await expect(card.get_by_text(QUESTION)).to_be_visible()
        await expect(conversation.get_by_label("Hob is working on it")).to_have_count(0)
        await card.get_by_role("button", name="red").click()
        await expect(conversation.get_by_text("The gate is red now.")).to_be_visible()
        await page.reload()
        await expect(conversation.get_by_text("The gate is red now.")).to_be_visible()
        await expect(conversation.get_by_text(QUESTION)).to_be_visible()
        await expect(conversation.get_by_text("red", exact=True)).to_be_visible()
        await expect(card).to_have_count(0)
        assert tab.errors == []


async def test_question_is_answered_from_home(world: World, browser: Browser) -> None:
    async with world.serve() as daemon:
        await ask(world, daemon)
        world.model.script.append(Reply("The gate is blue now."))
        tab = await open_tab(world, browser)
        page = tab.page
        needs = page.get_by_role("region", name="Needs you")
        await expect(needs.get_by_text(QUESTION)).to_be_visible()
        await expect(page.get_by_role("navigation").get_by_role("link", name="Home")).to_contain_text("1")
        await needs.get_by_role("button", name="blue").click()
        await expect(needs).to_contain_text("Nothing needs you.")
        await tab.go("/chat?session=api:gate")
        await expect(page.get_by_test_id("conversation").get_by_text("The gate is blue now.")).to_be_visible()
        assert tab.errors == []


async def test_answer_from_home_outlives_a_kill_and_counts_once(world: World, browser: Browser, port: str) -> None:
    async with world.serve(HOB_DASHBOARD_PORT=port) as daemon:
        await ask(world, daemon)
        tab = await open_tab(world, browser)
        needs = tab.page.get_by_role("region", name="Needs you")
        blue = needs.get_by_role("button", name="blue")
        await expect(blue).to_be_enabled()
        daemon.signal(signal.SIGSTOP)
        await blue.click()
        daemon.kill()
    world.model.script.append(Reply("The gate is blue now."))
    async with world.serve(HOB_DASHBOARD_PORT=port) as daemon:
        await expect(needs).to_contain_text("Nothing needs you.", timeout=15_000)
        await tab.go("/chat?session=api:gate")
        await expect(tab.page.get_by_test_id("conversation").get_by_text("The gate is blue now.")).to_be_visible()
        said = [each["text"] for each in (await daemon.ask("/sessions/show", session="api:gate"))["last"]]
        assert said.count("blue") == 1
        assert tab.errors == []


async def test_question_is_a_browser_notification_until_it_is_answered(world: World, full_browser: Browser) -> None:
    async with world.serve() as daemon:
        tab = await open_tab(world, full_browser, service_workers="allow")
        await notifications_are_on(tab)
        await ask(world, daemon)
        await expect(tab.page.get_by_text(QUESTION)).to_be_visible()
        (shown,) = await notifications(tab, 1)
        assert (shown["title"], shown["body"]) == (QUESTION, "red · blue")
        assert shown["data"] == "/chat?session=api%3Agate"
        await daemon.post("red", session="gate")
        assert await notifications(tab, 0) == []
        assert tab.errors == []


async def test_open_work_stays_visible_however_many_tasks_are_newer(world: World, browser: Browser) -> None:
    async with world.serve() as daemon:
        await ask(world, daemon)
        world.model.script.append(ASKED[2])
        await daemon.post("Clean up.", session="second")
        for number in range(101):
            await daemon.post(f"Message {number}.", session="main")
        tab = await open_tab(world, browser)
        page = tab.page
        await expect(page.get_by_role("banner")).to_contain_text("2 need you")
        await expect(page.get_by_role("region", name="Needs you").get_by_text(QUESTION)).to_be_visible()
        await expect(page.get_by_role("region", name="Running now").get_by_text("Paint the gate.")).to_be_visible()
        await tab.go("/work")
        await expect(page.get_by_role("region", name="Now").get_by_text("Paint the gate.")).to_be_visible()
        earlier = page.get_by_role("region", name="Earlier")
        await expect(earlier.get_by_text("Message 100.")).to_be_visible()
        await expect(earlier.get_by_text("Message 0.")).to_have_count(0)
        await earlier.get_by_role("button", name="Show older").click()
        await expect(earlier.get_by_text("Message 0.")).to_have_count(1)
        await page.get_by_role("button", name="Stop everything").click()
        await expect(page.get_by_role("button", name="Yes, stop all 2")).to_be_visible()
        await tab.go("/chat?session=api:gate")
        await expect(page.get_by_test_id("conversation").get_by_text(QUESTION)).to_be_visible()
        assert tab.errors == []


async def position(page: Page, text: str) -> float:
    box = await page.get_by_test_id("conversation").get_by_text(text, exact=True).bounding_box()
    assert box is not None
    return box["y"]


async def test_earlier_messages_of_a_long_conversation_are_loaded_in_place(world: World, browser: Browser) -> None:
    async with world.serve() as daemon:
        for number in range(45):
            await daemon.post(f"Message {number}.", session="long")
        tab = await open_tab(world, browser, "/chat?session=api:long")
        page = tab.page
        conversation = page.get_by_test_id("conversation")
        await expect(conversation.get_by_text("Message 44.", exact=True)).to_be_visible()
        assert await conversation.get_by_role("button", name="Edit").count() <= 30
        before = await position(page, "Message 44.")
        await conversation.get_by_role("button", name="Load earlier messages").dispatch_event("click")
        await expect(conversation.get_by_text("Message 0.", exact=True)).to_have_count(1)
        await expect(conversation.get_by_role("button", name="Load earlier messages")).to_have_count(0)
        assert abs(await position(page, "Message 44.") - before) < 3
        assert tab.errors == []


async def test_repeated_message_is_shown_while_its_turn_runs(world: World, browser: Browser) -> None:
    async with world.serve() as daemon:
        tab = await open_tab(world, browser, "/chat?session=api:gate")
        page = tab.page
        conversation = page.get_by_test_id("conversation")
        world.model.script.append(Reply("I went on."))
        await say(page, "Go on.")
        await expect(conversation.get_by_text("I went on.")).to_be_visible()
        world.model.script.append(ASKS)
        await say(page, "Go on.")
        # its text is shown before it is stored, and only what comes after that answers it
        await expect(conversation.get_by_role("article", name="Hob's question")).to_be_visible()
        await expect(conversation.get_by_text("Go on.", exact=True)).to_have_count(2)
        await daemon.post("red", session="gate")
        await expect(conversation.get_by_role("article", name="Hob's question")).to_have_count(0)
        await expect(conversation.get_by_text("Go on.", exact=True)).to_have_count(2)
        assert tab.errors == []
