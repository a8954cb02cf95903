"""Screenshots of every view, in each theme and size: `python -m tests.dashboard.screenshots FOLDER [VIEW ...]`.

Without a folder it renews the ten compressed pictures of the manual: `python -m tests.dashboard.screenshots`.
"""

import asyncio
import base64
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
    "chat-rename": "/chat?session=api:weekend",
    "chat-erase": "/chat?session=api:weekend",
    "chat-archive": "/chat?session=api:weekend",
    "chat-approval": "/chat?session=api:main",
    "timeline": "/timeline",
    "trace": "/timeline",
    "memory": "/memory",
    "memory-facts": "/memory?show=facts",
    "memory-goals": "/memory?show=goals",
    "memory-inside": "/memory?show=inside",
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
    "tools": "/trust?tab=tools",
    "explain": "/trust?tab=explain",
    "people": "/trust?tab=people",
    "secrets": "/trust?tab=secrets",
    "sandbox": "/trust?tab=sandbox",
    "costs": "/costs",
    "settings": "/settings",
    "models": "/settings?tab=models",
    "connect": "/settings?tab=models",
    "delivery": "/settings?tab=delivery",
    "phone": "/settings?tab=phone",
    "channels": "/settings?tab=channels",
    "plugins": "/settings?tab=plugins",
    "log": "/settings?tab=log",
    "doctor": "/settings?tab=doctor",
    "palette": "/timeline",
    "keys": "/timeline",
    "forget": "/memory?query=weekend",
    "login": "/",
}
MANUAL = {
    "home-light": ("home", "desktop", "light"),
    "chat-dark": ("chat", "desktop", "dark"),
    "timeline-light": ("timeline", "desktop", "light"),
    "trace-light": ("trace", "desktop", "light"),
    "trace-graph-dark": ("trace-graph", "desktop", "dark"),
    "memory-dark": ("memory-search", "desktop", "dark"),
    "files-light": ("files-changes", "desktop", "light"),
    "costs-dark": ("costs", "desktop", "dark"),
    "trust-phone-light": ("trust", "phone", "light"),
    "memory-phone-light": ("memory-facts", "phone", "light"),
}
IMAGES = Path(__file__).parents[2] / "docs" / "images"
HELD = "held"
"""Taken last, since it stops everything."""
_PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
_DOWNLOADED = Path.home() / ".cache" / "ms-playwright"
CHROMIUM = next(filter(None, map(shutil.which, _PROGRAMS)), None) or str(
    next(_DOWNLOADED.glob("chromium-*/chrome-*/chrome"), "")
)
"""The system's Chromium, else the one that `make test` has Playwright download; empty if there is none."""
HEADLESS = shutil.which("chromium-headless-shell") or str(
    next(_DOWNLOADED.glob("chromium_headless_shell-*/chrome-*/headless_shell"), CHROMIUM)
)
"""Chromium without its windows if there is one: a page costs a third less."""


@asynccontextmanager
async def chromium(*flags: str, program: str = CHROMIUM) -> AsyncIterator[Browser]:
    """Launch Chromium without a window."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=program, args=["--no-sandbox", *flags])
        yield browser
        await browser.close()


async def take(world: World, browser: Browser, folder: Path, views: Collection[str]) -> None:
    """Take one picture per view, theme and size."""
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
                if view in VIEWS and view != "login":
                    await show(page, view)
                    await page.screenshot(path=folder / f"{view}-{size}-{theme}.png")
            if HELD in views:
                await held(page, base)
                await page.screenshot(path=folder / f"{HELD}-{size}-{theme}.png")
                await page.get_by_role("button", name="Resume").click()
            await context.close()


async def renew(world: World, browser: Browser) -> None:
    """Renew the manual's pictures, as WebP."""
    for name, (view, size, theme) in MANUAL.items():
        context = await browser.new_context(
            viewport=SIZES[size], color_scheme="dark" if theme == "dark" else "light", locale="en-US",
            reduced_motion="reduce",
        )  # fmt: skip
        page = await context.new_page()
        url = await link_of(world)
        await page.goto(url)
        await page.locator("#main").wait_for()
        await show(page, view)
        wanted = {"format": "webp", "quality": 72}
        taken = await (await context.new_cdp_session(page)).send("Page.captureScreenshot", wanted)
        (IMAGES / f"{name}.webp").write_bytes(base64.b64decode(taken["data"]))
        await context.close()


