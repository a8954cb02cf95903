"""One process owns a home: who else comes attaches, waits, or is told who it is."""

import asyncio
import signal

import pytest

from hob.testing.model_server import Reply
from tests.journeys.world import LOST, World, until

NO_MODEL = {"OPENAI_BASE_URL": "", "OPENAI_API_KEY": "", "OLLAMA_HOST": "127.0.0.1:9"}


async def test_second_daemon_says_who_holds_the_home_and_exits(world: World) -> None:
    async with world.serve() as daemon:
        said = await world.hob("serve")
        assert (said.status, said.out) == (1, "")
        assert f"hob serve, pid {daemon.process.pid}," in said.err
        assert (await daemon.post("hello")).status_code == 200


async def test_ask_attaches_to_the_daemon(world: World) -> None:
    async with world.serve() as daemon:
        said = await world.hob("ask", "hello")
        assert (said.status, said.out, said.err) == (0, "You said: hello\n", "")
        (task,) = (await daemon.ask("/tasks", all=1))["tasks"]
        assert task["title"] == "hello"
        assert f"pid {daemon.process.pid}," in (world.home / "hob.lock").read_text()


async def test_ask_without_a_daemon_does_the_work_itself(world: World) -> None:
    said = await world.hob("ask", "hello")
    assert (said.status, said.out, said.err) == (0, "You said: hello\n", "")
    async with world.serve() as daemon:
        (task,) = (await daemon.ask("/tasks", all=1))["tasks"]
        assert task["state"] == "done"


async def test_two_questions_at_once_without_a_daemon_are_both_answered(world: World) -> None:
    world.model.script.append(Reply("slow", delay=1.5))
    async with world.running("ask", "first") as first:
        await until(lambda: len(world.model.chats) == 1)
        second = await world.hob("ask", "second", "--session", "other")
        out, _ = await first.communicate()
    assert (first.returncode, out) == (0, b"slow\n")
    assert (second.status, second.out) == (0, "You said: second\n")


async def test_questions_that_start_in_the_same_moment_are_all_answered(world: World) -> None:
    said = await asyncio.gather(*(world.hob("ask", f"hello {n}", "--session", f"s{n}") for n in range(3)))
    assert [(each.status, each.out, each.err) for each in said] == [(0, f"You said: hello {n}\n", "") for n in range(3)]


async def test_attached_client_is_answered_although_the_owners_question_ends_first(world: World) -> None:
    world.model.script.extend([Reply("first", delay=1), Reply("second", delay=2)])
    async with world.running("ask", "one") as first:
        await until(lambda: len(world.model.chats) == 1)
        second = await world.hob("ask", "two", "--session", "other")
        out, _ = await first.communicate()
    assert (first.returncode, out) == (0, b"first\n")
    assert (second.status, second.out, second.err) == (0, "second\n", "")
    assert len(world.model.chats) == 2


async def test_serve_takes_over_from_a_question_that_is_answered_first(world: World) -> None:
    world.model.script.append(Reply("slow but sure", delay=1.5))
    async with world.running("ask", "hello") as asking:
        await until(lambda: len(world.model.chats) == 1)
        async with world.serve() as daemon:
            out, err = await asking.communicate()
            assert (asking.returncode, out, err) == (0, b"slow but sure\n", b"")
            (task,) = (await daemon.ask("/tasks", all=1))["tasks"]
            assert task["state"] == "done"
    assert len(world.model.chats) == 1


async def test_question_whose_process_was_killed_is_answered_by_the_next_owner(world: World) -> None:
    world.model.script.append(Reply("never heard", delay=20))
    async with world.running("ask", "hello") as asking:
        await until(lambda: len(world.model.chats) == 1)
        asking.kill()
    async with world.serve() as daemon:
        (task,) = (await daemon.ask("/tasks", all=1))["tasks"]
        said = await world.hob("ask", "--resume", task["id"])
    assert (said.status, said.out) == (0, "You said: hello\n")


async def test_killed_question_can_be_resumed_without_a_daemon_too(world: World) -> None:
    world.model.script.append(Reply("never heard", delay=20))
    async with world.running("ask", "hello") as asking:
        await until(lambda: len(world.model.chats) == 1)
        asking.kill()
    other = await world.hob("ask", "something else", "--session", "other")
    assert other.out == "You said: something else\n"
    said = await world.hob("tasks")
    id = said.out.splitlines()[1].split()[0]
    resumed = await world.hob("ask", "--resume", id)
    assert (resumed.status, resumed.out) == (0, "You said: hello\n")


async def test_client_without_a_model_leaves_the_turn_to_the_daemon_that_has_one(world: World) -> None:
    """It ended the killed daemon's turn as `no_model`, and the message was never answered."""
    world.model.script.append(Reply("never heard", delay=20))
    async with world.serve() as daemon, world.running("ask", "hello", **NO_MODEL) as asking:
        await until(lambda: len(world.model.chats) == 1)
        daemon.kill()
        _, err = await asking.communicate()
    assert b"no model is connected in this environment; the message is kept" in err
    id = err.decode().split()[-1]
    async with world.serve():
        said = await world.hob("ask", "--resume", id)
    assert (said.status, said.out) == (0, "You said: hello\n")


