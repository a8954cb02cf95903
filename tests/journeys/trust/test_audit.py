"""The audit log of a real Hob: complete, intact after `kill -9`, and naming what the owner and others did."""

import asyncio
import json
from collections.abc import Awaitable
from contextlib import suppress
from functools import partial
from typing import Any

import apsw
import httpx2

from hob.store.audit.audit import show_audit
from tests.journeys.world import LOST, World, until

DELETING = 'CALL exec {"command": "rm -rf ."}'


async def whole(world: World) -> dict[str, Any]:
    """Return the output of `hob audit verify`, which must report an intact log."""
    said = await world.hob("audit", "verify", "--json")
    assert said.status == 0, said.out + said.err
    checked: dict[str, Any] = json.loads(said.out)
    return checked


def told(world: World, kind: str = "") -> list[str]:
    return [f"{row.entry.name} {row.entry.outcome}" for row in show_audit(world.home, 500, kind)]


def grown(world: World, count: int) -> bool:
    return len(told(world, "decision")) >= count


def writing(path: str) -> str:
    return f'CALL write {{"path": "{path}", "content": "x"}}'


async def lost(answer: Awaitable[Any]) -> None:
    """Wait for an answer that may never arrive."""
    with suppress(*LOST):
        await answer


async def test_actions_and_refusals_are_in_an_intact_log(world: World) -> None:
    async with world.serve() as daemon:
        await daemon.post('CALL write {"path": "a.txt", "content": "x"}')
        await daemon.post("/permission workspace")
        await daemon.accepted(DELETING, "k1")
        async with httpx2.AsyncClient(base_url=daemon.url, trust_env=False) as stranger:
            for token in ("wrong", "guessed", "tried"):
                answer = await stranger.get("/status", headers={"authorization": f"Bearer {token}"})
                assert answer.status_code == 401
        for command in (("people", "link", "telegram:7", "anna"), ("config", "set", "sandbox.hosts", '["a.example"]')):
            assert (await world.hob(*command)).status == 0
        assert (await world.hob("config", "set", "nonsense.key", "1")).status == 2
        daemon.process.terminate()
        await daemon.gone()
    assert {"write allow", "exec ask"} <= set(told(world, "decision"))
    assert told(world, "approval") == ["exec open"]
    assert told(world, "authentication")[0] == "api wrong"
    assert told(world, "action") == ["permission workspace", "people.link done", "config.set done"]
    await whole(world)


async def test_every_verdict_has_its_audit_entry_despite_kills(world: World) -> None:
    for life in range(2):
        async with world.serve() as daemon:
            await daemon.post(writing(f"{life}.txt"))
            seen = len(told(world, "decision"))
            async with asyncio.TaskGroup() as group:
                for n in range(6):
                    group.create_task(lost(daemon.post(writing(f"{life}-{n}.txt"), session=f"s{n}")))
                await until(partial(grown, world, seen + 2))
                daemon.kill()
            await daemon.gone()
    await whole(world)
    connection = apsw.Connection(str(world.home / "hob.db"))
    decided = list(connection.execute("SELECT turn, tool, verdict, rule FROM policy_decisions ORDER BY seq"))
    connection.close()
    entries = [row.entry for row in show_audit(world.home, 10_000, "decision")]
    assert len(decided) > 4
    assert [(each.turn, each.name, each.outcome, each.rule) for each in entries] == decided


async def test_restoring_an_older_backup_is_logged_and_the_loss_stays_visible(world: World) -> None:
    backup = str(world.root / "old.hob")
    async with world.serve() as daemon:
        await daemon.post('CALL write {"path": "a.txt", "content": "x"}')
        assert (await world.hob("backup", backup)).status == 0
        await daemon.post('CALL write {"path": "b.txt", "content": "x"}')
        daemon.process.terminate()
        await daemon.gone()
    assert (await world.hob("restore", backup)).status == 0
    assert told(world)[-2:] == ["log broken", "restore done"]
    said = await world.hob("audit", "verify")
    assert said.status == 0
    assert "entry 2 tells of a loss" in said.out
