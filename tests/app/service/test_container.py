"""The image without an engine: its files are read, and its entry point is run as the image would run it."""

import asyncio
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from fnmatch import fnmatch
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from hob.app.settings.sections import SECTIONS
from hob.config.loading import load_config
from hob.testing.model_server import ModelServer

ROOT = Path(__file__).parents[3]
SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSW")
yaml: Any = import_module("yaml")  # comes with the tests of the API; it has no types


def stages() -> list[list[tuple[str, str]]]:
    """The Dockerfile's instructions, stage by stage."""
    text = re.sub(r"^#.*\n", "", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE)
    lines = re.sub(r"\\\n\s*", "", text).splitlines()
    found: list[list[tuple[str, str]]] = []
    for line in filter(None, lines):
        name, _, rest = line.partition(" ")
        if name == "FROM":
            found.append([])
        found[-1].append((name, rest.strip()))
    return found


def last(name: str) -> str:
    """What the image itself says last under this name."""
    return [rest for each, rest in stages()[-1] if each == name][-1]


def image_environ() -> dict[str, str]:
    settings = (rest for name, rest in stages()[-1] if name == "ENV")
    return dict(word.split("=", 1) for rest in settings for word in shlex.split(rest))


def command(name: str) -> list[str]:
    """An instruction in exec form: no shell stands between the engine and Hob, so signals arrive."""
    words: list[str] = json.loads(last(name).partition("CMD ")[2] or last(name))
    return words


def compose() -> dict[str, Any]:
    service: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]["hob"]
    return service


# The files


def test_base_images_have_tags() -> None:
    bases = [rest.split()[0] for stage in stages() for name, rest in stage if name == "FROM"]
    assert [base for base in bases if not re.search(r":\d[\w.-]+$", base)] == []
    assert bases[-1] == bases[1]  # the libraries were made for that Python


def test_image_runs_as_an_unprivileged_owner_of_the_volume() -> None:
    uid = last("USER").split(":")[0]
    assert int(uid) > 0
    names = [name for name, _ in stages()[-1]]
    assert names.index("USER") > max(index for index, name in enumerate(names) if name in {"RUN", "COPY"})
    run = last("RUN")
    assert f"useradd --uid {uid}" in run
    assert f"install --directory --owner={uid}" in run
    assert "--mode=0700 /data" in run
    assert json.loads(last("VOLUME")) == ["/data"]


def test_volume_contains_all_state() -> None:
    environ = image_environ()
    places = [environ["HOME"], environ["HOB_HOME"], environ["HOB_WORKSPACE_PATH"], last("WORKDIR")]
    assert [place for place in places if not f"{place}/".startswith("/data/")] == []
    assert environ["HOB_HOME"] != environ["HOB_WORKSPACE_PATH"]


def test_images_settings_are_settings() -> None:
    config = load_config(SECTIONS, home=Path(image_environ()["HOB_HOME"]), environ=image_environ())
    assert config.warnings == ()
    assert config.get("gateway.host") == "0.0.0.0"
    assert str(config.get("gateway.port")) == last("EXPOSE")


def test_no_secret_is_in_the_image() -> None:
    words = [rest for stage in stages() for name, rest in stage if name in {"ENV", "ARG", "LABEL"}]
    assert [word for word in words if SECRET.search(word.upper())] == []
    copied = [rest for stage in stages() for name, rest in stage if name == "COPY"]
    assert [rest for rest in copied if rest.split()[0] in {".", "./", "*"}] == []


def ignored(path: str) -> bool:
    """Whether the builder is not given this file of the checkout."""
    result = False
    for line in (ROOT / ".dockerignore").read_text().splitlines():
        pattern = line.lstrip("!")
        if pattern and not line.startswith("#") and (fnmatch(path, pattern) or fnmatch(path, f"{pattern}/*")):
            result = not line.startswith("!")
    return result


def test_build_context_contains_only_what_is_copied() -> None:
    copied = [rest.split()[:-1] for stage in stages()[:-1] for name, rest in stage if name == "COPY"]
    sources = [source for words in copied for source in words if not words[0].startswith("--from")]
    assert [source for source in sources if not (ROOT / source).exists() or ignored(source)] == []
    assert not ignored("src/hob/__init__.py")
    assert all(map(ignored, (".env", ".git/config", ".venv/bin/python", "service.env", "tests/conftest.py")))


def test_image_installs_few_packages_and_keeps_no_lists() -> None:
    run = last("RUN")
    assert "--no-install-recommends" in run
    assert "rm -rf /var/lib/apt/lists/*" in run


def test_compose_service_is_local_and_restricted() -> None:
    service = compose()
    assert service["ports"] == ["127.0.0.1:18790:18790"]
    assert service["cap_drop"] == ["ALL"]
    assert service["read_only"] is True
    assert "no-new-privileges:true" in service["security_opt"]
    assert not {"privileged", "network_mode", "pid", "user", "devices"} & set(service)
    assert [volume for volume in service["volumes"] if volume.startswith(("/", ".", "~"))] == []


