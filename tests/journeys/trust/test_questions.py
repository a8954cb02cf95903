"""Approval questions through the real daemon: answered, killed at every point, expired. Nothing is done twice."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from hob.core.clock import SystemClock
from hob.core.ids import ApprovalId
from hob.store.settings import StoreSettings
from hob.store.store import Store, open_store
from hob.testing.model_server import Reply
from tests.journeys.terminal_screens import PROMPT, terminal
from tests.journeys.world import LOST, SHARED, Daemon, Said, Shared, World, until

RUN = 'CALL exec {"command": "rm -rf junk; echo ran >> marks"}'
SLOW = 'CALL exec {"command": "rm -rf junk; echo ran >> marks; sleep 40"}'


def marks(world: World) -> list[str]:
    """Return how often the command ran."""
    file = world.work / "marks"
    return file.read_text().split() if file.exists() else []


async def asked(daemon: Daemon, text: str = RUN) -> tuple[str, str]:
    """Send a message that needs approval; return its id and the question's."""
    answer = await daemon.post(text)
    assert answer.status_code == 202
    view = answer.json()
    assert view["state"] == "parked"
    assert answer.headers["location"] == f"/chat/{view['id']}"
    assert "echo ran" in view["question"]
    (approval,) = view["approvals"]
    return view["id"], approval


async def settle(daemon: Daemon, approval: str, *, allowed: bool = True) -> int:
    return (await daemon.client.post(f"/approvals/{approval}", json={"allowed": allowed})).status_code


@asynccontextmanager
async def stored(world: World) -> AsyncIterator[Store]:
    async with open_store(world.home, StoreSettings(), SystemClock()) as store:
        yield store


async def test_question_survives_kills_and_its_answer_is_used_once(world: World) -> None:
    async with world.serve() as daemon:
        id, approval = await asked(daemon)
        daemon.kill()
    async with world.serve() as daemon:
        view = await daemon.get(id)
        assert view["approvals"] == [approval]
        shown = (await daemon.ask(f"/approvals/{approval}"))["shown"]
        assert "│ rm -rf junk; echo ran >> marks" in shown
        assert await settle(daemon, approval) == 200
        view = await daemon.get(id, wait=20)
        assert (view["state"], marks(world)) == ("done", ["ran"])
        assert (await daemon.ask("/approvals"))["approvals"] == []
        daemon.kill()
    async with world.serve() as daemon:
        assert await settle(daemon, approval) == 200  # a repeated request changes nothing
        assert await settle(daemon, approval, allowed=False) == 403
        assert (await daemon.get(id))["reply"] == view["reply"]
    assert marks(world) == ["ran"]


async def test_answer_missed_by_a_kill_is_found_at_the_next_start(world: World) -> None:
    async with world.serve() as daemon:
        id, approval = await asked(daemon)
        daemon.kill()
    async with stored(world) as store:  # as far as a kill between answer and wake-up gets
        assert await store.approvals.answer(ApprovalId(approval), True, "local:owner") is not None
    async with world.serve() as daemon:
        assert (await daemon.get(id, wait=20))["state"] == "done"
    assert marks(world) == ["ran"]


@pytest.mark.parametrize("seconds", [0.0, 0.01, 0.05, 0.2, pytest.param(0.5, marks=pytest.mark.full)])
async def test_kill_around_the_answer_does_nothing_twice(world: World, seconds: float) -> None:
    async with world.serve() as daemon:
        id, approval = await asked(daemon)
        async with asyncio.TaskGroup() as group:
            group.create_task(_lost(settle(daemon, approval)))
            await asyncio.sleep(seconds)  # the moment of the kill is what varies
            daemon.kill()
    async with world.serve() as daemon:
        assert await settle(daemon, approval) == 200
        view = await daemon.get(id, wait=20)
        # the approval was used up and the kill came before the call, so it is asked again
        if view["state"] == "parked":
            assert marks(world) == []
            assert await settle(daemon, *view["approvals"]) == 200
            view = await daemon.get(id, wait=20)
    assert view["state"] == "done"
    assert marks(world) == ["ran"] or "unknown" in view["reply"]
    assert len(marks(world)) <= 1


async def test_kill_during_an_allowed_call_does_not_repeat_it(world: World) -> None:
    async with world.serve() as daemon:
        id, approval = await asked(daemon, SLOW)
        await settle(daemon, approval)
        await until(lambda: marks(world))
        daemon.kill()
    async with world.serve() as daemon:
        view = await daemon.get(id, wait=20)
        assert (view["state"], marks(world)) == ("done", ["ran"])
        assert "Whether it took effect is unknown" in view["reply"]
        assert (await daemon.ask(f"/approvals/{approval}"))["state"] == "used"


