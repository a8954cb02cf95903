"""What commands write for git to run is reverted whenever it was written."""

import mmap
import os
import random
import shutil
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread

import pytest

from hob.core.ids import TurnId
from hob.tools.undo.snapshots import snapshot_walk
from hob.tools.undo.turn_undo import TurnUndo
from tests.tools.commanding import Bench
from tests.tools.exec.running import Running
from tests.tools.exec.test_repositories import git

HARMFUL = "[core]\n\trepositoryformatversion = 0\n\tfsmonitor = ./x\n"


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
    assert (await running.end("c_1")).unchecked == [str(running.work)]
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


async def test_what_is_written_through_a_mapping_is_reverted(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot_walk, "_RACY", 0)  # the time of a file is trusted at once
    settings = running.work / "lib/.git/config"
    await running.begin("c_1")
    settings.write_text("#" * len(HARMFUL))
    with settings.open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
        mapped[0:1] = b"#"
        await running.begin("c_2")
        mapped[:] = HARMFUL.encode()
        await running.end("c_2")
    await running.end("c_1")
    assert not running.is_harmful()


async def test_protected_file_with_a_second_name_is_judged(running: Running) -> None:
    settings = running.work / ".git/config"
    git(running.work, "init", "-q")
    await running.run("c_1", lambda: os.link(settings, running.work / "x"))
    await running.run("c_2", lambda: (running.work / "x").write_text(HARMFUL), confined=True)
    assert "fsmonitor" not in settings.read_text()


async def test_protected_folder_that_did_not_exist_is_judged(running: Running) -> None:
    git(running.work, "init", "-q", "--template=")
    hook = running.work / ".git/hooks/pre-commit"

    def write() -> None:
        hook.parent.mkdir()
        hook.write_text("./x")

    await running.run("c_1", write, confined=True)
    assert not hook.exists()


async def test_protected_file_that_another_command_may_exchange_is_judged(running: Running) -> None:
    settings = running.work / ".git/config"
    await running.begin("c_1", confined=True)
    git(running.work, "init", "-q")
    await running.begin("c_2", confined=True)
    settings.unlink()  # by the first, before the sandbox of the second protects it
    await running.end("c_1")
    settings.write_text(HARMFUL)
    await running.end("c_2")
    assert not settings.exists() or "fsmonitor" not in settings.read_text()


async def test_undo_does_not_wake_settings_written_meanwhile(running: Running, bench: Bench) -> None:
    evil = running.work / "evil"

    def make() -> None:
        git(running.work, "init", "-q", "--bare", "evil")

    await running.run("c_1", make, turn="t_1")
    await running.run("c_2", (evil / "HEAD").unlink, turn="t_2")
    await running.run("c_3", lambda: (evil / "config").write_text(HARMFUL), turn="t_3")
    undo = TurnUndo(running.log, bench.files.undo, bench.store.file_changes, bench.blobs)
    outcome = await undo.restore(TurnId("t_2"))
    assert outcome.restored == ()
    assert [each.path for each in outcome.kept] == [str(evil / "HEAD")]
    assert not (evil / "HEAD").exists()


async def test_undo_brings_back_a_deleted_repository_of_the_owner(running: Running, bench: Bench) -> None:
    lib = running.work / "lib"
    running.write()  # by the owner
    await running.run("c_0", lambda: None)
    await running.run("c_1", lambda: shutil.rmtree(lib), turn="t_1")
    undo = TurnUndo(running.log, bench.files.undo, bench.store.file_changes, bench.blobs)
    await undo.restore(TurnId("t_1"))
    assert (lib / ".git/HEAD").exists()
    assert running.is_harmful()


async def test_owners_new_project_is_not_taken_for_a_commands(running: Running, tmp_path: Path) -> None:
    await running.begin("c_1")
    running.work.rename(tmp_path / "old")
    await running.end("c_1")
    assert await running.rows.running() == ()
    git(tmp_path, "init", "-q", str(running.work / "lib"))
    running.write()
    await running.run("c_2", lambda: None)
    assert running.is_harmful()
