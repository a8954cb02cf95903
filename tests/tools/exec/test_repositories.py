"""Whatever a command writes, git used by the owner in that folder afterwards runs none of it."""

import os
import random
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread

import pytest

from hob.core.clock import Clock, SystemClock
from hob.core.ids import CallId, SessionKey, TurnId
from hob.core.undo import CommandRun
from hob.tools.exec.command_log import CommandLog
from hob.tools.exec.repositories import runs_something
from hob.tools.undo.snapshots.entries import Difference, EntryKind, Snapshot, SnapshotChange, SnapshotEntry, Stamp
from hob.tools.undo.snapshots.restore import RestoreResult
from hob.tools.undo.snapshots.snapshot_walk import SnapshotLimits
from hob.tools.undo.snapshots.snapshots import Snapshots
from hob.tools.undo.turn_undo import TurnUndo
from tests.tools.calling import text_of
from tests.tools.commanding import Bench, open_bench

_ENVIRON = {
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@b.c",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@b.c",
}
EVIL = """
import os, pathlib, subprocess
evil = "[core]\\n\\trepositoryformatversion = 0\\n\\tfsmonitor = touch @PROOF@; false\\n"
def repository(where):
    for name in ("objects", "refs"):
        os.makedirs(f"{where}/{name}", exist_ok=True)
    pathlib.Path(where, "config").write_text(evil)
def git(*line, cwd="."):
    subprocess.run(["git", *line], cwd=cwd, check=True)
"""
ATTACKS = {
    "commondir": """repository("evil"); open(".git/commondir", "w").write("../evil")""",
    "a repository in the index": """
git("init", "-q", "lib"); git("commit", "-q", "--allow-empty", "-m", "x", cwd="lib"); git("add", "lib")
open("lib/.git/config", "a").write(evil)""",
    "settings under another name": """
git("init", "-q", "lib"); git("commit", "-q", "--allow-empty", "-m", "x", cwd="lib"); git("add", "lib")
open("other", "w").write(evil); os.remove("lib/.git/config"); os.symlink("../../other", "lib/.git/config")""",
    "settings first, a repository then": """
repository("lib/.git"); pathlib.Path("lib/.git/HEAD").write_text("ref: refs/heads/main\\n")""",
    "a folder moved": """
git("init", "-q", "lib"); git("commit", "-q", "--allow-empty", "-m", "x", cwd="lib"); git("add", "lib")
os.rename("lib", "x"); open("x/.git/config", "a").write(evil); os.rename("x", "lib")""",
    "settings of a worktree": """
open(".git/config.worktree", "w").write(evil)""",
    "a hook of a repository below": """
git("init", "-q", "lib"); os.makedirs("lib/.git/hooks", exist_ok=True)
pathlib.Path("lib/.git/hooks/post-index-change").write_text("#!/bin/sh\\ntouch @PROOF@")
os.chmod("lib/.git/hooks/post-index-change", 0o755)""",
    "hooks elsewhere": """
git("init", "-q", "lib"); os.makedirs("tools"); import shutil; shutil.rmtree("lib/.git/hooks", ignore_errors=True)
pathlib.Path("tools/post-index-change").write_text("#!/bin/sh\\ntouch @PROOF@")
os.chmod("tools/post-index-change", 0o755); os.symlink("../../tools", "lib/.git/hooks")""",
    "included settings": """
git("init", "-q", "lib"); git("commit", "-q", "--allow-empty", "-m", "x", cwd="lib"); git("add", "lib")
open("other", "w").write(evil); open("lib/.git/config", "a").write("[include]\\n\\tpath = ../../other\\n")""",
    "a worktree of nothing": """
repository("evil"); os.makedirs("evil/worktrees/x"); os.makedirs("lib")
pathlib.Path("evil/worktrees/x/HEAD").write_text("ref: refs/heads/main\\n")
pathlib.Path("lib/.git").write_text("gitdir: ../evil/worktrees/x\\n")
pathlib.Path("evil/worktrees/x/commondir").write_text("../..\\n")""",
    "a repository whose mark is a link to nothing yet": """
repository("evil"); os.makedirs("lib"); os.symlink("../mark", "evil/HEAD")
pathlib.Path("lib/.git").write_text("gitdir: ../evil\\n"); open("mark", "w").write("ref: refs/heads/main\\n")""",
    "a repository in a cache": """
git("init", "-q", "node_modules/lib"); git("commit", "-q", "--allow-empty", "-m", "x", cwd="node_modules/lib")
git("add", "-f", "node_modules/lib"); open("node_modules/lib/.git/config", "a").write(evil)""",
    "a repository deep down": """
deep = "/".join("d" * 70)
git("init", "-q", deep); git("commit", "-q", "--allow-empty", "-m", "x", cwd=deep)
git("add", deep); open("/".join("d" * 70) + "/.git/config", "a").write(evil)""",
    "a bare repository": """repository("store"); pathlib.Path("store/HEAD").write_text("ref: refs/heads/main\\n")""",
}


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    async with open_bench("bubblewrap", tmp_path) as bench:
        yield bench


