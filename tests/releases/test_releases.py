"""The home of every release opens, continues, is restored and erased under every later one.

Each folder beside this file is a release; `record.py` wrote it and it is never edited. The tests use only the command
line and the API, as people do.
"""

import hashlib
import json
import tarfile
import tempfile
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw
import pytest

from hob.testing.model_server import ModelServer
from tests.journeys.world import Daemon, World

from .record import PREFIX, call, said

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
RELEASES = sorted(file.parent.name for file in HERE.glob("*/home.tar.xz"))


@dataclass(frozen=True, slots=True)
class House:
    """A user's folder as the release left it, and what was noted about it."""

    world: World
    known: dict[str, Any]

    @property
    def work(self) -> Path:
        return self.world.root / "hob" / "work"


@pytest.fixture(params=RELEASES)
async def context(request: pytest.FixtureRequest) -> AsyncIterator[House]:
    with tempfile.TemporaryDirectory(prefix=PREFIX, dir="/tmp") as name:
        root = Path(name)
        with tarfile.open(HERE / request.param / "home.tar.xz") as archive:
            archive.extraction_filter = getattr(tarfile, "data_filter", None)  # Python 3.11.2, Debian 12's, has none
            archive.extractall(root)  # noqa: S202 (our own archive)
        known = json.loads((root / "known.json").read_text())
        move(root, known["root"])
        wait_again(root / "home" / "hob.db")
        async with ModelServer() as model:
            yield House(World(root, model), known)


def move(root: Path, former: str) -> None:
    """Make the folder what it were if recorded here. The paths have the same length, so that no file is damaged."""
    assert len(str(root)) == len(former)
    for file in root.rglob("*"):
        if file.is_file() and former.encode() in (data := file.read_bytes()):
            file.write_bytes(data.replace(former.encode(), str(root).encode()))
    for tree in list((root / "home" / "tools" / "snapshots" / "trees").iterdir()):
        path = json.loads(next(tree.glob("*.json")).read_bytes())["tree"]
        tree.rename(tree.with_name(hashlib.sha256(path.encode()).hexdigest()[:24]))


def wait_again(database: Path) -> None:
    """Move the recorded questions to now: an approval expires after a day, and the recording is older."""
    connection = apsw.Connection(str(database))
    connection.execute("UPDATE approvals SET asked = ?, expires = ?", (time.time(), time.time() + 86_400))
    connection.execute("UPDATE turns SET wake_at = ? WHERE wake_at IS NOT NULL", (time.time() + 86_400,))
    connection.close()


async def told(daemon: Daemon, text: str, session: str) -> str:
    return str((await said(daemon, text, session))["reply"])


async def undone(daemon: Daemon, id: str) -> dict[str, Any]:
    seen: dict[str, Any] = (await daemon.client.post("/undo", json={"id": id})).raise_for_status().json()
    return seen


async def test_home_of_a_release_opens_completely(context: House) -> None:
    exported = await context.world.hob("export", "--all")
    assert "You said: hello" in exported.out, exported.err
    assert (await context.world.hob("audit", "verify")).status == 0
    async with context.world.serve() as daemon:
        status = await daemon.ask("/status")
        assert (status["store"], status["parked"]) == ("ok", 2)
        names = {each["session"] for each in (await daemon.ask("/sessions"))["sessions"]}
        assert names >= {"api:main", "api:files", "api:letters", "api:parked"}
    rebuilt = await context.world.hob("rebuild")
    assert rebuilt.status == 0, rebuilt.err


async def test_conversation_continues_with_its_history_memories_and_note(context: House) -> None:
    async with context.world.serve() as daemon:
        await told(daemon, "hello again", "main")
        asked = context.world.model.requests[-1].body.decode()
        assert "You said: hello" in asked
        assert "The shed is painted by Friday." in asked
        assert "Fitz" in await told(daemon, call("recall", query="cat of the house"), "main")
        # the tool group the session has opened is open
        assert "group" not in await told(daemon, call("update_working_memory", content="done"), "main")


async def test_changes_of_a_release_are_undone(context: House) -> None:
    async with context.world.serve() as daemon:
        done = await undone(daemon, context.known["written"])
        assert (done["restored"], done["kept"]) == ([str(context.work / "kept.md")], [])
        await undone(daemon, context.known["back"])
        assert (context.work / "undone.md").read_text() == "undone\n"
        done = await undone(daemon, context.known["commanded"])
        assert (done["restored"], done["kept"]) == ([str(context.work / "made.txt")], [])
    assert not (context.work / "kept.md").exists()
    assert not (context.work / "made.txt").exists()


async def test_parked_approval_counts_if_the_call_is_still_what_was_shown(context: House) -> None:
    async with context.world.serve() as daemon:
        waiting = (await daemon.ask("/approvals"))["approvals"]
        assert [each["id"] for each in waiting] == [context.known["approval"]]
        await allow(daemon, context.known["approval"])
        view = await daemon.get(context.known["parked"], wait=20)
        assert view["state"] == "done", view
    assert (context.world.root / "hob" / "AGENTS.md").read_text() == "Be brief.\n"


async def test_parked_approval_is_asked_for_again_if_the_file_has_changed(context: House) -> None:
    rules = context.world.root / "hob" / "AGENTS.md"
    rules.write_text("Be kind.\n")
    async with context.world.serve() as daemon:
        await allow(daemon, context.known["approval"])
        view = await daemon.get(context.known["parked"], wait=20)
        assert view["state"] == "parked", view
        (again,) = view["approvals"]
        assert again != context.known["approval"]
        assert "asked again, because an earlier version of Hob asked" in view["question"]
        assert "-Be kind." in view["question"]
        await allow(daemon, again)
        assert (await daemon.get(context.known["parked"], wait=20))["state"] == "done"
    assert rules.read_text() == "Be brief.\n"


async def allow(daemon: Daemon, id: str) -> None:
    answer = await daemon.client.post(f"/approvals/{id}", json={"allowed": True})
    assert answer.status_code == 200, answer.text


async def test_parked_question_is_answered_and_the_turn_ends(context: House) -> None:
    async with context.world.serve() as daemon:
        await daemon.post("green", session="asked")
        view = await daemon.get(context.known["asked"], wait=20)
        assert (view["state"], view["reply"]) == ("done", "The tool said: green")


async def test_backup_of_a_release_is_restored(context: House) -> None:
    assert "after the backup" in (await context.world.hob("export", "--all")).out
    restored = await context.world.hob("restore", str(context.world.root / "backup.db"))
    assert restored.status == 0, restored.err
    exported = (await context.world.hob("export", "--all")).out
    assert "You said: hello" in exported
    assert "after the backup" not in exported
    async with context.world.serve() as daemon:
        assert "Fitz" in await told(daemon, call("recall", query="cat of the house"), "main")
        assert (await daemon.ask("/status"))["parked"] == 2


async def test_person_of_a_release_is_erased_with_their_memories(context: House) -> None:
    facts = ("memory", "search", "walnut cake", "--layer", "fact")
    assert "Anna likes walnut cake." in (await context.world.hob(*facts)).out
    for who in ("api:token:anna", "anna"):
        erased = await context.world.hob("erase", who, "--yes")
        assert erased.status == 0, erased.err
    assert "walnut" not in (await context.world.hob(*facts)).out
    files = (file for file in context.world.home.rglob("*") if file.is_file() and file.parent.name != "backups")
    assert [file for file in files if b"5551234" in file.read_bytes()] == []
