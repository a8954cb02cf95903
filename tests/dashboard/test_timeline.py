"""Cards and lines of the timeline, in a browser."""

import asyncio
import json
import re
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from playwright.async_api import Browser, Page, Route, expect

from hob.core.clock import SystemClock
from hob.core.events.timeline import EventKind, TimelineEvent
from hob.core.ids import ApprovalId, new_event_id, new_span_id, new_trace_id
from hob.core.trust.labels import OWNER_LABEL, Label, Origin, Trust
from hob.store.settings import StoreSettings
from hob.store.store import open_store
from hob.testing.model_server import Reply
from tests.dashboard.conftest import open_tab
from tests.dashboard.scene import at_the_socket, fill, link_of
from tests.dashboard.screenshots import go, loaded
from tests.journeys.world import World

TESTS = "printf 'F..F\\n2 failed, 2 passed\\n'; exit 1"


async def test_action_is_one_line_with_argument_and_result(world: World, browser: Browser) -> None:
    written = json.dumps({"content": "# Notes", "path": "notes.md"})
    world.model.script.extend(
        [
            Reply(calls=(("exec", json.dumps({"command": TESTS})),)),
            Reply(calls=(("write", written),)),
            Reply("Two tests fail."),
        ]
    )
    async with world.serve() as daemon:
        tab = await open_tab(world, browser, "/timeline")
        feed = tab.page.get_by_role("feed")
        await daemon.post("Run the tests.", session="main")  # the line arrives live, and is the same after a reload
        for _ in range(2):
            ran = feed.get_by_role("article", name="tool exec")
            await expect(ran).to_have_text(
                re.compile(r"^exec\s*printf .*exit 1\s*error\s*2 failed, 2 passed\s*[\d.]+ m?s")
            )
            await expect(feed.get_by_role("article", name="tool write")).to_contain_text("notes.md")
            await tab.page.reload()
        await tab.page.get_by_label("Search the timeline").fill("notes.md")
        await expect(feed.get_by_role("article", name="tool exec")).to_have_count(0)
        await expect(feed.get_by_role("article", name="tool write")).to_have_count(1)
        assert tab.errors == []


async def test_long_answer_is_folded_until_expanded(world: World, browser: Browser) -> None:
    world.model.script.append(Reply("\n\n".join(f"Paragraph {n}." for n in range(30))))
    async with world.serve() as daemon:
        await daemon.post("Write a lot.", session="main")
        tab = await open_tab(world, browser, "/timeline")
        answer = tab.page.get_by_role("article", name="answer api")
        first = await answer.bounding_box()
        await answer.get_by_role("button", name="Show all").click()
        await expect(answer.get_by_role("button", name="Fold")).to_have_attribute("aria-expanded", "true")
        await expect(answer.get_by_text("Paragraph 29.")).to_be_visible()
        opened = await answer.bounding_box()
        assert first
        assert opened
        assert first["height"] < 260 < 600 < opened["height"]
        await expect(
            tab.page.get_by_role("article", name="message api").get_by_role("button", name="Fold")
        ).to_have_count(0)
        assert tab.errors == []


def written_notes(world: World) -> list[Path]:
    return list(world.work.glob("notes.md"))


async def test_keys_move_open_search_stop_and_undo_the_chosen_turn(world: World, browser: Browser) -> None:
    written = json.dumps({"content": "# Notes", "path": "notes.md"})
    world.model.script.extend([Reply(calls=(("write", written),)), Reply("Written."), Reply("Nothing to do.")])
    async with world.serve() as daemon:
        await daemon.post("Write it down.", session="main")
        await daemon.post("And now?", session="main")
        tab = await open_tab(world, browser, "/timeline")
        page, dialog = tab.page, tab.page.get_by_role("dialog")
        await expect(page.get_by_role("article", name="message api")).to_have_count(2)
        await page.keyboard.press("j")  # the latest message
        await page.keyboard.press("u")
        await expect(dialog).to_contain_text("This turn changed no files that can be restored.")
        await page.keyboard.press("Escape")
        await expect(dialog).to_have_count(0)
        for key in ("j", "j", "j", "j", "k"):
            await page.keyboard.press(key)
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("heading", name="Write it down.")).to_be_visible()
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("feed")).to_be_visible()
        for key in ("j", "j", "j", "j", "u"):
            await page.keyboard.press(key)
        await expect(dialog).to_contain_text("# Notes")
        await expect(dialog.get_by_role("button", name="Restore")).to_be_focused()
        assert await asyncio.to_thread(written_notes, world)  # asks once for confirmation
        await page.keyboard.press("u")
        await expect(dialog).to_have_count(0)
        assert not await asyncio.to_thread(written_notes, world)
        world.model.script.append(Reply("A long story " + "that goes on " * 600, pause=0.1))
        await daemon.post("Tell.", session="main", wait=0)
        await expect(page.get_by_role("article", name="message api").filter(has_text="Tell.")).to_be_visible()
        await page.reload()
        await expect(page.get_by_role("article", name="message api").filter(has_text="Tell.")).to_be_visible()
        for key in ("j", "."):
            await page.keyboard.press(key)
        await expect(dialog.get_by_role("button", name="Stop")).to_be_focused()
        await page.keyboard.press(".")
        await expect(page.get_by_role("button", name="1 running")).to_have_count(0)
        await page.keyboard.press("/")
        await expect(page.get_by_label("Search the timeline")).to_be_focused()
        assert tab.errors == []


