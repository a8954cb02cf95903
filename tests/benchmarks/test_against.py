"""One revision against another."""

import subprocess
from pathlib import Path

import pytest

from benchmarks.against import Comparison, checked_out, render

STEADY = (10.0, 10.0, 10.0, 10.0)


def compared(again: tuple[float, ...], now: tuple[float, ...]) -> Comparison:
    return Comparison("turn", "ms CPU", STEADY, again, now)


def test_change_is_that_of_the_median_round_against_the_base_of_the_same_round() -> None:
    slow = Comparison("turn", "ms", (10.0, 20.0, 10.0), (10.0, 20.0, 10.0), (11.0, 22.0, 30.0))
    assert slow.change == pytest.approx(0.1)
    assert slow.spread == (0.0, 0.0)


def test_figure_worse_by_more_than_a_twentieth_and_than_the_spread_is_worse() -> None:
    assert compared((9.9, 10.0, 10.0, 10.3), (10.7, 10.6, 10.6, 10.7)).worse


def test_figure_worse_by_less_than_a_twentieth_is_not_worse() -> None:
    same = compared(STEADY, (10.4, 10.4, 10.4, 10.4))
    assert not same.worse
    assert not same.better


def test_figure_within_the_spread_of_the_base_is_not_worse() -> None:
    assert not compared((9.0, 10.0, 10.0, 11.2), (11.0, 11.0, 11.0, 11.0)).worse


def test_smaller_figure_is_better() -> None:
    better = compared((9.8, 10.0, 10.1, 10.0), (9.0, 9.1, 9.0, 9.2))
    assert better.better
    assert "better" in render([better])
    assert "-9." in render([better])


def test_table_marks_what_is_worse() -> None:
    good, bad = render([compared(STEADY, STEADY), compared(STEADY, (12.0, 12.0, 12.0, 12.0))]).splitlines()[1:]
    assert "WORSE" not in good
    assert "WORSE" in bad
    assert "+20.0%" in bad
    assert "+0.0% to +0.0%" in bad


def test_revision_that_is_not_there_is_refused_and_leaves_no_work_tree(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="no-such-revision"), checked_out(tmp_path, "no-such-revision"):
        pass
    known = subprocess.run(("git", "worktree", "list"), capture_output=True, text=True, check=True).stdout
    assert str(tmp_path) not in known
