"""Changes of a command to a folder are recorded and can be undone, but never over a later change."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from hob.core.clock import SystemClock
from hob.core.errors import NotFound, ToolFailed
from hob.tools.undo.snapshots.entries import SnapshotChange, changes
from hob.tools.undo.snapshots.restore import RestoreResult
from hob.tools.undo.snapshots.snapshot_walk import SnapshotLimits
from hob.tools.undo.snapshots.snapshots import Snapshots


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "tree"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "main.py").write_text("print(1)\n")
    (folder / "README").write_text("read me")
    (folder / "run.sh").write_text("#!/bin/sh\n")
    (folder / "run.sh").chmod(0o755)
    (folder / "link").symlink_to("README")
    (folder / "empty").mkdir()
    return folder


@pytest.fixture
def snapshots(tmp_path: Path) -> Snapshots:
    return Snapshots(tmp_path / "snapshots", SystemClock())


def around(snapshots: Snapshots, tree: Path, act: Callable[[], object]) -> tuple[SnapshotChange, ...]:
    before = snapshots.take(tree)
    act()
    return changes(before, snapshots.take(tree))


def told(restored: tuple[RestoreResult, ...]) -> dict[str, str]:
    return {each.path: "done" if each.done else each.reason for each in restored}


def picture(tree: Path) -> dict[str, tuple[int, object]]:
    """Return everything visible below a folder."""
    seen: dict[str, tuple[int, object]] = {}
    for path in sorted(tree.rglob("*")):
        status = path.lstat()
        content: object = None
        if path.is_symlink():
            content = str(path.readlink())
        elif path.is_file():
            content = (path.read_bytes(), status.st_mtime_ns)
        seen[str(path.relative_to(tree))] = (status.st_mode, content)
    return seen


def test_snapshots_are_private_regardless_of_the_umask(tmp_path: Path, tree: Path) -> None:
    former = os.umask(0)
    try:
        Snapshots(tmp_path / "tools" / "snapshots", SystemClock()).take(tree)
    finally:
        os.umask(former)
    kept = [tmp_path / "tools" / "snapshots", *(tmp_path / "tools" / "snapshots").rglob("*")]
    assert len(kept) > 5
    assert [path for path in kept if path.stat().st_mode & 0o077] == []


def test_unchanged_folder_gives_the_same_snapshot(snapshots: Snapshots, tree: Path) -> None:
    assert around(snapshots, tree, lambda: None) == ()


def test_changes_are_listed_by_path(snapshots: Snapshots, tree: Path) -> None:
    def act() -> None:
        (tree / "README").write_text("other")
        (tree / "src" / "main.py").unlink()
        (tree / "new").write_text("new")

    found = around(snapshots, tree, act)
    assert [(change.path, change.what) for change in found] == [
        ("README", "changed"),
        ("new", "added"),
        ("src/main.py", "removed"),
    ]


def test_change_within_one_clock_tick_with_equal_size_is_detected(snapshots: Snapshots, tree: Path) -> None:
    for number in range(20):
        text = f"read {number:02}"

        def act(text: str = text) -> None:
            (tree / "README").write_text(text)
            os.utime(tree / "README", ns=(1, 1))

        assert [change.path for change in around(snapshots, tree, act)] == ["README"]


def test_destructive_command_is_undone(snapshots: Snapshots, tree: Path) -> None:
    before = picture(tree)

    def act() -> None:
        (tree / "README").write_text("gone")
        (tree / "run.sh").chmod(0o644)
        (tree / "link").unlink()
        (tree / "link").mkdir()
        (tree / "link" / "inside").write_text("x")
        (tree / "src" / "main.py").unlink()
        (tree / "src").rmdir()
        (tree / "src").write_text("a file now")
        (tree / "empty").rmdir()
        (tree / "a" / "b").mkdir(parents=True)
        (tree / "a" / "b" / "c").write_text("c")

    found = around(snapshots, tree, act)
    assert all(each.done for each in snapshots.preview(tree, found))
    assert set(told(snapshots.restore(tree, found)).values()) == {"done"}
    assert picture(tree) == before


def test_undoing_twice_is_harmless(snapshots: Snapshots, tree: Path) -> None:
    found = around(snapshots, tree, lambda: (tree / "README").write_text("gone"))
    snapshots.restore(tree, found)
    assert told(snapshots.restore(tree, found)) == {"README": "done"}


def test_interrupted_undo_is_completed_by_the_next(snapshots: Snapshots, tree: Path) -> None:
    before = picture(tree)

    def act() -> None:
        (tree / "README").unlink()
        (tree / "README").mkdir()
        (tree / "run.sh").write_text("gone")

    found = around(snapshots, tree, act)
    (tree / "README").rmdir()  # as far as the first attempt got
    snapshots.restore(tree, found)
    assert picture(tree) == before


def test_later_change_is_kept_by_undo(snapshots: Snapshots, tree: Path) -> None:
    found = around(snapshots, tree, lambda: (tree / "README").write_text("by the command"))
    (tree / "README").write_text("by the owner")
    assert told(snapshots.restore(tree, found)) == {"README": "it was changed again since"}
    assert (tree / "README").read_text() == "by the owner"


def test_later_files_in_a_new_folder_are_kept(snapshots: Snapshots, tree: Path) -> None:
    found = around(snapshots, tree, lambda: (tree / "new").mkdir())
    (tree / "new" / "later").write_text("mine")
    assert told(snapshots.restore(tree, found)) == {"new": "there is something in it that came later or was left out"}
    assert (tree / "new" / "later").read_text() == "mine"


def test_preview_changes_nothing(snapshots: Snapshots, tree: Path) -> None:
    found = around(snapshots, tree, lambda: (tree / "README").write_text("gone"))
    after = picture(tree)
    assert told(snapshots.preview(tree, found)) == {"README": "done"}
    assert picture(tree) == after


def test_repository_history_is_restored(snapshots: Snapshots, tree: Path) -> None:
    (tree / ".git" / "refs").mkdir(parents=True)
    (tree / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    before = picture(tree)

    def act() -> None:
        (tree / ".git" / "HEAD").unlink()
        (tree / ".git" / "refs").rmdir()
        (tree / ".git").rmdir()

    snapshots.restore(tree, around(snapshots, tree, act))
    assert picture(tree) == before


def test_swapped_link_reveals_nothing_from_outside(snapshots: Snapshots, tree: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("the key")

    def act() -> None:
        (tree / "README").unlink()
        (tree / "README").symlink_to(secret)

    snapshots.take(tree)
    found = around(snapshots, tree, act)
    kept = b"".join(path.read_bytes() for path in (tmp_path / "snapshots").rglob("*") if path.is_file())
    assert b"the key" not in kept
    snapshots.restore(tree, found)
    assert secret.read_text() == "the key"


def test_undo_follows_no_link_out_of_the_folder(snapshots: Snapshots, tree: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "main.py").write_text("print(2)\n")
    found = around(snapshots, tree, lambda: (tree / "src" / "main.py").write_text("print(2)\n"))
    (tree / "src").rename(tree / "moved")
    (tree / "src").symlink_to(outside)
    assert not snapshots.restore(tree, found)[0].done
    assert (outside / "main.py").read_text() == "print(2)\n"


def test_setuid_bits_are_not_restored(snapshots: Snapshots, tree: Path) -> None:
    (tree / "run.sh").chmod(0o4755)
    found = around(snapshots, tree, lambda: (tree / "run.sh").unlink())
    snapshots.restore(tree, found)
    assert (tree / "run.sh").stat().st_mode & 0o7777 == 0o755


def test_too_large_file_is_reported_and_left_alone(tmp_path: Path, tree: Path) -> None:
    small = Snapshots(tmp_path / "s", SystemClock(), SnapshotLimits(file=10))
    (tree / "big").write_bytes(b"x" * 100)
    assert small.take(tree).unrecoverable == {"big"}
    found = around(small, tree, lambda: (tree / "big").write_bytes(b"y" * 100))
    assert [change.restorable for change in found] == [False]
    reason = "what was there before was not kept: too large, too much, not readable, or a cache"
    assert told(small.restore(tree, found)) == {"big": reason}


@pytest.mark.parametrize("name", ["node_modules", ".venv"])
def test_cache_folders_are_skipped_and_reported(snapshots: Snapshots, tree: Path, name: str) -> None:
    (tree / name).mkdir()
    found = around(snapshots, tree, lambda: (tree / name / "x").write_text("x"))
    assert found == ()
    assert snapshots.take(tree).left_out == {name}


def test_command_cannot_hide_a_folder_by_tagging_it_as_a_cache(snapshots: Snapshots, tree: Path) -> None:
    tag = "Signature: 8a477f597d28d172789f06886806bc55"
    around(snapshots, tree, lambda: (tree / "src" / "CACHEDIR.TAG").write_text(tag))
    again = Snapshots(snapshots._folder, SystemClock())
    found = around(again, tree, lambda: (tree / "src" / "main.py").unlink())
    assert [change.path for change in found] == ["src/main.py"]


def test_cache_tag_counts_only_in_folders_with_a_cache_name(snapshots: Snapshots, tree: Path) -> None:
    for name in ("target", "thesis"):
        (tree / name).mkdir()
        (tree / name / "CACHEDIR.TAG").write_text("Signature: 8a477f597d28d172789f06886806bc55")
        (tree / name / "book.tex").write_text("years of work")
    found = around(snapshots, tree, lambda: shutil.rmtree(tree / "thesis"))
    assert snapshots.take(tree).left_out == {"target"}
    assert set(told(snapshots.restore(tree, found)).values()) == {"done"}
    assert (tree / "thesis" / "book.tex").read_text() == "years of work"


def test_folder_without_kept_content_is_reported_as_lost(snapshots: Snapshots, tree: Path) -> None:
    (tree / "node_modules").mkdir()
    (tree / "node_modules" / "x").write_text("x")
    found = around(snapshots, tree, lambda: shutil.rmtree(tree / "node_modules"))
    for restore in (snapshots.preview, snapshots.restore):
        assert "was not kept" in told(restore(tree, found))["node_modules"]
    assert not (tree / "node_modules").exists()


def test_irreversible_loss_is_known_in_advance(tmp_path: Path, tree: Path) -> None:
    few = Snapshots(tmp_path / "s", SystemClock(), SnapshotLimits(file=10, depth=2))
    (tree / "node_modules").mkdir()
    (tree / "big").write_bytes(b"x" * 100)
    (tree / "a" / "b" / "c").mkdir(parents=True)
    few.take(tree)
    again = Snapshots(tmp_path / "s", SystemClock(), SnapshotLimits(file=10, depth=2))
    for each in (few, again):
        assert each.take(tree).unrecoverable == {"big", "a/b/c"}


def test_unrestorable_folder_is_not_promised(snapshots: Snapshots, tree: Path) -> None:
    def act() -> None:
        (tree / "README").unlink()
        (tree / "README").mkdir()

    found = around(snapshots, tree, act)
    (tree / "README" / "later").write_text("mine")
    reason = "there is something in it that came later or was left out"
    for restore in (snapshots.preview, snapshots.restore):
        assert told(restore(tree, found)) == {"README": reason}


def test_command_cannot_crowd_files_out_of_a_snapshot(tmp_path: Path, tree: Path) -> None:
    few = Snapshots(tmp_path / "s", SystemClock(), SnapshotLimits(entries=10))
    few.take(tree)
    for number in range(20):
        (tree / "src" / f"{number}").write_text("junk")
    found = around(few, tree, lambda: (tree / "README").unlink())
    assert "README" in [change.path for change in found]


def test_snapshot_survives_the_process(snapshots: Snapshots, tree: Path, tmp_path: Path) -> None:
    before = snapshots.take(tree)
    (tree / "README").write_text("gone")
    after = snapshots.take(tree)
    later = Snapshots(tmp_path / "snapshots", SystemClock())
    found = changes(later.load(tree, before.id), later.load(tree, after.id))
    later.restore(tree, found)
    assert (tree / "README").read_text() == "read me"


def test_pruning_keeps_named_and_latest_snapshots(snapshots: Snapshots, tree: Path) -> None:
    first = snapshots.take(tree)
    (tree / "README").write_text("x" * 1000)
    second = snapshots.take(tree)
    (tree / "README").write_text("y" * 1000)
    third = snapshots.take(tree)
    assert snapshots.prune([first.id]) == 1000
    with pytest.raises(NotFound):
        snapshots.load(tree, second.id)
    snapshots.restore(tree, changes(first, third))
    assert (tree / "README").read_text() == "read me"


def test_corrupt_content_is_not_restored(snapshots: Snapshots, tree: Path, tmp_path: Path) -> None:
    found = around(snapshots, tree, lambda: (tree / "README").write_text("gone"))
    for path in (tmp_path / "snapshots" / "objects").glob("??/*"):
        path.write_text("rotten")
    assert told(snapshots.restore(tree, found)) == {"README": "what was there before is damaged"}
    assert (tree / "README").read_text() == "gone"


def test_sockets_and_pipes_do_not_block_a_snapshot(snapshots: Snapshots, tree: Path) -> None:
    found = around(snapshots, tree, lambda: os.mkfifo(tree / "pipe"))
    snapshots.restore(tree, found)
    assert not (tree / "pipe").exists()


def test_folder_behind_a_link_is_refused(snapshots: Snapshots, tree: Path) -> None:
    (tree.parent / "other").symlink_to(tree)
    with pytest.raises(ToolFailed, match="symbolic link"):
        snapshots.take(tree.parent / "other")
