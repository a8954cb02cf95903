"""Finding files by name and by content, within limits, and never outside."""

import os
import time
from pathlib import Path
from typing import Any

import pytest

from hob.core.errors import ToolFailed, ToolRefused
from hob.tools.filesystem.files import FileTools
from hob.tools.filesystem.grep import GrepQuery, find_ripgrep, grep
from hob.tools.filesystem.ignore_rules import ALWAYS_SKIPPED
from tests.tools.calling import text_of
from tests.tools.keeping import file_tools, roots_of


@pytest.fixture(params=["by hand", "by ripgrep"])
def finder(request: pytest.FixtureRequest, tmp_path: Path) -> FileTools:
    if request.param == "by hand":
        return file_tools(tmp_path)
    if find_ripgrep() is None:
        pytest.skip("ripgrep is not installed")
    return file_tools(tmp_path, find_ripgrep())


@pytest.fixture
def tree(finder: FileTools, ws: Path) -> Path:
    texts = {
        "a.py": "import os\n\ndef one():\n    return 1\n",
        "src/b.py": "def two():\n    return one() + 1\n",
        "src/deep/c.js": "function two() {}\n",
        "build/out.py": "def one(): ...\n",
        ".github/ci.yml": "run: one\n",
        ".gitignore": "build/\n*.log\n!keep.log\n",
        "x.log": "one\n",
        "keep.log": "one\n",
        ".git/config": "one\n",
        ".hob/secrets": "one\n",
        "bin": "one\0\n",
    }
    for n, (name, text) in enumerate(texts.items()):
        path = ws / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        os.utime(path, (n, n))
    (ws / "out").symlink_to("/etc")
    return ws


async def does(files: FileTools, name: str, **arguments: Any) -> str:
    return await text_of(files.toolset, name, **arguments)


async def test_text_is_found_file_by_file(finder: FileTools, tree: Path) -> None:
    assert await does(finder, "grep", pattern=r"one\b") == (
        ".github/ci.yml\n1: run: one\n\na.py\n3: def one():\n\nkeep.log\n1: one\n\nsrc/b.py\n2:     return one() + 1"
    )


