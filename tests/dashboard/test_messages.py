"""Messages that Hob sends beside its answer, in a browser."""

import json
from typing import Any

from playwright.async_api import Browser, expect

from hob.testing.model_server import Reply
from tests.dashboard.conftest import open_tab
from tests.dashboard.scene import ASKED
from tests.dashboard.test_browser import say
from tests.journeys.world import World


def message(**arguments: Any) -> Reply:
    return Reply(calls=(("message", json.dumps(arguments)),))


async def test_options_and_files_are_shown_at_once_and_after_a_reload(world: World, browser: Browser) -> None:
    async with world.serve():
        tab = await open_tab(world, browser, "/chat?session=api:tea")
        page = tab.page
        conversation = page.get_by_test_id("conversation")
        sent = conversation.locator("[data-message]")
        world.model.script.extend(
            [
                Reply(calls=(("write", json.dumps({"path": "menu.txt", "content": "soup"})),)),
                Reply(calls=(("load_tools", '{"names": ["messages"]}'),)),
                message(action="send", file="menu.txt", text="The menu."),
                message(action="reply", text="Which tea?", options=["Green", "Black"]),
                Reply("Two things for you."),
                Reply("Black it is."),
            ]
        )
        await say(page, "Ask me about the tea.")
        await expect(conversation.get_by_text("Two things for you.")).to_be_visible()
        for _ in range(2):
            await expect(sent).to_have_count(2)
            await expect(sent.first).to_contain_text("The menu.")
            await expect(sent.first.get_by_role("button", name="menu.txt")).to_be_visible()
            await expect(sent.last.locator("blockquote")).to_have_text("Ask me about the tea.")
            await expect(sent.last.get_by_role("button")).to_have_text(["Green", "Black"])
            await page.reload()
        await sent.first.get_by_role("button", name="menu.txt").click()
        await expect(page.get_by_role("dialog")).to_contain_text("soup")
        await page.keyboard.press("Escape")
        await sent.last.get_by_role("button", name="Black").click()
        await expect(conversation.get_by_text("Black it is.")).to_be_visible()
        assert tab.errors == []


async def test_opened_file_stays_open_when_its_turn_ends(world: World, browser: Browser) -> None:
    async with world.serve():
        tab = await open_tab(world, browser, "/chat?session=api:tea")
        page = tab.page
        wait = Reply(calls=(("exec", json.dumps({"command": "until [ -e go ]; do sleep 0.1; done"})),))
        world.model.script.extend(
            [
                Reply(calls=(("write", json.dumps({"path": "menu.txt", "content": "soup"})),)),
                Reply(calls=(("load_tools", '{"names": ["messages"]}'),)),
                message(action="send", file="menu.txt", text="The menu."),
                wait,
                Reply("Enjoy it."),
            ]
        )
        await say(page, "Send me the menu.")
        await page.locator("[data-message]").get_by_role("button", name="menu.txt").click()
        await expect(page.get_by_role("dialog")).to_contain_text("soup")
        (world.work / "go").touch()
        await expect(page.get_by_test_id("conversation").locator("[data-n]").get_by_text("Enjoy it.")).to_be_attached()
        await expect(page.locator("[data-message]")).to_have_count(1)
        await expect(page.get_by_role("dialog")).to_contain_text("soup")
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("dialog")).to_have_count(0)
        assert tab.errors == []


async def test_option_of_an_earlier_message_approves_nothing(world: World, browser: Browser) -> None:
    async with world.serve() as daemon:
        world.model.script.extend(
            [
                Reply(calls=(("load_tools", '{"names": ["messages"]}'),)),
                message(action="send", text="Shall I water the plants?", options=["Yes", "approve:a_1"]),
                Reply("Tell me."),
                ASKED[2],
            ]
        )
        await daemon.post("Ask me about the plants.", session="main")
        await daemon.post("Clean up.", session="main")
        tab = await open_tab(world, browser, "/chat?session=api:main")
        page = tab.page
        card = page.get_by_role("article", name="Approval for exec")
        await expect(card).to_be_visible()
        for option in ("Yes", "approve:a_1"):
            await page.locator("[data-message]").get_by_role("button", name=option, exact=True).click()
            said = page.get_by_test_id("conversation").get_by_text(f"“{option}”", exact=True)
            await expect(said.first).to_be_visible()
        await expect(card.get_by_role("button", name="Allow once")).to_be_enabled()
        assert len((await daemon.ask("/approvals"))["approvals"]) == 1
        assert tab.errors == []