async def test_attached_question_survives_its_daemon(world: World) -> None:
    world.model.script.append(Reply("never heard", delay=20))
    async with world.serve() as daemon, world.running("ask", "hello") as asking:
        await until(lambda: len(world.model.chats) == 1)
        daemon.kill()
        async with world.serve():
            out, _ = await asking.communicate()
    assert (asking.returncode, out) == (0, b"You said: hello\n")


async def test_stopping_daemon_lets_the_current_turn_end(world: World) -> None:
    world.model.script.append(Reply("in time", delay=1))
    async with world.serve() as daemon, asyncio.TaskGroup() as group:
        posting = group.create_task(daemon.post("hello"))
        await until(lambda: len(world.model.chats) == 1)
        daemon.signal(signal.SIGTERM)
        response = await posting
        assert (response.status_code, response.json()["reply"]) == (200, "in time")
        assert await daemon.gone() == 0


async def test_stopping_daemon_accepts_nothing(world: World) -> None:
    world.model.script.append(Reply("in time", delay=1.5))
    async with world.serve() as daemon, asyncio.TaskGroup() as group:
        posting = group.create_task(daemon.post("hello"))
        await until(lambda: len(world.model.chats) == 1)
        daemon.signal(signal.SIGTERM)
        while True:
            refused = await daemon.post("too late", wait=0)
            if refused.status_code != 202:
                break
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "stopping")
        assert int(refused.headers["retry-after"]) >= 1
        assert (await posting).status_code == 200


async def test_second_signal_forces_and_the_turn_resumes(world: World) -> None:
    world.model.script.append(Reply("never heard", delay=60))
    async with world.serve() as daemon:
        id = await daemon.accepted("hello", "key")
        await until(lambda: len(world.model.chats) == 1)
        daemon.signal(signal.SIGTERM)
        daemon.signal(signal.SIGINT)
        assert await daemon.gone(8) == 0
    async with world.serve() as daemon:
        assert (await daemon.get(id, wait=3))["reply"] == "You said: hello"


async def test_turn_that_takes_longer_than_the_drain_resumes(world: World) -> None:
    world.model.script.append(Reply("never heard", delay=60))
    async with world.serve(HOB_BUS_DRAIN_SECONDS="0.3") as daemon:
        id = await daemon.accepted("hello", "key")
        await until(lambda: len(world.model.chats) == 1)
        daemon.signal(signal.SIGTERM)
        assert await daemon.gone(8) == 0
    async with world.serve() as daemon:
        assert (await daemon.get(id, wait=3))["reply"] == "You said: hello"


async def test_waiting_client_is_answered_by_the_next_daemon(world: World) -> None:
    """`hob ask` used to be told that its message had not been taken, when it met the daemon that was ending."""
    world.model.script.append(Reply("never heard", delay=60))
    async with world.serve(HOB_BUS_DRAIN_SECONDS="0.3") as daemon, asyncio.TaskGroup() as group:
        asking = group.create_task(world.hob("ask", "hello"))
        await until(lambda: len(world.model.chats) == 1)
        daemon.signal(signal.SIGTERM)
        assert await daemon.gone(8) == 0
        async with world.serve():
            said = await asking
    assert (said.status, said.out, said.err) == (0, "You said: hello\n", "")


async def test_client_runs_its_own_message_if_no_daemon_returns(world: World) -> None:
    world.model.script.append(Reply("never heard", delay=60))
    async with world.serve() as daemon:
        async with asyncio.TaskGroup() as group:
            asking = group.create_task(world.hob("ask", "hello"))
            await until(lambda: len(world.model.chats) == 1)
            daemon.kill()
        said = asking.result()
    assert (said.status, said.out, said.err) == (0, "You said: hello\n", "")


async def test_defect_drains_and_is_reported(world: World) -> None:
    world.model.script.append(Reply("in time", delay=1))
    async with world.harness() as daemon, asyncio.TaskGroup() as group:
        posting = group.create_task(daemon.post("hello"))
        await until(lambda: len(world.model.chats) == 1)
        with pytest.raises(LOST):
            await world.say("BREAK", "key", "anna")
        assert (await posting).json()["reply"] == "in time"
        assert await daemon.gone() == 1
        assert "a defect of the channel" in daemon.errors


async def test_stop_ends_the_daemon_and_keeps_what_waits(world: World) -> None:
    nothing = await world.hob("stop")
    assert (nothing.status, nothing.out) == (0, f"No daemon runs in {world.home}.\n")
    async with world.serve() as daemon:
        world.model.script.append(Reply("slowly", delay=1))
        sent = await daemon.accepted("hello", "k")
        stopped = await world.hob("stop")
        assert (stopped.status, stopped.out) == (0, "Hob has stopped.\n")
        assert await daemon.gone() == 0
    assert (await world.hob("ask", "--resume", sent)).out == "slowly\n"
