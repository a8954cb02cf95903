"""A trace's parts, in a browser."""

import json
import re
from datetime import UTC, datetime

from playwright.async_api import Browser, expect

from hob.core.clock import SystemClock
from hob.store.settings import StoreSettings
from hob.store.store import open_store
from hob.testing.model_server import Reply
from tests.dashboard.conftest import open_tab
from tests.journeys.world import World

RUN = json.dumps({"command": "echo what the command gave"})


async def test_each_part_of_a_prompt_opens_its_text_with_untrusted_parts_framed(world: World, browser: Browser) -> None:
    world.model.script.extend([Reply(calls=(("exec", RUN),)), Reply("It ran.")])
    async with world.serve() as daemon:
        trace = (await daemon.post("Run it, please.", session="main")).json()["trace_id"]
        tab = await open_tab(world, browser, f"/trace/{trace}")
        page = tab.page
        await page.get_by_role("option").filter(has_text="model asked").last.click()
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


async def test_what_retention_erased_is_said_with_its_day(world: World, browser: Browser) -> None:
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
        for span in ("model asked", "exec"):
            await page.get_by_role("option").filter(has_text=span).first.click()
            await expect(details.get_by_text(today)).to_be_visible()
        await page.get_by_role("option").filter(has_text="message").click()
        await expect(details).to_contain_text("Run it, please.")
        assert tab.errors == []


async def test_call_tells_its_argument_why_it_was_allowed_and_the_rest_of_its_output_on_demand(
    world: World, browser: Browser
) -> None:
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
        await expect(details).to_contain_text("It may: reach other computers or people, run programs")
        framed = details.locator(".tainted")
        await expect(framed).to_contain_text("this is line 1")
        await expect(framed).not_to_contain_text("this is line 4500")
        await details.get_by_role("button", name="Show all of it").click()
        await expect(framed).to_contain_text("this is line 4500")
        await expect(details.get_by_role("link", name="Save exec.txt")).to_be_visible()
        assert tab.errors == []
