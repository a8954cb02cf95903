"""Files are changed as requested, otherwise kept, and never partly changed."""

import asyncio
import os
import resource
import signal
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from hob.core.errors import ToolFailed, ToolRefused
from hob.core.ids import TurnId
from hob.core.trust.labels import HOB_LABEL
from hob.tools.filesystem.files import FileTools
from tests.tools.calling import a_call, made, text_of


async def does(files: FileTools, name: str, **arguments: Any) -> str:
    return await text_of(files.toolset, name, **arguments)


async def test_new_file_is_written_with_its_folders(files: FileTools, ws: Path) -> None:
    told = await does(files, "write", path="a/b/c.txt", content="one\ntwo\n")
    assert told == "Written: 2 lines, 8 bytes, a new file."
    assert (ws / "a/b/c.txt").read_text() == "one\ntwo\n"
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE((ws / "a/b/c.txt").stat().st_mode) == 0o666 & ~umask
    assert list((ws / "a/b").iterdir()) == [ws / "a/b/c.txt"]


async def test_written_file_keeps_mode_encoding_and_line_ends(files: FileTools, ws: Path) -> None:
    (ws / "a.sh").write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\n")
    (ws / "a.sh").chmod(0o750)
    told = await does(files, "write", path="a.sh", content="eins\nzwei")
    assert "in place of the old content; with a line end at its end" in told
    assert (ws / "a.sh").read_bytes() == b"\xef\xbb\xbfeins\r\nzwei\r\n"
    assert stat.S_IMODE((ws / "a.sh").stat().st_mode) == 0o750
    (ws / "b.txt").write_bytes("Grüße\n".encode("latin-1"))
    await does(files, "write", path="b.txt", content="Öl\n")
    assert (ws / "b.txt").read_bytes() == "Öl\n".encode("latin-1")
    assert "it is UTF-8 now" in await does(files, "write", path="b.txt", content="→\n")


@pytest.mark.parametrize("path", ["bare/config", "bare/hooks/post-receive", "bare/hooks", "bare/commondir", "new/HEAD"])
async def test_what_git_runs_in_a_bare_repository_is_not_written(files: FileTools, ws: Path, path: str) -> None:
    (ws / "bare").mkdir()
    (ws / "bare/HEAD").write_text("ref: refs/heads/main\n")
    (ws / "new/hooks").mkdir(parents=True)
    (ws / "new/hooks/post-receive").write_text("#!/bin/sh\n")
    with pytest.raises(ToolRefused, match="git's own"):
        await does(files, "write", path=path, content="x")
    assert not (ws / path).exists()


@pytest.mark.parametrize("path", ["config", "src/hooks/use_page.ts", "bare/description"])
async def test_files_that_only_sound_like_gits_are_written(files: FileTools, ws: Path, path: str) -> None:
    (ws / "bare").mkdir()
    (ws / "bare/HEAD").write_text("ref: refs/heads/main\n")
    await does(files, "write", path=path, content="x\n")
    assert (ws / path).read_text() == "x\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
async def test_written_file_keeps_its_owner(files: FileTools, ws: Path) -> None:
    (ws / "a").write_text("x")
    os.chown(ws / "a", 12345, 23456)
    await does(files, "write", path="a", content="y")
    found = (ws / "a").stat()
    assert (found.st_uid, found.st_gid) == (12345, 23456)


async def test_written_file_keeps_its_attributes(files: FileTools, ws: Path) -> None:
    (ws / "a").write_text("x")
    try:
        os.setxattr(ws / "a", "user.note", b"kept")
    except (OSError, AttributeError):
        pytest.skip("no attributes here")
    await does(files, "write", path="a", content="y")
    assert os.getxattr(ws / "a", "user.note") == b"kept"


async def test_link_is_kept_and_its_target_written(files: FileTools, ws: Path) -> None:
    (ws / "goal").write_text("x\n")
    (ws / "link").symlink_to("goal")
    await does(files, "write", path="link", content="y\n")
    assert (ws / "link").is_symlink()
    assert (ws / "goal").read_text() == "y\n"
    (ws / "dangling").symlink_to("new")
    await does(files, "write", path="dangling", content="z")
    assert (ws / "new").read_text() == "z"


