"""`hob memory`: what it is given is read as it is meant, or refused before Hob is asked."""

from pathlib import Path

import pytest

from hob.cli.data.memory import add
from hob.cli.data.memory_facts import _END, _moment
from hob.core.errors import InvalidRequest


@pytest.mark.parametrize("text", ["", "  ", "\n"])
def test_empty_text_is_refused_and_takes_no_folder(text: str) -> None:
    with pytest.raises(InvalidRequest, match="the text is empty"):
        add(text)


@pytest.mark.parametrize("text", ["relative/nothere.md", "notes/2026/plan.txt"])
def test_file_that_is_not_there_is_no_note(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidRequest, match="is not there"):
        add(text)


def test_as_of_a_day_is_its_end() -> None:
    begins = _moment("2026-11-23")
    assert _moment("2026-11-23", _END) == begins + 86_399
    assert _moment("2026-11-23T10:30", _END) == begins + 37_800
    assert _moment("", _END) == 0
    with pytest.raises(InvalidRequest, match="2026-13-23 is not a date"):
        _moment("2026-13-23", _END)
