"""Files whose names say that they hold keys: no file tool shows what stands in them."""

from pathlib import Path

import pytest

from hob.core.errors import ToolRefused
from hob.core.ids import TurnId
from hob.guard.policy.places import SECRET_NAME
from hob.tools.filesystem.grep import find_ripgrep
from tests.guard.shell.catalogue import judge
from tests.tools.calling import text_of
from tests.tools.keeping import file_tools

ONLY_FILES = ("auth.json", "my-private-key.asc", "a.tfstate.backup")
"""Commands are asked about by what they most likely read, and `auth.json` is also an ordinary name."""
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
def test_names_of_key_files_are_known_to_file_tools_and_commands(name: str) -> None:
    assert SECRET_NAME.fullmatch(name)
    assert [found.rule for found in judge(f"cat {name}")] == ["secret-reading"] or name in ONLY_FILES


@pytest.mark.parametrize(
    "name", ["example.env", "prod.sample.env", "environment.py", "keys.md", "SHA256SUMS.asc", "id.rs"]
)
def test_other_files_are_read(name: str) -> None:
    assert not SECRET_NAME.fullmatch(name)
    assert judge(f"cat {name}") == ()


@pytest.mark.parametrize("by_hand", [True, False])
async def test_a_search_passes_them_over(tmp_path: Path, by_hand: bool) -> None:
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
async def test_they_are_neither_read_nor_changed(tmp_path: Path, name: str) -> None:
    ws = with_secrets(tmp_path)
    (ws / ".ENV").write_text(SECRET)
    files = file_tools(tmp_path)
    patch = f"*** Begin Patch\n*** Update File: {name}\n@@\n-{SECRET}\n+x\n*** End Patch"
    for tool, arguments in (
        ("read", {"path": name}),
        ("edit", {"path": name, "old_text": "KEY", "new_text": "K"}),
        ("write", {"path": name, "content": "x"}),
        ("apply_patch", {"patch": patch}),
    ):
        with pytest.raises(ToolRefused, match="keys or passwords"):
            await text_of(files.toolset, tool, **arguments)
    assert {(ws / each).read_text() for each in NAMES} == {SECRET}


async def test_a_new_one_may_be_written_and_is_taken_back(tmp_path: Path) -> None:
    files = file_tools(tmp_path)
    await text_of(files.toolset, "write", path=".env", content="PORT=3000\n")
    with pytest.raises(ToolRefused):
        await text_of(files.toolset, "read", path=".env")
    undone = await files.undo.restore(TurnId("t_here"))
    assert undone.kept == ()
    assert not (tmp_path / "ws/.env").exists()
