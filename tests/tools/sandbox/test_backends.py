"""Command lines of backends that this machine may lack, and detection if none works."""

import asyncio
import sys
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from hob.core.clock import SystemClock
from hob.core.errors import NotConfigured, ToolFailed
from hob.tools.sandbox import places
from hob.tools.sandbox.backends.containers import Containers
from hob.tools.sandbox.backends.detection import find_backend, try_backend
from hob.tools.sandbox.backends.seatbelt import profile
from hob.tools.sandbox.job import MIB, JobRoot, Limits, SandboxJob, Window
from hob.tools.sandbox.running_command import OutputCallbacks, run
from hob.tools.sandbox.sandbox_environment import sandbox_environment_of
from hob.tools.sandbox.settings import SandboxSettings
from tests.made_once import make_etc
from tests.tools.sandbox.conftest import PATH, Place, sandbox_environment

FAKE = """#!/bin/sh
if [ "$1" = info ]; then echo 1; exit 0; fi
echo "$@" >> {log}
if [ "$1" = run ]; then while [ "$1" != image ]; do shift; done; shift; exec "$@"; fi
"""


@pytest.fixture
def engine(tmp_path: Path) -> Path:
    """A folder with a `docker` that logs its arguments and runs the command itself."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "docker").write_text(FAKE.format(log=tmp_path / "log"))
    (folder / "docker").chmod(0o755)
    return folder


def arguments(tmp_path: Path, name: str = "docker", **more: object) -> list[str]:
    work = tmp_path.resolve() / "work"
    work.mkdir(exist_ok=True)
    around = sandbox_environment(tmp_path.resolve(), image="image")
    job = replace(SandboxJob(("true",), work, (JobRoot(work, writable=True),)), **more)  # type: ignore[arg-type]
    return list(Containers(around, name, f"/usr/bin/{name}").arguments(job, "hob-x"))


def test_container_mounts_only_its_folders(tmp_path: Path) -> None:
    words = " ".join(arguments(tmp_path))
    work = tmp_path.resolve() / "work"
    for part in (
        *("--network none", "--read-only", "--cap-drop ALL", "--security-opt no-new-privileges", "--pids-limit 64"),
        *(f"type=bind,source={work},target={work} ", f"--workdir {work}", "--entrypoint  image true"),
    ):
        assert part in f"{words} "
    assert words.count("--mount") == 1  # the work
    assert "docker.sock" not in words
    assert "--privileged" not in words


def test_container_gets_a_terminal_only_on_request(tmp_path: Path) -> None:
    assert "--tty" not in arguments(tmp_path)
    assert "--tty" in arguments(tmp_path, window=Window())


def test_podman_keeps_the_user_id(tmp_path: Path) -> None:
    assert "keep-id" in arguments(tmp_path, "podman")


def test_folder_with_a_comma_in_its_name_adds_no_option(tmp_path: Path) -> None:
    odd = tmp_path.resolve() / "a,readonly"
    odd.mkdir()
    words = arguments(tmp_path, folder=odd, roots=(JobRoot(odd, writable=True),))
    assert f'type=bind,"source={odd}","target={odd}"' in words


async def test_container_is_removed_in_any_case(tmp_path: Path, engine: Path) -> None:
    work = tmp_path.resolve() / "work"
    work.mkdir()
    backend = find_backend("docker", sandbox_environment(tmp_path.resolve(), image="image"), str(engine)).backend
    job = SandboxJob(("sh", "-c", "echo hello; exit 3"), work, (JobRoot(work, writable=True),))
    finished = await run(backend, job, SystemClock(), limits=Limits())
    assert (finished.output, finished.status) == (b"hello\n", 3)
    started, removed = (tmp_path / "log").read_text().splitlines()
    name = started.split("--name ")[1].split()[0]
    assert removed == f"rm --force {name}"


async def test_container_refuses_hosts(tmp_path: Path, engine: Path) -> None:
    backend = find_backend("docker", sandbox_environment(tmp_path, image="image"), str(engine)).backend
    job = SandboxJob(("true",), tmp_path, (JobRoot(tmp_path),), hosts=("example.org",))
    with pytest.raises(NotConfigured, match="have no network"):
        await run(backend, job, SystemClock(), limits=Limits())


def test_container_needs_an_image(tmp_path: Path, engine: Path) -> None:
    with pytest.raises(NotConfigured, match=r"sandbox\.image"):
        find_backend("docker", sandbox_environment(tmp_path), str(engine))


def test_macos_profile_denies_everything_but_the_roots() -> None:
    text = profile((JobRoot(Path('/w"ork'), writable=True), JobRoot(Path("/lent"))), (".git/hooks/",))
    assert text.startswith("(version 1)\n(deny default)")
    assert '(allow file-write* (subpath "/w\\"ork"))' in text
    assert '(allow file-write* (subpath "/lent"))' not in text
    assert '(deny file-write* (subpath "/w\\"ork/.git/hooks"))' in text
    assert text.endswith("(deny network*)\n")


def test_nothing_runs_unconfined_if_no_sandbox_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hob.tools.sandbox.backends.detection.landlock_version", lambda: 0)
    with pytest.raises(NotConfigured, match=r"bubblewrap.*Or set sandbox\.backend to docker, podman, or plain"):
        find_backend("auto", sandbox_environment(tmp_path), "/nowhere")


BWRAP = """#!/bin/sh
echo tried >> {log}
test "$1" = --help && echo "  --json-status-fd FD" && exit
exit {status}
"""


@pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap is Linux's")
def test_bubblewrap_that_works_is_not_tried_again_until_it_changes(tmp_path: Path) -> None:
    program, log = tmp_path / "bwrap", tmp_path / "log"

    def tries(status: int) -> int:
        """Return how often this program is started by two detections."""
        log.write_text("")
        program.write_text(BWRAP.format(log=log, status=status))
        program.chmod(0o755)
        for _ in range(2):
            with nullcontext() if status == 0 else pytest.raises(NotConfigured, match="cannot make namespaces"):
                try_backend("bubblewrap", str(tmp_path))
        return len(log.read_text().split())

    assert tries(status=1) == 2  # it may work next time
    assert tries(status=0) == 2  # the trial, and its options
    assert tries(status=12) == 2


def test_plain_backend_is_only_chosen_by_name(tmp_path: Path) -> None:
    found = find_backend("plain", sandbox_environment(tmp_path), PATH)
    assert not found.backend.is_sandbox


async def test_plain_commands_end_with_their_children_and_see_no_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "canary")
    work = tmp_path.resolve() / "work"
    work.mkdir()
    backend = find_backend("plain", sandbox_environment(tmp_path.resolve()), PATH).backend
    job = SandboxJob(("sh", "-c", "env; pwd"), work, (JobRoot(work, writable=True),))
    said = (await run(backend, job, SystemClock(), limits=Limits())).output.decode()
    assert "canary" not in said
    assert said.endswith(f"{work}\n")


def test_settings_become_limits_and_roots(tmp_path: Path) -> None:
    tmp_path = tmp_path.resolve()
    (tmp_path / "own" / "lib").mkdir(parents=True)
    settings = SandboxSettings(memory_mib=100, read=["~/lib"], environment=["EDITOR"])
    outer = {"EDITOR": "vi", "LANG": "de", "OPENAI_API_KEY": "canary"}
    around = sandbox_environment_of(
        settings, outer, caches=tmp_path / "c", state=tmp_path / "s", owner=tmp_path / "own"
    )
    assert around.limits.memory == 100 * MIB
    assert around.roots == (JobRoot(tmp_path / "own" / "lib"),)
    assert dict(around.environ) == {"EDITOR": "vi", "LANG": "de"}


@pytest.mark.parametrize(
    "settings",
    [
        SandboxSettings(environment=["SSH_AUTH_SOCK"]),
        SandboxSettings(read=["~/.ssh"]),
        SandboxSettings(write=["~"]),
        SandboxSettings(write=["work"]),
        SandboxSettings(write=["/etc"]),
        SandboxSettings(toolchains=["no-such-tool"]),
    ],
)
def test_settings_that_would_open_the_sandbox_are_refused(tmp_path: Path, settings: SandboxSettings) -> None:
    tmp_path = tmp_path.resolve()
    owner = tmp_path / "own"
    owner.mkdir()
    with pytest.raises((NotConfigured, ToolFailed)):
        sandbox_environment_of(settings, {}, caches=tmp_path / "c", state=tmp_path / "s", owner=owner)


async def test_running_command_keeps_its_etc_when_a_new_one_is_made(
    wrapped: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "write_etc", make_etc)
    etc = wrapped.sandbox_environment.state / "etc"
    assert etc.is_symlink()  # the tests' own; a link is no obstacle
    named = [replace(wrapped.sandbox_environment, git_name=name) for name in ("one", "two")]
    began = asyncio.Event()
    callbacks = OutputCallbacks(output=lambda _: began.set())
    running = replace(wrapped, backend=find_backend("bubblewrap", named[0], PATH).backend, callbacks=callbacks)
    async with asyncio.TaskGroup() as tasks:
        said = tasks.create_task(running.sh("echo began; until [ -e go ]; do sleep 0.02; done; cat /etc/gitconfig"))
        async with asyncio.timeout(20):
            await began.wait()
        for around in (named[0], named[1]):
            find_backend("bubblewrap", around, PATH)
        (wrapped.work / "go").touch()
    assert 'name = "one"' in said.result()
    assert 'name = "two"' in (etc / "gitconfig").read_text()
    find_backend("bubblewrap", wrapped.sandbox_environment, PATH)
    assert len(list(etc.parent.glob("etc-*"))) == 2  # this one and the one before


def test_etc_replaces_the_folder_of_an_earlier_release(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "old").touch()
    make_etc(tmp_path / "etc", {"passwd": "x"})
    assert (tmp_path / "etc" / "passwd").read_text() == "x"
    assert sorted(each.name[:4] for each in tmp_path.iterdir()) == ["etc", "etc-"]
