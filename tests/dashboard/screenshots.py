"""Pictures of every view, in each theme and size: `python -m tests.dashboard.screenshots FOLDER [VIEW ...]`."""

import asyncio
import shutil
import sys
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from pathlib import Path

from playwright.async_api import Browser, Page, ViewportSize, async_playwright, expect

from tests.dashboard.scene import link_of, scene
from tests.journeys.world import World, open_world

SIZES: dict[str, ViewportSize] = {
    "desktop": {"width": 1280, "height": 800},
    "phone": {"width": 390, "height": 844},
}
VIEWS = {
    "home": "/",
    "chat": "/chat?session=api:weekend",
    "chat-approval": "/chat?session=api:main",
    "timeline": "/timeline",
    "trace": "/timeline",
    "memory": "/memory",
    "memory-search": "/memory?query=weekend",
    "work": "/work",
    "canvas": "/canvas",
    "files": "/files?path=potsdam.md",
    "files-changes": "/files?tab=changes",
    "files-history": "/files?tab=history",
    "trust": "/trust",
    "audit": "/trust?tab=audit",
    "trace-graph": "/timeline",
    "trace-replay": "/timeline",
    "trace-recall": "/timeline?text=Plan+a+weekend",
    "explain": "/trust?tab=explain",
    "people": "/trust?tab=people",
    "costs": "/costs",
    "settings": "/settings",
    "models": "/settings?tab=models",
    "connect": "/settings?tab=models",
    "delivery": "/settings?tab=delivery",
    "phone": "/settings?tab=phone",
    "log": "/settings?tab=log",
    "doctor": "/settings?tab=doctor",
    "login": "/",
}
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome") or ""


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    """The system's Chromium, without a window."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        await browser.close()


async def take(world: World, browser: Browser, folder: Path, views: Collection[str]) -> None:
    """One picture for each view, theme and size."""
    for size, viewport in SIZES.items():
        for theme in ("light", "dark"):
            context = await browser.new_context(
                viewport=viewport,
                color_scheme=theme,
                locale="en-US",
                reduced_motion="reduce",
            )
            page = await context.new_page()
            url = await link_of(world)
            base = url.partition("/#")[0]
            if "login" in views:
                await page.goto(base)
                await page.screenshot(path=folder / f"login-{size}-{theme}.png")
            await page.goto(url)
            await page.locator("#main").wait_for()
            for view in views:
                if view != "login":
                    await show(page, base, view)
                    await page.screenshot(path=folder / f"{view}-{size}-{theme}.png")
            await context.close()


async def show(page: Page, base: str, view: str, *, nth: int = 1) -> None:
    """Go there, and wait until nothing loads any more."""
    await page.goto(f"{base}{VIEWS[view]}")
    await page.locator("#main").wait_for()
    await page.wait_for_load_state("networkidle")
    await expect(page.locator(".skeleton")).to_have_count(0)
    if view.startswith("trace"):
        # the turn with tools: its model was asked twice
        await (
            page.get_by_role("article", name="message")
            .nth(0 if "?" in VIEWS[view] else nth)
            .get_by_role("link", name="Trace")
            .click()
        )
        await page.get_by_role("listbox").wait_for()
    if view == "trace-replay":
        await page.get_by_role("button", name="Replay", exact=True).click()
        await expect(page.get_by_role("region", name="Replay").get_by_label("Model")).to_be_visible()
    if view == "connect":
        await page.get_by_text("Connect another model").click()
    if view == "trace-graph":
        await page.get_by_role("button", name="As a graph").click()


async def main(folder: Path, views: Collection[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    async with open_world() as world, scene(world), chromium() as browser:
        await take(world, browser, folder, views or VIEWS)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2:]))
