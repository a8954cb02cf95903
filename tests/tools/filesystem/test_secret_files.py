"""Files whose names suggest keys: no file tool shows their content."""

import shutil
import subprocess
from pathlib import Path

import pytest

from hob.core.errors import ToolFailed, ToolRefused
from hob.core.ids import TurnId
from hob.guard.policy.places import SECRET_NAME, is_hidden_file
from hob.tools.exec.commands import CommandAccess
from hob.tools.filesystem.grep import find_ripgrep
from hob.tools.sandbox.backends.landlock import landlock_version
from hob.tools.sandbox.secret_files import KeyFiles
from tests.guard.shell.catalogue import judge
from tests.tools.calling import text_of
from tests.tools.commanding import open_bench
from tests.tools.keeping import file_tools
from tests.tools.sandbox.test_walls import git_init

ONLY_FILES = ("auth.json", "my-private-key.asc", "a.tfstate.backup")
"""Commands are judged by what they most likely read, and `auth.json` is also an ordinary name."""
SECRET = "KEY=canary-4711"
NAMES = (".env", ".env.production", "server.pem", "id_ed25519", "sub/credentials.json", "sub/.netrc", "prod.env")


def with_secrets(top: Path) -> Path:
    ws = top / "ws"
    (ws / "sub").mkdir(parents=True)
    for name in NAMES:
        (ws / name).write_text(SECRET)
    (ws / ".env.example").write_text("KEY=what-you-like")
    (ws / "sample.env").write_text("KEY=what-you-like")
    (ws / "plain.txt").symlink_to(".env")
    return ws


@pytest.mark.parametrize(
    "name",
    [
        *("prod.env", "id_ed25519_sk", "id_ecdsa_sk", "login.ppk", ".htpasswd", ".my.cnf", ".envrc", "kubeconfig"),
        *("prod.kubeconfig", "a.tfstate", "a.tfstate.backup", "a.tfvars", "service-account-7.json", ".dockercfg"),
        *("auth.json", "my-private-key.asc"),
    ],
)
def test_file_tools_and_commands_agree_on_key_file_names(name: str) -> None:
    assert SECRET_NAME.fullmatch(name)
    assert [found.rule for found in judge(f"cat {name}")] == ["secret-reading"] or name in ONLY_FILES


@pytest.mark.parametrize(
    "name", ["example.env", "prod.sample.env", "environment.py", "keys.md", "SHA256SUMS.asc", "id.rs"]
)
def test_other_files_are_read(name: str) -> None:
    assert not SECRET_NAME.fullmatch(name)
    assert judge(f"cat {name}") == ()


@pytest.mark.parametrize("by_hand", [True, False])
async def test_search_skips_key_files(tmp_path: Path, by_hand: bool) -> None:
    if not by_hand and find_ripgrep() is None:
        pytest.skip("ripgrep is not installed")
    with_secrets(tmp_path)
    files = file_tools(tmp_path, None if by_hand else find_ripgrep())
    found = await text_of(files.toolset, "grep", pattern="KEY")
    assert "what-you-like" in found
    assert "canary" not in found
    with pytest.raises(ToolRefused, match="keys or passwords"):
        await text_of(files.toolset, "grep", pattern="KEY", path=".env")


@pytest.mark.parametrize("name", [*NAMES, "plain.txt", "sub/../.env", ".ENV"])
async def test_key_files_are_neither_changed_nor_read_by_another_name(tmp_path: Path, name: str) -> None:
    ws = with_secrets(tmp_path)
    (ws / ".ENV").write_text(SECRET)
    files = file_tools(tmp_path)
    patch = f"*** Begin Patch\n*** Update File: {name}\n@@\n-{SECRET}\n+x\n*** End Patch"
    for tool, arguments in (
        *((("read", {"path": name}),) if name == "plain.txt" else ()),
        ("edit", {"path": name, "old_text": "KEY", "new_text": "K"}),
        ("write", {"path": name, "content": "x"}),
        ("apply_patch", {"patch": patch}),
    ):
        with pytest.raises(ToolRefused, match="keys or passwords"):
            await text_of(files.toolset, tool, **arguments)
    assert {(ws / each).read_text() for each in NAMES} == {SECRET}


async def test_key_file_is_shown_by_its_name_because_the_owner_was_asked(tmp_path: Path) -> None:
    """The judge asks before the tool is called (`test_reading_keys_needs_approval_for_tools_and_commands_alike`)."""
    with_secrets(tmp_path)
    assert SECRET in await text_of(file_tools(tmp_path).toolset, "read", path="sub/../.env")


READERS = (
    *("grep -r KEY .", "find . -type f | xargs cat", "tar cf - .", "cat $(ls -A)", "head -c 99 .e?v sub/.n*"),
    *(
        "git init -q; git add -A && git diff --cached",
        "printf 'cat .e%s' nv > s.sh; sh s.sh",
        "cp -r . /tmp/x; cat /tmp/x/.e*",
    ),
    *("python3 -c 'import os; [print(open(e.path).read()) for e in os.scandir() if e.is_file()]'", "cat plain.txt"),
    *(
        "ln .e* other; cat other",
        "mv .e* other; cat other",
        "mv sub node_modules",
        "dd if=$(echo .env)",
        "source ./.e*; echo $KEY",
    ),
)