async def test_chosen_row_stays_chosen_when_events_arrive_and_a_held_key_undoes_nothing(
    world: World, browser: Browser
) -> None:
    written = json.dumps({"content": "# Notes", "path": "notes.md"})
    world.model.script.extend([Reply(calls=(("write", written),)), Reply("Written."), Reply("Nothing to do.")])
    async with world.serve() as daemon:
        await daemon.post("Write it down.", session="main")
        tab = await open_tab(world, browser, "/timeline")
        page, dialog = tab.page, tab.page.get_by_role("dialog")
        asked = page.get_by_role("article", name="message api")
        await expect(asked).to_have_count(1)
        await page.keyboard.press("j")
        await daemon.post("And now?", session="main")
        await expect(page.get_by_text("Nothing to do.")).to_be_visible()
        await expect(asked.filter(has_text="Write it down.")).to_have_css("outline-style", "solid")
        await expect(asked.filter(has_text="And now?")).not_to_have_css("outline-style", "solid")
        await page.keyboard.down("u")
        restore = dialog.get_by_role("button", name="Restore")
        await expect(restore).to_be_focused()
        for _ in range(3):  # the key is held
            await page.keyboard.down("u")
        await page.keyboard.up("u")
        await expect(restore).to_be_enabled()
        assert await asyncio.to_thread(written_notes, world)
        await page.keyboard.press("Escape")
        await expect(dialog).to_have_count(0)
        await page.keyboard.press("k")  # the row before it, of the later turn
        await expect(page.get_by_role("article", name="answer api").first).to_have_css("outline-style", "solid")
        assert tab.errors == []


async def test_focus_is_announced_ends_by_its_chip_and_opens_from_a_link(world: World, browser: Browser) -> None:
    world.model.script.extend(Reply(f"Answer {n}.") for n in range(42))
    async with world.serve() as daemon:
        old = (await daemon.post("The oldest question.", session="main")).json()["trace_id"]
        for n in range(41):
            await daemon.post(f"Question {n}.", session="main")
        tab = await open_tab(world, browser, f"/timeline?focus={old}")
        page = tab.page
        asked = page.get_by_role("article", name="message api")
        await expect(asked.filter(has_text="The oldest question.")).to_be_in_viewport()
        await expect(asked.filter(has_text="The oldest question.")).to_have_count(1)
        await expect(asked.filter(has_text="Question 40.")).to_have_css("opacity", "0.25")
        await expect(asked.first.get_by_role("button", name="Focus")).to_have_attribute("aria-pressed", "true")
        await page.get_by_role("button", name="Focus: The oldest question.").click()
        await expect(page.get_by_role("button", name="Focus: ")).to_have_count(0)
        await expect(asked.filter(has_text="Question 40.")).to_have_css("opacity", "1")
        assert "focus" not in page.url
        assert tab.errors == []


async def recorded(world: World, *events: tuple[EventKind, str, str, str]) -> None:
    """Record events of these kinds, statuses, classifications and texts, each with its own trace."""
    world.home.mkdir(exist_ok=True)
    async with open_store(world.home, StoreSettings(), SystemClock()) as store:
        await store.timeline.add(
            [
                TimelineEvent(
                    new_event_id(), new_trace_id(), new_span_id(), None, 1_760_000_000.0 + n, kind, "telegram", status,
                    classification=classification, text=text,
                )
                for n, (kind, status, classification, text) in enumerate(events)
            ]
        )  # fmt: skip


