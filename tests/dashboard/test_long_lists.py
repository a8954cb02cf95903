"""Lists of more rows than a page should hold, in a browser."""

import json
import time

from playwright.async_api import Browser, expect

from tests.dashboard.conftest import open_tab
from tests.dashboard.scene import DAY, at_the_socket, facts
from tests.journeys.world import World

MOST_ROWS = 100


async def test_many_facts_keep_few_rows_in_the_page_and_are_all_reached(world: World, browser: Browser) -> None:
    async with world.serve():
        now = time.time()
        first, *_ = facts(now)
        lines = []
        for n in range(1500):
            told = {"subject": f"Guest {n:04}", "valid_to": None, "recorded_from": now - 5 * DAY}
            said = {"text": f"Guest {n:04} works at Siemens: “So it is, {n}.”", "at": now - 5 * DAY}
            lines.append(json.dumps({**first, **said, "fact": {**first["fact"], **told, "change": f"change {n}"}}))
        async with at_the_socket(world) as client:
            (await client.post("/memory/import", json={"text": "\n".join(lines)})).raise_for_status()
        tab = await open_tab(world, browser, "/memory?show=facts")
        page = tab.page
        rows = page.get_by_role("list", name="Facts and when they apply").get_by_role("listitem")
        await expect(rows.filter(has_text="Guest 0003")).to_be_visible()
        await expect(rows.first).to_have_attribute("aria-posinset", "1")
        assert await rows.count() <= MOST_ROWS
        await page.get_by_role("region", name="Memory").focus()
        await page.keyboard.press("End")
        await expect(rows.filter(has_text="Guest 1499")).to_be_in_viewport()
        await expect(rows.filter(has_text="Guest 1499")).to_have_attribute("aria-posinset", "1500")
        assert await rows.count() <= MOST_ROWS
        assert tab.errors == []


async def test_long_log_keeps_few_rows_in_the_page(world: World, browser: Browser) -> None:
    async with world.serve():
        with (world.home / "logs" / "hob.log").open("a") as log:
            for n in range(250):
                log.write(f"2026-11-28T10:{n // 60:02}:{n % 60:02}.000+00:00 INFO hob.test - Line {n}.\n")
        tab = await open_tab(world, browser, "/settings?tab=log")
        page = tab.page
        rows = page.get_by_role("region", name="Log").get_by_role("listitem")
        await expect(rows.filter(has_text="Line 240.")).to_be_visible()
        await expect(rows.first).to_have_attribute("aria-posinset", "1")
        assert await rows.count() <= MOST_ROWS
        await page.get_by_role("region", name="Log").focus()
        await page.keyboard.press("End")
        await expect(rows.filter(has_text="Line 0.")).to_be_in_viewport()
        assert await rows.count() <= MOST_ROWS
        assert tab.errors == []
