"""The parts of a trace, in a browser."""

import json
import re
from datetime import UTC, datetime

from playwright.async_api import Browser, Route, expect

from hob.core.clock import SystemClock
from hob.core.events.timeline import EventKind, TimelineEvent
from hob.core.ids import TraceId, new_event_id, new_span_id
from hob.store.settings import StoreSettings
from hob.store.store import open_store
from hob.testing.model_server import Reply
from tests.dashboard.conftest import open_tab
from tests.dashboard.scene import at_the_socket
from tests.journeys.world import World

RUN = json.dumps({"command": "echo what the command gave"})


async def test_prompt_section_opens_its_text_with_untrusted_parts_framed(world: World, browser: Browser) -> None:
    world.model.script.extend([Reply(calls=(("exec", RUN),)), Reply("It ran.")])
    async with world.serve() as daemon:
        trace = (await daemon.post("Run it, please.", session="main")).json()["trace_id"]
        tab = await open_tab(world, browser, f"/trace/{trace}")
        page = tab.page
        await page.get_by_role("option").filter(has_text="model call").last.click()
        await page.get_by_role("button", name=re.compile("^identity")).click()
        await expect(page.get_by_role("region", name="Text of identity")).to_contain_text("You are Hob")
        await page.get_by_role("button", name=re.compile("^this turn")).click()
        turn = page.get_by_role("region", name="Text of this turn")
        await expect(turn).to_contain_text("Run it, please.")
        framed = turn.locator(".tainted")
        await expect(framed).to_have_count(1)
        await expect(framed).to_contain_text("what the command gave")
        await expect(turn.get_by_text("untrusted: tool, exec")).to_be_visible()
        await expect(page.get_by_role("region", name="Text of identity")).to_have_count(0)
        assert tab.errors == []


async def test_content_erased_by_retention_is_shown_as_erased_with_its_day(world: World, browser: Browser) -> None:
    world.model.script.extend([Reply(calls=(("exec", RUN),)), Reply("It ran.")])
    async with world.serve() as daemon:
        trace = (await daemon.post("Run it, please.", session="main")).json()["trace_id"]
    async with open_store(world.home, StoreSettings(), SystemClock()) as store:
        assert await store.retention.drop_details(datetime.now(UTC).timestamp() + 60)
    today = f"erased on {datetime.now().astimezone():%B} {datetime.now().astimezone().day}"
    async with world.serve():
        tab = await open_tab(world, browser, f"/trace/{trace}")
        page = tab.page
        details = page.get_by_role("region", name="Details")
        for span in ("model call", "exec"):
            await page.get_by_role("option").filter(has_text=span).first.click()
            await expect(details.get_by_text(today)).to_be_visible()
        await page.get_by_role("option").filter(has_text="message").click()
        await expect(details).to_contain_text("Run it, please.")
        assert tab.errors == []


async def test_erased_message_and_answer_are_marked_in_their_rows(world: World, browser: Browser) -> None:
    world.model.script.append(Reply("Something secret."))
    async with world.serve() as daemon:
        view = (await daemon.post("Say something secret.", session="main")).json()
        trace = view["trace_id"]
        (await daemon.client.post("/sessions/delete", json={"session": view["session"]})).raise_for_status()
        tab = await open_tab(world, browser, f"/trace/{trace}")
        for kind in ("message", "answer"):
            row = tab.page.get_by_role("option").filter(has_text=kind)
            await expect(row.get_by_text("erased", exact=True).locator("svg")).to_be_visible()
            await expect(row.get_by_text("api", exact=True)).to_have_count(0)
        await tab.page.get_by_role("button", name="Graph").click()
        await expect(tab.page.get_by_text("erased", exact=True)).to_have_count(2)
        assert tab.errors == []


