"""`hob logs`: reading, filtering and following, without control sequences."""

import json
import threading
import time
from pathlib import Path

import pytest

from hob.app.logs.log_lines import LogLine, format_json, format_text
from hob.cli.activity.logs import _Tail
from hob.cli.table import run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOB_HOME", str(tmp_path))
    (tmp_path / "logs").mkdir()
    return tmp_path / "logs"


def line(hour: int, level: str, text: str, trace: str = "") -> LogLine:
    return LogLine(f"2026-05-01T{hour:02d}:00:00.000+00:00", level, "hob.bus", trace, text)


@pytest.fixture
def written(folder: Path) -> Path:
    (folder / "hob.log.2").write_text(format_text(line(1, "INFO", "one")) + "\n")
    (folder / "hob.log.1").write_text(format_json(line(2, "WARNING", "two\x1b[2J\nmore", "tr-7")) + "\n")
    (folder / "hob.log").write_text(f"broken\n{format_text(line(3, 'ERROR', 'three'))}\n")
    return folder


@pytest.mark.usefixtures("written")
@pytest.mark.parametrize(
    ("options", "found"),
    [
        ([], ["one", "two", "three"]),
        (["--limit", "2"], ["two", "three"]),
        (["--limit", "0"], ["one", "two", "three"]),
        (["--level", "warning"], ["two", "three"]),
        (["--since", "2026-05-01T02:30+00:00"], ["three"]),
        (["--since", "1h"], []),
        (["--grep", "TR-7"], ["two"]),
        (["--grep", "^t"], ["two", "three"]),
    ],
)
def test_logs_filters_lines_by_its_options(
    options: list[str], found: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["logs", *options, "--json"]) == 0
    shown = [json.loads(each)["text"].split("\x1b")[0] for each in capsys.readouterr().out.splitlines()]
    assert shown == found


@pytest.mark.usefixtures("written")
def test_logs_show_no_control_sequences(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["logs"]) == 0
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert "\n    more" in shown


@pytest.mark.usefixtures("written")
@pytest.mark.parametrize("options", [["--since", "yesterday"], ["--grep", "("]])
def test_logs_explain_invalid_options(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["logs", *options]) != 0
    assert capsys.readouterr().err


@pytest.mark.usefixtures("folder")
def test_logs_without_a_log_says_who_writes_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["logs"]) == 0
    assert "hob serve" in capsys.readouterr().err


def test_following_survives_rotation_and_waits_for_whole_lines(folder: Path) -> None:
    path = folder / "hob.log"
    tail = _Tail(path)
    assert list(tail.lines()) == []
    path.write_text("a\nb")
    assert list(tail.lines()) == ["a"]
    with path.open("a") as file:
        file.write("b\n")
    path.rename(folder / "hob.log.1")
    path.write_text("c\n")
    assert list(tail.lines()) == ["bb", "c"]
    assert list(tail.lines()) == []


def test_negative_limit_is_refused() -> None:
    assert run(["logs", "--limit", "-3"]) == 2


def test_following_reads_each_line_once_while_many_are_written(folder: Path) -> None:
    path = folder / "hob.log"
    tail, found = _Tail(path), list[str]()

    def write() -> None:
        for number in range(2_000):
            if number % 100 == 0 and path.exists():
                while len(found) < number:  # the reader may be one file behind, as `hob logs` is in practice
                    time.sleep(0.001)
                path.rename(folder / "hob.log.1")
            with path.open("a") as file:
                file.write(f"{number}\n")

    writing = threading.Thread(target=write)
    writing.start()
    while writing.is_alive() or len(found) < 2_000:
        found += tail.lines()
    assert found == [str(number) for number in range(2_000)]
