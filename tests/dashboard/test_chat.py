"""The chat in a browser."""

import asyncio
import json
import re
from contextlib import suppress

import pytest
from playwright.async_api import Browser, FilePayload, Page, Route, expect
from playwright.async_api import TimeoutError as PlaywrightTimeout

from hob.app.daemon.unix_http import call
from hob.app.home import socket_of
from hob.testing.model_server import Fault, Reply
from tests.dashboard.conftest import need_chromium, open_tab
from tests.dashboard.scene import ASKED, link_of
from tests.dashboard.screenshots import HEADLESS, chromium
from tests.journeys.world import World, until


async def test_conversation_with_new_messages_is_marked_unread_until_opened(world: World, browser: Browser) -> None:
    async with world.serve() as daemon:
        for session in ("api:one", "api:two"):
            await daemon.post("hello", session=session)
        tab = await open_tab(world, browser, "/chat?session=api:one")
        listed = tab.page.get_by_role("complementary", name="Conversations")
        other = listed.get_by_role("listitem").filter(has_text="two")
        await expect(other.get_by_role("img", name="api")).to_be_visible()  # the channel
        new = listed.get_by_role("img", name="unread")
        await expect(new).to_have_count(0)
        await daemon.post("something new", session="api:two")
        await expect(other.get_by_role("img", name="unread")).to_be_visible()
        await daemon.post("something new", session="api:one")  # in the visible conversation
        await expect(new).to_have_count(1)
        await tab.page.reload()
        await other.get_by_role("button").first.click()
        await expect(new).to_have_count(0)
        assert tab.errors == []


async def test_new_conversation_is_new_each_time(world: World, browser: Browser) -> None:
    async with world.serve():
        tab = await open_tab(world, browser, "/chat?session=api:main")
        page, conversation = tab.page, tab.page.get_by_test_id("conversation")
        listed = page.get_by_role("complementary", name="Conversations")
        for number in range(2):
            await listed.get_by_role("button", name="New conversation").click()
            await expect(conversation.get_by_text("What can Hob do for you?")).to_be_visible()
            world.model.script.append(Reply("Hello."))
            await say(page, f"Number {number}.")
            await expect(conversation.get_by_text("Hello.")).to_be_visible()
        await expect(listed.get_by_role("listitem")).to_have_count(2)
        assert tab.errors == []


async def test_message_is_sent_over_plain_http(world: World) -> None:
    """Under a name of the owner's network, where the browser leaves some functions out."""
    need_chromium()
    world.model.script.append(Reply("Hello."))
    async with world.serve(HOB_GATEWAY_HOSTS='["hob.home"]'):
        base, _, code = (await link_of(world)).replace("127.0.0.1", "hob.home").partition("/#")
        async with chromium("--host-resolver-rules=MAP hob.home 127.0.0.1", program=HEADLESS) as opened:
            page = await (await opened.new_context(locale="en-US")).new_page()
            await page.goto(f"{base}/chat?session=api:main#{code}")
            await page.get_by_role("button", name="New conversation").click()
            await say(page, "Good morning.")
            await expect(page.get_by_test_id("conversation").get_by_text("Hello.")).to_be_visible()


async def test_cost_of_an_answer_is_shown_on_hover(world: World, browser: Browser) -> None:
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


async def test_sub_agent_report_is_not_shown_as_the_owners_message(world: World, browser: Browser) -> None:
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
        await expect(conversation.get_by_role("button", name="Edit")).to_have_count(1)  # of the question only
        assert tab.errors == []


async def test_denied_call_is_not_marked_as_failed(world: World, browser: Browser) -> None:
    async with world.serve() as daemon:
        world.model.script.extend([ASKED[2], Reply("I left it.")])
        await daemon.post("Clean up.", session="main")
        tab = await open_tab(world, browser, "/chat?session=api:main")
        conversation = tab.page.get_by_test_id("conversation")
        await conversation.get_by_role("button", name="Deny").click()
        await expect(conversation.get_by_text("I left it.")).to_be_visible()
        await expect(conversation.locator("summary").get_by_text("denied by you")).to_be_visible()
        await expect(conversation.get_by_text("failed")).to_have_count(0)
        assert tab.errors == []


