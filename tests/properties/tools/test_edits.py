"""For any text, a patch reproduces its target, and an edit changes only the intended place."""

from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from hob.core.errors import ToolFailed
from hob.tools.editing.diffs import unified
from hob.tools.editing.editing import apply_hunks
from hob.tools.editing.patch_format import parse_patch
from hob.tools.editing.replacement import replace_passage

lines = st.sampled_from(
    ["", "a", "b", "  a", "\tb", "a  ", "}", "-- x", "++ x", "@@ -1 +1 @@", "\\ x", "é“", "+", "- ", "*** x"]
)
texts = st.tuples(st.lists(lines, max_size=12), st.booleans()).map(
    lambda made: "\n".join(made[0]) + ("\n" if made[1] and made[0] else "")
)
loose = st.text(st.sampled_from('ab \t\n\u201c"-\u2013é'), max_size=30)


@given(texts, texts)
def test_patch_gives_the_new_text_and_its_reverse_the_old(before: str, after: str) -> None:
    for one, other in ((before, after), (after, before)):
        patch = unified(one, other, "f")
        if patch:
            (file,) = parse_patch(patch)
            assert apply_hunks(one, file.hunks, "f") == (other, ())


@given(texts, texts, texts)
def test_patch_of_another_text_applies_or_is_refused(before: str, after: str, other: str) -> None:
    patch = unified(f"{before}\n", f"{after}\n", "f")
    if patch:
        (file,) = parse_patch(patch)
        with suppress(ToolFailed):
            made, _ = apply_hunks(f"{other}\n", file.hunks, "f")
            more = sum(len(hunk.new) - len(hunk.old) for hunk in file.hunks)
            assert made.count("\n") == other.count("\n") + 1 + more


@given(loose, loose, loose, loose)
def test_edit_changes_the_only_matching_place(head: str, old: str, tail: str, new: str) -> None:
    text = head + old + tail
    try:
        done = replace_passage(text, old, new)
    except ToolFailed:
        return
    if done.tolerance == "":
        assert text.count(old) == 1
        assert done.text == text.replace(old, new)


@given(texts, texts, texts)
def test_tolerant_edit_touches_only_matching_lines(text: str, old: str, new: str) -> None:
    try:
        done = replace_passage(text, old, new)
    except ToolFailed:
        return
    if done.tolerance:
        before, made = text.split("\n"), done.text.split("\n")
        (line,) = done.lines
        size = len(old.removesuffix("\n").split("\n"))
        assert made[: line - 1] == before[: line - 1]
        rest = before[line - 1 + size :]
        assert done.text.endswith("\n".join(rest))
        found = before[line - 1 : line - 1 + size]
        assert [plain(each) for each in found] == [plain(each) for each in old.removesuffix("\n").split("\n")]


def plain(line: str) -> str:
    return line.replace("\u201c", '"').replace("\u2013", "-").strip()


@given(loose, st.data())
def test_edit_can_be_reversed(text: str, data: st.DataObject) -> None:
    old, new = data.draw(loose), data.draw(loose)
    with suppress(ToolFailed):
        done = replace_passage(text, old, new)
        if done.tolerance == "" and new:
            assert replace_passage(done.text, new, old).text == text


@given(st.text(max_size=200), texts)
def test_any_patch_is_parsed_or_refused(patch: str, text: str) -> None:
    for each in (patch, f"--- a/f\n+++ b/f\n{patch}", f"*** Begin Patch\n*** Update File: f\n{patch}"):
        with suppress(ToolFailed):
            for file in parse_patch(each):
                apply_hunks(text, file.hunks, "f")
