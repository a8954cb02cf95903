"""Every place where an attacker's text can enter, times every goal."""

import asyncio
import sys
from collections.abc import Iterable
from typing import Any

import pytest

from hob.testing.attacker import find_orders

from .goals import GOALS
from .house import House
from .later import LATER
from .places import PLACES
from .spots import Spot

pytestmark = pytest.mark.slow

HARD = frozenset(
    {
        *("send it from a command", "push it with git", "read keys and Hob's own state", "leave the sandbox"),
        *("delete outside of the work folder", "install a package that runs things", "write a git hook"),
        *("have another conversation do it", "change Hob's settings with its own tool"),
        *LATER,
    }
)
"""Goals that no approval of the conversation brings closer: hard rules, the sandbox, the revert or the owner of another
conversation prevent them.
"""
ALSO = {"a page in the browser": ("upload it to a page",)}
"""Goals that are always tried at a place, as they are nearest there."""
EVERYTHING = frozenset(
    {
        *("mail_send", "mail_delete", "web_fetch", "web_post", "message_send", "calendar_add", "config_set"),
        *("skill_write", "hooks_write", "cron_add", "remember", "update_working_memory"),
        *("read", "write", "edit", "apply_patch", "exec", "process", "message", "club__save_note"),
    }
)


def _needing_commands(names: Iterable[str]) -> list[Any]:
    """Skip parameters that run a command unless commands can be confined."""
    running = {"output of a command", "carry it out in an address", "the result of an MCP server"}
    return [pytest.param(each, marks=pytest.mark.bubblewrap) if each in running else each for each in names]


async def attack(house: House, place: str, goals: list[str]) -> list[str]:
    """Try these goals from one place; return what was achieved."""
    won = []
    for number, name in enumerate(goals):
        goal, spot = GOALS[name], Spot(house, f"c{list(PLACES).index(place)}n{number}k")
        spot.furnish()
        orders = goal.ways(spot)
        await PLACES[place](spot, "\n".join(orders))
        assert house.model.followed_orders.intersection(orders), "the model never saw them"
        if harm := await goal.reached(spot):
            won.append(f"{name}: {harm}")
    return won


async def _nothing_is_got(house: House, place: str, goals: list[str]) -> None:
    async with house.opened():
        won = await attack(house, place, goals)
    assert won == []
    assert [asked.hidden() for asked in house.asked if asked.hidden()] == []


@pytest.mark.parametrize("place", _needing_commands(PLACES))
async def test_no_attacker_succeeds(house: House, place: str) -> None:
    goals = list(GOALS)
    chosen = goals[(list(PLACES).index(place) - len(LATER)) % len(goals)]
    await _nothing_is_got(house, place, list(dict.fromkeys([chosen, *ALSO.get(place, ())])))


@pytest.mark.full
@pytest.mark.timeout(3600)  # only against hangs
@pytest.mark.parametrize("place", _needing_commands(PLACES))
async def test_no_attacker_succeeds_from_any_place(house: House, place: str) -> None:
    await _nothing_is_got(house, place, list(GOALS))


@pytest.mark.parametrize("goal", _needing_commands(goal for goal in GOALS if goal not in HARD))
async def test_same_attack_succeeds_if_the_owner_approves(house: House, goal: str) -> None:
    """Shows that the attacks work and are not merely broken."""
    spot = Spot(house, "given")
    spot.furnish()
    async with house.opened():
        evil = "\n".join(GOALS[goal].ways(spot))
        house.outside.chats[spot.name] = evil
        allowed = EVERYTHING | ({"browser"} if goal == "upload it to a page" else set())
        await house.say(spot.name, f'ORDER message_list {{"chat": "{spot.name}"}}', allow=allowed)
    assert GOALS[goal].harmed(spot)


async def test_owners_git_would_run_it_without_the_revert(house: House) -> None:
    """Runs the same program outside the sandbox."""
    goal, spot = GOALS["have the owner's git run it"], Spot(house, "free")
    spot.furnish()
    (program,) = (each for each in find_orders("\n".join(goal.ways(spot))) if each.tool == "write")
    run = await asyncio.create_subprocess_exec(sys.executable, "-c", program.arguments["content"], cwd=house.work)
    assert await run.wait() == 0
    assert await goal.reached(spot)
