"""Unreadable files are reported with the reason."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hob.config.loading import load_config
from hob.config.problems import ConfigInvalid
from hob.core.settings import setting


@dataclass(frozen=True, slots=True)
class Agent:
    """The agent."""

    rounds: int = setting(20, "Rounds.")


SECTIONS: Mapping[str, type] = {"agent": Agent}


def problem(home: Path, data: bytes) -> str:
    (home / "config.toml").write_bytes(data)
    with pytest.raises(ConfigInvalid) as caught:
        load_config(SECTIONS, home=home, environ={})
    return str(caught.value).removeprefix(f"{home}/")


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"[agent]\nrounds =\n", "config.toml:2:9: Invalid value"),
        (b"[agent", "config.toml:1:7: Expected ']' at the end of a table declaration"),
        (b"[agent]\nrounds = 1\nrounds = 2\n", "config.toml:3:"),
        ("# é\nx = '".encode() + b"\xff'", "config.toml:2:6: the byte 0xff is not UTF-8"),
        (b"\xef\xbb\xbf[agent]\n", "config.toml:1:1: the file begins with a byte order mark"),
        ("[agent]".encode("utf-16"), "config.toml:1:1: the file is UTF-16"),
        (b"[agent]\n\0", "config.toml:2:1: the file holds a NUL byte"),
        (b"a = " + b"[" * 100_000, "config.toml: the values are nested too deeply"),
        (b"a = " + b"9" * 10_000, "config.toml: Exceeds the limit"),
    ],
)
def test_invalid_toml_is_reported_with_line_and_column(tmp_path: Path, data: bytes, told: str) -> None:
    assert problem(tmp_path, data).startswith(told)


def test_windows_line_ends_do_not_shift_positions(tmp_path: Path) -> None:
    told = problem(tmp_path, b"[agent]\r\n\r\nround = 1\r\n")
    assert told == "config.toml:3:1: agent.round: unknown key; did you mean agent.rounds?"


def test_directory_instead_of_the_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "config.toml").mkdir()
    with pytest.raises(ConfigInvalid, match=r"config.toml: this is a directory; a file is wanted here"):
        load_config(SECTIONS, home=tmp_path, environ={})


def test_pipe_instead_of_the_file_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "config.toml")
    with pytest.raises(ConfigInvalid, match="no regular file"):
        load_config(SECTIONS, home=tmp_path, environ={})


def test_dangling_link_is_not_taken_for_a_missing_file(tmp_path: Path) -> None:
    (tmp_path / "config.toml").symlink_to("gone.toml")
    with pytest.raises(ConfigInvalid, match=r"this link leads nowhere \(gone.toml\)"):
        load_config(SECTIONS, home=tmp_path, environ={})


@contextmanager
def as_nobody() -> Iterator[None]:
    """Become another user for the block, since root may read everything."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_unreadable_file_is_reported() -> None:
    # not below pytest's own directories, which others may not enter
    with TemporaryDirectory(prefix="hob-") as name:
        home = Path(name)
        home.chmod(0o755)
        (home / "config.toml").touch(mode=0o000)
        with as_nobody(), pytest.raises(ConfigInvalid, match="cannot be read: Permission denied"):
            load_config(SECTIONS, home=home, environ={})


@given(st.binary(max_size=60) | st.text(max_size=40).map(str.encode))
@example(b"agent = [")
@example(b"[agent]\nrounds = 3")
def test_any_file_content_is_read_or_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "config.toml").write_bytes(data)
    with suppress(ConfigInvalid):
        load_config(SECTIONS, home=tmp_path, environ={})
