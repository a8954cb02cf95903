"""The log file: one line an event, private, begun anew at a size."""

import json
import logging
import resource
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from hob.app.logs.log_file import LogFile, full_files, log_failure, log_file
from hob.app.logs.log_lines import parse_line
from hob.app.maintenance.settings import LogSettings
from hob.core.errors import NotFound, StoreFull
from hob.core.events.tracing import TRACE, content_free

log = logging.getLogger("tests.log_file")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "logs").mkdir()
    return tmp_path / "logs"


@pytest.fixture
def root() -> Iterator[logging.Logger]:
    """The root logger, given back as it was."""
    logger = logging.getLogger()
    level, handlers = logger.level, logger.handlers[:]
    yield logger
    logger.setLevel(level)
    logger.handlers[:] = handlers


def lines(folder: Path) -> list[str]:
    return (folder / "hob.log").read_text().splitlines()


@pytest.mark.usefixtures("root")
@pytest.mark.parametrize("form", ["text", "json"])
def test_event_is_one_line_that_parses_back(folder: Path, form: str) -> None:
    with log_file(folder.parent, LogSettings(format=form)):
        try:
            raise ValueError("a\nb\x1b[2J\u2028c")
        except ValueError:
            log.exception("what %s\rbroke", "it", extra=content_free("tr-1"))
    (written,) = lines(folder)
    assert "\x1b" not in written
    assert "\u2028" not in written
    line = parse_line(written)
    assert line is not None
    assert (line.level, line.logger, line.trace) == ("ERROR", "tests.log_file", "tr-1")
    assert line.seconds > 1_700_000_000
    assert "Traceback (most recent call last):\n" in line.text
    assert stat.S_IMODE((folder / "hob.log").stat().st_mode) == 0o600


@pytest.mark.usefixtures("root")
def test_line_has_the_trace_of_the_work_that_wrote_it(folder: Path) -> None:
    with log_file(folder.parent, LogSettings()):
        token = TRACE.set("tr-2")
        log.warning("within")
        TRACE.reset(token)
        log.warning("without")
    found = [parse_line(line) for line in lines(folder)]
    assert [line and line.trace for line in found] == ["tr-2", ""]


def fill(handler: LogFile, numbers: range) -> None:
    for number in numbers:
        handler.handle(logging.LogRecord("x", logging.INFO, "", 0, "%04d " + "x" * 150, (number,), None))


def test_removed_log_file_loses_only_its_own_lines(folder: Path) -> None:
    handler = LogFile(folder, LogSettings(file_bytes=1_000, files=3))
    fill(handler, range(12))
    before = [file.read_text() for file in full_files(folder)]
    (folder / "hob.log").unlink()
    fill(handler, range(12, 20))
    handler.close()
    after = [file.read_text() for file in full_files(folder)]
    assert after[-len(before) :] == before
    assert "0019" in (folder / "hob.log").read_text()


def test_removed_log_file_is_noticed_after_a_while(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hob.app.logs.log_file.LOOK_SECONDS", 0.0)
    handler = LogFile(folder, LogSettings())
    fill(handler, range(3))
    (folder / "hob.log").rename(folder / "mine.log")
    fill(handler, range(3, 5))
    handler.close()
    assert (len((folder / "mine.log").read_text().splitlines()), len(lines(folder))) == (3, 2)


def test_log_readable_by_others_is_made_private(folder: Path) -> None:
    (folder / "hob.log").touch(0o644)
    (folder / "hob.log").chmod(0o644)
    LogFile(folder, LogSettings()).close()
    assert stat.S_IMODE((folder / "hob.log").stat().st_mode) == 0o600


def test_configured_number_of_full_files_is_kept(folder: Path) -> None:
    handler = LogFile(folder, LogSettings(file_bytes=1_000, files=2))
    fill(handler, range(100))
    handler.close()
    assert [file.name for file in full_files(folder)] == ["hob.log.1", "hob.log.2"]
    names = ("hob.log.2", "hob.log.1", "hob.log")
    assert all((folder / name).stat().st_size <= 1_000 for name in names)
    text = "".join((folder / name).read_text() for name in names)
    numbers = [int(line.split()[4]) for line in text.splitlines()]
    assert numbers == list(range(numbers[0], 100))


def test_log_without_full_files_starts_over(folder: Path) -> None:
    handler = LogFile(folder, LogSettings(file_bytes=1_000, files=0))
    for _ in range(50):
        handler.handle(logging.LogRecord("x", logging.INFO, "", 0, "x" * 150, (), None))
    handler.close()
    assert [file.name for file in folder.iterdir()] == ["hob.log"]


def test_moved_log_file_is_recreated_on_reopening(folder: Path) -> None:
    handler = LogFile(folder, LogSettings())
    (folder / "hob.log").rename(folder / "old")
    handler.reopen(LogSettings(format="json"))
    handler.handle(logging.LogRecord("x", logging.INFO, "", 0, "hi", (), None))
    handler.close()
    assert json.loads((folder / "hob.log").read_text())["text"] == "hi"
    assert (folder / "old").read_text() == ""


@pytest.mark.usefixtures("root")
def test_log_file_may_be_more_verbose_than_standard_error(folder: Path, root: logging.Logger) -> None:
    told: list[str] = []

    class Told(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            told.append(record.getMessage())

    root.setLevel(logging.INFO)
    root.addHandler(Told())
    with log_file(folder.parent, LogSettings(level="debug")):
        log.debug("quiet")
        log.info("loud")
    assert told == ["loud"]
    assert len(lines(folder)) == 2


@pytest.mark.usefixtures("root")
def test_line_below_the_level_is_not_written(folder: Path) -> None:
    with log_file(folder.parent, LogSettings(level="warning")):
        log.info("a message's text might stand here")
        log.warning("this is told")
    (line,) = lines(folder)
    assert "this is told" in line


@pytest.mark.usefixtures("root")
def test_log_records_why_hob_ended(folder: Path) -> None:
    with log_file(folder.parent, LogSettings()):
        with pytest.raises(StoreFull), log_failure():
            raise StoreFull("no room")
        with pytest.raises(RuntimeError), log_failure():
            raise RuntimeError("a defect")
        with pytest.raises(NotFound), log_failure():  # a typo is no end of Hob
            raise NotFound("there is no question xx")
    first, second = lines(folder)
    assert first.endswith("Hob ends: no room")
    assert "RuntimeError: a defect" in second


@pytest.mark.usefixtures("root")
def test_unwritable_log_folder_does_not_stop_hob(tmp_path: Path) -> None:
    with log_file(tmp_path, LogSettings()):
        log.warning("hi")
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("root")
def test_line_that_finds_no_room_is_lost_without_a_word(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    with log_file(folder.parent, LogSettings()):
        log.warning("first")
        resource.setrlimit(resource.RLIMIT_FSIZE, ((folder / "hob.log").stat().st_size, limits[1]))
        try:
            log.warning("second")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        log.warning("third")
    assert [line.rpartition(" ")[2] for line in lines(folder)] == ["first", "third"]
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("line", ["", "{", "{}", '{"time": 1}', "half of a li", "2026-01-01T00:00:00 INFO x"])
def test_malformed_line_is_skipped(line: str) -> None:
    assert parse_line(line) is None