def git(folder: Path, *line: str) -> str:
    done = subprocess.run(["git", *line], cwd=folder, env=os.environ | _ENVIRON, capture_output=True, text=True)
    return done.stdout


def works_on(work: Path) -> None:
    """Do what editors, prompts and people do everywhere."""
    for folder in (work, *(each for each in work.rglob("*") if each.is_dir() and not each.is_symlink())):
        git(folder, "status", "--short")
        git(folder, "add", "-A")
        git(folder, "diff", "HEAD")


@pytest.mark.parametrize("name", ATTACKS)
@pytest.mark.parametrize("calls", [1, 2])
async def test_git_runs_nothing_that_a_command_wrote(bench: Bench, tmp_path: Path, name: str, calls: int) -> None:
    proof = tmp_path / "proof"
    git(bench.work, "init", "-q")
    settings = "".join(f"export {key}={value}; " for key, value in _ENVIRON.items())
    program = (EVIL + ATTACKS[name]).replace("@PROOF@", str(proof))
    parts = program.rsplit(";", 1) if calls == 2 and ";" in ATTACKS[name] else [program]
    for number, part in enumerate(parts):
        (bench.work / "x.py").write_text(part if number == 0 else EVIL.replace("@PROOF@", str(proof)) + part.strip())
        said = await text_of(bench.tools, "exec", turn=f"t_{number}", command=f"{settings}python3 x.py")
    assert "(exit status 0" in said
    works_on(bench.work)
    assert not proof.exists()


async def test_repositories_stay_intact(bench: Bench) -> None:
    git(bench.work, "init", "-q")
    settings = "".join(f"export {key}={value}; " for key, value in _ENVIRON.items())
    (bench.work / "x.py").write_text((EVIL + ATTACKS["a repository in the index"]).replace("@PROOF@", "proof"))
    assert "taken back" in await text_of(bench.tools, "exec", command=f"{settings}python3 x.py")
    assert git(bench.work / "lib", "log", "--format=%s").strip() == "x"
    assert "A  lib" in git(bench.work, "status", "--short")


def test_planted_repository_would_run_without_the_revert(tmp_path: Path) -> None:
    proof = tmp_path / "proof"
    program = (EVIL + ATTACKS["a repository in the index"]).replace("@PROOF@", str(proof))
    git(tmp_path, "init", "-q")
    subprocess.run(["python3", "-c", program], cwd=tmp_path, env=os.environ | _ENVIRON, check=True, capture_output=True)
    works_on(tmp_path)
    assert proof.exists()


async def test_ordinary_git_commands_keep_their_effect(bench: Bench) -> None:
    settings = "".join(f"export {key}={value}; " for key, value in _ENVIRON.items())
    said = await text_of(
        bench.tools,
        "exec",
        command=settings + "git init -q a && cd a && echo 1 > f && git add . && git commit -q -m 1 && git branch b && "
        "git remote add o https://example.com/x.git && git config user.name me && git worktree add -q ../w b && "
        "cd .. && git clone -q a c && git clone -q --bare a d.git && cd c && git checkout -q -b n && git stash list",
    )
    assert "taken back" not in said
    assert "(exit status 0" in said
    assert git(bench.work / "a", "remote", "get-url", "o").strip() == "https://example.com/x.git"
    assert git(bench.work / "w", "log", "--format=%s").strip() == "1"


async def test_folder_cannot_be_turned_into_a_repository_that_runs_something(bench: Bench, tmp_path: Path) -> None:
    program = (EVIL + """repository(".git"); open(".git/HEAD", "w").write("ref: refs/heads/main\\n")""").replace(
        "@PROOF@", str(tmp_path / "proof")
    )
    (bench.work / "x.py").write_text(program)
    assert "taken back" in await text_of(bench.tools, "exec", command="python3 x.py")
    works_on(bench.work)
    assert not (tmp_path / "proof").exists()


