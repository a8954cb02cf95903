"""Fixtures: one browser for all tests, each with pages of its own; a world whose dashboard keeps its address."""

import os
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page

from tests.dashboard.scene import link_of
from tests.dashboard.screenshots import CHROMIUM, HEADLESS, chromium, go
from tests.journeys.world import World, held_port, open_world

BUILT = Path(__file__).parents[2] / "src" / "hob" / "gateway" / "static" / "index.html"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The tests run in the loop of their browser."""
    for item in items:
        if pytest_asyncio.is_async_test(item) and item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.asyncio(loop_scope="package"), append=False)


@pytest.fixture
def port() -> Iterator[str]:
    """A port reserved for this test: no other process gets it, and nothing listens on it yet."""
    with held_port() as port:
        yield str(port)


@pytest_asyncio.fixture(loop_scope="package")
async def world() -> AsyncIterator[World]:
    async with open_world() as opened:
        yield opened


@pytest_asyncio.fixture(scope="package", loop_scope="package")
async def launched() -> AsyncIterator[Browser]:
    need_chromium()
    no_gain = "--js-flags=--no-opt"  # no page lives long enough to gain from optimised code
    async with chromium(no_gain, program=HEADLESS) as opened:
        yield opened


@pytest_asyncio.fixture(loop_scope="package")
async def browser(launched: Browser) -> AsyncIterator[Browser]:
    yield launched
    for context in launched.contexts:
        await context.close()


@pytest_asyncio.fixture(loop_scope="package")
async def full_browser() -> AsyncIterator[Browser]:
    """Chromium with its PDF viewer and its notifications."""
    need_chromium()
    async with chromium() as opened:
        yield opened


@pytest_asyncio.fixture(loop_scope="package")
async def voice() -> AsyncIterator[Browser]:
    """A browser whose microphone hears a beep."""
    need_chromium()
    async with chromium(
        "--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream", program=HEADLESS
    ) as opened:
        yield opened


def need_chromium() -> None:
    if not CHROMIUM:
        assert not os.environ.get("CI"), "CI has to have Chromium"
        pytest.skip("Chromium is not installed")


@dataclass(frozen=True)
class Tab:
    """A signed-in page and its errors."""

    page: Page
    base: str
    errors: list[str]

    async def go(self, path: str) -> None:
        """Go to a place as the page's links do, without loading the page again."""
        await go(self.page, path)

    async def beside(self, path: str = "/") -> "Tab":
        """Open a second tab in the same browser."""
        errors: list[str] = []
        page = await self.page.context.new_page()
        watch(page, errors)
        await page.goto(f"{self.base}{path}")
        return replace(self, page=page, errors=errors)


def watch(page: Page, errors: list[str]) -> None:
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda said: errors.append(said.text) if "Content Security Policy" in said.text else None)
    page.on("dialog", lambda dialog: errors.append(f"dialog {dialog.message}"))


_LISTED = (
    "() => performance.getEntriesByType('resource').some(e => e.name.endsWith('/approvals/pending') && e.responseEnd)"
)


async def notifications_are_on(tab: Tab) -> None:
    """Enable notifications for a hidden page that already knows the open approvals: only later ones are new."""
    page = tab.page
    await page.context.grant_permissions(["notifications"], origin=tab.base)
    await page.evaluate("() => navigator.serviceWorker.ready.then(() => true)")
    await page.evaluate("() => { document.hasFocus = () => false; }")
    await page.wait_for_function(_LISTED)


_SHOWN = """count => new Promise((done) => {
  const look = async () => {
    const shown = await (await navigator.serviceWorker.ready).getNotifications();
    if (shown.length === count) done(shown.map(({ title, body, data, tag }) => ({ title, body, data, tag })));
    else setTimeout(look, 50);
  };
  look();
})"""


async def notifications(tab: Tab, count: int) -> list[dict[str, str]]:
    """Wait until so many notifications are shown."""
    shown: list[dict[str, str]] = await tab.page.evaluate(_SHOWN, count)
    return shown


PRESS_AT_ONCE = """name => {
  new MutationObserver((_, observer) => {
    const found = [...document.querySelectorAll('#main button')].find((each) => each.textContent.trim() === name);
    if (!found) return;
    observer.disconnect();
    found.click();
    document.body.dataset.pressed = name;
  }).observe(document.body, { childList: true, subtree: true });
}"""
"""Press a button as soon as it is there, like a click that was meant for what was there before."""


async def open_tab(
    world: World, browser: Browser, path: str = "/", *, service_workers: Literal["allow", "block"] = "block"
) -> Tab:
    """Sign in. A service worker, which first fetches all of the page, is for tests of notifications and offline use."""
    errors: list[str] = []
    context = await browser.new_context(locale="en-US", reduced_motion="reduce", service_workers=service_workers)
    page = await context.new_page()
    watch(page, errors)
    base, _, code = (await link_of(world)).partition("/#")
    await page.goto(f"{base}{path}#{code}")
    await page.locator("#main").wait_for()
    return Tab(page, base, errors)
