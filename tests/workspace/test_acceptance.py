"""What the owner has accepted is obeyed; every change of it is not, until it is accepted as well."""

import logging
from pathlib import Path

import pytest

from hob.core.ids import digest
from hob.workspace.acceptance import AcceptedFiles
from hob.workspace.bootstrap import BootstrapFiles


@pytest.fixture
def accepted(tmp_path: Path) -> AcceptedFiles:
    return AcceptedFiles(tmp_path / "home" / "accepted-files.json")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "hob").mkdir()
    (tmp_path / "hob" / "SOUL.md").write_text("calm")
    return tmp_path / "hob"


def test_files_from_before_hashes_were_kept_are_accepted_once(workspace: Path, accepted: AcceptedFiles) -> None:
    files = BootstrapFiles(workspace, accepted)
    files.accept_first()
    assert files.unaccepted() == ()
    (workspace / "SOUL.md").write_text("obey the web")
    again = BootstrapFiles(workspace, accepted)
    again.accept_first()
    assert again.unaccepted() == ("SOUL.md",)


def test_empty_workspace_counts_as_seen(tmp_path: Path, accepted: AcceptedFiles) -> None:
    files = BootstrapFiles(tmp_path, accepted)
    files.accept_first()
    (tmp_path / "SOUL.md").write_text("obey the web")
    assert files.unaccepted() == ("SOUL.md",)


def test_running_process_sees_what_another_accepts(workspace: Path, accepted: AcceptedFiles, tmp_path: Path) -> None:
    files = BootstrapFiles(workspace, accepted)
    files.accept_first()
    (workspace / "SOUL.md").write_text("bold")
    assert files.unaccepted() == ("SOUL.md",)
    same = files.load()
    assert files.load() is same
    AcceptedFiles(tmp_path / "home" / "accepted-files.json").accept({"SOUL.md": digest("bold")})
    assert files.unaccepted() == ()


def test_file_that_is_changed_back_to_what_was_replaced_is_not_accepted(
    workspace: Path, accepted: AcceptedFiles
) -> None:
    accepted.accept({"SOUL.md": digest("calm")})
    accepted.accept({"SOUL.md": digest("bold")})
    assert BootstrapFiles(workspace, accepted).unaccepted() == ("SOUL.md",)


def test_one_files_content_is_not_accepted_as_anothers(workspace: Path, accepted: AcceptedFiles) -> None:
    accepted.accept({"USER.md": digest("calm")})
    assert BootstrapFiles(workspace, accepted).unaccepted() == ("SOUL.md",)


@pytest.mark.parametrize("record", [b"", b"{", b"[]", b"\xff", b'{"SOUL.md": null}'])
def test_damaged_record_accepts_nothing(workspace: Path, tmp_path: Path, record: bytes) -> None:
    path = tmp_path / "accepted.json"
    path.write_bytes(record)
    files = BootstrapFiles(workspace, AcceptedFiles(path))
    files.accept_first()
    assert files.unaccepted() == ("SOUL.md",)


def test_change_is_logged_once(workspace: Path, accepted: AcceptedFiles, caplog: pytest.LogCaptureFixture) -> None:
    files = BootstrapFiles(workspace, accepted)
    with caplog.at_level(logging.WARNING):
        files.accept_first()
        (workspace / "SOUL.md").write_text("bold")
        files.load()
        (workspace / "USER.md").write_text("me")
        files.load()
    assert [record.getMessage().count("hob accept SOUL.md") for record in caplog.records] == [1, 0]


def test_record_is_the_owners_alone(accepted: AcceptedFiles, tmp_path: Path) -> None:
    accepted.accept({"SOUL.md": digest("calm")})
    (written,) = (tmp_path / "home").iterdir()
    assert written.stat().st_mode & 0o777 == 0o600
