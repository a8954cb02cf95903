"""Patterns match as git's do, and quickly."""

import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hob.core.errors import ToolFailed
from hob.tools.filesystem.globs import Glob, split_fixed_prefix
from hob.tools.filesystem.ignore_rules import is_ignored, read_rules
from tests.growth import grows_with_its_size


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("*.py", "a.py", True),
        ("*.py", "b/a.py", False),
        ("**/*.py", "a.py", True),
        ("**/*.py", "b/c/a.py", True),
        ("src/**", "src/a/b", True),
        ("src/**", "src", False),
        ("src/**/test_*.py", "src/test_a.py", True),
        ("a/**/b/**/c", "a/x/b/y/b/c", True),
        ("a/**/b/**/c", "a/x/b/y/d", False),
        ("*.{py,js}", "a.js", True),
        ("{a,b}/{c,d}.x", "b/c.x", True),
        ("[!a]x", "bx", True),
        ("[!a]x", "ax", False),
        ("[]]x", "]x", True),
        ("[a-c]?", "bz", True),
        ("[", "[", True),
        (r"\*", "*", True),
        (r"\*", "a", False),
        ("a*b*c", "aXbYbZc", True),
        ("*a*", "bab", True),
        ("*ab", "aab", True),
        ("**", "a/b", True),
    ],
)
def test_glob_matches_as_documented(pattern: str, path: str, fits: bool) -> None:
    assert Glob(pattern).matches(path.split("/")) is fits


def test_fixed_folders_of_a_pattern_are_split_off() -> None:
    assert split_fixed_prefix("src/hob/**/*.py") == ("src/hob", "**/*.py")
    assert split_fixed_prefix("/a/*") == ("/a", "*")
    assert split_fixed_prefix("/*") == ("/", "*")
    assert split_fixed_prefix("a") == ("", "a")


@pytest.mark.parametrize("unit", ["*a", "**/a/", "*[ab]?"])
def test_matching_is_fast_for_any_pattern(unit: str) -> None:
    names = ["a"] * 200 if "/" in unit else ["ab" * 120]
    grows_with_its_size(lambda size: Glob(unit * size + "b").matches(names), 12, minimum=0.005)


def test_nested_brace_choices_are_bounded() -> None:
    with pytest.raises(ToolFailed, match="choices"):
        Glob("{a,b}" * 20)


parts = st.text(st.sampled_from("ab*?[]!^-\\ .#"), min_size=1, max_size=5)
lines = st.lists(st.sampled_from(["**", "*"]) | parts, min_size=1, max_size=3).map("/".join)
rules = st.tuples(st.sampled_from(["", "!", "/"]), lines, st.sampled_from(["", "/"])).map("".join)
plain = st.text(st.sampled_from("ab.-"), min_size=1, max_size=3).filter(lambda name: name.strip("."))


@given(st.lists(rules, max_size=4), st.lists(st.lists(plain, min_size=1, max_size=3), min_size=1, max_size=6))
def test_glob_ignores_what_git_ignores(lines: list[str], paths: list[list[str]]) -> None:
    with tempfile.TemporaryDirectory() as top:
        subprocess.run(["git", "init", "-q", top], check=True)
        (Path(top) / ".gitignore").write_text("\n".join(lines))
        for path in paths:
            asked = ["git", "-C", top, "check-ignore", "-q", "--no-index", "--", "/".join(path)]
            git = subprocess.run(asked, check=False).returncode == 0
            found = read_rules("\n".join(lines), 0)
            ours = any(is_ignored(found, path[:n], folder=n < len(path)) for n in range(1, len(path) + 1))
            assert ours == git, (lines, path)