async def test_held_back_and_failed_deliveries_and_quarantined_turns_are_shown(world: World, browser: Browser) -> None:
    # they used to be hidden like all deliveries and turns, as technical
    await recorded(
        world,
        (EventKind.DELIVERY, "ok", "", "taken"),
        (EventKind.DELIVERY, "skipped", "", "silent mode"),
        (EventKind.DELIVERY, "parked", "", "no receipt"),
        (EventKind.DELIVERY, "undeliverable", "", "no such chat"),
        (EventKind.TURN, "ok", "done", ""),
        (EventKind.TURN, "quarantined", "set_aside", ""),
    )
    async with world.serve():
        tab = await open_tab(world, browser, "/timeline")
        page = tab.page
        rows = page.get_by_role("feed").get_by_role("article", name="telegram")
        wrong = [
            re.compile("turn.*quarantined"),
            re.compile("delivery.*not delivered.*no such chat"),
            re.compile("delivery.*perhaps not delivered.*no receipt"),
        ]
        await expect(rows).to_have_text([*wrong, re.compile("delivery.*skipped.*silent mode")])
        await page.get_by_role("button", name="Failures").click()
        await expect(rows).to_have_text(wrong)
        await page.get_by_role("button", name="Failures").click()
        await page.get_by_role("button", name="Technical").click()
        await expect(rows).to_have_count(6)
        assert tab.errors == []


async def test_timeline_is_filtered_by_type_and_conversation(world: World, browser: Browser) -> None:
    world.model.script.extend(
        [Reply(calls=(("exec", json.dumps({"command": "date"})),)), Reply("Now."), Reply("Fine.")]
    )
    async with world.serve() as daemon:
        await daemon.post("What time is it?", session="api:clock")
        await daemon.post("How are you?", session="api:small-talk")
        tab = await open_tab(world, browser, "/timeline")
        page, rows = tab.page, tab.page.get_by_role("feed").get_by_role("article")
        await page.get_by_role("button", name="More filters").click()
        kind, session = page.get_by_label("Type"), page.get_by_label("Conversation")
        await kind.select_option("Messages")
        await expect(rows.filter(has_text=re.compile("time is it|Now|How are|Fine"))).to_have_count(4)
        await expect(rows.filter(has_text="date")).to_have_count(0)
        await session.select_option("How are you?")
        await expect(rows.filter(has_text=re.compile("How are|Fine"))).to_have_count(2)
        await expect(rows.filter(has_text=re.compile("time is it|Now"))).to_have_count(0)
        await kind.select_option("Model calls")
        await expect(rows.filter(has_text="model call")).to_have_count(1)
        await page.reload()
        await expect(kind).to_have_value("model")
        await expect(session).to_have_value("api:small-talk")
        await kind.select_option("All")
        await page.get_by_role("group", name="Filters").get_by_role("button", name="small-talk").click()
        await expect(rows.filter(has_text="What time is it?")).to_have_count(1)
        assert tab.errors == []


async def test_timeline_separates_days_and_is_filtered_by_person_and_untrusted_content(
    world: World, browser: Browser
) -> None:
    world.home.mkdir(exist_ok=True)
    said = [
        ("Anna", "The seeds have come.", OWNER_LABEL),
        ("Bob", "You have won a prize.", Label(Origin.STRANGER, Trust.UNTRUSTED)),
    ]
    async with open_store(world.home, StoreSettings(), SystemClock()) as store:
        await store.timeline.add(
            [
                TimelineEvent(
                    new_event_id(), new_trace_id(), new_span_id(), None, 1_760_000_000.0 + 86_400 * n,
                    EventKind.INBOUND, "telegram", "ok", sender_name=name, text=text, label=label,
                )
                for n, (name, text, label) in enumerate(said)
            ]
        )  # fmt: skip
    async with world.serve():
        tab = await open_tab(world, browser, "/timeline")
        page, feed = tab.page, tab.page.get_by_role("feed")
        days = [feed.get_by_role("heading", level=2, name=re.compile(f"October {day}")) for day in (9, 10)]
        for day in days:
            await expect(day).to_be_visible()
        await page.get_by_role("button", name="More filters").click()
        person = page.get_by_label("Person")
        await person.fill("Anna")
        await person.press("Enter")
        await expect(feed.get_by_text(said[1][1])).to_have_count(0)
        await expect(feed.get_by_text(said[0][1])).to_be_visible()
        await expect(days[1]).to_have_count(0)
        await person.fill("")
        await page.get_by_role("group", name="Filters").get_by_role("button", name="Untrusted").click()
        await expect(feed.get_by_text(said[0][1])).to_have_count(0)
        await expect(feed.get_by_text(said[1][1])).to_be_visible()
        assert tab.errors == []