AT_THE_END = """box => box.scrollHeight - box.scrollTop - box.clientHeight < 2"""


async def test_details_beside_the_conversation_keep_its_end_in_view(world: World, browser: Browser) -> None:
    async with world.serve() as daemon:
        for _ in range(4):
            world.model.script.append(Reply("A long answer that wraps when the conversation gets narrower. " * 8))
            await daemon.post("Tell me more.", session="main")
        tab = await open_tab(world, browser, "/chat?session=api:main")
        conversation = tab.page.get_by_test_id("conversation")
        details = conversation.get_by_role("button", name="Details").last
        await expect(details).to_be_in_viewport()
        width = await conversation.evaluate("box => box.clientWidth")
        await details.click()
        await tab.page.wait_for_function(
            "width => document.querySelector('[data-testid=conversation]').clientWidth < width", arg=width
        )
        await expect(tab.page.get_by_role("button", name="Jump to latest")).to_have_count(0)
        assert await conversation.evaluate(AT_THE_END)
        assert tab.errors == []


TOP = "box => box.scrollTop"
GROWN = """([words]) => document.querySelector('[data-testid=conversation]').textContent.split(' ').length > words"""


async def test_reader_who_scrolls_up_while_an_answer_streams_stays_there(world: World, browser: Browser) -> None:
    async with world.serve():
        tab = await open_tab(world, browser, "/chat?session=api:main")
        page, conversation = tab.page, tab.page.get_by_test_id("conversation")
        await page.set_viewport_size({"width": 700, "height": 500})
        await page.emulate_media(reduced_motion="no-preference")  # scrolling takes a while
        jump = page.get_by_role("button", name="Jump to latest")
        world.model.script.append(Reply("one more word " * 1000, pause=0.005))
        await say(page, "Tell a story.")
        await expect(conversation.get_by_text("one more word")).to_be_visible()
        await page.wait_for_function(GROWN, arg=[400])
        await conversation.focus()
        for way in ("PageUp", "wheel") * 2:
            if way == "wheel":
                await conversation.hover()
                await page.mouse.wheel(0, -100)
            else:
                await page.keyboard.press(way)
            await expect(jump).to_be_visible(timeout=1_000)
            words = await conversation.evaluate("box => box.textContent.split(' ').length")
            await page.wait_for_function(GROWN, arg=[words + 30])
            await expect(jump).to_be_visible()
            top = await conversation.evaluate(TOP)
            await page.wait_for_function(GROWN, arg=[words + 60])
            assert await conversation.evaluate(TOP) == top
            await conversation.press("End")
            await expect(jump).to_have_count(0)
            await page.wait_for_function(GROWN, arg=[words + 100])
            await expect(jump).to_have_count(0)
            assert await conversation.evaluate(TOP) > top
        await page.get_by_role("button", name="Stop", exact=True).click()
        await expect(conversation.get_by_role("note")).to_have_text("Stopped.")
        assert tab.errors == []


async def test_answer_that_streams_is_whole_after_a_look_at_another_place(world: World, browser: Browser) -> None:
    async with world.serve() as daemon:
        await daemon.post("hello", session="api:two")
        tab = await open_tab(world, browser, "/chat?session=api:main")
        page, conversation = tab.page, tab.page.get_by_test_id("conversation")
        world.model.script.append(Reply(" ".join(f"word{n}" for n in range(600)), pause=0.05))
        await say(page, "Count.")
        shown = 5
        for path in ("/timeline", "/chat?session=api:two", ""):
            await expect(conversation.get_by_text(f"word{shown} ")).to_be_visible()
            if path:
                await tab.go(path)
                await expect(conversation.get_by_text("word0")).to_have_count(0)
                await tab.go("/chat?session=api:main")
            else:
                await page.get_by_role("button", name="Deutsch").click()
            shown += 20
            await expect(conversation.get_by_text(re.compile(f"^word0 word1 .* word{shown} "))).to_be_visible()
            await expect(conversation.get_by_text("Count.", exact=True)).to_have_count(1)
        await page.get_by_role("button", name="Anhalten", exact=True).click()
        await expect(conversation.get_by_role("note")).to_be_visible()
        await expect(conversation.get_by_text("word0")).to_have_count(1)
        assert tab.errors == []