async def test_unanswered_question_ends_as_a_reported_refusal(world: World) -> None:
    async with world.serve() as daemon:
        id, approval = await asked(daemon)
        daemon.kill()
    async with stored(world) as store:
        await store.approvals.note_remaining({ApprovalId(approval): 0.5})
    async with world.serve() as daemon:
        view = await daemon.get(id, wait=20)
        assert "Nobody allowed this call in time" in view["reply"]
        refused = await daemon.client.post(f"/approvals/{approval}", json={"allowed": True})
        assert (refused.status_code, "there was no answer in time" in refused.json()["error"]["message"]) == (403, True)
    assert marks(world) == []


@SHARED
@pytest.mark.parametrize("between", ["Shall I tell you the weather, yes or no?", "/status"])
async def test_bare_yes_after_another_message_answers_no_question(shared: Shared, between: str) -> None:
    world, daemon = shared.world, shared.daemon
    id, approval = await asked(daemon)
    assert (await daemon.post(between)).status_code == 200
    assert (await daemon.post("yes")).json()["reply"] == "You said: yes"
    assert (await daemon.get(id))["approvals"] == [approval]
    assert marks(world) == []
    assert (await daemon.post(f"approve:{approval}")).json()["reply"] == "Allowed: exec."
    assert (await daemon.get(id, wait=20))["state"] == "done"
    assert marks(world) == ["ran"]


async def test_yes_to_a_message_that_was_sent_beside_the_question_approves_nothing(world: World) -> None:
    beside = {"action": "send", "text": "Shall I show you the photo?", "options": ["Yes", "No"]}
    world.model.script.extend(
        [
            Reply(calls=(("load_tools", '{"names": ["message"]}'),)),
            Reply(calls=(("message", json.dumps(beside)), ("exec", RUN.removeprefix("CALL exec ")))),
            Reply("Which photo?"),
            Reply("It ran."),
        ]
    )
    async with world.serve() as daemon:
        id, approval = await asked(daemon, "Tidy up.")
        assert (await daemon.post("Yes")).json()["reply"] == "Which photo?"  # as the button sends it
        assert (await daemon.get(id))["approvals"] == [approval]
        assert marks(world) == []
        assert await settle(daemon, approval) == 200
        assert (await daemon.get(id, wait=20))["reply"] == "It ran."


@SHARED
async def test_cancelled_message_closes_its_question(shared: Shared) -> None:
    world, daemon = shared.world, shared.daemon
    id, approval = await asked(daemon)
    assert "is cancelled" in (await daemon.post(f"/cancel {id}")).json()["reply"]
    assert (await daemon.ask("/approvals"))["approvals"] == []
    refused = await daemon.client.post(f"/approvals/{approval}", json={"allowed": True})
    assert (refused.status_code, "its turn has ended" in refused.json()["error"]["message"]) == (403, True)
    assert marks(world) == []


@SHARED
async def test_only_one_of_two_simultaneous_answers_counts(shared: Shared) -> None:
    world, daemon = shared.world, shared.daemon
    id, approval = await asked(daemon)
    statuses = await asyncio.gather(settle(daemon, approval), settle(daemon, approval, allowed=False))
    assert sorted(statuses) == [200, 403]
    assert (await daemon.get(id, wait=20))["state"] == "done"
    assert len(marks(world)) == (1 if statuses[0] == 200 else 0)


@SHARED
async def test_invalid_answers_are_refused_with_the_reason(shared: Shared) -> None:
    daemon = shared.daemon
    _, approval = await asked(daemon)
    bodies: tuple[Any, ...] = ({}, [], {"allowed": "yes"}, {"allowed": True, "scope": "for ever"}, {"allowed": 1})
    for body in bodies:
        assert (await daemon.client.post(f"/approvals/{approval}", json=body)).status_code == 400
    assert (await daemon.client.post("/approvals/a_000", json={"allowed": True})).status_code == 404
    assert (await daemon.client.get("/approvals", headers={"authorization": "Bearer no"})).status_code == 401
    assert [each["id"] for each in (await daemon.ask("/approvals"))["approvals"]] == [approval]


