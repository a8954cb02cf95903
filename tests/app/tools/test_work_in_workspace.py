"""Commands that work inside Hob's own instruction folder cannot change the instructions, in the real sandbox."""

from pathlib import Path

import pytest

from hob.app.tools.runtime import executable_config_below
from hob.core.ports.guard import Allow, Ask
from hob.guard.policy.context import Sandbox
from hob.tools.sandbox.backends.bubblewrap import Bubblewrap
from hob.tools.sandbox.backends.landlock import Landlock
from hob.tools.sandbox.sandbox_environment import SandboxEnvironment
from hob.tools.sandbox.settings import SandboxSettings
from hob.workspace.settings import WorkspaceSettings
from tests.app.asking import say
from tests.guard.calling import context, verdict
from tests.guard.daily.world import office

BINDS, NO_OPTIONS = frozenset({"--bind-fd"}), frozenset[str]()
TRIES = """
import os
for folder in ("skills", "hooks", "operations", "memory"):
    for act in (
        lambda: os.makedirs(f"{folder}/evil"),
        lambda: open(f"{folder}/evil.md", "w").write("EVIL"),
        lambda: os.rename(folder, f"{folder}-away"),
        lambda: os.symlink("evil", folder),
    ):
        try: act()
        except OSError: pass
open("evil.md", "w").write("EVIL")
for name in ("AGENTS.md", "SOUL.md", "USER.md", "TOOLS.md", "IDENTITY.md", "MEMORY.md"):
    for act in (
        lambda: open(name, "a").write("EVIL"),
        lambda: os.remove(name),
        lambda: os.chmod(name, 0o777),
        lambda: os.rename("evil.md", name),
        lambda: os.link("evil.md", name),
    ):
        try: act()
        except OSError: pass
"""


EXEC = ("exec", '{"command": "python3 tries.py"}')


def trees(workspace: Path) -> dict[str, str]:
    """Return every file in the workspace except git's own, with its content."""
    paths = (path for path in workspace.rglob("*") if ".git" not in path.relative_to(workspace).parts)
    return {str(path.relative_to(workspace)): path.read_text() if path.is_file() else "" for path in paths}


@pytest.mark.bubblewrap
async def test_commands_cannot_change_instructions_in_the_work_folder(tmp_path: Path) -> None:
    workspace = tmp_path / "hob"
    for name in ("skills", "memory"):
        (workspace / name).mkdir(parents=True)
        (workspace / name / "mine.md").write_text("mine")
    async with office(tmp_path, HOB_WORKSPACE_WORK_REPO=str(workspace), HOB_SANDBOX_BACKEND="bubblewrap") as hob:
        (workspace / "tries.py").write_text(TRIES)
        before = trees(workspace)
        assert "AGENTS.md" in before
        assert await say(hob, EXEC, "deny") == []
        after = trees(workspace)
        assert after.pop("evil.md") == "EVIL"
        assert {name: text for name, text in after.items() if text} == {n: t for n, t in before.items() if t}
        assert "evil" not in " ".join(after)


@pytest.mark.parametrize("tainted", [False, True])
def test_command_counts_as_changing_what_the_sandbox_cannot_protect(tainted: bool) -> None:
    exposed = context(tainted=tainted, sandbox=Sandbox(exposed=True))
    said = verdict("exec", exposed, command="ls")
    assert isinstance(said, Ask if tainted else Allow)
    assert not tainted or said.rule == "taint.persists"
    assert isinstance(verdict("exec", context(tainted=tainted), command="ls"), Allow)


def test_landlock_protects_nothing_below_a_folder(tmp_path: Path) -> None:
    around = SandboxEnvironment(caches=tmp_path, state=tmp_path)
    assert [
        Landlock(around, 7).protects_files,
        Bubblewrap("bwrap", frozenset({"--bind-fd"}), around).protects_files,
    ] == [
        False,
        True,
    ]
    assert not Bubblewrap("bwrap", frozenset(), around).protects_files


@pytest.mark.parametrize(
    ("work", "write", "names"),
    [
        ("hob/work", [], ()),
        ("hob", [], ("AGENTS.md", "skills/", "hooks/")),
        ("", [], ("hob/AGENTS.md", "hob/skills/", "hob/hooks/")),
        ("hob/work", [""], ("hob/AGENTS.md", "hob/skills/", "hob/hooks/")),
        ("elsewhere", [], ()),
    ],
)
def test_executable_config_is_named_below_each_folder_that_commands_may_change(
    tmp_path: Path, work: str, write: list[str], names: tuple[str, ...]
) -> None:
    workspace = WorkspaceSettings(path=tmp_path / "hob", work_repo=tmp_path / work)
    found = executable_config_below(workspace, SandboxSettings(write=[str(tmp_path / each) for each in write]))
    assert set(names) <= set(found)
    assert bool(names) is bool(found)