async def test_hard_link_keeps_the_old_content(files: FileTools, ws: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("outside")
    os.link(tmp_path / "outside", ws / "a")
    await does(files, "write", path="a", content="y")
    assert (tmp_path / "outside").read_text() == "outside"


@pytest.mark.parametrize(
    "path",
    [
        "../lent/x",
        "/etc/hob-test",
        ".hob/x",
        ".git/hooks/pre-commit",
        "sub/.GIT/config",
        ".git",
        ".",
        "a\u202eb",
        "a\nb",
    ],
)
async def test_forbidden_places_are_not_written_to(files: FileTools, tmp_path: Path, path: str) -> None:
    before = sorted(str(each) for each in tmp_path.rglob("*"))
    with pytest.raises((ToolRefused, ToolFailed)):
        await does(files, "write", path=path, content="x")
    assert sorted(str(each) for each in tmp_path.rglob("*")) == before


async def test_write_protected_file_is_not_written(files: FileTools, ws: Path) -> None:
    (ws / "a").write_text("x")
    (ws / "a").chmod(0o444)
    with pytest.raises(ToolFailed, match=r"write-protected \(mode 444\)"):
        await does(files, "write", path="a", content="y")


async def test_identical_content_changes_nothing(files: FileTools, ws: Path) -> None:
    (ws / "a").write_text("x\n")
    before = (ws / "a").stat().st_ino
    assert "already" in await does(files, "write", path="a", content="x\n")
    assert (ws / "a").stat().st_ino == before


async def test_answers_contain_no_file_content(files: FileTools, ws: Path) -> None:
    (ws / "a").write_text("“x”\n")
    result = await made(files.toolset, "edit", path="a", old_text='"x"', new_text='"y"')
    assert result.label == HOB_LABEL
    assert result.text == (
        "Replaced at line 1; old_text differed from the file in quotes, dashes or spaces, the file's own were kept."
    )


async def test_edit_leaves_every_other_byte_alone(files: FileTools, ws: Path) -> None:
    (ws / "a").write_bytes(b"one\r\ntwo\nthree\r\nfour \x0c\r\nfive")
    assert await does(files, "edit", path="a", old_text="three\nfour", new_text="3\n4") == "Replaced at line 3."
    assert (ws / "a").read_bytes() == b"one\r\ntwo\n3\r\n4 \x0c\r\nfive"


async def test_file_changed_since_it_was_read_is_not_overwritten(files: FileTools, ws: Path) -> None:
    (ws / "a").write_text("one\n")
    await does(files, "read", path="a")
    (ws / "a").write_text("one and more\n")
    for name, arguments in (
        ("edit", {"path": "a", "old_text": "one", "new_text": "1"}),
        ("write", {"path": "a", "content": "1"}),
        ("apply_patch", {"patch": "*** Begin Patch\n*** Delete File: a\n*** End Patch"}),
    ):
        with pytest.raises(ToolFailed, match="changed since you read it; read it again"):
            await does(files, name, **arguments)
    await does(files, "read", path="a")
    await does(files, "edit", path="a", old_text="one", new_text="1")
    await does(files, "edit", path="a", old_text="1 and", new_text="2 and")
    assert (ws / "a").read_text() == "2 and more\n"


async def test_other_turn_may_edit_what_this_one_has_read(files: FileTools, ws: Path) -> None:
    (ws / "a").write_text("one\n")
    await does(files, "read", path="a")
    (ws / "a").write_text("one and more\n")
    await does(files, "edit", turn="t_other", path="a", old_text="one", new_text="1")


async def test_only_text_files_are_edited(files: FileTools, ws: Path) -> None:
    (ws / "a").write_bytes(b"\0\1")
    with pytest.raises(ToolFailed, match="no text file"):
        await does(files, "edit", path="a", old_text="x", new_text="y")
    with pytest.raises(ToolFailed, match="There is no b"):
        await does(files, "edit", path="b", old_text="x", new_text="y")


PATCH = """*** Begin Patch
*** Add File: new/n.txt
+hello
*** Update File: a.txt
@@
 one
-two
+2
*** Update File: b.txt
*** Move to: c.txt
@@
-x
+y
*** Delete File: d.txt
*** End Patch"""


def grow(ws: Path) -> None:
    (ws / "a.txt").write_text("one\ntwo\n")
    (ws / "b.txt").write_bytes(b"x\r\n")
    (ws / "b.txt").chmod(0o700)
    (ws / "d.txt").write_text("gone")


def grown(ws: Path) -> dict[str, bytes]:
    return {str(path.relative_to(ws)): path.read_bytes() for path in ws.rglob("*") if path.is_file()}


async def test_patch_changes_several_files_at_once(files: FileTools, ws: Path) -> None:
    grow(ws)
    assert await does(files, "apply_patch", patch=PATCH) == "Files: 1 created, 2 updated, 1 deleted."
    assert grown(ws) == {"a.txt": b"one\n2\n", "c.txt": b"y\r\n", "new/n.txt": b"hello\n"}
    assert stat.S_IMODE((ws / "c.txt").stat().st_mode) == 0o700


@pytest.mark.parametrize(
    "broken",
    [
        PATCH.replace("-two", "-zwei"),
        PATCH.replace("d.txt", "e.txt"),
        PATCH.replace("new/n.txt", "a.txt"),
        PATCH.replace("c.txt", "a.txt"),
        PATCH.replace("d.txt", "../lent/d.txt"),
        PATCH.replace("d.txt", "../../etc/passwd"),
    ],
)
async def test_patch_that_does_not_fit_changes_nothing(files: FileTools, ws: Path, tmp_path: Path, broken: str) -> None:
    grow(ws)
    (tmp_path / "lent/d.txt").write_text("lent")
    before = grown(tmp_path)
    with pytest.raises((ToolFailed, ToolRefused)):
        await does(files, "apply_patch", patch=broken)
    assert grown(tmp_path) == before


async def test_patch_may_change_a_file_twice(files: FileTools, ws: Path) -> None:
    grow(ws)
    patch = (
        "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+1\n*** Update File: a.txt\n@@\n 1\n-two\n+2\n"
        "*** Update File: a.txt\n*** Move to: e.txt\n*** End Patch"
    )
    await does(files, "apply_patch", patch=patch)
    assert (ws / "e.txt").read_text() == "1\n2\n"
    assert not (ws / "a.txt").exists()


async def test_patch_that_fails_halfway_is_reverted(files: FileTools, ws: Path) -> None:
    grow(ws)
    (ws / "full").mkdir()
    before = grown(ws)
    with no_more_than(3_000_000):
        big = "\n".join(f"+{'x' * 100}" for _ in range(50_000))
        patch = PATCH.replace("*** Delete File: d.txt", f"*** Add File: z.txt\n{big}")
        with pytest.raises(ToolFailed, match="File too large; nothing was changed"):
            await does(files, "apply_patch", patch=patch)
    assert grown(ws) == before
    assert not (ws / "new").exists()


@contextmanager
def no_more_than(size: int) -> Iterator[None]:
    """Limit the size of files: larger writes fail as on a full disk."""
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)


