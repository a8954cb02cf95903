"""Whatever a command writes, git used by the owner in that folder afterwards runs none of it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hob.core.ids import CallId, SessionKey, TurnId
from hob.core.undo import CommandRun
from hob.tools.exec.command_log import CommandLog
from hob.tools.exec.repositories import runs_something
from hob.tools.undo.snapshots import snapshot_walk
from hob.tools.undo.snapshots.entries import Difference, EntryKind, Snapshot, SnapshotChange, SnapshotEntry, Stamp
from hob.tools.undo.snapshots.snapshot_walk import SnapshotLimits
from tests.tools.calling import text_of
from tests.tools.commanding import Bench, open_bench
from tests.tools.exec.running import Running

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


def git(folder: Path, *line: str) -> str:
    done = subprocess.run(["git", *line], cwd=folder, env=os.environ | _ENVIRON, capture_output=True, text=True)
    return done.stdout


def works_on(work: Path) -> None:
    """Do what editors, prompts and people do, in each folder where git may find a repository of its own."""
    found = {each.parent for name in (".git", "HEAD", "commondir", "config") for each in work.rglob(name)}
    for folder in (work, *(found - {work})):
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


def test_folders_that_became_read_only_or_hidden_are_scanned_and_reverted(tmp_path: Path) -> None:
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
pathlib.Path("work/hidden/.git").mkdir(parents=True)
pathlib.Path("work/hidden/.git/config").write_text("[core]")
pathlib.Path("work/hidden/.git").chmod(0o311)
pathlib.Path("work/node_modules/x/.git").mkdir(parents=True)
pathlib.Path("work/node_modules/x/.git/config").write_text("[core]")
pathlib.Path("work/node_modules/x").chmod(0o311)
pathlib.Path("work/listed").mkdir()
pathlib.Path("work/listed/file").touch()
pathlib.Path("work/listed").chmod(0o444)
work.chmod(0o311)
after = snapshots.take(work)
assert {"hidden/.git/config", "node_modules/x/.git/config", "listed/file"} <= after.entries.keys(), after.entries
found = changes(before, after)
done = snapshots.restore(work, [each for each in found if each.path == "lib/.git/config"])
assert [each.done for each in done] == [True], done
assert settings.read_text() == ""
assert settings.parent.stat().st_mode & 0o777 == 0o555
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
        ('[remote "o"]\n\turl = ext":":sh -c ./x\n', True),
        ('[branch "main"]\n\tremote = ext::sh -c ./x\n', True),
        ("[core]\n\tworktree = ../../.git\n", True),
    ],
)
def test_settings_that_run_something_are_recognised(tmp_path: Path, text: str, runs: bool) -> None:
    after = SnapshotEntry(EntryKind.FILE, 0o644, Stamp(1, len(text), 1, 1), "after")
    change = SnapshotChange("lib/.git/config", Difference.ADDED, None, after)
    now = Snapshot("now", tmp_path, 0, {change.path: after})
    assert runs_something(now, change, lambda _: text.encode()) is runs


def judge(tmp_path: Path, path: str, text: bytes, before: bytes | None = None, *folders: str) -> bool:
    """Return whether this new content of a file runs something in a repository at `lib`, with these folders."""
    contents = {"before": before, "after": text}

    def entry(name: str) -> SnapshotEntry:
        return SnapshotEntry(EntryKind.FILE, 0o644, Stamp(1, len(contents[name] or b""), 1, 1), name)

    folder = SnapshotEntry(EntryKind.FOLDER, 0o755, Stamp(1, 0, 0, 0))
    old = None if before is None else entry("before")
    change = SnapshotChange(path, Difference.CHANGED if old else Difference.ADDED, old, entry("after"))
    now = Snapshot("now", tmp_path, 0, {change.path: entry("after"), **dict.fromkeys(folders, folder)})
    return runs_something(now, change, lambda each: contents[each.content])


@pytest.mark.parametrize(
    ("path", "text", "runs"),
    [
        ("lib/.hg/hgrc", b"[paths]\ndefault = https://example.com/x\n", False),
        ("lib/.hg/hgrc", b"[hooks]\nupdate = ./x\n", True),
        ("lib/.hg/hgrc", b"[paths]\n[hooks] x = y\npre-status = ./x\n", True),
        ("lib/.hg/hgrc", b"[paths]\n%include ../../e=1\n", True),
        ("lib/.hg/hgrc", b"[paths]\ndefault = x\r[hooks]\rpre-status = ./x\n", True),
        ("lib/.hg/hgrc-not-shared", b"[hooks]\nupdate = ./x\n", True),
        ("lib/.hg/sharedpath", b"../../e", True),
        ("lib/.hg", b"", True),
        ("lib/.git/rebase-merge/git-rebase-todo", b"pick 1a2b3c one\n", False),
        ("lib/.git/rebase-merge/git-rebase-todo", b"pick 1a2b3c one\nexec ./x\n", True),
        ("lib/.git/rebase-merge/git-rebase-todo", b"\tx ./x\n", True),
        ("lib/.git/index", b"DIRC\0\0\0\x02 src/main.py", False),
        ("lib/.git/index", b"DIRC\0\0\0\x02 .Git/hooks/pre-commit", True),
        ("lib/.git/index", b"DIRC\0\0\0\x04 .gi", True),
        ("lib/.git/commondir", b"../..", True),
        (".git/worktrees/x/commondir", b"../..\n", False),
    ],
)
def test_files_that_run_something_are_recognised(tmp_path: Path, path: str, text: bytes, *, runs: bool) -> None:
    assert judge(tmp_path, path, text) is runs


def test_setting_under_an_unknown_header_is_not_taken_for_one_of_the_section_before(tmp_path: Path) -> None:
    before = b"[core] # mine\n\tabbrev = 12\n"
    assert not judge(tmp_path, "lib/.git/config", before + b"[user]\n\tname = me\n", before)
    assert judge(tmp_path, "lib/.git/config", b"[color]\n\tui = auto\n[core] # mine\n\tfsmonitor = ./x\n", before)


@pytest.mark.parametrize(("value", "runs"), [("../../../lib", False), ("../../../lib/.git", True), ("/etc", True)])
def test_submodule_may_name_only_its_own_folder(tmp_path: Path, value: str, *, runs: bool) -> None:
    text = f"[core]\n\tworktree = {value}\n".encode()
    assert judge(tmp_path, ".git/modules/lib/config", text, None, "lib", "lib/.git", ".git/modules/lib/HEAD") is runs


async def test_folder_named_head_does_not_hide_the_file_after_it(running: Running) -> None:
    evil = running.work / "evil"

    def make() -> None:
        evil.mkdir()
        (evil / "config").write_text("[core]\n\tfsmonitor = ./x\n")

    def exchange() -> None:
        if (evil / "HEAD").exists():
            (evil / "HEAD").rmdir()
        (evil / "HEAD").write_text("ref: refs/heads/main\n")

    for name, step in (("c_1", make), ("c_2", (evil / "HEAD").mkdir), ("c_3", exchange)):
        await running.run(name, step)
    assert not (evil / "HEAD").exists()


async def test_hooks_in_a_cache_are_found_once_their_folder_is_a_repository(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot_walk, "_RACY", 0)  # the time of a folder is trusted at once
    lib = running.work / "node_modules/lib"

    def make() -> None:
        (lib / "hooks").mkdir(parents=True)
        (lib / "hooks/pre-commit").write_text("./x")

    await running.run("c_1", make)
    await running.run("c_2", lambda: None)
    await running.run("c_3", lambda: (lib / "HEAD").write_text("ref: refs/heads/main\n"))
    assert not ((lib / "HEAD").exists() and (lib / "hooks/pre-commit").exists())
