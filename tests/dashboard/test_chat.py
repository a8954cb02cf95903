"""What stands around a conversation, in a browser."""

from playwright.async_api import Browser, expect

from hob.testing.model_server import Reply
from tests.dashboard.conftest import open_tab
from tests.journeys.world import World


async def test_conversation_with_something_new_is_marked_until_it_is_opened(world: World, browser: Browser) -> None:
    async with world.serve() as daemon:
        for session in ("api:one", "api:two"):
            await daemon.post("hello", session=session)
        tab = await open_tab(world, browser, "/chat?session=api:one")
        listed = tab.page.get_by_role("complementary", name="Conversations")
        other = listed.get_by_role("listitem").filter(has_text="api:two")
        await expect(other.get_by_role("img", name="api")).to_be_visible()  # its channel
        new = listed.get_by_role("img", name="not read yet")
        await expect(new).to_have_count(0)
        await daemon.post("something new", session="api:two")
        await expect(other.get_by_role("img", name="not read yet")).to_be_visible()
        await daemon.post("something new", session="api:one")  # which is in sight
        await expect(new).to_have_count(1)
        await tab.page.reload()
        await other.get_by_role("button").first.click()
        await expect(new).to_have_count(0)
        assert tab.errors == []


async def test_cost_of_an_answer_is_told_while_one_points_at_it(world: World, browser: Browser) -> None:
    world.model.script.append(Reply("Seven times eight is 56."))
    async with world.serve() as daemon:
        await daemon.post("What is seven times eight?", session="main")
        tab = await open_tab(world, browser, "/chat?session=api:main")
        answer = tab.page.get_by_test_id("conversation").get_by_text("Seven times eight is 56.")
        cost = tab.page.get_by_test_id("conversation").get_by_text(" tokens")
        await expect(answer).to_be_visible()
        await expect(cost).to_have_count(0)
        await answer.hover()
        await expect(cost).to_be_visible()
        await expect(cost).to_contain_text("$")
        await tab.page.get_by_label("Message to Hob").hover()
        await expect(cost).not_to_be_visible()
        assert tab.errors == []


async def test_report_of_a_sub_agent_is_no_message_of_the_owners(world: World, browser: Browser) -> None:
    world.model.script += [
        Reply(calls=(("load_tools", '{"names": ["agents"]}'),)),
        Reply(calls=(("spawn", '{"task": "look", "label": "one"}'),)),
    ]
    async with world.serve() as daemon:
        await daemon.post("Find out.", session="main")
        tab = await open_tab(world, browser, "/chat?session=api:main")
        conversation = tab.page.get_by_test_id("conversation")
        report = conversation.locator("summary", has_text="[sub-agent one")
        await expect(report).to_be_visible()
        await expect(conversation.get_by_role("button", name="Edit")).to_have_count(1)  # of the question alone
        assert tab.errors == []


DENY = """() => {
  navigator.clipboard.writeText = () => Promise.reject(new Error('no'));
  document.execCommand = () => false;
}"""


async def test_copy_says_whether_it_was_copied(world: World, browser: Browser) -> None:
    world.model.script.append(Reply("Copy **me**."))
    async with world.serve() as daemon:
        await daemon.post("Say it.", session="main")
        tab = await open_tab(world, browser, "/chat?session=api:main")
        page = tab.page
        await page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=tab.base)
        copy = page.get_by_test_id("conversation").get_by_role("button", name="Copy")
        await copy.last.click()
        await expect(page.get_by_role("button", name="Copied")).to_be_visible()
        assert await page.evaluate("navigator.clipboard.readText()") == "Copy **me**."
        await page.evaluate(DENY)
        await copy.first.click()
        await expect(page.get_by_role("button", name="Not copied: select the text")).to_be_visible()
        assert tab.errors == []


async def test_commands_are_offered_and_explained_as_one_types(world: World, browser: Browser) -> None:
    async with world.serve():
        tab = await open_tab(world, browser, "/chat?session=api:main")
        page = tab.page
        box, offered = page.get_by_label("Message to Hob"), page.get_by_role("listbox", name="Commands")
        await box.fill("/mo")
        await expect(offered.get_by_role("option")).to_have_text(["/model [NAME|default]show or choose the model"])
        await box.fill("/re")
        await expect(offered.get_by_role("option", selected=True)).to_contain_text("/resume")
        await box.press("ArrowDown")
        await expect(offered.get_by_role("option", selected=True)).to_contain_text("/reset")
        await box.press("ArrowDown")
        await box.press("Enter")
        await expect(box).to_have_value("/remember ")
        await box.press_sequentially("the key")
        await expect(offered).to_contain_text("/remember TEXT")  # its help stays
        await box.fill("/help")
        await box.press("Enter")
        await expect(page.get_by_test_id("conversation")).to_contain_text("/model")
        await expect(page.get_by_text("Only here; no part of the conversation.")).to_be_visible()
        await expect(offered).to_have_count(0)
        assert tab.errors == []