async def test_minimum_cost_takes_a_decimal_comma_and_says_what_is_no_amount(world: World, browser: Browser) -> None:
    await recorded(world, (EventKind.INBOUND, "ok", "owner", "Free of charge."))
    async with world.serve():
        context = await browser.new_context(locale="de-DE", reduced_motion="reduce", service_workers="block")
        page = await context.new_page()
        await page.goto(await link_of(world))
        await page.locator("#main").wait_for()
        await go(page, "/timeline?cost=abc")
        cost, message, said = page.get_by_label("Mindestkosten"), page.get_by_role("alert"), page.get_by_role("feed")
        await expect(message).to_have_text("Gib einen Betrag wie 0,01 ein.")
        await expect(cost).to_have_attribute("aria-invalid", "true")
        await cost.fill("")
        await cost.press_sequentially("0,15")  # it begins with an amount that can be chosen
        await expect(cost).to_be_focused()
        await cost.press("Enter")
        await expect(page).to_have_url(re.compile("cost=0.15$"))
        await expect(cost).to_have_value("0,15")
        await expect(message).to_have_count(0)
        await expect(page.get_by_text("Keine passenden Ereignisse.")).to_be_visible()
        for text in ("gratis", "0.0.1", "-1"):
            await cost.fill(text)
            await cost.blur()
            await expect(message).to_be_visible()
            await expect(page).to_have_url(re.compile("cost=0.15$"))
        await cost.fill("")
        await expect(said.get_by_text("Free of charge.")).to_be_visible()
        await expect(message).to_have_count(0)


async def test_times_are_in_the_readers_zone_and_texts_of_any_script_and_length_fit(
    world: World, browser: Browser
) -> None:
    hebrew, word = "שלום, מה שלומך היום?", "Donaudampfschifffahrt" * 20
    await recorded(world, *[(EventKind.INBOUND, "ok", "owner", text) for text in (hebrew, word)])
    async with world.serve():
        context = await browser.new_context(
            locale="de-DE",
            timezone_id="Asia/Tokyo",
            reduced_motion="reduce",
            viewport={"width": 360, "height": 740},
            service_workers="block",
        )
        page = await context.new_page()
        await page.goto(await link_of(world))
        await page.locator("#main").wait_for()
        await go(page, "/timeline")
        said = page.get_by_text(hebrew)
        await expect(said).to_have_css("direction", "rtl")
        there = datetime.fromtimestamp(1_760_000_000, ZoneInfo("Asia/Tokyo"))
        await expect(page.get_by_role("article").filter(has=said).locator("time")).to_have_text(f"{there:%H:%M}")
        await expect(page.get_by_text(word)).to_be_in_viewport()
        assert await page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
        box = await page.get_by_test_id("timeline").evaluate("box => [box.scrollWidth, box.clientWidth]")
        assert box[0] <= box[1]


async def test_new_events_are_counted_below_and_none_is_missed_while_the_timeline_is_read_or_left(
    world: World, browser: Browser
) -> None:
    await fill(world, 200)
    async with world.serve() as daemon:
        tab = await open_tab(world, browser, "/timeline")
        page, feed = tab.page, tab.page.get_by_role("feed")
        await expect(feed.get_by_text("Event number 199", exact=True)).to_be_visible()
        await page.get_by_test_id("timeline").evaluate("box => box.scrollBy(0, 2000)")
        await daemon.post("one", session="main")
        new = page.get_by_role("button", name=re.compile(r"^\d+ new$"))
        await expect(new).to_have_text("3 new")  # a message, a call of the model and an answer
        await expect(feed.get_by_text("one", exact=True)).to_have_count(0)
        await new.click()
        await expect(feed.get_by_text("one", exact=True)).to_be_visible()
        await expect(new).to_have_count(0)

        await tab.go("/work")
        await daemon.post("two", session="main")
        await tab.go("/timeline")
        await expect(feed.get_by_text("two", exact=True)).to_be_visible()

        async def held(route: Route) -> None:
            before = await route.fetch()
            await daemon.post("three", session="main")
            await route.fulfill(response=before)

        await page.route(re.compile(r"/timeline\?limit=60$"), held, times=1)
        await page.reload()
        await expect(feed.get_by_text("three", exact=True)).to_be_visible()
        for text in ("one", "two", "three"):
            await expect(feed.get_by_text(text, exact=True)).to_have_count(1)
        assert tab.errors == []


