"""For any tree and spelling, an opened path is within a root and not forbidden, or there is an error."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hob.core.errors import ToolFailed, ToolRefused
from hob.tools.filesystem import directories as beneath
from hob.tools.filesystem.paths import Root, Roots

names = st.sampled_from(
    ["ws", "work", "ro", "out", "a", "b", "A", "é", "e\u0301", "a.", " ", "...", ".hob", "~", "proc"]
)
parts = names | st.sampled_from(["", ".", "..", "/"]) | st.text(max_size=3)
ways = st.lists(parts, min_size=1, max_size=6).map("/".join)
prefixes = st.sampled_from(
    [
        "",
        "TOP/",
        "TOP/ws/",
        "TOP/out/",
        "/",
        "~/",
        "file://TOP/",
        "file:///",
        "/proc/self/root/TOP/",
        "/proc/self/cwd/",
        "//",
    ]
)
spellings = st.tuples(prefixes, ways).map("".join)
places = st.lists(names, min_size=1, max_size=4).map("/".join)
entries = st.lists(
    st.tuples(places, st.sampled_from(["folder", "file", "link", "link"]), spellings), min_size=1, max_size=12
)


@contextmanager
def grown(grow: list[tuple[str, str, str]]) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        top = Path(name).resolve()
        for folder in ("ws/work", "ws/.hob", "ro", "out"):
            (top / folder).mkdir(parents=True)
        for place, kind, goal in grow:
            path = top / place
            with suppress(OSError, ValueError, RuntimeError):  # the last for links in a circle
                if not path.parent.resolve().is_relative_to(top):
                    continue  # an earlier link leads out of the tree, where nothing is to be made
                path.parent.mkdir(parents=True, exist_ok=True)
                if kind == "folder":
                    path.mkdir()
                elif kind == "file":
                    path.write_text("x")
                else:
                    path.symlink_to(goal.replace("TOP", str(top)))
        yield top


def roots_of(top: Path) -> Roots:
    return Roots(
        [Root("workspace", top / "ws"), Root("lent", top / "ro", False)],
        base=top / "ws/work",
        home=top / "ws",
        forbidden=[top / "ws/.hob"],
    )


def check(roots: Roots, top: Path, spelled: str) -> None:
    for act in (roots.open_file, roots.open_listing):
        try:
            descriptor = act(spelled.replace("TOP", str(top)))[0]
        except (ToolFailed, ToolRefused):
            continue
        try:
            real = Path(f"/proc/self/fd/{descriptor}").readlink()
        finally:
            os.close(descriptor)
        assert real.is_relative_to(top / "ws") or real.is_relative_to(top / "ro")
        assert not real.is_relative_to(top / "ws/.hob")


@given(entries, st.lists(spellings, min_size=1, max_size=8))
def test_opened_path_is_within_a_root(grow: list[tuple[str, str, str]], spelled: list[str]) -> None:
    with grown(grow) as top:
        for each in spelled:
            check(roots_of(top), top, each)


@given(entries, st.lists(spellings, min_size=1, max_size=8))
def test_path_opened_without_openat2_is_within_a_root(grow: list[tuple[str, str, str]], spelled: list[str]) -> None:
    with grown(grow) as top, pytest.MonkeyPatch.context() as patch:
        patch.setattr(beneath, "_by_kernel", lambda: None)
        for each in spelled:
            check(roots_of(top), top, each)


@given(entries)
def test_every_plain_file_in_a_root_can_be_opened_by_its_real_path(grow: list[tuple[str, str, str]]) -> None:
    with grown(grow) as top:
        for folder, _, files in os.walk(top / "ws"):
            for name in files:
                path = Path(folder) / name
                if not path.is_symlink() and not path.is_relative_to(top / "ws/.hob"):
                    os.close(roots_of(top).open_file(str(path))[0])


@given(st.text(max_size=30) | st.binary(max_size=20).map(os.fsdecode))
def test_any_text_is_resolved_or_refused(spelled: str) -> None:
    roots = Roots([Root("here", Path("/nowhere/at/all"))], base=Path("/nowhere/at/all"))
    with suppress(ToolFailed, ToolRefused):
        roots.open_file(spelled)
