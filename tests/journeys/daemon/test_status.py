"""`hob status`: what it says to people and to programs."""

import json
import re

from tests.journeys.world import World, until

ASKS = 'CALL exec {"command": "rm -rf junk"}'
AGES = {"oldest_waiting_seconds", "oldest_owed_seconds", "oldest_pending_seconds", "writer_queue", "followers"}


async def test_status_names_waiting_approvals_with_the_next_step(world: World) -> None:
    assert (await world.hob("ask", ASKS)).status == 75
    said = (await world.hob("status")).out
    assert "1 waits for your approval: `hob approvals` shows what is asked" in said
    assert max(map(len, said.splitlines())) <= 80
    seen = json.loads((await world.hob("status", "--json")).out)
    assert (seen["parked"], seen["for_approval"], seen["for_answer"]) == (1, 1, 0)
    assert (seen["for_leave"], seen["owed"]) == (seen["for_approval"], seen["pending"])  # their names until 1.0
    assert seen.keys() >= AGES
    told = await world.hob("ask", "/status")
    assert "Waiting for your approval: 1. `hob approvals`" in told.out
    told = await world.hob("ask", "/status", HOB_AGENT_LANGUAGE="de")
    assert "Wartet auf deine Freigabe: 1." in told.out


async def test_status_names_where_a_question_was_asked(world: World) -> None:
    assert (await world.hob("ask", 'CALL ask_user {"question": "Which colour?"}')).status == 75
    assert "1 waits for your answer, where it was asked" in (await world.hob("status")).out
    assert "your approval" not in (await world.hob("status")).out


async def test_queue_and_lags_are_reported_even_if_zero(world: World) -> None:
    said = (await world.hob("status")).out
    assert re.search(r"^database +ok, [0-9.]+ MB, [0-9.]+ GB free$", said, re.MULTILINE)


async def test_status_without_a_daemon_names_a_changed_identity_file_once(world: World) -> None:
    soul = world.root / "hob" / "SOUL.md"
    soul.parent.mkdir()
    soul.write_text("Be kind.\n")
    await world.hob("status")  # what stands there first is accepted
    soul.write_text("Be rude.\n")
    said = await world.hob("status")
    assert (said.out + said.err).count("hob accept SOUL.md") == 1


async def test_status_names_process_start_and_addresses(world: World) -> None:
    async with world.serve() as daemon:
        said = (await world.hob("status")).out
        assert re.search(rf"^ +started with `hob serve`, pid {daemon.process.pid}, since \d{{4}}-", said, re.MULTILINE)
        assert f" at {daemon.url}\n" in said
        seen = json.loads((await world.hob("status", "--json")).out)
        assert (seen["pid"], seen["address"]) == (daemon.process.pid, daemon.url)
        assert seen["holder"].startswith("hob serve, pid ")
    assert "not running" in (await world.hob("status")).out


async def test_status_reports_the_age_of_the_oldest_message(world: World) -> None:
    async with world.serve(HOB_BUS_QUEUE_MODE="followup") as daemon:
        await daemon.post("FAULT silence", wait=0)
        await until(lambda: world.model.chats)
        await daemon.post("and another", wait=0)
        said = (await world.hob("status")).out
        assert re.search(r"^turns +1 running, 1 waiting, the oldest message waits for \d\.\d s$", said, re.MULTILINE)


async def test_turn_of_a_killed_daemon_is_reported_as_interrupted(world: World) -> None:
    async with world.serve() as daemon:
        await daemon.post("FAULT silence", wait=0)
        await until(lambda: world.model.chats)
        daemon.kill()
        await daemon.process.wait()
        assert re.search(r"^turns +1 interrupted, 0 waiting", (await world.hob("status")).out, re.MULTILINE)