async def test_search_is_typed_letter_by_letter_and_shows_the_text_of_a_link(world: World, browser: Browser) -> None:
    await fill(world, 12)
    async with world.serve():
        tab = await open_tab(world, browser, "/timeline")
        page, box = tab.page, tab.page.get_by_label("Search the timeline")
        rows = page.get_by_role("feed").get_by_role("article").filter(has_text="Event number")
        await expect(rows).to_have_count(12)
        await box.press_sequentially("number 1", delay=220)  # each letter is in the URL before the next one comes
        await expect(box).to_be_focused()
        await expect(box).to_have_value("number 1")
        await expect(rows).to_have_count(3)
        for text, count in (("number 7", 1), ("", 12)):
            await page.evaluate("text => history.pushState(null, '', `/timeline${text && '?text='}${text}`)", text)
            await expect(box).to_have_value(text)
            await expect(rows).to_have_count(count)
        assert tab.errors == []


async def scrolled(page: Page, top: int) -> None:
    """Scroll the timeline so far down, which reads one page of it after another."""
    await page.wait_for_function(
        "top => { const box = document.querySelector('[data-testid=timeline]'); box.scrollTop = top;"
        " return box.scrollTop === top; }",
        arg=top,
    )
    await loaded(page)


async def first_in_view(page: Page) -> tuple[str, float]:
    """Return the text of the first message that the reader sees whole, and where it is."""
    text, at = await page.get_by_test_id("timeline").evaluate(
        """box => {
          const top = (row) => row.getBoundingClientRect().top - box.getBoundingClientRect().top;
          const said = [...box.querySelectorAll('article')].filter((row) => row.innerText.includes('Event number'));
          const first = said.filter((row) => top(row) >= 0).sort((one, other) => top(one) - top(other))[0];
          return [/Event number \\d+/.exec(first.innerText)[0], top(first)];
        }"""
    )
    return str(text), float(at)


async def expect_in_view(page: Page, text: str, at: float) -> None:
    """Expect this message to be the first in view, at the same place."""
    await expect(page.get_by_role("feed").get_by_text(text, exact=True)).to_be_in_viewport()
    await loaded(page)
    now = await first_in_view(page)
    assert now[0] == text
    assert abs(now[1] - at) < 3


async def test_reader_in_the_middle_stays_there_when_the_daemon_restarts(
    world: World, browser: Browser, port: str
) -> None:
    await fill(world, 200)
    async with world.serve(HOB_DASHBOARD_PORT=port) as daemon:
        tab = await open_tab(world, browser, "/timeline")
        page, feed = tab.page, tab.page.get_by_role("feed")
        await tab.go("/timeline")
        await scrolled(page, 2_000)
        text, at = await first_in_view(page)
        daemon.kill()
        await daemon.gone()
    async with world.serve(HOB_DASHBOARD_PORT=port) as daemon:
        await daemon.post("one", session="main")
        new = page.get_by_role("button", name=re.compile(r"^\d+ new$"))
        await expect(new).to_have_text("3 new", timeout=15_000)
        await expect_in_view(page, text, at)
        assert abs(await page.get_by_test_id("timeline").evaluate("box => box.scrollTop") - 2_000) < 3  # none above
        await new.click()
        await expect(feed.get_by_text("one", exact=True)).to_have_count(1)
        await expect(feed.get_by_text("one", exact=True)).to_be_in_viewport()
        assert tab.errors == []


async def test_place_in_the_timeline_is_kept_when_a_trace_is_opened_and_left(world: World, browser: Browser) -> None:
    await fill(world, 400)
    async with world.serve() as daemon:
        tab = await open_tab(world, browser, "/timeline")
        page, feed = tab.page, tab.page.get_by_role("feed")
        await page.clock.install()
        await tab.go("/timeline")
        await scrolled(page, 9_000)
        text, at = await first_in_view(page)
        for arrives, minutes in ((False, 0), (True, 0), (False, 6)):
            await feed.get_by_role("article").filter(has_text=text).get_by_role("link", name="Trace").click()
            await expect(page.get_by_role("listbox", name="Spans")).to_be_visible()
            if arrives:  # it comes above the reader
                await daemon.post("Something new.", session="main")
            if minutes:  # what was read of the timeline is forgotten, and read again
                await page.clock.fast_forward(minutes * 60_000)
            await page.go_back()
            await expect_in_view(page, text, at)
        await page.get_by_role("button", name="Tools").click()
        await expect(feed.get_by_text(text, exact=True)).to_have_count(0)
        await page.get_by_role("button", name="Tools").click()
        await expect_in_view(page, text, at)


