"""`hob doctor` beside the daemon: a real one, that runs, that hangs, that was killed."""

import json
import re
import signal
from collections.abc import Mapping
from typing import Any

import pytest

from hob import __version__
from hob.testing.model_server import ModelServer
from tests.journeys.durability.test_full_disk import fill, small, write_until_refused
from tests.journeys.world import World, open_world, send

__all__ = ["small"]


async def examined(world: World, *arguments: str, **environ: str) -> tuple[Mapping[str, Any], int]:
    environ["HOB_SANDBOX_BACKEND"] = "plain"  # to try bubblewrap takes seconds on a busy disk
    said = await world.hob("doctor", "--json", *arguments, stdin=None, **environ)
    assert said.err == ""
    return json.loads(said.out), said.status


def ids(report: Mapping[str, Any]) -> set[str]:
    return {each["id"] for each in report["findings"]}


def titles(report: Mapping[str, Any], id: str) -> list[str]:
    return [each["title"] for each in report["findings"] if each["id"] == id]


async def test_doctor_asks_the_running_hob_and_reads_its_database() -> None:
    async with open_world() as world, world.serve() as daemon:
        await daemon.post("hello")
        report, status = await examined(world)
        assert status == 0
        assert ids(report) <= {"browser", "sandbox.backend", "clock.wrong", "versions.second", "service.other"}
        assert report["about"]["home"] == str(world.home)
        assert not [each for each in report["skipped"] if each["reason"] == "Hob is not running"]
        assert (await daemon.post("still there?")).json()["reply"] == "You said: still there?"


async def test_doctor_reports_a_daemon_that_hangs() -> None:
    async with open_world() as world, world.serve() as daemon:
        send(daemon.process, signal.SIGSTOP)
        try:
            report, status = await examined(world, "--offline")
        finally:
            send(daemon.process, signal.SIGCONT)
        assert status == 1
        assert "does not answer" in titles(report, "daemon.hung")[0]


async def test_leftovers_of_a_kill_are_found_and_repaired() -> None:
    async with open_world() as world:
        async with world.serve() as daemon:
            await daemon.post("hello")
            daemon.kill()
            await daemon.gone()
        report, status = await examined(world, "--offline")
        assert (status, ids(report) & {"home.leftovers", "daemon.stopped"}) == (0, {"home.leftovers", "daemon.stopped"})
        assert not [each for each in ids(report) if each.startswith("database.")]
        report, _ = await examined(world, "--offline", "--fix")
        assert report["fixed"] == [f"removed {world.home / 'hob.sock'}"]
        assert "home.leftovers" not in ids(report)
        async with world.serve() as daemon:
            assert (await daemon.post("again")).json()["reply"] == "You said: again"


async def test_paused_model_is_reported() -> None:
    async with open_world() as world, world.serve() as daemon:
        assert (await daemon.post("FAULT rate_long")).status_code == 429
        report, status = await examined(world, "--offline")
        (told,) = (each for each in report["findings"] if each["id"] == "daemon.resting")
        assert (told["where"], status) == ("fake-1", 0)
        assert "`hob models test`" in told["advice"]


async def test_daemon_reports_when_it_cannot_accept(small: World) -> None:
    async with small.serve(HOB_BUS_FAILURE_SECONDS="0.2") as daemon:
        fill(small.home)
        told: list[str] = []
        for attempt in range(10):  # a shorter write of a turn may still fit and lift the refusal until the next message
            await write_until_refused(daemon, f"full{attempt}")
            report, status = await examined(small, "--offline")
            if told := titles(report, "daemon.refusing"):
                break
        assert "nothing is accepted now: " in told[0]
        assert status == 1


OLDER = "import sys, hob; hob.__version__ = '0.0.9'; from hob.cli.table import run; sys.exit(run(['serve']))"


async def test_running_daemon_of_another_version_is_reported() -> None:
    async with open_world() as world, world.program("-c", OLDER):
        report, _ = await examined(world, "--offline")
        assert f"Hob 0.0.9 is running, and this is Hob {__version__}" in titles(report, "versions.running")[0]


async def test_running_daemon_is_not_judged_by_the_environment_of_the_shell() -> None:
    none = {"OPENAI_BASE_URL": "", "OPENAI_API_KEY": "", "OLLAMA_HOST": "127.0.0.1:9"}
    async with open_world() as world, world.serve():
        report, _ = await examined(world, "--offline", HOB_GATEWAY_PORT="1", **none)
        assert not ids(report) & {"gateway.port", "models.none"}
        said = await world.hob("models", stdin=None, **none)
        assert "Current model: none" not in said.out
        assert "With this shell's environment it would be: none (" in said.out


@pytest.mark.parametrize(
    ("environ", "told"),
    [
        ({"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}, "cannot be reached"),
        ({"OPENAI_API_KEY": "wrong"}, "does not accept the API key"),
        ({"HOB_MODEL_NAME": "no-such-model"}, "does not list this model"),
    ],
)
async def test_unreachable_model_is_reported_with_the_reason(environ: dict[str, str], told: str) -> None:
    async with open_world() as world, ModelServer(key="right") as server:
        around = {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "right", **environ}
        report, status = await examined(world, **around)
        assert told in titles(report, "models.unreachable")[0]
        assert status == (0 if "HOB_MODEL_NAME" in environ else 1)
        assert not world.home.exists()
        offline, _ = await examined(world, "--offline", **around)
        assert "models.unreachable" not in ids(offline)


async def test_people_see_what_is_wrong_and_what_to_do() -> None:
    async with open_world() as world:
        world.home.mkdir(mode=0o755)
        said = await world.hob("doctor", "--offline")
        assert (said.status, said.err) == (1, "")
        assert re.search(r"^critical  Others on this machine may .*: \S+  \[home\.permissions\]$", said.out, re.M)
        assert "`hob doctor --fix` restricts its permissions" in said.out
        assert "skipped   " in said.out
        assert re.match(r"\d+ checks: 1 critical, ", said.out.splitlines()[-1])
        fixed = await world.hob("doctor", "--offline", "--fix")
        assert (fixed.status, f"fixed     restricted the permissions of {world.home}" in fixed.out) == (0, True)