DENY = """() => {
  navigator.clipboard.writeText = () => Promise.reject(new Error('no'));
  document.execCommand = () => false;
}"""


async def test_copy_button_reports_success_or_failure(world: World, browser: Browser) -> None:
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
        await expect(page.get_by_role("button", name="Couldn't copy")).to_be_visible()
        assert tab.errors == []


async def test_slash_commands_are_completed_and_explained_while_typing(world: World, browser: Browser) -> None:
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
        await expect(offered).to_contain_text("/remember TEXT")  # the help stays
        await box.fill("/help")
        await box.press("Enter")
        await expect(page.get_by_test_id("conversation")).to_contain_text("/model")
        await expect(page.get_by_text("Only shown here, not part of the conversation.")).to_be_visible()
        await expect(offered).to_have_count(0)
        assert tab.errors == []


async def say(page: Page, text: str) -> None:
    await page.get_by_label("Message to Hob").fill(text)
    await expect(page.get_by_role("button", name="Send")).to_be_enabled()  # once the page is connected
    await page.keyboard.press("Enter")


async def test_typed_fork_moves_only_this_page_into_the_copy(world: World, browser: Browser) -> None:
    async with world.serve() as daemon:
        await daemon.post("Plan a trip.", session="api:trip")
        tab = await open_tab(world, browser, "/chat?session=api:trip")
        page, conversation = tab.page, tab.page.get_by_test_id("conversation")
        await say(page, "/fork")
        await expect(page).to_have_url(re.compile("session=api%3Atrip-"))
        await expect(conversation.get_by_text("Plan a trip.", exact=True)).to_be_visible()
        listed = page.get_by_role("complementary", name="Conversations")
        await expect(listed.get_by_role("button", name="Fork of Plan a trip.")).to_have_attribute(
            "aria-current", "true"
        )
        world.model.script.append(Reply("By train."))
        await say(page, "How?")
        await expect(conversation.get_by_text("By train.")).to_be_visible()
        old = (await daemon.ask("/sessions/show", session="api:trip"))["last"]
        assert "How?" not in [each["text"] for each in old]
        assert (await daemon.post("hello", session="main")).json()["session"] == "api:main"
        await say(page, "/private")
        await expect(
            conversation.get_by_text("Off the record: Hob remembers nothing from this conversation.")
        ).to_be_visible()
        assert tab.errors == []


async def test_stop_ends_the_running_turn_and_keeps_queued_messages(world: World, browser: Browser) -> None:
    async with world.serve():
        tab = await open_tab(world, browser, "/chat?session=api:main")
        page, conversation = tab.page, tab.page.get_by_test_id("conversation")
        await say(page, "/queue followup")
        await expect(conversation.get_by_text("followup").last).to_be_visible()
        world.model.script.extend([Reply("goes on and " * 60, pause=0.1), Reply("The second."), Reply("The third.")])
        await say(page, "Tell a story.")
        await expect(conversation.get_by_text("goes on and")).to_be_visible()
        for count, text in enumerate(("And a second one.", "And a third one."), 1):
            await say(page, text)
            await expect(conversation.get_by_role("button", name="Remove")).to_have_count(count)
        await page.get_by_role("button", name="Stop", exact=True).click()
        note = conversation.get_by_role("note")
        await expect(note).to_have_text("Stopped.")
        await expect(conversation.get_by_text("The third.")).to_be_visible()
        for text in ("Tell a story.", "And a second one.", "The second.", "And a third one."):
            await expect(conversation.get_by_text(text, exact=True)).to_have_count(1)
        await expect(conversation.get_by_role("button", name="Retry")).to_have_count(3)  # of plain messages only
        assert tab.errors == []


