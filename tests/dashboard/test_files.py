"""Files in a browser: those of messages and of the work repository, in the browser's own viewers."""

import json
from pathlib import Path

from playwright.async_api import Browser, Locator, expect

from hob.testing.model_server import Reply
from hob.workspace.repositories import begin_repository
from tests.dashboard.conftest import open_tab
from tests.dashboard.test_browser import say
from tests.gateway.dashboard.test_dashboard import PNG
from tests.journeys.world import World
from tests.tools.documents.samples import pdf

BILL = pdf("Bill 7: 14 euros")


def write_work(world: World, name: str, data: bytes) -> None:
    """Write a file into the work repository."""
    folder = world.root / "hob" / "work"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)
    assert (folder / ".git").exists() or begin_repository(folder)


async def expect_pdf(within: Locator) -> None:
    """The frame in there has loaded a PDF, which the browser's viewer shows."""
    frame = await (await within.locator("iframe").element_handle()).content_frame()
    assert frame is not None
    await frame.wait_for_function("() => document.contentType === 'application/pdf'")


async def test_pdf_of_a_message_opens_in_the_browsers_viewer(world: World, full_browser: Browser) -> None:
    async with world.serve():
        write_work(world, "bill.pdf", BILL)
        tab = await open_tab(world, full_browser, "/chat?session=api:bills")
        page = tab.page
        world.model.script.extend(
            [
                Reply(calls=(("load_tools", '{"names": ["messages"]}'),)),
                Reply(calls=(("message", json.dumps({"action": "send", "file": "bill.pdf", "text": "The bill."})),)),
                Reply("There it is."),
            ]
        )
        await say(page, "Send me the bill.")
        await expect(page.get_by_test_id("conversation").get_by_text("There it is.")).to_be_visible()
        await page.locator("[data-message]").get_by_role("button", name="bill.pdf").click()
        dialog = page.get_by_role("dialog")
        await expect(dialog.get_by_title("bill.pdf")).to_be_visible()
        await expect_pdf(dialog)
        async with page.expect_download() as saving:
            await dialog.get_by_role("link", name="Save bill.pdf").click()
        saved = await saving.value
        assert saved.suggested_filename == "bill.pdf"
        assert Path(await saved.path()).read_bytes() == BILL
        assert tab.errors == []


async def test_pdf_and_image_of_the_work_repository_are_shown(world: World, full_browser: Browser) -> None:
    async with world.serve():
        for name, data in (("bill.pdf", BILL), ("dot.png", PNG), ("data.bin", b"\0\1\2")):
            write_work(world, name, data)
        tab = await open_tab(world, full_browser, "/files")
        page = tab.page
        main = page.locator("#main")
        await main.get_by_role("button", name="bill.pdf").click()
        await expect(main.get_by_title("bill.pdf")).to_be_visible()
        await expect_pdf(main)
        await main.get_by_role("button", name="dot.png").click()
        await expect(main.get_by_role("img", name="dot.png")).to_be_visible()
        await main.get_by_role("button", name="data.bin").click()
        await expect(main.get_by_text("This file has no preview. Save it to open it.")).to_be_visible()
        await expect(main.get_by_role("link", name="Save data.bin")).to_be_visible()
        assert tab.errors == []


async def test_file_is_found_by_its_name(world: World, full_browser: Browser) -> None:
    async with world.serve():
        write_work(world, "bill.pdf", BILL)
        write_work(world, "other.txt", b"else")
        tab = await open_tab(world, full_browser, "/files")
        main = tab.page.locator("#main")
        await main.get_by_role("searchbox", name="Search in files").fill("bill.pdf")
        await expect(main.get_by_role("button", name="other.txt")).to_have_count(0)
        await main.get_by_role("button", name="bill.pdf").click()
        await expect(main.get_by_title("bill.pdf")).to_be_visible()
