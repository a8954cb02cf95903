"""The identity files of a workspace."""

import os
import shutil
from pathlib import Path

import pytest

from hob.core.ids import digest
from hob.core.trust.labels import Trust
from hob.workspace.acceptance import AcceptedFiles
from hob.workspace.bootstrap import MAX_BYTES, BootstrapFiles
from hob.workspace.seeding import TEMPLATES, seed


def write(path: Path, data: str | bytes) -> None:
    path.write_bytes(data.encode() if isinstance(data, str) else data)


def test_files_come_in_prompt_order_with_their_hash(tmp_path: Path) -> None:
    write(tmp_path / "USER.md", "me")
    write(tmp_path / "AGENTS.md", "work")
    files = BootstrapFiles(tmp_path).load()
    assert [(file.name, file.text) for file in files] == [("AGENTS.md", "work"), ("USER.md", "me")]
    assert files[0].hash == digest("work")
    assert files[0].label.trusted


def test_nothing_is_read_again_until_it_changes(tmp_path: Path) -> None:
    write(tmp_path / "SOUL.md", "calm")
    files = BootstrapFiles(tmp_path)
    first = files.load()
    assert files.load() is first
    write(tmp_path / "SOUL.md", "wild and loud")
    assert files.load()[0].text == "wild and loud"
    (tmp_path / "SOUL.md").unlink()
    assert files.load() == ()


def test_workspace_that_is_not_there_is_empty(tmp_path: Path) -> None:
    assert BootstrapFiles(tmp_path / "nowhere").load() == ()


@pytest.mark.parametrize(
    ("data", "text"),
    [(b"caf\xe9", "caf\ufffd"), (b"\xef\xbb\xbfhi", "hi"), (b"a\0b", "a\ufffdb"), (b"a\r\nb", "a\nb"), (b"", "")],
)
def test_any_bytes_become_text(tmp_path: Path, data: bytes, text: str) -> None:
    write(tmp_path / "SOUL.md", data)
    assert BootstrapFiles(tmp_path).load()[0].text == text


def test_huge_file_is_cut(tmp_path: Path) -> None:
    write(tmp_path / "SOUL.md", "x" * (MAX_BYTES + 5))
    (file,) = BootstrapFiles(tmp_path).load()
    assert len(file.text) == MAX_BYTES
    assert "only the first" in file.problem


@pytest.mark.parametrize("inside", [True, False])
def test_link_that_leads_out_is_refused(tmp_path: Path, inside: bool) -> None:
    workspace = tmp_path / "hob"
    (workspace / "notes").mkdir(parents=True)
    target = (workspace / "notes" if inside else tmp_path) / "secret.md"
    write(target, "secret")
    (workspace / "SOUL.md").symlink_to(target)
    (file,) = BootstrapFiles(workspace).load()
    assert (file.text == "secret") is inside
    assert bool(file.problem) is not inside


def test_workspace_behind_a_link_is_fine(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    write(tmp_path / "real" / "SOUL.md", "calm")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert BootstrapFiles(tmp_path / "link").load()[0].text == "calm"


@pytest.mark.parametrize("kind", ["folder", "pipe", "loop"])
def test_special_file_is_named_and_does_not_block(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "SOUL.md"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(path)
    files = BootstrapFiles(tmp_path).load()
    assert all(file.text == "" and file.problem for file in files)


def test_file_whose_hash_was_not_accepted_is_untrusted(tmp_path: Path) -> None:
    write(tmp_path / "SOUL.md", "calm")
    write(tmp_path / "USER.md", "me")
    accepted = AcceptedFiles(tmp_path / "state" / "accepted.json")
    accepted.accept({"SOUL.md": digest("calm")})
    files = BootstrapFiles(tmp_path, accepted).load()
    assert [file.label.trust for file in files] == [Trust.TRUSTED, Trust.UNTRUSTED]


def test_new_workspace_gets_templates_and_a_history(tmp_path: Path) -> None:
    path = tmp_path / "hob"
    assert set(seed(path)) == set(TEMPLATES)
    assert [file.name for file in BootstrapFiles(path).load()] == list(TEMPLATES)
    assert (path / ".git").is_dir() is (shutil.which("git") is not None)


def test_files_written_or_deleted_by_the_owner_stay_so(tmp_path: Path) -> None:
    seed(tmp_path)
    (tmp_path / "USER.md").unlink()
    write(tmp_path / "SOUL.md", "mine")
    assert seed(tmp_path) == ()
    assert not (tmp_path / "USER.md").exists()
    assert (tmp_path / "SOUL.md").read_text() == "mine"


def test_workspace_inside_a_repository_gets_none_of_its_own(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    seed(tmp_path / "hob")
    assert not (tmp_path / "hob" / ".git").exists()
