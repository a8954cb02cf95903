"""The documentation page about attacks matches the tests."""

import re
from pathlib import Path

from .goals import GOALS
from .house import House
from .places import PLACES
from .spots import Spot

PAGE = Path(__file__).parents[3] / "docs" / "explanation" / "attacks.md"


def test_page_states_the_number_of_attacks(tmp_path: Path) -> None:
    ways = sum(len(goal.ways(Spot(House(tmp_path), "x"))) for goal in GOALS.values())
    said = [int(number.replace(",", "")) for number in re.findall(r"\*\*([\d,]+)\*\*", PAGE.read_text("utf-8"))]
    assert said == [len(PLACES), len(GOALS), ways, len(PLACES) * len(GOALS), len(PLACES) * ways]


def test_page_names_every_place_and_goal() -> None:
    listed = re.findall(r"^- (.+?)[;.]?$", PAGE.read_text("utf-8"), re.MULTILINE)
    assert listed == [*PLACES, *GOALS]
