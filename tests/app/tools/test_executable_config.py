"""Changes by a command that other programs will execute are reported to the owner, whatever the model says."""

import json
from pathlib import Path

import pytest

from hob.app.tools.executable_config import changed_executable_config
from hob.guard.policy.places import Places
from hob.testing.model import calls
from hob.tools.undo.snapshots.entries import Difference
from tests.app.visiting import ANNA, ME, Visited, until, visited

pytestmark = pytest.mark.bubblewrap

PLANTS = "import os; os.makedirs('sub/.vscode'); open('sub/.vscode/tasks.json', 'w').write('echo owned')"
HOOKS = "import os; os.makedirs('sub/.git/hooks'); open('sub/.git/hooks/post-commit', 'w').write('echo owned')"


def planted(top: Path, plants: str = PLANTS) -> None:
    work = top / "workspace" / "work"
    work.mkdir(parents=True)
    (work / "plant.py").write_text(plants)


async def told(hob: Visited, chat: str = ME) -> list[str]:
    await until(lambda: any("sub/" in text for text in hob.sent(chat)))
    return hob.sent(chat)


async def test_executable_config_is_reported_beside_the_answer_and_not_to_the_model(tmp_path: Path) -> None:
    planted(tmp_path)
    async with visited(tmp_path, calls(("exec", '{"command": "python3 plant.py"}')), "All is well.") as hob:
        await hob.knows()
        await hob.comes("go on", ME)
        answer, note = await told(hob)
        assert answer == "All is well."
        assert note.startswith("A command changed files that programs outside")
        assert "A command changed" not in hob.seen


async def test_undo_of_a_hook_is_reported(tmp_path: Path) -> None:
    planted(tmp_path, HOOKS)
    async with visited(tmp_path, calls(("exec", '{"command": "python3 plant.py"}')), "All is well.") as hob:
        await hob.knows()
        await hob.comes("go on", ME)
        assert (await told(hob))[-1].startswith("A command wrote what would make git run a program")
        assert "taken back, since git would run something by it: " in hob.seen
    assert not (tmp_path / "workspace/work/sub/.git/hooks/post-commit").exists()


async def test_executable_config_is_reported_in_the_owners_language(tmp_path: Path) -> None:
    planted(tmp_path)
    call = calls(("exec", '{"command": "python3 plant.py"}'))
    async with visited(tmp_path, call, "Gut.", HOB_AGENT_LANGUAGE="de") as hob:
        await hob.knows()
        await hob.comes("mach weiter", ME)
        assert (await told(hob))[-1].startswith("Ein Befehl hat geändert, was andere Programme")


@pytest.mark.parametrize("background", [False, True])
async def test_planted_config_is_reported_to_the_owner_alone(tmp_path: Path, background: bool) -> None:
    planted(tmp_path)
    call = ("exec", json.dumps({"command": "python3 plant.py", "background": background}))
    async with visited(tmp_path, "Hello.", HOB_POLICY_MEMBER_PRIVATE="allow") as hob:
        await hob.knows()
        await hob.comes("hello", ME)
        await until(lambda: bool(hob.sent(ME)))
        hob.model.script[:] = [calls(call), "Done."]
        await hob.comes("go on", ME if background else ANNA)
        assert any(text.startswith("A command changed") for text in await told(hob))
        assert not any("sub/" in text for text in hob.sent(ANNA))


@pytest.mark.parametrize(
    ("name", "text", "is_told"),
    [
        (".envrc", "", True),
        ("sub/.vscode/tasks.json", "", True),
        ("skills/x/SKILL.md", "", True),
        (".git/hooks/pre-push", "", True),
        (".git/hooks/pre-push.sample", "", False),
        (".git/index", "", False),
        (".git/objects/ab/cdef", "", False),
        (".git/config", "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = x\n", False),
        (".git/config", "[core]\n\tfsmonitor = ./x\n", True),
        (".git/config", "[alias]\n\tst = !./x\n", True),
        (".git/modules/a/hooks/update", "", True),
        ("src/main.py", "", False),
    ],
)  # fmt: skip
def test_executable_config_is_recognised(tmp_path: Path, name: str, text: str, is_told: bool) -> None:
    places = Places(str(tmp_path / ".hob"), str(tmp_path), str(tmp_path), str(tmp_path))
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    assert (list(changed_executable_config(places, {str(path): Difference.CHANGED})) == [str(path)]) is is_told
    assert not changed_executable_config(places, {str(path): Difference.REMOVED, str(path.parent): Difference.ADDED})
