"""A plug-in's page in Chromium: what it may request, and nothing else."""

import asyncio
import re
import zipfile
from pathlib import Path

from playwright.async_api import Browser, expect

from tests.app.plugins.test_plugins import EXAMPLES, wheel
from tests.dashboard.conftest import open_tab
from tests.journeys.world import World

GREEDY = """
const tried = [];
const attempt = async (name, does) => {
  try { tried.push(`${name}: ${await does()}`); } catch (error) { tried.push(`${name}: no`); }
};
let last = 0;
const ask = (path) => new Promise((done) => {
  const id = ++last;
  addEventListener("message", ({ data }) => { if (data.id === id) done(data.error ?? Object.keys(data.value)); });
  parent.postMessage({ id, get: path }, "*");
});
(async () => {
  await attempt("own", () => ask("/api/v1/sundial"));
  await attempt("settings", () => ask("/api/v1/settings"));
  await attempt("around", () => ask("/api/v1/sundial/../settings"));
  await attempt("cookie", () => document.cookie);
  await attempt("storage", () => localStorage.length);
  await attempt("parent", () => parent.document.title);
  await attempt("fetch", () => fetch("/api/v1/sundial").then((found) => found.status));
  document.getElementById("hour").textContent = tried.join("; ");
})();
"""
REFUSED = "this page may not ask for that"


def site_of(folder: Path, name: str = "sundial") -> Path:
    """Install an example into a folder."""
    with zipfile.ZipFile(wheel(EXAMPLES / f"hob-{name}", folder)) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


async def test_page_of_a_plugin_shows_the_data_that_it_declared(world: World, browser: Browser, tmp_path: Path) -> None:
    site = str(site_of(tmp_path))
    assert (await world.hob("plugins", "enable", "sundial", "--yes", PYTHONPATH=site)).status == 0
    async with world.serve(PYTHONPATH=site):
        tab = await open_tab(world, browser)
        await tab.page.get_by_role("navigation").get_by_role("link", name="Sundial").click()
        shown = tab.page.frame_locator("iframe[title=Sundial]")
        await expect(shown.get_by_role("status")).to_contain_text("The shadow stands at")
        assert tab.errors == []


async def test_page_of_a_plugin_reaches_nothing_else(world: World, browser: Browser, tmp_path: Path) -> None:
    site = site_of(tmp_path)
    (site / "hob_sundial" / "view" / "sundial.js").write_text(GREEDY)
    assert (await world.hob("plugins", "enable", "sundial", "--yes", PYTHONPATH=str(site))).status == 0
    async with world.serve(PYTHONPATH=str(site)):
        tab = await open_tab(world, browser, "/view/sundial")
        await expect(tab.page.frame_locator("iframe").get_by_role("status")).to_have_text(
            f"own: hour; settings: {REFUSED}; around: {REFUSED}; cookie: no; storage: no; parent: no; fetch: no"
        )


async def test_channel_that_fails_says_why_until_it_runs_again(world: World, browser: Browser, tmp_path: Path) -> None:
    site, folder = str(site_of(tmp_path, "postbox")), tmp_path / "letters"
    folder.write_text("in the way of the folder")
    assert (await world.hob("plugins", "enable", "postbox", "--yes", PYTHONPATH=site)).status == 0
    async with world.serve(PYTHONPATH=site, HOB_POSTBOX_FOLDER=str(folder)):
        tab = await open_tab(world, browser, "/settings?tab=channels")
        channel = tab.page.locator("#main").get_by_text("postbox").locator("xpath=..")
        await expect(channel).to_contain_text("failing")
        await expect(channel).to_contain_text("NotADirectoryError")
        folder.unlink()
        async with asyncio.timeout(20):
            while "NotADirectoryError" in await channel.inner_text():
                await tab.go("/settings?tab=models")
                await tab.go("/settings?tab=channels")
                await expect(channel).to_contain_text(re.compile("failing|running"))
        await expect(channel).not_to_contain_text("NotADirectoryError")
        assert tab.errors == []