async def test_message_shows_its_files_and_a_missing_answer_as_a_note(world: World, browser: Browser) -> None:
    async with world.serve() as daemon:
        tab = await open_tab(world, browser, "/chat?session=api:main")
        page, conversation = tab.page, tab.page.get_by_test_id("conversation")
        names = ("a.txt", "b, c.txt", "d.html")
        await page.locator("input[type=file]").set_input_files(
            [FilePayload(name=each, mimeType="text/plain", buffer=each.encode()) for each in names]
        )
        for each in names:
            await expect(page.get_by_role("button", name=f"Remove {each}")).to_be_visible()
        world.model.script.append(Reply("Three files."))
        await say(page, "What are these?")
        await expect(conversation.get_by_text("Three files.")).to_be_visible()
        for each in names:
            await expect(conversation.get_by_text(each, exact=True)).to_be_visible()
        await expect(conversation.get_by_role("button", name="Edit")).to_have_count(1)
        world.model.script.append(Reply(fault=Fault.UNAUTHORIZED))
        await daemon.post("And now?", session="main")
        await expect(conversation.get_by_role("alert")).to_contain_text("No answer: the model's key was refused.")
        await expect(conversation.get_by_text("[")).to_have_count(0)
        await page.get_by_role("button", name="Deutsch").click()
        await expect(conversation.get_by_role("alert")).to_contain_text("der Schlüssel des Modells wurde abgelehnt")
        assert tab.errors == []


async def test_failed_call_is_marked_in_its_line(world: World, browser: Browser) -> None:
    world.model.script += [
        Reply(calls=(("edit", '{"path": "notes.md"}'), ("exec", '{"command": "echo hello"}'))),
        Reply("It did not work."),
    ]
    async with world.serve() as daemon:
        await daemon.post("Change it.", session="main")
        tab = await open_tab(world, browser, "/chat?session=api:main")
        lines = tab.page.get_by_test_id("conversation").locator("summary")
        await expect(lines.filter(has_text="edit")).to_contain_text("failed")
        await expect(lines.filter(has_text="exec")).not_to_contain_text("failed")
        assert tab.errors == []


def fill(world: World, session: str, messages: int) -> None:
    """Import a conversation: `Message n.` and `Answer n.` by turns."""
    said = [
        {"key": f"{role} {n}", "role": role, "text": f"{word} {n}.", "at": 1_760_000_000 + n, "owner": True}
        for n in range(messages)
        for role, word in (("user", "Message"), ("assistant", "Answer"))
    ]
    answer = call(socket_of(world.home), "POST", "/import", body={"session": session, "messages": said})
    assert answer.body == {"new": 2 * messages, "there": 0}


ROWS = "document.querySelectorAll('[data-testid=conversation] [data-n]').length"
SCROLL = """([text, by]) => {
  const box = document.querySelector('[data-testid=conversation]');
  const row = [...box.querySelectorAll('[data-n]')].find(row => row.textContent.startsWith(text));
  if (by) box.scrollTop = by < 0 ? 200 : box.scrollHeight - box.clientHeight - 200;
  return row.getBoundingClientRect().top;
}"""


async def test_long_conversation_keeps_few_rows_and_the_readers_place(world: World, browser: Browser) -> None:
    async with world.serve():
        await asyncio.to_thread(fill, world, "api:long", 600)
        tab = await open_tab(world, browser, "/chat?session=api:long")
        page, conversation = tab.page, tab.page.get_by_test_id("conversation")
        await expect(conversation.get_by_text("Answer 599.", exact=True)).to_be_in_viewport()

        async def scroll(seen: str, by: int, wanted: str) -> None:
            """Scroll up or down until another part comes; what was seen does not move, and far parts go."""
            before = await page.evaluate(SCROLL, [seen, by])
            await expect(conversation.get_by_text(wanted, exact=True)).to_have_count(1)
            assert abs(await page.evaluate(SCROLL, [seen, 0]) - before) < 3
            assert await page.evaluate(ROWS) <= 180

        for first in range(570, 300, -30):
            await scroll(f"Message {first}.", -1, f"Message {first - 30}.")
        await expect(conversation.get_by_text("Answer 599.")).to_have_count(0)
        for last in range(389, 599, 30):
            await scroll(f"Answer {last}.", 1, f"Answer {last + 30}.")
        await conversation.press("End")
        await expect(conversation.get_by_text("Answer 599.", exact=True)).to_be_in_viewport()
        await expect(page.get_by_role("button", name="Jump to latest")).to_have_count(0)
        assert tab.errors == []


