"""Commands in a project's image, run by an engine that parses its command line as docker does.

This machine need not have an engine: `ENGINE` simulates one. It knows the options of `docker run` that Hob uses and
exits with 125 on any other option, on an unknown image, and on a missing folder. Commands see the given variables, and
find the image's programs first.
"""

import sys
from pathlib import Path

import pytest

from hob.core.clock import SystemClock
from hob.tools.sandbox.backends.detection import find_backend
from hob.tools.sandbox.job import JobFinished, JobRoot, Limits, SandboxJob
from hob.tools.sandbox.launcher.launcher import Backend
from hob.tools.sandbox.running_command import run
from tests.tools.sandbox.conftest import sandbox_environment

ENGINE = '''#!{python}
"""https://docs.docker.com/reference/cli/docker/container/run/"""
import argparse, csv, os, sys

top = {top!r}
words = sys.argv[1:]
if words[0] in ("info", "rm"):
    sys.exit(0)
parser = argparse.ArgumentParser(prog="docker run", allow_abbrev=False)
parser.error = lambda message: sys.exit(print(message) or 125)
for flag in ("--rm", "--init", "--interactive", "--tty", "--read-only"):
    parser.add_argument(flag, action="store_true")
for name in ("--name", "--network", "--pids-limit", "--memory", "--memory-swap", "--user", "--hostname", "--workdir"):
    parser.add_argument(name, required=True)
for name in ("--label", "--cap-drop", "--security-opt", "--ulimit", "--tmpfs", "--env", "--mount"):
    parser.add_argument(name, action="append", default=[])
parser.add_argument("--entrypoint")
parser.add_argument("image")
parser.add_argument("command", nargs=argparse.REMAINDER)
assert words[0] == "run"
given = parser.parse_args(words[1:])
if given.image != "project:1":
    parser.error(f"Unable to find image {{given.image}}")
if int(given.memory_swap) < int(given.memory) or not int(given.pids_limit):
    parser.error("limits")
mounted = []
for line in given.mount:
    fields = dict((field.split("=", 1) + [""])[:2] for field in next(csv.reader([line])))
    if set(fields) - {{"type", "source", "target", "readonly"}} or fields["type"] != "bind":
        parser.error(f"invalid mount {{line}}")
    if not os.path.isabs(fields["source"]) or not os.path.exists(fields["source"]):
        parser.error(f"bind source path does not exist: {{fields['source']}}")
    mounted.append(fields["target"])
if not any(given.workdir == place or given.workdir.startswith(place + "/") for place in mounted):
    parser.error("the working directory is not mounted")
environ = dict(each.split("=", 1) for each in given.env)
environ["PATH"] = f"{{top}}/image/bin:" + environ["PATH"]
os.chdir(given.workdir)
os.execvpe(given.command[0], given.command, environ)
'''


def backend(tmp_path: Path, image: str) -> Backend:
    """Hob's backend, with this engine in its PATH and an image that contains a program `build`."""
    for file, text in (
        ("bin/docker", ENGINE.format(python=sys.executable, top=str(tmp_path))),
        ("image/bin/build", "#!/bin/sh\necho built with $1 in $PWD for $HOME | tee made.txt\n"),
    ):
        (tmp_path / file).parent.mkdir(parents=True)
        (tmp_path / file).write_text(text)
        (tmp_path / file).chmod(0o755)
    around = sandbox_environment(tmp_path.resolve(), image=image, protected=(".git/hooks/", ".git/config"))
    return find_backend("docker", around, str(tmp_path / "bin")).backend


async def ran(tmp_path: Path, *argv: str, image: str = "project:1") -> JobFinished:
    work = tmp_path.resolve() / "a, b"
    (work / "src").mkdir(parents=True)
    (work / ".git").mkdir()
    (work / ".git/config").touch()
    job = SandboxJob(argv, work / "src", (JobRoot(work, writable=True),))
    return await run(backend(tmp_path, image), job, SystemClock(), limits=Limits())


async def test_container_command_uses_the_images_programs_and_its_changes_persist(tmp_path: Path) -> None:
    finished = await ran(tmp_path, "sh", "-c", "build 'two words'; exit 3")
    made = f"built with two words in {tmp_path.resolve()}/a, b/src for /home/hob\n"
    assert (finished.output.decode(), finished.status) == (made, 3)
    assert (tmp_path / "a, b/src/made.txt").read_text() == made


async def test_container_command_sees_no_engine_variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///run/docker.sock")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    assert not {"DOCKER_HOST", "OPENAI_API_KEY"} & {
        line.partition("=")[0] for line in (await ran(tmp_path, "env")).output.decode().splitlines()
    }


async def test_missing_image_is_reported(tmp_path: Path) -> None:
    finished = await ran(tmp_path, "true", image="other")
    assert finished.status == 125
    assert b"Unable to find image other" in finished.output