async def test_models_question_is_answered_by_the_next_message_even_after_a_kill(world: World) -> None:
    async with world.serve() as daemon:
        view = (await daemon.post('CALL ask_user {"question": "Which colour?"}')).json()
        assert (view["question"], view["approvals"]) == ("Which colour?", [])
        daemon.kill()
    async with world.serve() as daemon:
        assert (await daemon.post("blue")).json()["reply"] == "The tool said: blue"
        assert (await daemon.get(view["id"]))["reply"] == "The tool said: blue"


@SHARED
async def test_stream_reports_the_question_and_continues_after_the_answer(shared: Shared) -> None:
    world, daemon = shared.world, shared.daemon
    names, approval = [], ""
    async for name, data in daemon.events(RUN, "key"):
        names.append(name)
        if name == "question":
            (one,) = data["asked"]
            approval = one["id"]
            assert (one["message"], one["state"], data["approvals"]) == (data["id"], "open", [approval])
            assert await settle(daemon, approval) == 200
    assert (names.count("question"), names[-1], marks(world)) == (1, "result", ["ran"])


# the command line


@pytest.fixture(params=["with a daemon", "without"])
async def home(request: pytest.FixtureRequest, world: World) -> AsyncIterator[World]:
    """Test commands in both ways."""
    if request.param == "without":
        yield world
        return
    async with world.serve():
        yield world


async def test_ask_exits_with_75_and_allow_completes_the_turn(home: World) -> None:
    said = await home.hob("ask", RUN, stdin=b"yes\n")
    assert (said.status, said.out) == (75, "")
    assert "rm -rf junk; echo ran >> marks" in said.err
    (id,) = {word.rstrip(",;") for word in said.err.split() if word.startswith("a_")}
    listed = await home.hob("approvals")
    head, first, *_ = listed.out.splitlines()
    assert head.split()[:3] == ["id", "asked", "conversation"]
    assert first.startswith(id)
    assert "exec: rm -rf junk; echo ran >> marks\n" in listed.out
    shown = await home.hob("approvals", "show", id)
    assert "It would run:\n│ rm -rf junk\n" in shown.out
    allowed = await home.hob("approvals", "allow", id)
    assert (allowed.status, allowed.err) == (0, "Allowed: exec.\n")
    assert "The tool said" in allowed.out
    settled = (await home.hob("approvals", "show", id)).out.splitlines()[-1]
    assert settled.startswith(f"{id} in main (terminal): used by you, ")
    again = await home.hob("approvals", "allow", id)
    assert (again.status, again.out) == (0, allowed.out)
    other = await home.hob("approvals", "deny", id)
    assert (other.status, other.out) == (1, "")
    assert marks(home) == ["ran"]


async def test_deny_tells_the_model_and_nothing_runs(home: World) -> None:
    said = await home.hob("ask", RUN, "--json")
    assert said.status == 75
    id = said.out.partition('"approvals": [\n    "')[2].partition('"')[0]
    denied = await home.hob("approvals", "deny", id)
    assert (denied.status, denied.err) == (0, "Not allowed: exec.\n")
    assert "did not allow" in denied.out
    assert marks(home) == []


@pytest.mark.bubblewrap
async def test_lasting_approval_is_listed_used_and_revoked(home: World) -> None:
    def id_of(err: str) -> str:
        return next(word.rstrip(",;") for word in err.split() if word.startswith("a_"))

    # the conversation has read nothing untrusted; command output counts as such
    first = id_of((await home.hob("ask", RUN, "--session", "one")).err)
    assert (await home.hob("approvals", "allow", first, "--always")).status == 0
    free = await home.hob("ask", RUN, "--session", "two")
    assert (free.status, len(marks(home))) == (0, 2)
    head, grant, *_ = (await home.hob("approvals", "grants")).out.splitlines()
    assert (head.split()[0], grant.split()[0]) == ("id", first)
    assert (await home.hob("approvals", "revoke", first)).status == 0
    assert (await home.hob("approvals", "revoke", first)).status == 1
    assert (await home.hob("ask", RUN, "--session", "three")).status == 75
    both = await home.hob("approvals", "allow", first, "--always", "--session")
    assert both.status == 2


async def test_bare_yes_on_the_command_line_continues_the_turn(world: World) -> None:
    assert (await world.hob("ask", RUN)).status == 75
    said = await world.hob("ask", "yes")
    assert (said.status, said.out.startswith("Allowed: exec.\nThe tool said")) == (0, True)
    assert marks(world) == ["ran"]


async def test_next_ask_on_the_command_line_answers_the_models_question(home: World) -> None:
    said = await home.hob("ask", 'CALL ask_user {"question": "Which colour?"}')
    assert (said.status, said.err.startswith("Which colour?\n")) == (75, True)
    said = await home.hob("ask", "blue")
    assert (said.status, said.out) == (0, "The tool said: blue\n")