async def test_list_of_many_conversations_keeps_few_rows_and_shows_the_chosen_one(
    world: World, browser: Browser
) -> None:
    async with world.serve():
        for number in range(200):
            await asyncio.to_thread(fill, world, f"api:old-{number}", 1)
        tab = await open_tab(world, browser, "/chat?session=api:old-60")
        page = tab.page
        listed = page.get_by_role("complementary", name="Conversations")
        rows = listed.get_by_role("listitem")
        chosen = listed.locator("[aria-current]")
        await expect(chosen).to_be_in_viewport()
        await expect(chosen).to_contain_text("old-60")
        assert await rows.count() <= 100
        await expect(rows.first).to_have_attribute("aria-setsize", "200")
        await chosen.focus()
        for _ in range(40):  # past the rename, archive and delete of the chosen one, and far beyond the view
            await page.keyboard.press("Tab")
        focused = listed.locator("li:has(button:focus)")
        place = int(await focused.get_attribute("aria-posinset") or 0)
        await expect(focused).to_be_in_viewport()
        await page.keyboard.press("Enter")
        await expect(focused.locator("[aria-current]")).to_be_in_viewport()
        assert int(await focused.get_attribute("aria-posinset") or 0) == place
        assert await rows.count() <= 100
        await listed.get_by_label("Find a conversation").fill("old-17")
        await expect(rows).to_have_count(11)
        assert tab.errors == []


async def test_message_sent_from_far_above_is_answered_at_the_end(world: World, browser: Browser) -> None:
    async with world.serve():
        await asyncio.to_thread(fill, world, "api:long", 200)
        tab = await open_tab(world, browser, "/chat?session=api:long")
        page, conversation = tab.page, tab.page.get_by_test_id("conversation")
        await expect(conversation.get_by_text("Answer 199.", exact=True)).to_be_in_viewport()
        for number in (170, 140, 110, 80):
            earlier = conversation.get_by_text(f"Message {number - 30}.", exact=True)
            async with asyncio.timeout(20):
                while not await earlier.count():  # while the page still grows, it returns to the end
                    await conversation.press("Home")
                    with suppress(PlaywrightTimeout):
                        await earlier.wait_for(state="attached", timeout=1_000)
        await expect(conversation.get_by_text("Answer 199.")).to_have_count(0)
        world.model.script.append(Reply("Still here."))
        await say(page, "Are you there?")
        await expect(conversation.get_by_text("Still here.", exact=True)).to_be_in_viewport()
        await expect(conversation.get_by_text("Answer 199.", exact=True)).to_have_count(1)
        await expect(conversation.get_by_text("Are you there?", exact=True)).to_have_count(1)
        assert await page.evaluate(ROWS) <= 180
        assert tab.errors == []


BRING = """([kind, name, type, text]) => {
  const data = new DataTransfer();
  data.items.add(new File([Uint8Array.from(atob(text), (each) => each.charCodeAt(0))], name, { type }));
  const given = kind === "drop" ? { dataTransfer: data } : { clipboardData: data };
  const input = document.querySelector("form textarea");
  const Made = kind === "drop" ? DragEvent : ClipboardEvent;
  input.dispatchEvent(new Made(kind, { bubbles: true, cancelable: true, ...given }));
}"""
PASTE = """(length) => {
  const data = new DataTransfer();
  data.setData("text/plain", "x".repeat(length));
  const pasted = new ClipboardEvent("paste", { bubbles: true, cancelable: true, clipboardData: data });
  document.querySelector("form textarea").dispatchEvent(pasted);
}"""
DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


async def test_files_are_attached_by_drop_and_paste_with_thumbnails(world: World, browser: Browser) -> None:
    async with world.serve() as daemon:
        await daemon.post("hello", session="main")
        tab = await open_tab(world, browser, "/chat?session=api:main")
        page, form = tab.page, tab.page.locator("form")
        await expect(page.get_by_label("Message to Hob")).to_be_enabled()
        await page.evaluate(BRING, ["drop", "plan.txt", "text/plain", "SGk="])
        await expect(form.get_by_text("plan.txt")).to_be_visible()
        await page.evaluate(BRING, ["paste", "dot.png", "image/png", DOT])
        await expect(form.get_by_text("dot.png")).to_be_visible()
        await expect(form.locator("img")).to_have_count(1)
        await page.get_by_label("Message to Hob").fill("Look.")
        await page.evaluate(PASTE, 50_001)
        await expect(form.get_by_text("pasted text.txt")).to_be_visible()
        await expect(page.get_by_label("Message to Hob")).to_have_value("Look.")
        await page.get_by_role("button", name="Send").click()
        conversation = page.get_by_test_id("conversation")
        await expect(conversation).to_contain_text("plan.txt")
        await expect(conversation).to_contain_text("pasted text.txt")
        await expect(form.get_by_text("plan.txt")).to_have_count(0)
        assert tab.errors == []


