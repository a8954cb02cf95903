"""Protected files in folders that a command may otherwise change."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from hob.tools.sandbox.backends.bubblewrap import Bubblewrap
from hob.tools.sandbox.backends.containers import Containers
from hob.tools.sandbox.job import JobRoot, SandboxJob
from tests.tools.sandbox.conftest import Place, sandbox_environment

NAMES = (".git/hooks/", ".git/config", "deep/below/skills/")
OLD = frozenset({"--bind-fd", "--ro-bind-fd"})


@pytest.fixture(params=["as it is opened", "by its path"])
def walled(request: pytest.FixtureRequest, wrapped: Place) -> Place:
    """A place with protected files, with this bubblewrap and with one that does not support descriptors."""
    backend = wrapped.backend
    assert isinstance(backend, Bubblewrap)
    options = backend.options - (OLD if request.param == "by its path" else frozenset())
    around = replace(wrapped.sandbox_environment, protected=NAMES)
    return replace(wrapped, backend=replace(backend, options=options, sandbox_environment=around))


def git_init(folder: Path) -> None:
    subprocess.run(["git", "init", "--quiet", str(folder)], check=True)


async def test_hooks_and_git_config_cannot_be_changed(walled: Place) -> None:
    git_init(walled.work)
    before = (walled.work / ".git/config").read_text()
    await walled.sh("echo evil >> .git/config; echo evil > .git/hooks/x; rm .git/config; rm -r .git/hooks")
    assert (walled.work / ".git/config").read_text() == before
    assert not (walled.work / ".git/hooks/x").exists()


async def test_missing_hooks_cannot_be_created(walled: Place) -> None:
    (walled.work / ".git").mkdir()
    await walled.sh("mkdir -p .git/hooks; echo evil > .git/hooks/x")
    assert not (walled.work / ".git/hooks/x").exists()


@pytest.mark.parametrize("moved", [".git", "deep", "deep/below"])
async def test_parent_folders_of_protected_files_cannot_be_moved(walled: Place, moved: str) -> None:
    git_init(walled.work)
    (walled.work / "deep/below/skills").mkdir(parents=True)
    before = (walled.work / moved).stat().st_ino
    script = f"mv {moved} away && cp -r away {moved}; echo evil > .git/hooks/x; echo evil > deep/below/skills/x"
    await walled.sh(script)
    assert not list(walled.work.rglob("x"))
    assert (walled.work / moved).stat().st_ino == before


async def test_other_files_can_be_changed(walled: Place) -> None:
    git_init(walled.work)
    (walled.work / "deep/below/skills").mkdir(parents=True)
    who = "git config user.name a; git -c user.name=a -c user.email=b"
    said = await walled.sh(f"echo 1 > f; echo 1 > deep/below/f; git add . && {who} commit -q -m 1 && git log --oneline")
    assert said.rstrip().endswith(" 1")


async def test_worktree_works_and_its_git_file_is_protected(walled: Place, tmp_path: Path) -> None:
    (walled.work / ".git").write_text("gitdir: /elsewhere\n")
    finished = await walled.run("sh", "-c", "echo ran; echo 'gitdir: evil' > .git; rm .git; mv .git away")
    assert b"ran\n" in finished.output
    assert (walled.work / ".git").read_text() == "gitdir: /elsewhere\n"


def test_bubblewrap_without_descriptors_does_not_claim_protection(wrapped: Place) -> None:
    backend = wrapped.backend
    assert isinstance(backend, Bubblewrap)
    assert not replace(backend, options=backend.options - OLD).protects_files


def mounts(tmp_path: Path) -> list[str]:
    work = tmp_path.resolve() / "work"
    around = sandbox_environment(tmp_path.resolve(), image="image", protected=NAMES)
    job = SandboxJob(("true",), work, (JobRoot(work, writable=True),))
    words = list(Containers(around, "docker", "/usr/bin/docker").arguments(job, "hob-x"))
    found = [words[at + 1] for at, word in enumerate(words) if word == "--mount"]
    return [line.replace(str(work), "W").replace("type=bind,", "") for line in found]


def test_container_protects_the_repository_and_missing_hooks(tmp_path: Path) -> None:
    (tmp_path / "work/.git").mkdir(parents=True)
    assert mounts(tmp_path) == [
        "source=W,target=W",
        "source=W/.git,target=W/.git",
        "source=W/.git/hooks,target=W/.git/hooks,readonly",
    ]
    assert [each.name for each in (tmp_path / "work/.git").iterdir()] == ["hooks"]


def test_container_protects_a_worktrees_git_file(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work/.git").write_text("gitdir: /elsewhere\n")
    assert mounts(tmp_path) == ["source=W,target=W", "source=W/.git,target=W/.git,readonly"]