UNASKED = CommandAccess(key_files=KeyFiles(is_hidden_file, lambda _command, _directory: False))


def subprocess_git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(folder), *arguments], check=True)


def asks(command: str, _directory: str) -> bool:
    return any(found.rule == "secret-reading" for found in judge(command))


ASKED = CommandAccess(key_files=KeyFiles(is_hidden_file, asks))


@pytest.mark.parametrize("command", READERS)
async def test_commands_see_empty_files_in_place_of_key_files(tmp_path: Path, command: str) -> None:
    async with open_bench("bubblewrap", tmp_path, access=UNASKED) as bench:
        shutil.copytree(with_secrets(tmp_path), bench.work, dirs_exist_ok=True, symlinks=True)
        (bench.work / "server.pem").unlink()  # commands need certificates
        said = await text_of(bench.tools, "exec", command=command)
        said += await text_of(bench.tools, "exec", command="grep -rh KEY .")
    assert "canary" not in said
    assert "KEY=what-you-like" in said
    assert "not shown, since they hold keys: .env" in said
    assert SECRET in (bench.work / ".env").read_text()


@pytest.mark.skipif(not landlock_version(), reason="this kernel has no Landlock")
@pytest.mark.parametrize("command", READERS)
async def test_landlock_hides_key_files_under_any_name(tmp_path: Path, command: str) -> None:
    async with open_bench("landlock", tmp_path, access=UNASKED) as bench:
        shutil.copytree(with_secrets(tmp_path), bench.work, dirs_exist_ok=True, symlinks=True)
        (bench.work / "server.pem").unlink()
        said = await text_of(bench.tools, "exec", command=command)
        said += await text_of(bench.tools, "exec", command="grep -rh KEY . 2>&1; cat other")
    assert "canary" not in said
    assert "KEY=what-you-like" in said
    assert "not shown, since they hold keys: .env" in said


@pytest.mark.skipif(not landlock_version(), reason="this kernel has no Landlock")
async def test_landlock_shows_files_that_a_command_made_beside_key_files(tmp_path: Path) -> None:
    async with open_bench("landlock", tmp_path, access=UNASKED) as bench:
        shutil.copytree(with_secrets(tmp_path), bench.work, dirs_exist_ok=True, symlinks=True)
        (bench.work / "server.pem").unlink()
        held = await text_of(bench.tools, "exec", command="echo made > new.txt; cp .env.example copy.txt")
        later = await text_of(bench.tools, "exec", command="cat new.txt copy.txt")
    assert "canary" not in held + later
    assert "not shown, since they hold keys: .env" in later
    assert "made\nKEY=what-you-like" in later


@pytest.mark.skipif(not landlock_version(), reason="this kernel has no Landlock")
async def test_landlock_refuses_a_command_with_too_many_files_beside_a_key(tmp_path: Path) -> None:
    async with open_bench("landlock", tmp_path, access=ASKED) as bench:
        (bench.work / ".env").write_text(SECRET)
        for number in range(401):
            (bench.work / f"{number}.txt").touch()
        with pytest.raises(ToolFailed, match="Name it in the command"):
            await text_of(bench.tools, "exec", command="ls")
        assert SECRET in await text_of(bench.tools, "exec", command="cat .env")


async def test_command_can_read_only_the_key_file_it_names(tmp_path: Path) -> None:
    """The owner was asked about the command because of what it names."""
    async with open_bench("bubblewrap", tmp_path, access=ASKED) as bench:
        shutil.copytree(with_secrets(tmp_path), bench.work, dirs_exist_ok=True, symlinks=True)
        (bench.work / "prod.env").write_text("KEY=other-4712")
        said = await text_of(bench.tools, "exec", command="cat .env; cat prod.e*")
        quoted = await text_of(bench.tools, "exec", command="echo .env; cat .e*")
    assert SECRET in said
    assert "other-4712" not in said
    assert SECRET not in quoted or asks("echo .env; cat .e*", "")


async def test_committed_files_are_not_hidden_and_cannot_be_faked(tmp_path: Path) -> None:
    async with open_bench("bubblewrap", tmp_path, access=UNASKED) as bench:
        git_init(bench.work)
        (bench.work / "fixture.key").write_text("KEY=fixture")
        first = await text_of(bench.tools, "exec", command="git add -f .; cat f*")
        subprocess_git(bench.work, "add", "-f", "fixture.key")
        second = await text_of(bench.tools, "exec", command="cat f*; git branch fix.env; git rev-parse fix.env")
    assert "KEY=fixture" not in first
    assert "KEY=fixture" in second


async def test_new_key_file_can_be_written_and_undone(tmp_path: Path) -> None:
    files = file_tools(tmp_path)
    await text_of(files.toolset, "write", path=".env", content="PORT=3000\n")
    undone = await files.undo.restore(TurnId("t_here"))
    assert undone.kept == ()
    assert not (tmp_path / "ws/.env").exists()