async def test_sent_files_are_named_while_their_turn_runs(world: World, browser: Browser) -> None:
    async with world.serve():
        tab = await open_tab(world, browser, "/chat?session=api:main")
        page, form = tab.page, tab.page.locator("form")
        await expect(page.get_by_label("Message to Hob")).to_be_enabled()
        await page.evaluate(BRING, ["drop", "dot.png", "image/png", DOT])
        await expect(form.get_by_text("dot.png")).to_be_visible()
        wait = json.dumps({"command": "touch here; until [ -e go ]; do sleep 0.1; done"})
        world.model.script.extend([Reply(calls=(("exec", wait),)), Reply("A dot.")])
        await page.get_by_role("button", name="Send").click()
        await until((world.work / "here").exists)
        beside = await tab.beside("/chat?session=api:main")
        for each in (page, beside.page):
            conversation = each.get_by_test_id("conversation")
            await expect(conversation.get_by_text("dot.png")).to_be_visible()
            await expect(conversation.get_by_text("A dot.")).to_have_count(0)
        (world.work / "go").touch()
        for each in (page, beside.page):
            conversation = each.get_by_test_id("conversation")
            await expect(conversation.get_by_text("A dot.")).to_be_visible()
            await expect(conversation.get_by_text("dot.png")).to_have_count(1)
        assert tab.errors == beside.errors == []


async def test_files_of_a_draft_are_kept_with_it(world: World, browser: Browser) -> None:
    uploads = list[Route]()

    async def held(route: Route) -> None:
        uploads.append(route)

    async with world.serve() as daemon:
        for session in ("api:one", "api:two"):
            await daemon.post("hello", session=session)
        tab = await open_tab(world, browser, "/chat?session=api:one")
        page, form = tab.page, tab.page.locator("form")
        listed = page.get_by_role("complementary", name="Conversations").get_by_role("listitem")
        await expect(page.get_by_label("Message to Hob")).to_be_enabled()
        await page.evaluate(BRING, ["drop", "dot.png", "image/png", DOT])
        await expect(form.get_by_text("dot.png")).to_be_visible()
        await page.route("**/api/v1/attachments", held)
        await page.evaluate(BRING, ["drop", "late.txt", "text/plain", "SGk="])
        await until(lambda: bool(uploads))
        await listed.filter(has_text="two").get_by_role("button").first.click()
        await expect(form.get_by_text("dot.png")).to_have_count(0)
        async with page.expect_response("**/api/v1/attachments"):
            await uploads[0].continue_()
        await listed.filter(has_text="one").get_by_role("button").first.click()
        for change in ("Deutsch", "reload"):
            await expect(form.get_by_text("late.txt")).to_be_visible()
            await expect(form.get_by_text("dot.png")).to_be_visible()
            await expect(form.locator("img")).to_have_count(1)
            if change == "reload":
                await page.reload()
            else:
                await page.get_by_role("button", name=change).click()
        await expect(form.get_by_text("late.txt")).to_be_visible()
        await form.get_by_role("button", name="late.txt entfernen").click()
        world.model.script.append(Reply("A dot."))
        await page.get_by_role("button", name="Senden").click()
        conversation = page.get_by_test_id("conversation")
        await expect(conversation.get_by_text("A dot.")).to_be_visible()
        await expect(conversation.get_by_text("dot.png")).to_be_visible()
        await expect(form.get_by_text("dot.png")).to_have_count(0)
        assert tab.errors == []