def test_keys_come_from_the_environment_and_no_file() -> None:
    assert [name for name in compose()["environment"] if "=" in name] == []
    assert "OPENAI_API_KEY" in compose()["environment"]


def test_stop_grace_period_exceeds_hobs_drain() -> None:
    config = load_config(SECTIONS, home=Path("/data/home"), environ={})
    assert float(compose()["stop_grace_period"].removesuffix("s")) >= config.get("bus.drain_seconds") + 20


# The entry point


def confined(volume: Path) -> list[str]:
    """A user without rights on a file system that is read-only but for /data and /tmp, as compose.yaml has it."""
    options = ["--unshare-user", "--uid", "1000", "--gid", "1000", "--cap-drop", "ALL", "--die-with-parent"]
    options += ["--unshare-pid", "--as-pid-1"]
    for entry in sorted(Path("/").iterdir()):
        if entry.is_symlink():
            options += ["--symlink", str(entry.readlink()), str(entry)]
        elif entry.name not in {"dev", "proc", "tmp", "data"} and entry.is_dir():
            options += ["--ro-bind", str(entry), str(entry)]
    options += ["--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"]
    for place in dict.fromkeys((sys.base_prefix, sys.prefix, str(ROOT))):
        options += ["--ro-bind", place, place]
    return ["bwrap", *options, "--bind", str(volume), "/data", "--remount-ro", "/", "--chdir", last("WORKDIR")]


def words_of(name: str) -> list[str]:
    """The instruction's words where the image's own folders are elsewhere."""
    words = command(name)
    return words[2:] if words[0].endswith("tini") and shutil.which("tini") is None else words


def around(**more: str) -> Mapping[str, str]:
    environ = image_environ() | more
    environ["PATH"] = environ["PATH"].replace("/opt/hob/bin", f"{sys.prefix}/bin")
    return environ


@pytest.fixture
def volume(tmp_path: Path) -> Path:
    made = tmp_path / "volume"
    made.mkdir(mode=0o700)
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    tried = subprocess.run([*confined(made), "true"], capture_output=True, text=True, check=False)
    if tried.returncode:
        pytest.skip(tried.stderr)
    return made


async def in_image(volume: Path, *words: str, **environ: str) -> tuple[int, str]:
    """Run a command in the image; its status, and what it said."""
    process = await asyncio.create_subprocess_exec(
        *(*confined(volume), *words), env=around(**environ), stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    out, _ = await asyncio.wait_for(process.communicate(), 60)
    return process.returncode or 0, out.decode()


def entry_point(process: asyncio.subprocess.Process) -> int:
    """The process that the engine would call the first; bubblewrap stands before it here."""
    (child,) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return int(child)


@asynccontextmanager
async def running(volume: Path, **environ: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """The image as the engine starts it, from the moment it is ready."""
    words = [*words_of("ENTRYPOINT"), *command("CMD")]
    process = await asyncio.create_subprocess_exec(
        *(*confined(volume), *words), env=around(**environ), stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        line = (await asyncio.wait_for(process.stdout.readline(), 30)).decode()
        assert "ready: http://0.0.0.0:" in line
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


@pytest.mark.slow
async def test_entry_point_serves_from_the_volume_and_stops_gently(volume: Path) -> None:
    async with ModelServer() as model:
        environ = {"OPENAI_BASE_URL": model.url, "OPENAI_API_KEY": "x", "HOB_GATEWAY_PORT": "0"}
        async with running(volume, **environ) as process:
            assert await in_image(volume, *words_of("HEALTHCHECK")) == (0, "ok\n")
            assert await in_image(volume, *words_of("ENTRYPOINT"), "ask", "hi") == (0, "You said: hi\n")
            os.kill(entry_point(process), getattr(signal, last("STOPSIGNAL")))
            assert await asyncio.wait_for(process.wait(), 30) == 0
        assert await in_image(volume, *words_of("HEALTHCHECK")) == (1, "not running\n")
        async with running(volume, **environ):
            _, said = await in_image(volume, *words_of("ENTRYPOINT"), "export", "--all")
    assert "You said: hi" in said
    assert {path.name for path in volume.iterdir()} <= {"home", "workspace", ".cache", ".config"}
    assert (volume / "home").stat().st_mode & 0o077 == 0
    assert list((volume / "workspace").iterdir())


async def test_image_explains_its_upgrade(volume: Path) -> None:
    (volume / "hob-image").touch()
    code = "import sys; sys.prefix = '/data'; from hob.cli.table import run; run(['upgrade'])"
    status, said = await in_image(volume, "python", "-c", code)
    assert (status, "is a container" in said, "docker compose build --pull" in said) == (0, True, True)