async def test_lines_piped_into_a_chat_neither_answer_nor_command(home: World) -> None:
    assert (await home.hob("ask", RUN)).status == 75
    (id,) = [line.split()[0] for line in (await home.hob("approvals")).out.splitlines() if line.startswith("a_")]
    for lines in (f"approve:{id}\n", "yes\n", f"approve:{id}", "/permission full\n"):
        said = await home.hob("chat", stdin=lines.encode())
        assert (said.status, lines.strip() in said.out, "from=stdin>" in said.out) == (0, True, True)
    nothing = await home.hob(stdin=b"")
    assert (nothing.status, nothing.err) == (2, 'hob: a chat needs a terminal; without one: hob ask "..."\n')
    assert marks(home) == []
    assert f"\n{id} " in (await home.hob("approvals")).out


# at a terminal


async def test_chat_shows_the_question_and_a_bare_yes_answers_it(home: World) -> None:
    async with terminal(home, "chat", "--plain") as typist:
        await typist.sees(PROMPT)
        typist.types(f"{RUN}\n")
        await typist.sees("yes or no? ")
        await typist.sees(PROMPT)
        typist.types("yes\n")
        await typist.sees("The tool said")
        await typist.sees(PROMPT)
        typist.types("\x04")
        assert await typist.end() == 0
    assert "rm -rf junk; echo ran >> marks" in typist.seen
    assert "Allowed: exec." in typist.seen
    assert marks(home) == ["ran"]


async def test_chat_takes_the_next_message_as_the_answer_to_the_model(home: World) -> None:
    async with terminal(home, "chat", "--plain") as typist:
        await typist.sees(PROMPT)
        typist.types('CALL ask_user {"question": "Which colour?"}\n')
        await typist.sees("Which colour?")  # what was typed
        await typist.sees("Which colour?")
        await typist.sees(PROMPT)
        typist.types("blue\n")
        await typist.sees("The tool said: blue")
        await typist.sees(PROMPT)
        typist.types("hello\n")
        await typist.sees("You said: hello")


async def test_ask_at_a_terminal_prompts_and_continues(home: World) -> None:
    async with terminal(home, "ask", RUN) as typist:
        typist.types("yes\n")  # before anything was asked
        await typist.sees("Ctrl-D leaves it open) ")
        assert marks(home) == []
        typist.types("perhaps\n")
        await typist.sees("Ctrl-D leaves it open) ")
        typist.types("y\n")
        assert await typist.end() == 0
    assert "rm -rf junk; echo ran >> marks" in typist.seen
    assert "The tool said" in typist.seen
    assert marks(home) == ["ran"]


async def test_question_left_open_at_a_terminal_stays_pending(world: World) -> None:
    async with terminal(world, "ask", RUN) as typist:
        await typist.sees("Ctrl-D leaves it open) ")
        typist.types("\x04")
        assert await typist.end() == 75
    async with terminal(world, "ask", "--resume", _message(await world.hob("approvals", "--json"))) as typist:
        await typist.sees("Ctrl-D leaves it open) ")
        typist.types("n\n")
        assert await typist.end() == 0
    assert "did not allow" in typist.seen
    assert marks(world) == []


async def test_models_question_is_answered_at_the_terminal(world: World) -> None:
    async with terminal(world, "ask", 'CALL ask_user {"question": "Which colour?"}') as typist:
        await typist.sees("Your answer (Ctrl-D leaves it open): ")
        typist.types("blue\n")
        assert await typist.end() == 0
    assert "Which colour?" in typist.seen
    assert "The tool said: blue" in typist.seen


@pytest.mark.bubblewrap
async def test_terminal_shows_live_command_output_without_its_control_sequences(world: World) -> None:
    flood = "for i in 1 2 3 4 5; do seq 5000; sleep 0.2; done"
    command = rf"printf 'fir\\033]0;title\\007st\\n'; until test -e go; do sleep 0.1; done; {flood}"
    async with terminal(world, "ask", f'CALL exec {{"command": "{command}"}}') as typist:
        await typist.sees("st\r\n")
        (world.work / "go").touch()
        assert await typist.end() == 0
    assert "\033]0;" not in typist.seen
    assert "the rest is not shown here" in typist.seen


def _message(listed: Said) -> str:
    message: str = json.loads(listed.out)["approvals"][0]["message"]
    return message


async def _lost(work: Awaitable[Any]) -> None:
    with contextlib.suppress(*LOST):
        await work
