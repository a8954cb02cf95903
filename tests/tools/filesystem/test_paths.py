"""Names resolve to places beneath the roots, or are refused."""

import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from hob.core.errors import ToolFailed, ToolRefused
from hob.tools.filesystem import directories as beneath
from hob.tools.filesystem.paths import Root, Roots
from tests.conftest import Rounds


@pytest.fixture(params=["by the kernel", "by hand"], autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "by hand":
        monkeypatch.setattr(beneath, "_by_kernel", lambda: None)
    elif beneath._by_kernel() is None:
        pytest.skip("this kernel has no openat2")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Two roots side by side, one nested, and files outside."""
    for folder in ("ws/notes", "ws/work", "ws/.hob/blobs", "lent", "outside"):
        (tmp_path / folder).mkdir(parents=True)
    for file in ("ws/a.txt", "ws/notes/b.txt", "ws/work/program.py", "lent/c.txt"):
        (tmp_path / file).write_text("IN")
    for file in ("outside/secret", "ws/.hob/secrets", "ws/.hob/blobs/x"):
        (tmp_path / file).write_text("OUT")
    return tmp_path


@pytest.fixture
def roots(tree: Path) -> Roots:
    return Roots(
        [Root("workspace", tree / "ws"), Root("work repository", tree / "ws/work"), Root("lent", tree / "lent", False)],
        base=tree / "ws/work",
        home=tree / "ws",
        forbidden=[tree / "ws/.hob"],
    )


def read(roots: Roots, name: str | Path) -> str:
    descriptor, _, _ = roots.open_file(str(name))
    with os.fdopen(descriptor) as file:
        return file.read()


def spellings(tree: Path) -> list[str]:
    return [
        "../a.txt",
        "./.././/a.txt",
        "~/a.txt",
        f"{tree}/ws/a.txt",
        f"{tree}/ws/notes/../a.txt",
        f"{tree}/ws/work/../notes/../a.txt",
        f"file://{tree}/ws/a.txt",
        f"file:{tree}/ws/a.txt",
        f"FILE://localhost{tree}/ws/%61.txt",
    ]


def test_one_file_has_many_names(roots: Roots, tree: Path) -> None:
    for spelled in spellings(tree):
        assert roots.find(spelled).path == f"{tree}/ws/a.txt"
        assert read(roots, spelled) == "IN"


@pytest.mark.parametrize(
    "spelled",
    [
        "../../outside/secret",
        "/etc/passwd",
        "/",
        "../..",
        "../../ws-evil/x",
        "~/../outside/secret",
        "file:///etc/passwd",
        "file:///%65tc/passwd",
        "/proc/self/environ",
        "/dev/zero",
        "~/.hob/secrets",
        "../.hob/blobs/x",
        "../.hob",
        "../notes/../.hob/secrets",
    ],
)
def test_path_outside_or_forbidden_is_refused(roots: Roots, spelled: str) -> None:
    with pytest.raises(ToolRefused):
        roots.find(spelled)


@pytest.mark.parametrize(
    "spelled", ["", "a\0b", "x" * 256, "x/" * 3000, "\ud800", "file://server/share/x", "nowhere/../a.txt", "~root/x/.."]
)
def test_impossible_path_is_reported(roots: Roots, spelled: str) -> None:
    with pytest.raises(ToolFailed):
        roots.find(spelled)


def test_existence_of_files_outside_is_not_revealed(roots: Roots, tree: Path) -> None:
    told = []
    for name in ("outside/secret", "outside/nothing", "nothing/at/all"):
        with pytest.raises(ToolRefused) as error:
            read(roots, tree / name)
        told.append(str(error.value).replace(name, ""))
    assert len(set(told)) == 1


def test_sibling_folder_with_the_same_prefix_is_outside(roots: Roots, tree: Path) -> None:
    (tree / "ws-evil").mkdir()
    (tree / "ws-evil/x").write_text("OUT")
    with pytest.raises(ToolRefused):
        read(roots, tree / "ws-evil/x")


def test_links_within_the_roots_are_followed(roots: Roots, tree: Path) -> None:
    (tree / "ws/work/near").symlink_to("../notes")
    (tree / "ws/work/far").symlink_to(tree / "lent")
    (tree / "ws/work/twice").symlink_to("far/c.txt")
    assert roots.find("near/b.txt").path == f"{tree}/ws/notes/b.txt"
    assert read(roots, "twice") == "IN"
    assert roots.find("twice").root.name == "lent"


def test_links_leading_outside_are_refused(roots: Roots, tree: Path) -> None:
    (tree / "ws/work/out").symlink_to("../../outside")
    (tree / "ws/work/passwd").symlink_to("/etc/passwd")
    (tree / "ws/work/proc").symlink_to("/proc/self/root/etc/passwd")
    (tree / "ws/work/state").symlink_to("../.hob")
    (tree / "outside/back").symlink_to(tree / "ws/a.txt")
    for name in ("out", "out/secret", "passwd", "proc", "state/secrets", "out/back", "out/nothing"):
        with pytest.raises(ToolRefused):
            read(roots, name)


def test_circular_links_end(roots: Roots, tree: Path) -> None:
    (tree / "ws/work/a").symlink_to("b")
    (tree / "ws/work/b").symlink_to("a/x")
    with pytest.raises(ToolFailed, match="circles"):
        read(roots, "a")


def test_root_given_through_a_link_is_the_same_root(tree: Path) -> None:
    (tree / "alias").symlink_to("ws")
    roots = Roots([Root("workspace", tree / "alias")], base=tree / "alias", forbidden=[tree / "alias/.hob"])
    assert read(roots, "a.txt") == read(roots, tree / "alias/a.txt") == read(roots, tree / "ws/a.txt") == "IN"
    with pytest.raises(ToolRefused):
        read(roots, tree / "ws/.hob/secrets")


def test_innermost_root_applies(roots: Roots) -> None:
    assert roots.find("x.py").root.name == "work repository"
    assert roots.find("~/x.py").root.name == "workspace"


def test_forbidden_places_stay_forbidden_even_with_the_root_folder_as_root(tree: Path) -> None:
    roots = Roots([Root("all", Path("/"))], base=tree, forbidden=[tree / "ws/.hob"])
    assert read(roots, "outside/secret") == "OUT"
    for name in ("/proc/self/environ", "/dev/null", "/sys/kernel", "ws/.hob/secrets"):
        with pytest.raises(ToolRefused):
            read(roots, name)


def test_hard_link_to_a_forbidden_file_is_forbidden(roots: Roots, tree: Path) -> None:
    os.link(tree / "ws/.hob/secrets", tree / "ws/work/innocent")
    os.link(tree / "ws/a.txt", tree / "ws/work/harmless")
    with pytest.raises(ToolRefused, match="another name"):
        read(roots, "innocent")
    assert read(roots, "harmless") == "IN"


@contextmanager
def listening(path: Path) -> Iterator[None]:
    with socket.socket(socket.AF_UNIX) as door, inside(path.parent):
        door.bind(path.name)
        yield


@contextmanager
def inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def test_pipes_and_sockets_are_not_opened_and_do_not_block(roots: Roots, tree: Path) -> None:
    os.mkfifo(tree / "ws/work/pipe")
    with listening(tree / "ws/work/door"):
        for name in ("pipe", "door"):
            with pytest.raises(ToolRefused, match="no plain file"):
                read(roots, name)


def test_folder_is_not_read_as_a_file_nor_a_file_listed(roots: Roots) -> None:
    with pytest.raises(ToolFailed, match="is a folder"):
        read(roots, "../notes")
    with pytest.raises(ToolFailed, match="is a folder"):
        read(roots, ".")
    with pytest.raises(ToolFailed, match="is a file"):
        roots.open_listing("program.py")
    with pytest.raises(ToolFailed, match="through a file"):
        read(roots, "program.py/x")
    with pytest.raises(ToolFailed, match="slash"):
        read(roots, "program.py/")


def test_missing_file_error_suggests_similar_names(roots: Roots, tree: Path) -> None:
    with pytest.raises(ToolFailed, match=r"There is no porgram.py. .*/ws/work holds program.py."):
        read(roots, "porgram.py")
    with pytest.raises(ToolFailed, match=f"There is {tree}/ws/a.txt"):
        read(roots, "a.txt")
    with pytest.raises(ToolFailed, match=r"/ws holds .*notes"):
        read(roots, "~/nots/deep/x")


def test_refusal_outside_names_the_roots(roots: Roots, tree: Path) -> None:
    with pytest.raises(ToolRefused) as told:
        read(roots, "/etc/passwd")
    assert f"work repository {tree}/ws/work (read and write; relative names start here)" in str(told.value)
    assert f"lent {tree}/lent (read only)" in str(told.value)


def test_name_in_another_unicode_composition_is_found(roots: Roots, tree: Path) -> None:
    (tree / "ws/work/cafe\u0301.txt").write_text("IN")
    (tree / "ws/work/at 10.00\u202fAM.txt").write_text("IN")
    assert read(roots, "caf\u00e9.txt") == "IN"
    assert read(roots, "at 10.00 AM.txt") == "IN"
    (tree / "ws/work/caf\u00e9.txt").write_text("exact")
    assert read(roots, "caf\u00e9.txt") == "exact"


def test_similarly_named_link_does_not_lead_outside(roots: Roots, tree: Path) -> None:
    (tree / "ws/work/cafe\u0301").symlink_to(tree / "outside/secret")
    with pytest.raises(ToolRefused):
        read(roots, "caf\u00e9")


def escapes(roots: Roots, name: str, flip: Callable[[], None], times: int) -> tuple[int, int]:
    """Count reads from outside and from inside (at least one) while a thread changes the tree."""
    stop = threading.Event()

    def go() -> None:
        while not stop.is_set():
            flip()

    thread = threading.Thread(target=go)
    thread.start()
    out = inside = tries = 0
    try:
        while tries < times or not inside:
            tries += 1
            with suppress(ToolFailed, ToolRefused):
                text = read(roots, name)
                out += text == "OUT"
                inside += text == "IN"
    finally:
        stop.set()
        thread.join()
    return out, inside


def test_race_with_a_folder_does_not_lead_outside(roots: Roots, tree: Path) -> None:
    work = tree / "ws/work"
    (work / "d").mkdir()
    (work / "d/secret").write_text("IN")
    (work / "link").symlink_to(tree / "outside")

    def flip() -> None:
        (work / "d").rename(work / "aside")
        (work / "link").rename(work / "d")
        (work / "d").rename(work / "link")
        (work / "aside").rename(work / "d")

    out, inside = escapes(roots, "d/secret", flip, 2_000)
    assert out == 0
    assert inside


def test_race_with_a_file_does_not_lead_outside(roots: Roots, tree: Path) -> None:
    work = tree / "ws/work"
    names = [tree / "outside/secret", tree / "ws/.hob/secrets", work / "program.py"]

    def flip() -> None:
        for goal in names:
            (work / "new").symlink_to(goal)
            (work / "new").rename(work / "f")
        (work / "new").write_text("IN")
        (work / "new").rename(work / "f")

    flip()
    out, inside = escapes(roots, "f", flip, 2_000)
    assert out == 0
    assert inside


def test_race_with_a_hard_link_does_not_lead_outside(roots: Roots, tree: Path, rounds: Rounds) -> None:
    work = tree / "ws/work"

    def flip() -> None:
        os.link(tree / "ws/.hob/secrets", work / "new")
        (work / "new").rename(work / "f")
        (work / "f").unlink()
        os.link(tree / "ws/a.txt", work / "new")
        (work / "new").rename(work / "f")
        (work / "f").unlink()

    out, _ = escapes(roots, "f", flip, rounds(2_000, 200_000))
    assert out == 0


def test_no_descriptor_is_left_open(roots: Roots, tree: Path) -> None:
    (tree / "ws/work/out").symlink_to("/etc")
    before = len(list(Path("/dev/fd").iterdir()))
    for name in ("program.py", "nothing", "out/passwd", "..", "x\0", "~/.hob/x", "program.py/x"):
        with suppress(ToolFailed, ToolRefused):
            read(roots, name)
    assert len(list(Path("/dev/fd").iterdir())) == before
