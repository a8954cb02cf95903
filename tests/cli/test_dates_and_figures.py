"""Times are printed and read in the owner's zone."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from hob.cli.dates_and_figures import owner_zone, parse_time, when

NOON = 1_777_636_800.0
"""2026-05-01 12:00 UTC."""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("HOB_HOME", str(tmp_path))
    owner_zone.cache_clear()
    yield tmp_path
    owner_zone.cache_clear()


def test_times_are_in_the_zone_of_the_file(home: Path) -> None:
    (home / "config.toml").write_text('[agent]\ntimezone = "Asia/Tokyo"\n\n[unknown]\nkey = 1\n')
    assert when(NOON) == "2026-05-01 21:00:00"
    assert parse_time("2026-05-01T21:00") == parse_time("2026-05-01T12:00+00:00") == NOON


def test_environment_overrides_the_zone_of_the_file(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "config.toml").write_text('[agent]\ntimezone = "Asia/Tokyo"\n')
    monkeypatch.setenv("HOB_AGENT_TIMEZONE", "America/New_York")
    assert when(NOON) == "2026-05-01 08:00:00"


@pytest.mark.parametrize("text", ["", "[agent]\ntimezone = 'Nowhere/Land'\n", "[agent"])
def test_times_are_in_the_machines_zone_without_a_valid_setting(home: Path, text: str) -> None:
    (home / "config.toml").write_text(text)
    assert owner_zone() is None