async def test_files_are_sent_again_with_an_edited_or_retried_message(world: World, browser: Browser) -> None:
    async with world.serve():
        tab = await open_tab(world, browser, "/chat?session=api:main")
        page, form, conversation = tab.page, tab.page.locator("form"), tab.page.get_by_test_id("conversation")
        await expect(page.get_by_label("Message to Hob")).to_be_enabled()
        await page.evaluate(BRING, ["drop", "plan.txt", "text/plain", "SGk="])
        await page.evaluate(BRING, ["drop", "dot.png", "image/png", DOT])
        await expect(form.get_by_text("dot.png")).to_be_visible()
        await say(page, "Look.")
        for number, text in enumerate(("Look.", "Look again."), 1):
            await expect(conversation.get_by_role("button", name="plan.txt")).to_be_visible()  # its file is known
            world.model.script.append(Reply(f"Answer {number}."))
            here = page.url
            if number == 1:
                await conversation.get_by_role("button", name="Retry").click()
            else:
                await conversation.get_by_role("button", name="Edit").click()
                edited = conversation.locator("form")
                for name in ("plan.txt", "dot.png"):
                    await expect(edited.get_by_text(name)).to_be_visible()
                await edited.get_by_role("textbox").fill(text)
                await edited.get_by_role("button", name="Send").click()
            await expect(page).not_to_have_url(here)
            await expect(conversation.get_by_text(f"Answer {number}.")).to_be_visible()
            await expect(conversation).to_contain_text(text)
            for name in ("plan.txt", "dot.png"):
                await expect(conversation.get_by_text(name)).to_have_count(1)
            await expect(conversation.get_by_role("button", name="Enlarge image")).to_be_visible()
        assert tab.errors == []


async def test_attached_documents_are_shown_and_can_be_saved(world: World, browser: Browser) -> None:
    files = [
        FilePayload(name="plan.md", mimeType="text/markdown", buffer=b"# The plan\n\n- *Sunday*"),
        FilePayload(name="prices.json", mimeType="application/json", buffer=b'{"boat":19}'),
        FilePayload(name="trips.csv", mimeType="text/csv", buffer=b"who,where\nAnna,Potsdam\n"),
    ]
    async with world.serve():
        tab = await open_tab(world, browser, "/chat?session=api:main")
        page, conversation, dialog = tab.page, tab.page.get_by_test_id("conversation"), tab.page.get_by_role("dialog")
        await page.locator("input[type=file]").set_input_files(files)
        await expect(page.locator("form").get_by_text("trips.csv")).to_be_visible()
        await page.get_by_label("Message to Hob").fill("Look.")
        await page.get_by_role("button", name="Send").click()
        for name, shown in (("prices.json", '"boat": 19'), ("trips.csv", "Anna,Potsdam")):
            await conversation.get_by_role("button", name=name).click()
            await expect(dialog).to_contain_text(shown)
            await expect(dialog.get_by_role("link", name=f"Save {name}")).to_be_visible()
            await page.keyboard.press("Escape")
        await tab.go("/timeline")
        message = page.get_by_role("article", name="message api")
        await message.get_by_role("button", name="plan.md").click()
        await expect(dialog.get_by_role("heading", name="The plan")).to_be_visible()
        assert tab.errors == []


@pytest.mark.parametrize(
    ("limit", "reason"),
    [({"HOB_BUS_MAX_TEXT": "4000"}, "5999"), ({"HOB_GATEWAY_BODY_BYTES": "4000"}, "It is too large.")],
    ids=["refused", "connection-closed"],
)
async def test_message_that_is_too_large_returns_to_the_composer(
    world: World, browser: Browser, limit: dict[str, str], reason: str
) -> None:
    async with world.serve(**limit):
        tab = await open_tab(world, browser, "/chat?session=api:main")
        page, box = tab.page, tab.page.get_by_label("Message to Hob")
        long = "A long one. " * 500
        await say(page, long)
        await expect(page.get_by_role("alert")).to_have_text(re.compile(f"^Not sent. .*{reason}"), timeout=15_000)
        await expect(box).to_have_value(long.strip())
        world.model.script.append(Reply("Better."))
        await say(page, "A short one.")
        conversation = page.get_by_test_id("conversation")
        await expect(conversation.get_by_text("Better.")).to_be_visible(timeout=15_000)
        await expect(conversation.get_by_text("A long one.")).to_have_count(0)
        assert tab.errors == []


