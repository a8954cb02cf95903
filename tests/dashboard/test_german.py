"""The German page, also on a phone 360 pixels wide, where German words are the longest."""

import re
from pathlib import Path

from playwright.async_api import Browser, Page, expect

from hob.core.clock import SystemClock
from hob.core.content.file_limits import LARGEST_FILE
from hob.guard.audit.entries import of_approval
from hob.store.settings import StoreSettings
from hob.store.store import open_store
from hob.testing.model_server import Fault, Reply
from tests.dashboard.conftest import watch
from tests.dashboard.scene import ASKED, at_the_socket, link_of, scene
from tests.dashboard.screenshots import go
from tests.journeys.world import World


async def test_codes_and_messages_are_shown_in_german(world: World, browser: Browser) -> None:
    async with scene(world) as (daemon, _):
        world.model.script.append(Reply(fault=Fault.FILTERED))
        await daemon.post("What fails.", session="failing")
        page, errors = await on_a_phone(world, browser, width=1200)
        main = page.locator("#main")
        await expect(main.get_by_text("Modell: fake-1 (aus deinen Einstellungen)")).to_be_visible()
        await expect(main.get_by_text("keine Antwort: der Anbieter des Modells hat es gesperrt")).to_be_visible()
        await go(page, "/trust?tab=audit")
        rows = main.get_by_role("table")
        await expect(rows).to_contain_text("Entscheidung")
        await expect(rows).to_contain_text("braucht deine Freigabe")
        await expect(rows.get_by_text(re.compile("^(allow|ask|deny|decision|approval|action)$"))).to_have_count(0)
        await go(page, "/timeline?technical=true")
        await expect(main.get_by_text("wartet", exact=True).first).to_be_visible()
        await expect(main.get_by_text(re.compile("^(parked|ready|running|done)$"))).to_have_count(0)
        await go(page, "/trace/0123456789abcdef")
        await expect(page.get_by_role("alert")).to_contain_text("kein Trace hat diese ID")
        assert errors == []


async def test_rules_sections_and_ends_of_approvals_are_shown_in_german(world: World, browser: Browser) -> None:
    world.model.script += [ASKED[2], Reply("Not done.")]
    async with world.serve() as daemon:
        asked = (await daemon.post("Clean up.", session="main")).json()
    async with open_store(world.home, StoreSettings(), SystemClock()) as store:
        note = "there was no answer in time"
        await store.approvals.expire(asked["approvals"][0], note, of_approval)
    async with world.serve() as daemon:
        assert (await daemon.get(asked["id"], wait=20))["reply"] == "Not done."
        page, errors = await on_a_phone(world, browser, width=1200)
        await go(page, "/trust?tab=audit")
        rows = page.get_by_role("table")
        await expect(rows).to_contain_text("es kam rechtzeitig keine Antwort")
        await expect(rows).to_contain_text("Der Modus der Unterhaltung")
        await expect(rows.get_by_text(re.compile("conversation's mode|no answer in time"))).to_have_count(0)
        await go(page, f"/trace/{asked['trace_id']}")
        details = page.get_by_role("region", name="Einzelheiten")
        await expect(details.get_by_role("button", name="Einschätzung")).to_be_visible()
        await expect(details.get_by_role("button", name=re.compile("profile|summary|tools"))).to_have_count(0)
        assert errors == []


async def test_number_is_entered_and_shown_with_a_decimal_comma(world: World, browser: Browser) -> None:
    async with world.serve():
        page, errors = await on_a_phone(world, browser)
        await go(page, "/settings?find=spending.daily")
        limit = page.get_by_label("spending.daily", exact=True)
        await limit.fill("0,5")
        await page.get_by_role("button", name="Speichern").click()
        await expect(page.get_by_role("button", name="Speichern")).to_have_count(0)
        await expect(limit).to_have_value("0,5")
        async with at_the_socket(world) as client:
            settings = (await client.get("/settings")).json()["settings"]
        assert {each["key"]: each["value"] for each in settings}["spending.daily"] == 0.5
        assert errors == []


async def test_german_page_fits_a_phone_360_pixels_wide(world: World, browser: Browser, tmp_path: Path) -> None:
    async with world.serve() as daemon:
        world.model.script.append(ASKED[2])
        await daemon.post("Clean up.", session="main")
        world.model.script.append(Reply("A long story that " + "goes on and " * 60 + "ends.", pause=0.2))
        page, errors = await on_a_phone(world, browser)
        await go(page, "/chat?session=api:other")
        await page.get_by_label("Nachricht an Hob").fill("Erzähl mir etwas.")
        await page.get_by_role("button", name="Senden").click()
        stop = page.locator("form").get_by_role("button", name="Anhalten")
        await expect(stop).to_be_in_viewport(ratio=1)
        large = tmp_path / "large.bin"
        with large.open("wb") as file:
            file.truncate(LARGEST_FILE + 1)
        await page.locator("input[type=file]").set_input_files(large)
        told = page.get_by_role("alert").filter(has_text="large.bin")
        await expect(told).to_contain_text(
            "large.bin wurde nicht angehängt: sie ist zu groß. Eine Datei darf höchstens 25 MB haben."
        )
        await expect(told).to_be_in_viewport(ratio=1)
        await fits(page)
        await stop.click()
        await go(page, "/trust?tab=sandbox")
        card = page.get_by_role("region", name="Sandbox für Befehle").locator("p").first
        assert (await card.bounding_box() or {"width": 0})["width"] > 200
        await go(page, "/trust?tab=audit")
        await expect(page.get_by_role("table").get_by_text("braucht deine Freigabe").first).to_be_in_viewport(ratio=1)
        await fits(page)
        assert errors == []


async def fits(page: Page) -> None:
    """Assert that nothing is wider than the screen."""
    assert await page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")


async def on_a_phone(world: World, browser: Browser, width: int = 360) -> tuple[Page, list[str]]:
    """Return a signed-in German page and its errors."""
    errors: list[str] = []
    context = await browser.new_context(
        locale="de-DE", reduced_motion="reduce", viewport={"width": width, "height": 740}, service_workers="block"
    )
    page = await context.new_page()
    watch(page, errors)
    await page.goto(await link_of(world))
    await page.locator("#main").wait_for()
    return page, errors
