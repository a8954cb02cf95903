"""A turn's changes can be shown and undone, but never over somebody else's later changes."""

import stat
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from hob.core.errors import StoreError
from hob.core.ids import CallId, TurnId
from hob.core.undo import FileChange, FileVersion, SkippedFile, undo_turn_id
from hob.testing.memory_store import memory_store
from hob.tools.editing.noted_changes import part_name
from hob.tools.filesystem.files import FileTools
from hob.tools.undo.changes import FileChangesPort
from tests.tools.calling import text_of
from tests.tools.keeping import ChangesInMemory, file_tools

TURN = TurnId("t_here")


async def does(files: FileTools, name: str, **arguments: Any) -> str:
    return await text_of(files.toolset, name, **arguments)


def grown(ws: Path) -> dict[str, bytes]:
    return {str(path.relative_to(ws)): path.read_bytes() for path in ws.rglob("*") if path.is_file()}


async def change_much(files: FileTools, ws: Path) -> dict[str, bytes]:
    """Change, create, delete and rename; return the previous contents."""
    (ws / "a").write_bytes(b"one\r\ntwo\r\n")
    (ws / "b").write_bytes(b"\0binary\xff")
    (ws / "b").chmod(0o751)
    (ws / "d").write_text("gone")
    before = grown(ws)
    await does(files, "edit", path="a", old_text="one", new_text="1")
    await does(files, "edit", path="a", old_text="two", new_text="2")
    await does(files, "write", path="b", content="text")
    await does(files, "write", path="deep/er/c", content="new\n")
    patch = "*** Begin Patch\n*** Update File: a\n*** Move to: moved\n*** Delete File: d\n*** End Patch"
    await does(files, "apply_patch", patch=patch)
    return before


async def test_turn_is_undone_completely(files: FileTools, ws: Path) -> None:
    before = await change_much(files, ws)
    done = await files.undo.restore(TURN)
    assert grown(ws) == before
    assert stat.S_IMODE((ws / "b").stat().st_mode) == 0o751
    assert not (ws / "deep").exists()
    assert (sorted(Path(path).name for path in done.restored), done.kept) == (["a", "b", "c", "d", "moved"], ())


async def test_undoing_twice_changes_nothing_more(files: FileTools, ws: Path) -> None:
    before = await change_much(files, ws)
    await files.undo.restore(TURN)
    done = await files.undo.restore(TURN)
    assert grown(ws) == before
    assert (done.restored, done.kept, len(done.unchanged)) == ((), (), 5)


async def test_undoing_can_be_undone(files: FileTools, ws: Path) -> None:
    before = await change_much(files, ws)
    after = grown(ws)
    await files.undo.restore(TURN)
    await files.undo.restore(undo_turn_id(TURN))
    assert grown(ws) == after
    await files.undo.restore(TURN)
    assert grown(ws) == before


async def test_preview_of_an_undo_comes_first(files: FileTools, ws: Path) -> None:
    (ws / "a").write_text("one\n")
    await does(files, "write", path="a", content="two\n")
    await does(files, "write", path="b", content="new\n")
    (ws / "b").write_text("somebody else's\n")
    after = grown(ws)
    assert (await files.undo.preview(TURN)).diff == (
        f"--- {ws}/a\n+++ {ws}/a\n@@ -1 +1 @@\n-two\n+one\n# {ws}/b is kept: it was changed since\n"
    )
    assert grown(ws) == after


async def test_later_change_is_kept(files: FileTools, ws: Path) -> None:
    (ws / "a").write_text("one\n")
    (ws / "b").write_text("one\n")
    await does(files, "write", path="a", content="two\n")
    await does(files, "write", path="b", content="two\n")
    await does(files, "write", turn="t_later", path="a", content="three\n")
    done = await files.undo.restore(TURN)
    assert grown(ws) == {"a": b"three\n", "b": b"one\n"}
    assert done.kept == (SkippedFile(f"{ws}/a", "it was changed since"),)
    await files.undo.restore(TurnId("t_later"))
    await files.undo.restore(TURN)
    assert grown(ws) == {"a": b"one\n", "b": b"one\n"}