async def test_hooks_and_settings_are_reverted_without_a_protecting_sandbox(tmp_path: Path) -> None:
    async with open_bench("landlock", tmp_path) as bench:
        git(bench.work, "init", "-q")
        hook = "mkdir -p .git/hooks; echo touch x > .git/hooks/pre-commit"
        said = await text_of(bench.tools, "exec", command=f"{hook}; git config core.fsmonitor ./x")
        assert "taken back" in said
        assert not (bench.work / ".git/hooks/pre-commit").exists()
        assert "fsmonitor" not in (bench.work / ".git/config").read_text()


async def test_missing_git_config_is_not_protected(bench: Bench, tmp_path: Path) -> None:
    git(bench.work, "init", "-q")
    (bench.work / ".git/config").unlink()
    said = await text_of(bench.tools, "exec", command=f"git config core.fsmonitor 'touch {tmp_path}/proof; false'")
    assert "taken back" in said
    works_on(bench.work)
    assert not (tmp_path / "proof").exists()


async def test_owners_changes_to_protected_files_are_kept(bench: Bench) -> None:
    git(bench.work, "init", "-q")
    running = await text_of(bench.tools, "exec", command="read line", background=True)
    git(bench.work, "config", "alias.st", "!echo mine")
    process = running.partition(":")[0].strip("(")
    await text_of(bench.tools, "process", action="kill", id=process)
    assert "taken back" not in await text_of(bench.tools, "exec", command="true")
    assert git(bench.work, "st").strip() == "mine"


async def test_owners_own_repository_settings_are_kept(bench: Bench) -> None:
    git(bench.work, "init", "-q", "lib")
    git(bench.work / "lib", "config", "alias.st", "!echo mine")
    said = await text_of(bench.tools, "exec", command="cd lib && git config user.name me")
    assert "taken back" not in said
    assert git(bench.work / "lib", "config", "user.name").strip() == "me"
    assert git(bench.work / "lib", "st").strip() == "mine"


async def test_changes_missed_by_a_killed_daemon_are_reverted_by_the_next(bench: Bench) -> None:
    await text_of(bench.tools, "exec", command="git init -q lib")
    rows = bench.store.command_log
    latest = bench.log.snapshots.latest(bench.work)
    assert latest is not None
    begun = CommandRun(TurnId("t"), CallId("c_killed"), SessionKey("local:main"), "…")
    await rows.begin(begun, {bench.work: latest.id})
    (bench.work / "lib/.git/config").write_text("[core]\n\tfsmonitor = ./x\n")
    log = CommandLog(rows, bench.log.snapshots)
    assert await log.recover() == 1
    assert "fsmonitor" not in (bench.work / "lib/.git/config").read_text()


class Disturbed(Snapshots):
    """Snapshots during which something happens: one thing each time, the last of the list first."""

    def __init__(self, folder: Path, clock: Clock, bounds: SnapshotLimits | None = None) -> None:
        super().__init__(folder, clock, bounds)
        self.taken, self.before_restore, self.after_restore = (list[Callable[[], object]]() for _ in range(3))

    def take(self, tree: Path) -> Snapshot:
        snapshot = super().take(tree)
        if self.taken:
            self.taken.pop()()
        return snapshot

    def restore(self, tree: Path, wanted: Iterable[SnapshotChange]) -> tuple[RestoreResult, ...]:
        wanted = tuple(wanted)
        if wanted and self.before_restore:
            self.before_restore.pop()()
        done = super().restore(tree, wanted)
        if done and self.after_restore:
            self.after_restore.pop()()
        return done


class Running:
    """Commands that are running, with a log of their own."""

    def __init__(self, bench: Bench, folder: Path, bounds: SnapshotLimits | None = None) -> None:
        self.snapshots = Disturbed(folder, SystemClock(), bounds)
        self.rows, self.work = bench.store.command_log, bench.work
        self.log = CommandLog(self.rows, self.snapshots)

    async def begin(self, name: str) -> None:
        await self.log.begin(CommandRun(TurnId("t"), CallId(name), SessionKey("local:main"), "…"), [self.work])

    async def end(self, name: str) -> list[str]:
        return (await self.log.end(TurnId("t"), CallId(name), "exit status 0")).taken_back

    def write(self, repository: str = "lib") -> None:
        with (self.work / repository / ".git/config").open("a") as settings:
            settings.write("[core]\n\tfsmonitor = ./x\n")

    def is_harmful(self, repository: str = "lib") -> bool:
        return "fsmonitor" in (self.work / repository / ".git/config").read_text()