_COUNT_REQUESTS = """() => {
  if ('requests' in window) return;
  window.requests = 0;
  const plain = window.fetch;
  window.fetch = async (...asked) => {
    window.requests += 1;
    try { return await plain(...asked); } finally { window.requests -= 1; }
  };
}"""
_LOADED = """() => new Promise((done) => {
  let calm = 0;
  const look = () => {
    const waits = window.requests || document.querySelector('.skeleton, .prose > .whitespace-pre-wrap');
    calm = waits ? 0 : calm + 1;
    if (calm > 3) done(); else setTimeout(look, 20);
  };
  look();
})"""


async def go(page: Page, path: str) -> None:
    """Go to a place as the page's links do, and wait until it has loaded: a tenth of what loading the page costs."""
    if await page.get_by_role("dialog").count():  # it would stay open
        await page.reload()
        await page.locator("#main").wait_for()
    await page.evaluate(_COUNT_REQUESTS)
    for each in ("/elsewhere", path):  # a place of its own state begins anew
        await page.evaluate("path => history.pushState(null, '', path)", each)
    await loaded(page)


async def loaded(page: Page) -> None:
    """Wait until no request is open, nor a part of the page or a renderer still missing."""
    await page.evaluate(_LOADED)


async def show(page: Page, view: str, *, nth: int | None = None) -> None:
    """Open a view of the signed-in page and wait until it has loaded."""
    await go(page, VIEWS[view])
    if view.startswith("trace"):
        messages = page.get_by_role("article", name="message")
        if nth is None and "?" not in VIEWS[view]:
            messages = messages.filter(has_text="How much disk space")  # its turn used tools, so it has two model calls
        await messages.nth(nth or 0).get_by_role("link", name="Trace").click()
        await page.get_by_role("listbox").wait_for()
    if view == "trace-replay":
        await page.get_by_role("button", name="Replay", exact=True).click()
        await expect(page.get_by_role("region", name="Replay").get_by_label("Model")).to_be_visible()
    if view.startswith("chat-") and view != "chat-approval":
        await _conversation(page, view.removeprefix("chat-"))
    if view == "palette":
        await page.keyboard.press("Control+k")
        await page.get_by_role("dialog").get_by_role("combobox").fill("potsdam")
        await expect(page.get_by_role("dialog").get_by_role("option").first).to_be_visible()
    if view == "keys":
        await page.keyboard.press("?")
        await page.get_by_role("dialog").wait_for()
    if view == "forget":
        await page.get_by_role("article", name="memory").first.get_by_role("button").first.click()
        await page.get_by_role("button", name="Forget…").first.click()
        await page.get_by_role("dialog").get_by_role("button", name="Forget", exact=True).wait_for()
    if view == "connect":
        await page.get_by_text("Connect another model").click()
    if view == "trace-graph":
        await page.get_by_role("button", name="Graph").click()
    await loaded(page)


async def _conversation(page: Page, act: str) -> None:
    """Open an action of the conversation, which on a phone is behind a button, without performing it."""
    behind = page.get_by_role("button", name="Conversations", exact=True)
    if await behind.is_visible():
        await behind.click()
    name = {"rename": "Rename", "erase": "Delete", "archive": "Archived conversations"}[act]
    await page.get_by_role("button", name=name).locator("visible=true").click()


async def held(page: Page, base: str) -> None:
    """Pause everything: a banner above each place."""
    await page.goto(f"{base}/work")
    await page.get_by_role("button", name="Stop everything").click()
    await page.get_by_role("button", name="Yes").click()
    await expect(page.get_by_text("Everything is paused.")).to_be_visible()


async def main(folder: Path | None, views: Collection[str]) -> None:
    async with open_world() as world, scene(world), chromium() as browser:
        if folder is None:
            await renew(world, browser)
            return
        folder.mkdir(parents=True, exist_ok=True)
        wanted = views or [*VIEWS, HELD]
        await take(world, browser, folder, [view for view in wanted if view != HELD])
        if HELD in wanted:
            await take(world, browser, folder, [HELD])


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]) if len(sys.argv) > 1 else None, sys.argv[2:]))
