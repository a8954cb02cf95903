"""The dashboard of an installation: only the files that git tracks, and no Node."""

import re
import shutil
import subprocess
from pathlib import Path

import httpx2

from tests.dashboard.scene import dashboard_of
from tests.journeys.world import World

ROOT = Path(__file__).parents[2]
MARK = "<!-- installed -->"


async def test_installed_package_serves_the_dashboard_without_node(world: World, tmp_path: Path) -> None:
    site, programs = tmp_path / "site", tmp_path / "bin"
    install(site)
    programs.mkdir()
    (programs / "git").symlink_to(str(shutil.which("git")))
    async with world.serve(PYTHONPATH=str(site), PATH=str(programs)), httpx2.AsyncClient() as client:
        base = await dashboard_of(world)
        html = (await client.get(base)).raise_for_status().text
        assert html.endswith(MARK)
        files = re.findall(r'(?:src|href)="(/[^"]+)"', html)
        assert any(each.startswith("/app/") for each in files)
        for each in files:
            (await client.get(f"{base}{each}")).raise_for_status()


def install(site: Path) -> None:
    """Copy what a wheel would contain, and mark its page."""
    tracked = subprocess.run(["git", "ls-files", "-z", "src/hob"], cwd=ROOT, check=True, capture_output=True, text=True)
    for name in filter(None, tracked.stdout.split("\0")):
        copy = site / Path(name).relative_to("src")
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, copy)
    page = site / "hob" / "gateway" / "static" / "index.html"
    page.write_text(page.read_text("utf-8") + MARK, "utf-8")