@pytest.fixture
async def running(bench: Bench, tmp_path: Path) -> Running:
    await text_of(bench.tools, "exec", command="git init -q lib; git init -q other")
    return Running(bench, tmp_path / "others")


@pytest.mark.parametrize("early", [False, True])
async def test_what_a_command_writes_while_another_starts_is_reverted(running: Running, *, early: bool) -> None:
    await running.begin("c_1")
    running.write()
    if early:  # to the same file before it is reverted, or to another after
        running.snapshots.before_restore = [running.write]
    else:
        running.snapshots.after_restore = [lambda: running.write("other")]
    await running.begin("c_2")
    await running.end("c_1")
    await running.end("c_2")
    assert not running.is_harmful()
    assert not running.is_harmful("other")


async def test_what_an_ended_command_wrote_is_reverted_once_its_folder_can_be_read(running: Running) -> None:
    def fail() -> None:
        raise OSError("an I/O error")

    await running.begin("c_1")
    running.write()
    running.snapshots.taken = [fail]
    with pytest.raises(OSError, match="an I/O error"):
        await running.end("c_1")
    assert running.log.running(TurnId("t")) == ()
    await running.begin("c_2")
    assert not running.is_harmful()


async def test_what_is_written_again_and_again_is_reverted_when_that_ends(running: Running) -> None:
    await running.begin("c_1")
    running.write()
    running.snapshots.after_restore = [running.write] * 10
    await running.end("c_1")
    assert running.is_harmful()
    assert [begun.call for begun, _ in await running.rows.running()] == ["c_1"]  # the next Hob would revert it
    await running.begin("c_2")
    assert not running.is_harmful()
    await running.end("c_2")
    assert await running.rows.running() == ()


async def test_what_is_put_away_while_it_is_judged_is_reverted(running: Running) -> None:
    bare, aside = running.work / "bare", running.work.parent / "aside"
    await running.begin("c_1")
    await running.begin("c_2")
    git(running.work, "init", "-q", "--bare", "bare")
    with (bare / "config").open("a") as settings:
        settings.write("[core]\n\tfsmonitor = ./x\n")
    running.snapshots.taken = [lambda: bare.rename(aside)]
    await running.end("c_1")
    aside.rename(bare)
    await running.end("c_2")
    assert not (bare / "config").exists()


async def test_what_a_command_writes_during_an_undo_is_reverted(running: Running, bench: Bench) -> None:
    await running.begin("c_1")
    (bench.work / "file").write_text("by a command")
    await running.end("c_1")
    await running.begin("c_2")
    undo = TurnUndo(running.log, bench.files.undo, bench.store.file_changes, bench.blobs)
    running.snapshots.after_restore = [running.write]
    assert (await undo.restore(TurnId("t"))).restored == (str(bench.work / "file"),)
    await running.end("c_2")
    assert not running.is_harmful()


def write_something_harmful(work: Path, chance: random.Random) -> None:
    """Raises OSError if it is reverted at the same time."""
    places = [work / each for each in ("lib/.git", "node_modules/x/.git", "bare", "evil", "aside")]
    place, other = chance.choice(places), chance.choice(places)
    match chance.randrange(9):
        case 0 | 1:
            with (place / "config").open("a") as settings:
                settings.write("[core]\n\tfsmonitor = ./x\n")
        case 2:
            (place / "config.worktree").write_text("[core]\n\tfsmonitor = ./x\n")
        case 3:
            (place / "HEAD").write_text("ref: refs/heads/main\n")
        case 4:
            (place / "commondir").write_text("../evil")
        case 5:
            (place / "hooks/pre-commit").write_text("./x")
        case 6:
            (place / "hooks").mkdir(parents=True)
        case 7:
            shutil.rmtree(place)
        case _:
            place.rename(other)


