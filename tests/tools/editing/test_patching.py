"""Patches in both forms are parsed and applied where they match, or refused."""

import subprocess
from pathlib import Path

import pytest

from hob.core.errors import ToolFailed
from hob.core.translation.language import translated
from hob.tools.editing.diffs import diff, unified, visible
from hob.tools.editing.editing import apply_hunks
from hob.tools.editing.patch_format import FilePatch, PatchAction, parse_patch

TEXT = "".join(f"line {n}\n" for n in range(1, 21))


def patched(text: str, patch: str) -> str:
    (file,) = parse_patch(patch)
    return apply_hunks(text, file.hunks, "f")[0]


def remarks(text: str, patch: str) -> tuple[str, ...]:
    (file,) = parse_patch(patch)
    return apply_hunks(text, file.hunks, "f")[1]


def update(body: str) -> str:
    return f"*** Begin Patch\n*** Update File: f\n{body}\n*** End Patch"


def test_envelope_adds_deletes_updates_and_moves() -> None:
    patch = (
        "*** Begin Patch\n*** Add File: new/a b.py\n+one\n+\n+two\n*** Delete File: old.py\n"
        "*** Update File: f.py\n*** Move to: g.py\n@@ class A\n@@ def f(self):\n x\n-y\n+z\n*** End of File\n"
        "*** End Patch\n"
    )
    add, delete, move = parse_patch(patch)
    assert (add.path, add.action, apply_hunks("", add.hunks, "")[0]) == (
        "new/a b.py",
        PatchAction.CREATE,
        "one\n\ntwo\n",
    )
    assert delete == FilePatch("old.py", PatchAction.DELETE)
    assert (move.path, move.action, move.goal) == ("f.py", PatchAction.UPDATE, "g.py")
    (hunk,) = move.hunks
    assert (hunk.old, hunk.new, hunk.anchors, hunk.at_end) == (
        ("x", "y"),
        ("x", "z"),
        ("class A", "def f(self):"),
        True,
    )


