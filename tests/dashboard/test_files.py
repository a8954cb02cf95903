"""Files in a browser: those of messages and of the work repository, in the browser's own viewers."""

import asyncio
import json
import subprocess
from pathlib import Path

from playwright.async_api import Browser, Locator, Page, expect

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
    folder = world.work
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


async def test_text_longer_than_its_preview_is_saved_whole(world: World, browser: Browser) -> None:
    whole = b"one of many lines\n" * 20_000
    async with world.serve():
        write_work(world, "long.txt", whole)
        tab = await open_tab(world, browser, "/files?path=long.txt")
        page = tab.page
        await expect(page.get_by_text("truncated")).to_be_visible()
        async with page.expect_download() as saving:
            await page.get_by_role("button", name="Save long.txt").click()
        saved = await saving.value
        assert saved.suggested_filename == "long.txt"
        assert Path(await saved.path()).read_bytes() == whole
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


def git(world: World, *arguments: str) -> str:
    """Run git in the work repository."""
    named = ("-c", "user.name=Anna", "-c", "user.email=anna@localhost")
    ran = subprocess.run(["git", *named, *arguments], cwd=world.work, capture_output=True, text=True, check=True)
    return ran.stdout


async def look_away_and_back(page: Page) -> None:
    """As when another tab was in front."""
    for state in ("hidden", "visible"):
        await page.evaluate(
            "state => { Object.defineProperty(document, 'visibilityState', { value: state, configurable: true });"
            " document.dispatchEvent(new Event('visibilitychange', { bubbles: true })); }",
            state,
        )


async def test_commit_holds_what_was_shown_or_is_refused_with_the_new_diff(world: World, browser: Browser) -> None:
    async with world.serve():
        write_work(world, "notes.md", b"one\n")
        write_work(world, "other.md", b"other\n")
        before = await asyncio.to_thread(git, world, "rev-parse", "HEAD")
        tab = await open_tab(world, browser, "/files?tab=changes")
        page, shown = tab.page, tab.page.get_by_role("region", name="Changes")
        await expect(shown).to_contain_text("one")
        await page.get_by_role("button", name="other.md").click()
        await expect(shown).to_contain_text("other")
        write_work(world, "notes.md", b"what nobody saw\n")
        write_work(world, "late.md", b"late\n")
        await page.get_by_label("Commit message").fill("Notes")
        await page.get_by_role("button", name="Commit 2 files").click()
        await expect(page.get_by_role("alert")).to_contain_text("notes.md is no longer what was shown")
        await expect(shown).to_contain_text("what nobody saw")
        assert await asyncio.to_thread(git, world, "rev-parse", "HEAD") == before
        await page.get_by_label("Commit late.md").uncheck()
        await page.get_by_role("button", name="Commit 2 files").click()
        await expect(page.get_by_role("button", name="Commit 2 files")).to_have_count(0)
        assert await asyncio.to_thread(git, world, "show", "HEAD:notes.md") == "what nobody saw\n"
        assert await asyncio.to_thread(git, world, "ls-tree", "--name-only", "HEAD") == "notes.md\nother.md\n"
        assert tab.errors == []


async def test_change_made_outside_is_shown_when_the_page_is_looked_at_again(world: World, browser: Browser) -> None:
    async with world.serve():
        write_work(world, "notes.md", b"one\n")
        tab = await open_tab(world, browser, "/files?tab=changes")
        page, shown = tab.page, tab.page.get_by_role("region", name="Changes")
        await expect(shown).to_contain_text("one")
        write_work(world, "notes.md", b"two\n")
        write_work(world, "second.md", b"more\n")
        await look_away_and_back(page)
        await expect(shown).to_contain_text("two")
        await expect(page.get_by_role("button", name="second.md")).to_be_visible()
        assert tab.errors == []


MOST_ROWS = 100
MANY = 1500


async def test_many_changed_files_and_a_long_diff_keep_few_rows_in_the_page(world: World, browser: Browser) -> None:
    async with world.serve():
        for n in range(MANY):
            write_work(world, f"file{n:04}.txt", b"text\n")
        write_work(world, "a-long.txt", b"".join(b"line %d\n" % n for n in range(20_000)))
        tab = await open_tab(world, browser, "/files?tab=changes")
        page, shown = tab.page, tab.page.get_by_role("region", name="Changes")
        rows = page.locator("#main li")
        await expect(shown.get_by_text("line 3", exact=True)).to_be_visible()
        await expect(shown.get_by_role("listitem").first).to_have_attribute("aria-posinset", "1")
        assert await rows.count() <= MOST_ROWS
        await shown.focus()
        await page.keyboard.press("End")
        await expect(shown.get_by_text("line 19999", exact=True)).to_be_in_viewport()
        assert await rows.count() <= MOST_ROWS
        await page.get_by_role("checkbox", name="Commit a-long.txt").focus()
        for _ in range(60):  # file by file with the keyboard
            await page.keyboard.press("Tab")
        await expect(page.get_by_role("checkbox", name="Commit file0029.txt")).to_be_focused()
        await page.keyboard.press("Space")
        await expect(page.get_by_role("button", name=f"Commit {MANY} files")).to_be_visible()
        row = page.locator("#main li").filter(has=page.get_by_role("checkbox", name="Commit file0029.txt"))
        await expect(row).to_have_attribute("aria-posinset", "31")
        await expect(row).to_have_attribute("aria-setsize", str(MANY + 1))
        assert await rows.count() <= MOST_ROWS
        await page.get_by_role("button", name="Files", exact=True).click()
        await expect(page.get_by_role("button", name="file0003.txt")).to_be_visible()
        assert await rows.count() <= MOST_ROWS
        await page.get_by_role("button", name="a-long.txt").focus()
        for _ in range(60):
            await page.keyboard.press("Tab")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("heading", name="file0059.txt")).to_be_visible()
        assert await rows.count() <= MOST_ROWS
        assert tab.errors == []
