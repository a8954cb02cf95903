"""Plug-ins are packages: built, installed, enabled and used; one that breaks costs only itself."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import httpx2
import pytest

from hob.app.daemon.unix_http import call
from hob.testing.model_server import ModelServer
from tests.journeys.world import until

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[3] / "examples"
NAMES = ("dice", "postbox", "curfew", "greet", "sundial", "almanac", "logbook", "tally", "broken")


def wheel(project: Path, folder: Path, version: str = "0.1.0") -> Path:
    """What the build backend makes of a project with one package and no generated files."""
    described = tomllib.loads((project / "pyproject.toml").read_text())["project"]
    module = described["name"].replace("-", "_")
    points = "".join(
        f"[{group}]\n" + "".join(f"{name} = {where}\n" for name, where in rows.items())
        for group, rows in described["entry-points"].items()
    )
    info = f"{module}-{version}.dist-info"
    files = {f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {described['name']}\nVersion: {version}\n"}
    files[f"{info}/WHEEL"] = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files[f"{info}/entry_points.txt"] = points
    for source in sorted(each for each in (project / "src").rglob("*.*") if each.suffix != ".pyc" and each.is_file()):
        files[str(source.relative_to(project / "src"))] = source.read_text()
    files[f"{info}/RECORD"] = "".join(f"{name},,\n" for name in (*files, f"{info}/RECORD"))
    path = folder / f"{module}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which every example is installed."""
    folder = tmp_path_factory.mktemp("wheels")
    wheels = [str(wheel(EXAMPLES / f"hob-{name}", folder)) for name in NAMES]
    if find_spec("pip") is None and shutil.which("uv") is None:
        pytest.skip("installs wheels: needs pip in this environment, or uv on PATH")
    pip = [sys.executable, "-m", "pip"] if find_spec("pip") else ["uv", "pip"]  # an environment made by uv has no pip
    command = [*pip, "install", "--no-index", "--no-deps", "-q", "--target", str(folder / "site"), *wheels]
    subprocess.run(command, check=True, capture_output=True, timeout=100)
    return folder / "site"


class House:
    """A home with these packages, and the commands run over it."""

    def __init__(self, root: Path, site: Path) -> None:
        self.home = root / "home"
        self.home.mkdir(mode=0o700)
        self.environ = {
            "TZ": "UTC",
            "PATH": os.environ["PATH"],
            "HOME": str(root),
            "HOB_HOME": str(self.home),
            "HOB_WORKSPACE_PATH": str(root / "w"),
            "HOB_GATEWAY_PORT": "-1",
            "HOB_MODEL_NAME": "m",
            "HOB_MODEL_BASE_URL": "http://127.0.0.1:9/v1",
            "PYTHONPATH": str(site),
        }

    def hob(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "hob", *arguments]
        return subprocess.run(command, env=self.environ, capture_output=True, text=True, timeout=60, check=False)

    def enable(self, *names: str) -> None:
        for name in names:
            done = self.hob("plugins", "enable", name, "--yes")
            assert done.returncode == 0, done.stderr

    def states(self) -> Mapping[str, Mapping[str, Any]]:
        views = json.loads(self.hob("plugins", "list", "--json").stdout)["plugins"]
        return {view["name"]: view for view in views}


@pytest.fixture
def house(site: Path) -> Iterator[House]:
    # not tmp_path: a Unix socket's path has to be short
    with tempfile.TemporaryDirectory(prefix="hob") as root:
        yield House(Path(root), site)


@pytest.fixture
def own_site(site: Path, tmp_path: Path) -> Path:
    """The same packages, for a test that changes them."""
    return Path(shutil.copytree(site, tmp_path / "site"))


def test_plugins_are_off_until_they_are_enabled(house: House) -> None:
    assert {name: view["state"] for name, view in house.states().items() if name in NAMES} == dict.fromkeys(
        NAMES, "off"
    )
    assert "greet" not in house.hob("--help").stdout
    assert house.hob("greet", "Ada").returncode == 2
    done = house.hob("plugins", "enable", "dice", "--yes")
    assert "runs with your rights" in done.stdout
    assert "tool dice__roll (tier 0: no effects)" in done.stdout
    assert house.states()["dice"]["state"] == "on"


def test_plugin_is_not_loaded_without_confirmation(house: House) -> None:
    refused = house.hob("plugins", "enable", "broken")
    assert (refused.returncode, len(refused.stderr.splitlines())) == (2, 1)
    assert "--yes" in refused.stderr
    assert house.states()["broken"]["state"] == "off"


def test_plugin_command_is_listed_beside_hobs_own(house: House) -> None:
    house.enable("greet")
    assert "greet      Greet somebody." in house.hob("--help").stdout
    assert house.hob("greet", "Ada", "--loud").stdout == "GOOD DAY, ADA.\n"
    assert "--loud" in house.hob("greet", "--help").stdout
    assert "greet" in house.hob("completion", "bash").stdout
    house.hob("plugins", "disable", "greet")
    assert "greet" not in house.hob("--help").stdout


def test_plugin_settings_are_validated_while_on_and_kept_while_off(house: House) -> None:
    (house.home / "config.toml").write_text('[dice]\nsides = "many"\n')
    house.environ["HOB_DICE_COLOUR"] = "red"
    assert house.hob("config", "check").returncode == 0
    del house.environ["HOB_DICE_COLOUR"]
    house.enable("dice")
    checked = house.hob("config", "check")
    assert checked.returncode == 2
    assert "dice.sides: expected a whole number" in checked.stderr + checked.stdout
    assert house.hob("config", "set", "dice.sides", "8").returncode == 0
    assert house.hob("config", "get", "dice.sides").stdout == "8\n"
    house.environ["PYTHONPATH"] = ""  # uninstalled
    assert house.hob("config", "check").returncode == 0
    assert house.states()["dice"]["state"] == "gone"
    assert house.hob("plugins", "disable", "dice").returncode == 0
    assert house.hob("config", "check").returncode == 0