async def test_always_skipped_folders_also_apply_to_ripgrep(
    ws: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if find_ripgrep() is None:
        pytest.skip("ripgrep is not installed")
    (ws / "vendor").mkdir(parents=True)
    (ws / "vendor" / "a.py").write_text("one\n")
    files = file_tools(tmp_path, find_ripgrep())
    assert await does(files, "grep", pattern="one", mode="files") == "vendor/a.py"
    monkeypatch.setattr("hob.tools.filesystem.grep.ALWAYS", ALWAYS_SKIPPED | {"vendor"})
    assert await does(files, "grep", pattern="one", mode="files") == "(nothing fits)"


async def test_search_is_narrowed_by_names_and_folders(finder: FileTools, tree: Path) -> None:
    assert await does(finder, "grep", pattern="two", path="src", mode="files") == "src/b.py\nsrc/deep/c.js"
    assert await does(finder, "grep", pattern="two", glob="*.py", mode="files") == "src/b.py"
    assert await does(finder, "grep", pattern="two", glob="src/deep/*", mode="counts") == "src/deep/c.js: 1"
    assert await does(finder, "grep", pattern="one", path="src/b.py") == "src/b.py\n2:     return one() + 1"
    assert await does(finder, "grep", pattern="(?i)DEF ONE", mode="files") == "a.py"
    assert "build/out.py" in await does(finder, "grep", pattern="one", all=True, mode="files")
    assert await does(finder, "grep", pattern="nowhere") == "(nothing fits)"


async def test_context_lines_are_shown_once(finder: FileTools, ws: Path) -> None:
    (ws / "a.txt").write_text("".join(f"{n}\n" for n in range(1, 21)))
    assert await does(finder, "grep", pattern="^(3|5|15)$", context=1) == (
        "a.txt\n2- 2\n3: 3\n4- 4\n5: 5\n6- 6\n--\n14- 14\n15: 15\n16- 16"
    )


async def test_listing_is_bounded(finder: FileTools, ws: Path) -> None:
    (ws / "a.txt").write_text("x\n" * 5_000)
    (ws / "b.txt").write_text("x" * 100_000)
    text = await does(finder, "grep", pattern="x", limit=3)
    assert text == "a.txt\n1: x\n2: x\n3: x\n[there is more: these are the first 3; narrow the search, or raise limit]"
    assert len(await does(finder, "grep", pattern="x", path=".", glob="b.txt")) < 500


async def test_forbidden_files_are_not_searched_under_any_name(finder: FileTools, tree: Path) -> None:
    os.link(tree / ".hob/secrets", tree / "innocent.txt")
    for everything in (False, True):
        found = await does(finder, "grep", pattern="one", mode="files", all=everything)
        assert "innocent" not in found
        assert ".hob" not in found
    with pytest.raises(ToolRefused):
        await does(finder, "grep", pattern="one", path=".hob")
    with pytest.raises(ToolRefused):
        await does(finder, "grep", pattern="root", path="out")
    assert "passwd" not in await does(finder, "grep", pattern="root", mode="files", all=True)


async def test_other_encodings_are_searched(finder: FileTools, ws: Path) -> None:
    (ws / "a.txt").write_bytes("Grüße\n".encode("utf-16"))
    assert await does(finder, "grep", pattern="Gr.ße") == "a.txt\n1: Grüße"


async def test_invalid_pattern_is_searched_literally(finder: FileTools, tree: Path) -> None:
    found = await does(finder, "grep", pattern="one(", mode="counts")
    assert found.startswith("a.py: 1\nsrc/b.py: 1\n[the pattern is no regular expression")
    with pytest.raises(ToolFailed, match="empty"):
        await does(finder, "grep", pattern="")


async def test_pattern_known_only_to_python_is_searched(finder: FileTools, tree: Path) -> None:
    assert await does(finder, "grep", pattern=r"(?<=def )two", mode="files") == "src/b.py"


async def test_endless_pattern_is_stopped(tmp_path: Path) -> None:
    roots = roots_of(tmp_path)
    (tmp_path / "ws/a.txt").write_text("aa\n")
    (tmp_path / "ws/b.txt").write_text("a" * 50 + "b\n")
    began = time.monotonic()
    text = await grep(roots, GrepQuery("^(a+)+$"), None, seconds=1.0)
    assert time.monotonic() - began < 10
    assert text.startswith("a.txt\n1: aa\n[stopped after 1 s, the search is not complete")


async def test_files_are_found_by_name_newest_first(finder: FileTools, tree: Path) -> None:
    assert await does(finder, "glob", pattern="*.py") == "src/b.py\na.py"
    assert await does(finder, "glob", pattern="src/**") == "src/deep/c.js\nsrc/b.py"
    assert await does(finder, "glob", pattern="**/*.{js,yml}") == ".github/ci.yml\nsrc/deep/c.js"
    assert await does(finder, "glob", pattern=f"{tree}/src/*.py") == f"{tree}/src/b.py"
    assert await does(finder, "glob", pattern="*.py", path="src") == "src/b.py"
    assert await does(finder, "glob", pattern="*", limit=1) == "bin\n[the newest 1 of 7]"
    assert "build/out.py" in await does(finder, "glob", pattern="*.py", all=True)
    assert await does(finder, "glob", pattern="de*/") == "src/deep"
    assert await does(finder, "glob", pattern="nothing*") == "(none)"
    for outside in ("/etc/*", "../*", "out/*", ".hob/*"):
        with pytest.raises(ToolRefused):
            await does(finder, "glob", pattern=outside)


async def test_folders_are_listed_to_a_depth(finder: FileTools, tree: Path) -> None:
    assert await does(finder, "list_dir", path="src") == "b.py  32\ndeep/"
    assert await does(finder, "list_dir", path="src", depth=2) == "b.py  32\ndeep/\n  c.js  18"
    assert "out -> /etc" in await does(finder, "list_dir")
    assert "out.py" in await does(finder, "list_dir", depth=2, all=True)
    assert "out.py" not in await does(finder, "list_dir", depth=2)


async def test_ignore_rule_applies_to_folders_below(finder: FileTools, tree: Path) -> None:
    (tree / "src/y.log").write_text("two\n")
    assert await does(finder, "glob", pattern="*", path="src") == "src/deep/c.js\nsrc/b.py"
    assert await does(finder, "grep", pattern="two", path="src", mode="files") == "src/b.py\nsrc/deep/c.js"


async def test_resolve_path_returns_where_a_name_leads(finder: FileTools, tree: Path) -> None:
    (tree / "link").symlink_to("src/b.py")
    text = await does(finder, "resolve_path", path="link")
    assert text.startswith(f"{tree}/src/b.py\nin workspace (read and write)\nfile, 32 bytes, mode ")
    assert "There is no nothing" in await does(finder, "resolve_path", path="nothing")
    with pytest.raises(ToolRefused, match="Tools may see: workspace"):
        await does(finder, "resolve_path", path="out")


async def test_undecodable_names_are_shown_as_escapes(finder: FileTools, ws: Path) -> None:
    (ws / os.fsdecode(b"a\xff\n.txt")).write_text("x")
    assert await does(finder, "list_dir") == ".hob/\na\\xff\\n.txt  1" or r"a\xff\n.txt" in await does(
        finder, "list_dir"
    )
    assert r"a\xff\n.txt" in await does(finder, "grep", pattern="x", mode="files")
