"""How memory is shown."""

import pytest

from hob.memory.views import led


@pytest.mark.parametrize(
    ("total", "part", "colour"),
    [
        (0, 0.0, "grey"),
        (1, 0.0, "purple"),
        (70, 0.70, "purple"),
        (71, 0.71, "amber"),
        (90, 0.90, "amber"),
        (91, 0.91, "red"),
        (100, 1.0, "red"),
    ],
)
def test_light_turns_amber_above_70_percent_and_red_above_90(total: int, part: float, colour: str) -> None:
    assert led(total, part) == colour
