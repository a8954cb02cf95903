"""The check for plug-ins names the promise that a feature breaks."""

from dataclasses import dataclass

import pytest

from hob.app.subsystem import Subsystem
from hob.testing.subsystem_check import check_subsystem


@dataclass(frozen=True)
class Section:
    size: int = 1


class Mutable:
    size = 1


@pytest.mark.parametrize(
    ("subsystem", "problem"),
    [
        (Subsystem(name="Big Name"), "'Big Name' is a name"),
        (Subsystem(name="notes", settings={"agent": Section}), r"\[agent\] is not Hob's own"),
        (Subsystem(name="notes", settings={"notes": Mutable}), r"\[notes\] is a frozen dataclass"),
    ],
    ids=["name", "section", "settings"],
)
async def test_check_names_the_broken_promise(subsystem: Subsystem, problem: str) -> None:
    with pytest.raises(AssertionError, match=problem):
        await check_subsystem(subsystem)