def test_git_diffs_are_understood(tmp_path: Path) -> None:
    def git(*arguments: str) -> str:
        command = ["git", "-c", "user.name=x", "-c", "user.email=x@y", "-C", str(tmp_path), *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    git("init", "-q")
    (tmp_path / "changed.txt").write_text(TEXT)
    (tmp_path / "gone.txt").write_text("x\n")
    (tmp_path / "moved.txt").write_text(TEXT)
    (tmp_path / "grüß.txt").write_text("a\n")
    git("add", "-A")
    git("commit", "-qm", "x")
    (tmp_path / "changed.txt").write_text(TEXT.replace("line 7\n", "").replace("line 15", "-- fünfzehn"))
    (tmp_path / "gone.txt").unlink()
    (tmp_path / "moved.txt").rename(tmp_path / "goal.txt")
    (tmp_path / "grüß.txt").write_text("a")
    (tmp_path / "new.txt").write_text("new")
    git("add", "-A")
    files = {file.path: file for file in parse_patch(git("diff", "--cached", "-M"))}
    assert {path: (file.action.value, file.goal) for path, file in files.items()} == {
        "changed.txt": ("update", ""),
        "gone.txt": ("delete", ""),
        "moved.txt": ("update", "goal.txt"),
        "grüß.txt": ("update", ""),
        "new.txt": ("create", ""),
    }
    assert apply_hunks(TEXT, files["changed.txt"].hunks, "")[0] == (tmp_path / "changed.txt").read_text()
    assert apply_hunks("a\n", files["grüß.txt"].hunks, "")[0] == "a"
    assert apply_hunks("", files["new.txt"].hunks, "")[0] == "new"
    assert apply_hunks("x\n", files["gone.txt"].hunks, "")[0] == ""


def test_removed_lines_resembling_file_headers_are_lines() -> None:
    text = "a\n-- comment\n++ x\nb\n"
    patch = "--- a/f\n+++ b/f\n@@ -1,4 +1,3 @@\n a\n--- comment\n-++ x\n+-- other\n b\n"
    assert patched(text, patch) == "a\n-- other\nb\n"


def test_wrong_line_numbers_do_not_matter_if_the_lines_match_once() -> None:
    patch = "--- a/f\n+++ b/f\n@@ -99,2 +7,2 @@\n line 4\n-line 5\n+five\n"
    assert patched(TEXT, patch) == TEXT.replace("line 5", "five")


def test_line_number_decides_among_equal_places() -> None:
    text = "a\nb\n" * 3
    there = "--- a/f\n+++ b/f\n@@ -3,2 +3,2 @@\n a\n-b\n+c\n"
    assert patched(text, there) == "a\nb\na\nc\na\nb\n"
    with pytest.raises(ToolFailed, match=r"hunk 1 of f fits 3 places \(lines 1, 3, 5\)"):
        patched(text, there.replace("-3,2", "-4,2"))
    with pytest.raises(ToolFailed, match="fits 3 places"):
        patched(text, update("@@\n a\n-b\n+c"))


def test_anchor_limits_matches_to_lines_below_it() -> None:
    text = "def one():\n    pass\ndef two():\n    pass\ndef three():\n    pass\n"
    assert patched(text, update("@@ def two():\n-    pass\n+    go()")) == text.replace(
        "two():\n    pass", "two():\n    go()"
    )
    with pytest.raises(ToolFailed, match="no line 'def four"):
        patched(text, update("@@ def four():\n-    pass\n+    go()"))


def test_context_may_differ_in_whitespace_and_keeps_the_files() -> None:
    text = "if x:  \n\ty = 1\n\tz = 2\n"
    patch = update("@@\n if x:\n \ty = 1\n-\tz = 2\n+\tz = 3")
    assert patched(text, patch) == "if x:  \n\ty = 1\n\tz = 3\n"
    assert remarks(text, patch) == ("hunk 1 at line 1: spaces at the ends of lines differed",)
    shifted = "    a = 1\n    if b:\n        c\n"
    assert patched(shifted, update("@@\n a = 1\n if b:\n-    c\n+    d")) == "    a = 1\n    if b:\n        d\n"


def test_outer_context_lines_may_be_wrong() -> None:
    patch = update("@@\n wrong\n line 3\n line 4\n-line 5\n+five\n line 6\n wrong")
    assert patched(TEXT, patch) == TEXT.replace("line 5", "five")
    assert remarks(TEXT, patch) == ("hunk 1 at line 3: 2 lines of context did not fit",)
    with pytest.raises(ToolFailed, match="does not fit"):
        patched(TEXT, update("@@\n wrong\n wrong\n wrong\n line 4\n-line 5\n+five"))
    with pytest.raises(ToolFailed, match="does not fit"):
        patched(TEXT, update("@@\n wrong\n-line 5\n+five"))


def test_changed_lines_must_match() -> None:
    with pytest.raises(ToolFailed, match=r"does not fit: its first line 'line 4' stands at 4\. Read"):
        patched(TEXT, update("@@\n line 4\n-line 05\n+five\n line 6"))


def test_hunks_must_be_in_order() -> None:
    both = "@@\n-line 3\n+three\n@@\n-line 9\n+nine"
    assert patched(TEXT, update(both)) == TEXT.replace("line 3", "three").replace("line 9", "nine")
    with pytest.raises(ToolFailed, match="hunk 2"):
        patched(TEXT, update("@@\n-line 9\n+nine\n@@\n-line 3\n+three"))


def test_pure_insertions_need_a_place() -> None:
    assert patched("a\nb\n", "--- a/f\n+++ b/f\n@@ -1,0 +2 @@\n+x\n") == "a\nx\nb\n"
    assert patched("a\nb\n", update("@@ a\n+x")) == "a\nx\nb\n"
    assert patched("a\nb\n", update("@@\n+x\n*** End of File")) == "a\nb\nx\n"
    with pytest.raises(ToolFailed, match="does not say where"):
        patched("a\nb\n", update("@@\n+x"))


def test_final_line_end_can_be_added_and_removed() -> None:
    assert patched("a\nb", "--- f\n+++ f\n@@ -2 +2 @@\n-b\n\\ No newline at end of file\n+b\n") == "a\nb\n"
    assert patched("a\nb\n", "--- f\n+++ f\n@@ -2 +2 @@\n-b\n+b\n\\ No newline at end of file\n") == "a\nb"
    assert patched("a\nb", update("@@\n-a\n+c")) == "c\nb"


@pytest.mark.parametrize(
    ("patch", "why"),
    [
        ("", "changes nothing"),
        ("make it better please", "changes nothing"),
        ("@@ -1 +1 @@\n-a\n+b", "do not say|say of which file"),
        ("--- a/f\n+++ b/f\n", "after `\\+\\+\\+` comes a hunk"),
        ("--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\nb\n", "line 5 of the patch is not understood: 'b'"),
        ("*** Begin Patch\n*** Frobnicate: f\n*** End Patch", "line 2 .* not understood"),
        ("*** Begin Patch\n*** Add File: f\nno plus\n*** End Patch", "must begin with \\+"),
        ("*** Begin Patch\n*** Update File: f\n@@\n-a\nb\n*** End Patch", "line 5 .*'b'"),
        ("diff --git a/x b/x\nGIT binary patch\n", "binary"),
    ],
)
def test_malformed_patch_is_an_error(patch: str, why: str) -> None:
    with pytest.raises(ToolFailed, match=why):
        parse_patch(patch)


def test_fences_and_signatures_around_a_patch_are_ignored() -> None:
    body = "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"
    assert patched("a\nb\n", f"```diff\n{body}```") == "a\nc\n"
    assert patched("a\nb\n", f"{body}-- \n2.39.5\n") == "a\nc\n"
    assert patched("a\nb\n", f"{body}\n\n") == "a\nc\n"


def test_diff_reveals_invisible_changes() -> None:
    assert visible("a\U000e0105❤\ufe0f\u00a0€") == "a\\u{e0105}❤\ufe0f\u00a0€"
    assert visible("a\u202eb\x1b[2K\t\u200b\n") == "a\\u{202e}b\\u{1b}[2K\t\\u{200b}\n"
    told = diff(None, b"a\0b", "x.txt")
    assert told == "x.txt: not a text; no file before, 3 bytes after\n"
    assert translated(told, "de") == "x.txt: kein Text; vorher keine Datei, nachher 3 Bytes\n"
    assert "stored otherwise: CRLF line ends before, plain UTF-8 after" in diff(b"a\r\n", b"a\n", "x.txt")
    assert unified("a\n", "a\n", "f") == ""
    assert diff(None, b"", "f") == "--- /dev/null\n+++ b/f\n"