@pytest.mark.parametrize("seed", range(4))
async def test_nothing_harmful_stays_whenever_it_was_written(running: Running, seed: int) -> None:
    chance, stopped = random.Random(seed), Event()

    def write() -> None:
        own = random.Random(seed)
        while not stopped.is_set():
            with suppress(OSError):
                write_something_harmful(running.work, own)

    names = [f"c_{number}" for number in range(12)]
    left = ["c_last"]
    await running.begin("c_last")
    writer = Thread(target=write)
    writer.start()
    try:
        for name in names:
            await running.begin(name)
            if chance.random() < 0.7:
                await running.end(name)
            else:
                left.append(name)
    finally:
        stopped.set()
        writer.join()
    for name in left:
        await running.end(name)
    work = running.work
    made = [each.parent for each in work.rglob("HEAD") if each.parent.name != "logs"]
    assert not list(work.rglob("commondir"))
    assert not [each for folder in made for each in folder.glob("hooks/*") if each.suffix != ".sample"]
    for folder in (*made, *work.rglob(".git")):
        assert not [each for each in folder.glob("config*") if "fsmonitor" in each.read_text()]
    assert await running.rows.running() == ()


@pytest.mark.parametrize("bounds", [SnapshotLimits(tree=0), SnapshotLimits(entries=3), SnapshotLimits(file=0)])
async def test_settings_are_reverted_in_a_folder_with_more_than_is_kept(
    bench: Bench, tmp_path: Path, bounds: SnapshotLimits
) -> None:
    await text_of(bench.tools, "exec", command="git init -q lib")
    hook = bench.work / "lib/.git/hooks/pre-commit"
    running = Running(bench, tmp_path / "others", bounds)
    await running.begin("c_1")
    running.write()
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("./x")
    await running.end("c_1")
    assert not running.is_harmful()
    assert not hook.exists()


def test_settings_are_reverted_in_a_folder_that_became_read_only(tmp_path: Path) -> None:
    (tmp_path / "work/lib/.git").mkdir(parents=True)
    (tmp_path / "work/lib/.git/config").write_text("")
    program = """
import pathlib, sys
from hob.core.clock import SystemClock
from hob.tools.undo.snapshots.entries import changes
from hob.tools.undo.snapshots.snapshots import Snapshots
work, settings = pathlib.Path("work").resolve(), pathlib.Path("work/lib/.git/config")
snapshots = Snapshots(pathlib.Path("snapshots").resolve(), SystemClock())
before = snapshots.take(work)
settings.write_text("[core]")
settings.parent.chmod(0o555)
found = changes(before, snapshots.take(work))
done = snapshots.restore(work, [each for each in found if each.path == "lib/.git/config"])
assert [each.done for each in done] == [True], done
assert settings.read_text() == ""
"""
    as_others = ("setpriv", "--bounding-set", "-dac_override,-dac_read_search") if os.getuid() == 0 else ()
    subprocess.run([*as_others, sys.executable, "-c", program], cwd=tmp_path, check=True)


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        ("", False),
        ("[core]\n\tbare = false ; as ever\n", False),
        ('[remote "o"]\n\turl = https://example.com/x\n\tfetch = +refs/heads/*:refs/remotes/o/*\n', False),
        ('[branch "a.b \\"c\\""]\n\tremote = o\n', False),
        ('[remote "o"]\n\turl = ext::sh -c ./x\n', True),
        ('[remote "o"]\n\turl = -x\n', True),
        ('[remote "o"]\n\tuploadpack = ./x\n', True),
        ("[core] fsmonitor = ./x\n", True),
        ("[core]\n\tFSMONITOR=./x", True),
        ("[core]\n\tbare = false \\\n\tfsmonitor = x\n", True),
        ("[core]\rfsmonitor = ./x\n", True),
        ("\ufeff[core]\n\tfsmonitor = ./x\n", True),
        ("[core]\n\thooksPath = x\n", True),
        ("[include]\n\tpath = x\n", True),
        ('[includeIf "gitdir:/"]\n\tpath = x\n', True),
        ("[alias]\n\tst = !x\n", True),
        ('[filter "x"]\n\tclean = x\n', True),
        ('[url "ext::x"]\n\tinsteadOf = https://example.com\n', True),
        ("[submodule]\n\tx = 1\n", True),
        ("[core\n]\n\tfsmonitor = x\n", True),
    ],
)
def test_settings_that_run_something_are_recognised(tmp_path: Path, text: str, runs: bool) -> None:
    after = SnapshotEntry(EntryKind.FILE, 0o644, Stamp(1, len(text), 1, 1), "after")
    change = SnapshotChange("lib/.git/config", Difference.ADDED, None, after)
    now = Snapshot("now", tmp_path, 0, {change.path: after})
    assert runs_something(now, change, lambda _: text.encode()) is runs
