"""Spending and limits, as the owner sees them."""

import asyncio
import json
import os
import pty
import sys

import pytest

from tests.journeys.world import World

CONFIG = """
[model.prices.fake-1]
input = 1000.0
output = 1000.0

[spending]
daily = 9.0
on_unknown = "allow"

[spending.models."fake-*"]
monthly = 20.0

[spending.senders.member]
per_turn = 0.5

[agent]
max_tokens = 100
"""


def configure(world: World, text: str = CONFIG) -> None:
    world.home.mkdir(mode=0o700, exist_ok=True)
    (world.home / "config.toml").write_text(text)
    (world.home / "config.toml").chmod(0o600)


@pytest.mark.parametrize("daemon", [False, True], ids=["alone", "attached"])
async def test_usage_shows_spending_and_what_is_left(world: World, daemon: bool) -> None:
    configure(world)
    assert (await world.hob("ask", "hello")).status == 0
    if daemon:
        async with world.serve():
            shown = await world.hob("usage", "--by", "model")
            told = json.loads((await world.hob("usage", "--by", "sender", "--json")).out)
    else:
        shown = await world.hob("usage", "--by", "model")
        told = json.loads((await world.hob("usage", "--by", "sender", "--json")).out)
    assert (shown.status, shown.err) == (0, "")
    head, _, columns, row, _, daily, monthly = shown.out.splitlines()
    assert head.startswith("Spent in 30 days: $")
    assert columns.split() == ["model", "dollars", "calls", "tokens", "in", "tokens", "out"]
    assert row.split()[:1] == ["fake-1"]
    assert row.split()[-2].replace(",", "") == str(told["rows"][0]["input_tokens"])
    assert daily.startswith("daily limit (spending.daily) ")
    assert monthly.startswith('monthly limit (spending.models."fake-*".monthly) ')
    spent = told["total"]["cost_usd"]
    assert spent > 0
    assert [(each["key"], each["calls"]) for each in told["rows"]] == [("owner", 1)]
    assert [limit["left_usd"] for limit in told["limits"]] == pytest.approx([9 - spent, 20 - spent])


async def test_usage_shows_bars_on_a_terminal(world: World) -> None:
    configure(world)
    await world.hob("ask", "hello")
    ours, theirs = pty.openpty()
    environ = world.environ(COLUMNS="100", PYTHONIOENCODING="utf-8")
    done = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "hob", "usage", "--days", "3", stdin=theirs, stdout=theirs, env=environ
    )
    assert await done.wait() == 0
    shown = os.read(ours, 65536).decode()
    os.close(ours)
    os.close(theirs)
    assert "\033[36m██████" in shown
    assert "░" in shown
    assert max(len(line) for line in shown.splitlines() if "\033" not in line) <= 100


async def test_limit_of_a_model_stops_it_and_says_how_to_raise_it(world: World) -> None:
    configure(world, CONFIG.replace("monthly = 20.0", "monthly = 0.01"))
    said = await world.hob("ask", "hello")
    assert said.status == 1
    assert "hob config set 'spending.models.\"fake-*\".monthly' DOLLARS" in said.err
    assert world.model.chats == []
    raised = await world.hob("config", "set", 'spending.models."fake-*".monthly', "30")
    assert raised.status == 0, raised.err
    assert (await world.hob("ask", "hello")).status == 0


async def test_owner_is_told_once_that_most_of_a_limit_is_spent(world: World) -> None:
    configure(world)
    first = await world.hob("ask", "hello")
    spent = json.loads((await world.hob("usage", "--json")).out)["total"]["cost_usd"]
    limit = spent + 50  # room for the worst case of the next answers
    configure(world, CONFIG.replace("daily = 9.0", f"daily = {limit}\nwarn_at = {spent / limit * 0.9}"))
    second, third = await world.hob("ask", "hi"), await world.hob("ask", "hi again")
    assert [("spending.daily" in said.err) for said in (first, second, third)] == [False, True, False]


async def test_unknown_price_is_reported(world: World) -> None:
    configure(world, '[model.prices."fake-*"]\ninput = 1.0\n')
    await world.hob("ask", "hello")
    shown = (await world.hob("usage")).out
    assert "and 1 call of unknown price" in shown


async def test_usage_of_a_new_home_is_zero(world: World) -> None:
    assert (await world.hob("usage")).out == "Spent in 30 days: $0.00\n"


@pytest.mark.parametrize("wrong", [("--days", "0"), ("--days", "99999"), ("--by", "weather")])
async def test_usage_refuses_an_unknown_grouping(world: World, wrong: tuple[str, str]) -> None:
    said = await world.hob("usage", *wrong)
    assert said.status != 0
    assert said.out == ""
