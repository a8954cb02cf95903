"""The dashboard of an installation: the wheel, without Node."""

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import httpx2

from tests.dashboard.scene import dashboard_of
from tests.journeys.world import World

ROOT = Path(__file__).parents[2]
MARK = "<!-- installed -->"


async def test_wheel_serves_the_dashboard_without_node(world: World, tmp_path: Path) -> None:
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
        parts = [f"/app/{each.name}" for each in (ROOT / "src/hob/gateway/static/app").iterdir()]
        for each in (*files, *parts, "/sw.js"):
            (await client.get(f"{base}{each}")).raise_for_status()


def install(site: Path) -> None:
    """Build the wheel, unpack it, which installs a pure one, and mark its page."""
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(site.parent)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True, timeout=100)
    (wheel,) = site.parent.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    page = site / "hob" / "gateway" / "static" / "index.html"
    page.write_text(page.read_text("utf-8") + MARK, "utf-8")