async def test_foreign_change_between_two_changes_is_kept(files: FileTools, ws: Path) -> None:
    (ws / "a").write_text("one\n")
    await does(files, "write", path="a", content="two\n")
    (ws / "a").write_text("the owner's\n")
    await does(files, "read", path="a")
    await does(files, "write", path="a", content="three\n")
    await files.undo.restore(TURN)
    assert (ws / "a").read_text() == "the owner's\n"


async def test_recreated_or_replaced_file_is_kept(files: FileTools, ws: Path) -> None:
    (ws / "a").write_text("one\n")
    (ws / "b").write_text("one\n")
    await does(files, "apply_patch", patch="*** Begin Patch\n*** Delete File: a\n*** Delete File: b\n*** End Patch")
    (ws / "a").mkdir()
    (ws / "b").symlink_to("/etc/passwd")
    done = await files.undo.restore(TURN)
    assert len(done.kept) == 2
    assert (ws / "b").is_symlink()


async def test_permissions_changed_since_are_kept(files: FileTools, ws: Path) -> None:
    (ws / "a").write_text("one\n")
    await does(files, "write", path="a", content="two\n")
    (ws / "a").chmod(0o600)
    await files.undo.restore(TURN)
    assert stat.S_IMODE((ws / "a").stat().st_mode) == 0o600


async def test_folders_with_other_content_are_kept(files: FileTools, ws: Path) -> None:
    await does(files, "write", path="x/y/a", content="new\n")
    (ws / "x/mine").write_text("mine")
    await files.undo.restore(TURN)
    assert grown(ws) == {"x/mine": b"mine"}
    assert not (ws / "x/y").exists()


async def test_file_is_kept_if_its_blob_is_lost(files: FileTools, ws: Path, tmp_path: Path) -> None:
    (ws / "a").write_text("one\n")
    await does(files, "write", path="a", content="two\n")
    for blob in (tmp_path / "blobs").iterdir():
        blob.write_text("damaged")
    done = await files.undo.restore(TURN)
    assert (ws / "a").read_text() == "two\n"
    assert "not kept any more" in done.kept[0].reason


async def test_recorded_change_that_was_never_made_is_ignored(files: FileTools, ws: Path) -> None:
    (ws / "a").write_text("one\n")
    await does(files, "write", path="a", content="two\n")
    (change,) = await files.undo._changes.of(TURN)
    never = FileChange("x", TURN, CallId("c"), change.path, change.after, FileVersion("f" * 64, 0o644))
    await files.undo._changes.add([never])
    await files.undo.restore(TURN)
    assert (ws / "a").read_text() == "one\n"
    await files.undo._changes.add([never])
    await does(files, "read", path="a")
    await does(files, "write", path="a", content="three\n")
    await files.undo.restore(TURN)
    assert (ws / "a").read_text() == "one\n"


async def test_partly_written_files_are_removed(files: FileTools, ws: Path) -> None:
    await does(files, "write", path="a", content="two\n")
    (change,) = await files.undo._changes.of(TURN)
    (ws / part_name(change)).write_text("half")
    assert await files.undo.remove_parts() == 1
    assert grown(ws) == {"a": b"two\n"}


def a_change(n: int, turn: str) -> FileChange:
    version = FileVersion("a" * 64, 0o644, None)
    return FileChange(f"{n}", TurnId(turn), CallId("c"), f"/ä/{n}", None if n % 2 else version, version, ("/ä",))


@pytest.fixture(params=["in memory", "in the database"])
async def changes(request: pytest.FixtureRequest) -> AsyncIterator[FileChangesPort]:
    if request.param == "in memory":
        yield ChangesInMemory()
    else:
        async with memory_store() as store:
            yield store.file_changes


async def test_stored_changes_round_trip(changes: FileChangesPort) -> None:
    kept = [a_change(n, f"t_{n % 3}") for n in range(7)]
    assert await changes.of(TurnId("t_0")) == ()
    await changes.add(kept[:5])
    await changes.add(kept[5:])
    assert await changes.of(TurnId("t_1")) == (kept[1], kept[4])
    assert await changes.recent(2) == ("t_0", "t_2")


async def test_nothing_is_changed_without_a_record(ws: Path, tmp_path: Path) -> None:
    async with memory_store() as store:
        files = file_tools(tmp_path, changes=store.file_changes)
    (ws / "a").write_text("one\n")
    with pytest.raises(StoreError):  # it is closed
        await does(files, "write", path="a", content="two\n")
    assert (ws / "a").read_text() == "one\n"