async def test_every_file_that_is_not_attached_is_named_with_its_reason(world: World, browser: Browser) -> None:
    async with world.serve():
        tab = await open_tab(world, browser, "/chat?session=api:main")
        form = tab.page.locator("form")
        files = {"big.bin": bytes(25_000_001), "good.txt": b"hi", "empty.txt": b""}
        await form.locator("input[type=file]").set_input_files(
            [FilePayload(name=name, mimeType="text/plain", buffer=data) for name, data in files.items()]
        )
        await expect(form.get_by_role("alert")).to_have_text(
            [
                "big.bin was not attached: it is too large. The limit is 25 MB per file.",
                "empty.txt was not attached: it is empty",
            ]
        )
        await expect(form.get_by_role("button", name="Remove good.txt")).to_be_visible()
        assert tab.errors == []


CODE = """\
```python
print("<b>hot</b>")  # say it
```

```nothing
print("plain")
```"""


async def test_code_is_coloured_by_its_language_and_stays_text(world: World, browser: Browser) -> None:
    world.model.script.append(Reply(CODE))
    async with world.serve() as daemon:
        await daemon.post("Show me.", session="main")
        tab = await open_tab(world, browser, "/chat?session=api:main")
        code = tab.page.get_by_test_id("conversation").locator("pre code")
        await expect(code.first).to_have_text('print("<b>hot</b>")  # say it')
        await expect(code.first.locator(".code-text")).to_have_text('"<b>hot</b>"')
        await expect(code.first.locator(".code-comment")).to_have_text("# say it")
        assert await code.first.locator(".code-text").evaluate(
            "text => getComputedStyle(text).color != getComputedStyle(text.parentElement).color"
        )
        await expect(code.last).to_have_text('print("plain")')
        await expect(code.last.locator("span")).to_have_count(0)
        assert tab.errors == []


async def test_answer_is_shown_once_when_its_history_was_being_read(world: World, browser: Browser) -> None:
    # the earlier read counted for the answer, which then was said to be no part of the conversation
    ended, reads = asyncio.Event(), list[Route]()

    def hear(told: str | bytes) -> None:
        if '"type":"result"' in str(told):
            ended.set()

    async def held(route: Route) -> None:
        reads.append(route)
        if len(reads) == 1:
            before = await route.fetch()
            await until((world.work / "here").exists)
            (world.work / "go").touch()
            await ended.wait()
            await route.fulfill(response=before)
        else:
            await route.continue_()

    async with world.serve():
        command = json.dumps({"command": "touch here; until [ -e go ]; do sleep 0.1; done"})
        world.model.script.extend([Reply(calls=(("exec", command),)), Reply("Tea is ready.")])
        tab = await open_tab(world, browser, "/chat?session=api:tea")
        page = tab.page
        page.on("websocket", lambda socket: socket.on("framereceived", hear))
        await page.reload()
        await expect(page.get_by_text("What can Hob do for you?")).to_be_visible()
        await page.route("**/api/v1/sessions/history?*", held)
        await say(page, "Make tea.")
        conversation = page.get_by_test_id("conversation")
        await expect(conversation.locator("[data-n]").get_by_text("Tea is ready.")).to_have_count(1)
        await expect(conversation.get_by_text("Tea is ready.")).to_have_count(1)
        assert tab.errors == []


async def test_finished_parts_of_a_growing_answer_stay_as_they_are(world: World, browser: Browser) -> None:
    story = "The *first* part.\n\n- one\n- two\n\n" + " ".join(f"word{n}" for n in range(300))
    async with world.serve():
        world.model.script.append(Reply(story, pause=0.02))
        tab = await open_tab(world, browser, "/chat?session=api:tea")
        conversation = tab.page.get_by_test_id("conversation")
        await say(tab.page, "Tell me.")
        first, listed = (conversation.locator(f".prose {each}") for each in ("em", "li"))
        await expect(listed).to_have_count(2)
        await expect(conversation).to_contain_text("word5")
        await first.evaluate("element => { element.parentElement.kept = true; }")
        await expect(conversation).to_contain_text("word60 ")
        assert await first.evaluate("element => element.parentElement.kept")
        await expect(conversation.locator("[data-n]").get_by_text("word299")).to_be_visible(timeout=20_000)
        await expect(listed).to_have_count(2)
        assert tab.errors == []