async def test_full_disk_leaves_the_old_file(files: FileTools, ws: Path) -> None:
    (ws / "a").write_text("old\n")
    with no_more_than(100_000), pytest.raises(ToolFailed, match="nothing was changed"):
        await does(files, "write", path="a", content="x" * 200_000)
    assert (ws / "a").read_text() == "old\n"
    assert sorted(ws.iterdir()) == [ws / ".hob", ws / "a"]


async def test_effect_of_a_call_can_be_previewed(files: FileTools, ws: Path) -> None:
    grow(ws)
    before = grown(ws)
    top = ws.resolve()
    assert await files.diff_of(a_call("edit", path="a.txt", old_text="two", new_text="2")) == (
        f"--- {top}/a.txt\n+++ {top}/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"
    )
    assert await files.diff_of(a_call("write", path="n", content="x")) == (
        f"--- /dev/null\n+++ {top}/n\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n"
    )
    shown = await files.diff_of(a_call("apply_patch", patch=PATCH))
    assert shown.count("+++ /dev/null") == 2
    assert await files.diff_of(a_call("read", path="a.txt")) == ""
    with pytest.raises(ToolFailed, match="not in the file"):
        await files.diff_of(a_call("edit", path="a.txt", old_text="nothing like that", new_text="2"))
    assert grown(ws) == before
    assert await files.undo._changes.of(TurnId("t_here")) == ()


async def test_places_of_a_call_are_reported_to_the_judge(files: FileTools, ws: Path) -> None:
    (ws / "real").mkdir()
    (ws / "link").symlink_to("real")
    assert [place.path for place in files.places(a_call("write", path="link/x", content=""))] == [f"{ws}/real/x"]
    assert [place.path for place in files.places(a_call("glob", pattern="link/*.py"))] == [f"{ws}/real"]
    assert files.places(a_call("read", path="blob:x")) == ()
    paths = {place.path for place in files.places(a_call("apply_patch", patch=PATCH))}
    assert paths == {f"{ws}/{name}" for name in ("new/n.txt", "a.txt", "b.txt", "c.txt", "d.txt")}
    with pytest.raises(ToolRefused):
        files.places(a_call("read", path="/etc/passwd"))


async def test_concurrent_calls_lose_nothing(files: FileTools, ws: Path) -> None:
    (ws / "a").write_text("".join(f"line {n}.\n" for n in range(20)))
    told = await asyncio.gather(
        *(
            text_of(files.toolset, "edit", turn=f"t_{n}", path="a", old_text=f"line {n}.", new_text="x")
            for n in range(20)
        ),
        return_exceptions=True,
    )
    done = sum(isinstance(each, str) for each in told)
    assert (ws / "a").read_text().count("x\n") == done > 0
    assert all("changed meanwhile" in str(each) for each in told if not isinstance(each, str))