async def test_model_call_outside_of_turns_shows_its_purpose(world: World, browser: Browser) -> None:
    world.home.mkdir(exist_ok=True)
    asked = [
        TimelineEvent(
            new_event_id(), TraceId("1" * 31 + str(n)), new_span_id(), None, 1_760_000_000.0 + n, EventKind.MODEL,
            "fake-1", classification=f"owner/{task}",
        )
        for n, task in enumerate(("summary", "chat"))
    ]  # fmt: skip
    async with open_store(world.home, StoreSettings(), SystemClock()) as store:
        await store.timeline.add(asked)
    async with world.serve():
        tab = await open_tab(world, browser, "/timeline")
        rows = tab.page.get_by_role("article").filter(has_text="model call")
        await expect(rows).to_have_count(2)
        await expect(rows.filter(has_text="Hob wrote a summary")).to_have_count(1)
        await rows.filter(has_text="Hob wrote a summary").get_by_role("link").click()
        await expect(tab.page.get_by_role("option")).to_contain_text("Hob wrote a summary")
        assert tab.errors == []


async def test_tool_call_shows_argument_decision_and_the_full_output_on_demand(world: World, browser: Browser) -> None:
    command = "for i in $(seq 1 9000); do echo this is line $i; done; echo by the end"
    world.model.script.extend([Reply(calls=(("exec", json.dumps({"command": command})),)), Reply("Done.")])
    async with world.serve() as daemon:
        trace = (await daemon.post("Write a lot.", session="main")).json()["trace_id"]
        tab = await open_tab(world, browser, f"/trace/{trace}")
        page = tab.page
        span = page.get_by_role("option").filter(has_text="exec")
        await expect(span).to_contain_text("for i in $(seq 1 9000)")
        await span.click()
        details = page.get_by_role("region", name="Details")
        await expect(details).to_contain_text("In the conversation's mode Hob may do it without asking. mode.")
        await expect(details).to_contain_text("Can contact other computers or people, run programs")
        framed = details.locator(".tainted")
        await expect(framed).to_contain_text("this is line 1")
        await expect(framed).not_to_contain_text("this is line 4500")
        await details.get_by_role("button", name="Show all").click()
        await expect(framed).to_contain_text("this is line 4500")
        await expect(details.get_by_role("link", name="Save exec.txt")).to_be_visible()
        assert tab.errors == []


async def test_waterfall_spans_the_whole_turn_including_activity_after_a_wait(world: World, browser: Browser) -> None:
    world.model.script.extend([Reply(calls=(("exec", '{"command": "rm -rf ."}'),)), Reply("Not done.", pause=0.02)])
    async with world.serve() as daemon:
        asked = (await daemon.post("Clean up.", session="main")).json()
        async with at_the_socket(world) as client:
            (await client.post(f"/approvals/{asked['approvals'][0]}", json={"allowed": False})).raise_for_status()
        await daemon.get(asked["id"], wait=20)
        trace = (await daemon.get(asked["id"]))["trace_id"]
        tab = await open_tab(world, browser)
        page = tab.page
        await page.route(f"**/api/v1/trace/{trace}*", long_wait)
        await tab.go(f"/trace/{trace}")
        rows = page.get_by_role("option")
        await rows.first.wait_for()
        marks = await rows.evaluate_all(MARKS)
        assert {round(left) >= 0 and right <= 1.001 for left, right, _ in marks} == {True}, marks
        models = [each for each in marks if "model call" in each[2]]
        assert models[1][1] - models[1][0] > 0.02, "what follows the wait is seen"
        (turn,) = [each for each in marks if each[2].startswith("turn") and each[1] - each[0] > 0.02]
        assert turn[0] <= models[0][0]
        assert turn[1] >= models[1][1]
        assert tab.errors == []


MARKS = """rows => rows.map((row) => {
  const axis = row.children[1].getBoundingClientRect();
  const mark = row.children[1].firstElementChild.getBoundingClientRect();
  return [(mark.left - axis.left) / axis.width, (mark.right - axis.left) / axis.width, row.children[0].innerText];
})"""


