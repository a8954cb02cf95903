"""Lighthouse's scores of the dashboard's places, signed in, on its phone and its desktop."""

import asyncio
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from playwright.async_api import async_playwright

from benchmarks.bench import Bench
from benchmarks.rows import Row
from tests.dashboard.scene import link_of, scene
from tests.dashboard.screenshots import CHROMIUM
from tests.journeys.world import open_world

PLACES = ("/", "/chat", "/timeline", "/memory", "/work", "/files", "/trust", "/costs", "/settings", "/canvas")
SUBJECTS = ("performance", "accessibility", "best-practices")
LEAST = 95


def measure(bench: Bench) -> Iterator[Row]:
    """Yield the lowest score of each subject and the place that has it."""
    program = shutil.which("lighthouse")
    if not program or not CHROMIUM:
        print("Lighthouse is not measured: install Chromium, and `npm install --global lighthouse`", file=sys.stderr)
        return
    for form in ("phone", "desktop"):
        scores = asyncio.run(_scores(program, form, PLACES[: bench.times(len(PLACES), 2)]))
        for subject in SUBJECTS:
            place = min(scores, key=lambda each: scores[each][subject])
            score = scores[place][subject]
            yield Row(
                f"Lighthouse, {form}, {subject}, the lowest of {len(scores)} places: {place}",
                score,
                "",
                LEAST,
                at_least=True,
            )


async def _scores(program: str, form: str, places: tuple[str, ...]) -> dict[str, dict[str, int]]:
    """Return the scores of each place. Its browser is signed in and has been there before, as the owner's has."""
    async with open_world() as world, scene(world), async_playwright() as playwright:
        with tempfile.TemporaryDirectory() as profile:
            flags = ["--no-sandbox", "--remote-debugging-port=0"]
            browser = await playwright.chromium.launch_persistent_context(profile, executable_path=CHROMIUM, args=flags)
            port = (Path(profile) / "DevToolsActivePort").read_text("utf-8").split()[0]
            page = await browser.new_page()
            url = await link_of(world)
            await page.goto(url)
            await page.locator("#main").wait_for()
            base = url.partition("/#")[0]
            found = {place: await asyncio.to_thread(_score, program, form, base + place, port) for place in places}
            await browser.close()
            return found


def _score(program: str, form: str, url: str, port: str) -> dict[str, int]:
    """Return the scores of one page, from 0 to 100. A browser that recorded nothing is asked again, twice."""
    command = [program, url, f"--port={port}", "--disable-storage-reset", "--quiet", "--output=json"]
    command += [f"--only-categories={','.join(SUBJECTS)}", *(["--preset=desktop"] if form == "desktop" else [])]
    for _ in range(3):
        ran = subprocess.run(command, stdout=subprocess.PIPE, check=False)
        if ran.returncode == 0:
            found = json.loads(ran.stdout)["categories"]
            if all(found[each]["score"] is not None for each in SUBJECTS):
                return {each: round(found[each]["score"] * 100) for each in SUBJECTS}
    raise RuntimeError(f"Lighthouse gave no scores for {url}")