def test_version_that_declares_more_is_off_until_confirmed(house: House, own_site: Path) -> None:
    house.environ["PYTHONPATH"] = str(own_site)
    house.enable("dice")
    info = own_site / "hob_dice-0.1.0.dist-info" / "METADATA"
    info.write_text(info.read_text().replace("0.1.0", "0.2.0"))
    module = own_site / "hob_dice" / "__init__.py"
    assert "not opened" not in house.hob("prompt").stderr
    module.write_text(module.read_text().replace("effects=frozenset()", "effects=frozenset({Effect.COMMUNICATES})"))
    module.write_text(module.read_text().replace("import Restart", "import Effect, Restart"))
    told = "version 0.2.0 brings more than you confirmed: tool dice__roll (tier 0: communicates)"
    assert told in house.hob("prompt").stderr
    assert "(new)" in house.hob("plugins", "enable", "dice", "--yes").stdout
    assert "not opened" not in house.hob("prompt").stderr


def test_clashing_or_broken_plugin_is_not_enabled(house: House, own_site: Path) -> None:
    house.environ["PYTHONPATH"] = str(own_site)
    rival = own_site / "rival-1.0.dist-info"
    rival.mkdir()
    (rival / "METADATA").write_text("Metadata-Version: 2.1\nName: rival\nVersion: 1.0\n")
    points = "[hob.tools]\ndice = hob_dice:Dice\nmissing = no_such_module:X\nfiles = hob_dice:Dice\n"
    (rival / "entry_points.txt").write_text(points)
    for name, told in (("dice", "hob-dice and rival"), ("missing", "cannot be loaded"), ("files", "Hob itself has")):
        done = house.hob("plugins", "enable", name, "--yes")
        assert done.returncode == 2
        for word in told.split(" and "):
            assert word in done.stderr
    assert not (house.home / "plugins.json").exists()


async def test_every_kind_of_plugin_works_and_a_broken_one_affects_only_itself(house: House) -> None:
    almanac, postbox = house.home.parent / "almanac.txt", house.home.parent / "postbox"
    almanac.write_text("Owls hunt at night.\nHedgehogs eat slugs.\n")
    (house.home.parent / "logbook.txt").write_text("The storks came back.\n")
    settings = f'[almanac]\nfile = "{almanac}"\n[postbox]\nfolder = "{postbox}"\n[dice]\nsides = 2\n'
    (house.home / "config.toml").write_text(settings)
    house.enable(*NAMES)
    async with ModelServer() as server:
        house.environ |= {"HOB_MODEL_BASE_URL": f"{server.url}/v1", "HOB_GATEWAY_PORT": "0", "HOB_DASHBOARD_PORT": "0"}
        log = (house.home / "daemon.log").open("w")
        command = [sys.executable, "-m", "hob", "serve"]
        daemon = await asyncio.create_subprocess_exec(*command, env=house.environ, stdout=log, stderr=log)
        try:
            await use_each(house, postbox, daemon)
        finally:
            print((house.home / "daemon.log").read_text())  # shown where the test fails
            daemon.terminate()
            await daemon.wait()
            log.close()


async def use_each(house: House, postbox: Path, daemon: asyncio.subprocess.Process) -> None:
    socket = house.home / "hob.sock"

    def up() -> bool:
        assert daemon.returncode is None, (house.home / "daemon.log").read_text()
        return socket.exists() and (postbox / "in").is_dir()

    async def said(*arguments: str) -> str:
        done = await asyncio.to_thread(house.hob, *arguments)
        return done.stdout + done.stderr

    await until(up, 60)
    assert "dice" in await said("ask", 'CALL load_tools {"names": ["dice"]}')
    assert "d2: " in await said("ask", 'CALL dice__roll {"count": 3}')
    assert "we do not talk about bedtime" in await said("ask", "is it bedtime?")
    assert "Hedgehogs eat slugs." in await said("ask", 'CALL recall {"query": "hedgehogs", "untrusted": true}')
    await until(lambda: "The storks came back." in house.hob("memory", "search", "--layer", "logbook").stdout, 30)
    assert "entries of the logbook" in await said("memory", "stats")
    assert call(socket, "GET", "/sundial").body["hour"] in range(24)
    page = call(socket, "POST", "/dashboard/link").body["address"]
    async with httpx2.AsyncClient(base_url=page) as browser:
        shown = await browser.get("/views/sundial/", headers={"origin": "null"})
        assert (shown.status_code, "sandbox allow-scripts" in shown.headers["content-security-policy"]) == (200, True)
        assert (await browser.get("/views/sundial/sundial.js")).headers["content-type"].startswith("text/javascript")
        assert (await browser.get("/api/v1/sundial")).status_code == 401
    assert "owner" in await said("people", "link", "postbox:folder", "owner")
    (postbox / "in" / "part").write_text("good morning")
    (postbox / "in" / "part").rename(postbox / "in" / "letter.txt")
    await until(lambda: any((postbox / "out").iterdir()), 30)
    assert "good morning" in next((postbox / "out").iterdir()).read_text()
    status = json.loads(await said("status", "--json"))
    assert sum(status["plugin_tally"].values()) > 3
    problems = {view["name"]: view["problem"] for view in status["plugins"]}
    assert problems.pop("broken") == "broken cannot be opened: RuntimeError: broken on purpose"
    assert set(problems.values()) == {None}
    told = await said("doctor")
    assert "broken on purpose" in told
    assert "sundial shows the hour of Greenwich" in told