async def long_wait(route: Route) -> None:
    """Serve the trace with an approval that was answered an hour later."""
    told = await (await route.fetch()).json()
    answered = told["approvals"][0]["answered"]
    for each in told["spans"]:
        if each["started_at"] >= answered - 0.5 and each["type"] != "INBOUND" and each["started_at"] > answered:
            each["started_at"] += 3600
    told["approvals"][0]["answered"] += 3600
    await route.fulfill(json=told)


async def test_turn_shows_the_diff_of_its_changed_files(world: World, browser: Browser) -> None:
    call = ("write", '{"path": "list.md", "content": "milk\\nbread\\n"}')
    world.model.script.extend([Reply(calls=(call,)), Reply("Written.")])
    async with world.serve() as daemon:
        trace = (await daemon.post("Write it down.", session="main")).json()["trace_id"]
        tab = await open_tab(world, browser, f"/trace/{trace}")
        page = tab.page
        await page.get_by_role("option").filter(has_text="list.md").click()
        changed = page.get_by_role("group").filter(has_text="1 file was changed")
        await expect(changed.get_by_role("region", name="Changes")).to_contain_text(re.compile(r"\+\s*milk"))
        await expect(changed).not_to_contain_text("\N{MINUS SIGN}")
        await changed.get_by_role("button", name="Undo").click()
        await changed.get_by_role("button", name="Restore").click()
        await expect(changed).to_have_count(0)
        assert tab.errors == []


async def test_call_shows_only_its_own_file_and_a_failed_call_none(world: World, browser: Browser) -> None:
    calls = (
        ("write", {"path": "list.md", "content": "milk\n"}),
        ("write", {"path": "plan.md", "content": "bread\n"}),
        ("edit", {"path": "list.md"}),
    )
    world.model.script.extend(Reply(calls=((name, json.dumps(given)),)) for name, given in calls)
    world.model.script.append(Reply("Written."))
    async with world.serve() as daemon:
        trace = (await daemon.post("Write it down.", session="main")).json()["trace_id"]
        tab = await open_tab(world, browser, f"/trace/{trace}")
        page = tab.page
        details = page.get_by_role("region", name="Details")
        changed = details.get_by_role("group").filter(has_text=re.compile("files? w(as|ere) changed"))
        await page.get_by_role("option").filter(has_text="list.md").first.click()
        await expect(changed).to_contain_text(re.compile(r"\+\s*milk"))
        await expect(changed).not_to_contain_text("bread")
        await expect(changed.get_by_role("button", name="Undo")).to_have_count(0)
        await page.get_by_role("option").filter(has_text="edit").click()
        await expect(details).to_contain_text("do not fit the tool")
        await expect(changed).to_have_count(0)
        await page.get_by_role("option").filter(has_text="turn").first.click()
        await expect(changed).to_contain_text("2 files were changed")
        await changed.get_by_role("button", name="Undo").click()
        await changed.get_by_role("button", name="Restore").click()
        await expect(changed).to_have_count(0)
        assert tab.errors == []


async def test_long_word_in_the_title_fits_a_phone_and_a_trace_opened_by_its_address_has_no_ring(
    world: World, browser: Browser
) -> None:
    word = "Donaudampfschifffahrtsgesellschaft" * 3
    async with world.serve() as daemon:
        trace = (await daemon.post(word, session="main")).json()["trace_id"]
        tab = await open_tab(world, browser)
        page = tab.page
        await page.set_viewport_size({"width": 360, "height": 740})
        await page.goto(f"{tab.base}/trace/{trace}")
        title = page.get_by_role("heading", level=1)
        await expect(title).to_have_text(word[:90])
        await expect(title).to_be_focused()
        await expect(title).to_have_css("outline-style", "none")
        box = await title.bounding_box()
        assert box
        assert box["x"] + box["width"] <= 360
        assert await title.evaluate("title => title.scrollHeight <= title.clientHeight + 1")  # whole
        place = await page.locator("#main > [role=region]").evaluate("place => [place.scrollWidth, place.clientWidth]")
        assert place[0] <= place[1]
        assert tab.errors == []