async def test_timeline_and_trace_say_how_and_when_an_approval_ended(world: World, browser: Browser) -> None:
    ends = {"allow": "approved by you", "deny": "denied by you", "wait": "expired"}
    for end in ends:
        world.model.script += [
            Reply(calls=(("exec", json.dumps({"command": f"rm -rf {end}"})),)),
            Reply(f"Ready: {end}."),
        ]
    traces: dict[str, str] = {}
    async with world.serve() as daemon:
        for end in ends:
            asked = (await daemon.post("Clean up.", session=end)).json()
            traces[end], id = asked["trace_id"], asked["approvals"][0]
            if end != "wait":
                async with at_the_socket(world) as client:
                    answer = await client.post(f"/approvals/{id}", json={"allowed": end == "allow"})
                    answer.raise_for_status()
                await daemon.get(asked["id"], wait=20)
    async with open_store(world.home, StoreSettings(), SystemClock()) as store:
        await store.approvals.expire(ApprovalId(id))
    async with world.serve() as daemon:
        tab = await open_tab(world, browser, "/timeline")
        page = tab.page
        for end, word in ends.items():
            await expect(page.get_by_role("article", name="approval exec").filter(has_text=word)).to_have_count(1)
            await tab.go(f"/trace/{traces[end]}")
            asked_row = page.get_by_role("option").filter(has_text="waited")
            at = r", (\w+ )?\d+:\d\d"
            await expect(asked_row).to_contain_text(re.compile(word + at))
            await asked_row.click()
            await expect(page.locator("[data-approval]")).to_contain_text(re.compile(word + at))
            await tab.go("/timeline")
        assert tab.errors == []


async def test_events_that_came_while_the_timeline_was_shown_are_there_after_it_was_left(
    world: World, browser: Browser
) -> None:
    async with world.serve() as daemon:
        tab = await open_tab(world, browser, "/timeline")
        asked = tab.page.get_by_role("feed").get_by_text("one", exact=True)
        await expect(tab.page.get_by_role("banner")).to_contain_text("live")
        await daemon.post("one", session="main")
        await expect(asked).to_be_visible()
        await expect(tab.page.get_by_role("article", name="answer api")).to_be_visible()
        await loaded(tab.page)
        await tab.go("/costs")
        await tab.go("/timeline")
        await expect(asked).to_be_visible()
        assert tab.errors == []


async def test_timeline_is_read_again_when_an_older_database_was_restored(
    world: World, browser: Browser, port: str
) -> None:
    async with world.serve(HOB_DASHBOARD_PORT=port) as daemon:
        await daemon.post("one", session="main")
        tab = await open_tab(world, browser, "/timeline")
        feed = tab.page.get_by_role("feed")
        await expect(tab.page.get_by_role("banner")).to_contain_text("live")
        await expect(feed.get_by_text("one", exact=True)).to_be_visible()
    older = {file: file.read_bytes() for file in world.home.glob("*.db*")}
    async with world.serve(HOB_DASHBOARD_PORT=port) as daemon:
        await daemon.post("two", session="main")
        await expect(feed.get_by_text("two", exact=True)).to_be_visible(timeout=15_000)
        await daemon.post("three", session="main")  # this one is heard, that one may have been read
        await expect(feed.get_by_text("three", exact=True)).to_be_visible()
    for file in world.home.glob("*.db*"):
        file.unlink()
    for file, content in older.items():
        file.write_bytes(content)
    async with world.serve(HOB_DASHBOARD_PORT=port):
        for text in ("two", "three"):
            await expect(feed.get_by_text(text, exact=True)).to_have_count(0, timeout=15_000)
        await expect(feed.get_by_text("one", exact=True)).to_have_count(1)
        assert tab.errors == []


async def test_deleted_conversation_leaves_an_open_timeline(world: World, browser: Browser) -> None:
    async with world.serve() as daemon:
        tab = await open_tab(world, browser, "/timeline")
        await expect(tab.page.get_by_role("banner")).to_contain_text("live")
        await daemon.post("Water the roses.", session="api:one")
        said = tab.page.get_by_role("article", name="message api").get_by_text("Water the roses.")
        await expect(said).to_be_visible()
        async with at_the_socket(world) as client:
            (await client.post("/sessions/delete", json={"session": "api:one"})).raise_for_status()
        await expect(said).to_have_count(0)
        assert tab.errors == []
