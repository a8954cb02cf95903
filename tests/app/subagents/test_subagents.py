"""Sub-agents: started, awaited, reported, ended; a tree of twelve survives kills."""

import asyncio
import json
import math
import random
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hob.app.composition import App, open_app
from hob.app.settings.sections import SECTIONS
from hob.app.subagents.runs import SelfChannel
from hob.bus.notices import Hub
from hob.config.loading import load_config
from hob.core.ids import CallId, InboundId, OutboxId, SessionKey, TurnId, new_trace_id
from hob.core.messages import INTERNAL_CHANNEL, Address, Button, Inbound, Outbound, OutboundKind, Sender
from hob.core.models import (
    AssistantMessage,
    ModelEvent,
    ModelReply,
    ModelRequest,
    StopReason,
    ToolMessage,
    Usage,
    UserMessage,
)
from hob.core.steps import ModelAsked, ModelReplied, Step, ToolReceived
from hob.core.tools import ToolCall
from hob.core.trust.labels import HOB_LABEL, Trust
from hob.gateway.chat.inbound import owners_inbound
from hob.gateway.chat.outcome import follow
from hob.store.subagents import SPAWN, SubagentRow
from hob.testing.memory_store import memory_store
from hob.testing.model import Line, ScriptedModel, Silence
from tests.calling import calling
from tests.stand_ins import stand_ins

ROOT = SessionKey("api:main")
OPEN = ("load_tools", '{"names": ["agents"]}')
HELD = {"HOB_BUS_SELF_MADE_PER_HOUR": "0"}
"""Sub-agents are never started."""
TREE = {"HOB_SUBAGENTS_MAX_DEPTH": "2", "HOB_MODEL_PRICES": "{ m = { input = 3.0, output = 15.0 } }"}
"""Dollars per million tokens, and so millionths of a dollar per token."""


@asynccontextmanager
async def hob(home: Path, think: Line | ScriptedModel, environ: Mapping[str, str] | None = None) -> AsyncIterator[App]:
    usual = {
        "HOB_MODEL_BASE_URL": "http://127.0.0.1:9/v1",
        "HOB_MODEL_NAME": "m",
        "HOB_WORKSPACE_PATH": str(home / "w"),
    }
    config = load_config(SECTIONS, home=home / "state", environ={**usual, **(environ or {})})
    model = think if isinstance(think, ScriptedModel) else ScriptedModel(otherwise=think)
    async with open_app(config.home, config, subsystems=stand_ins(model)) as app:
        yield app


async def said(app: App, text: str, key: str = "", session: str = "main") -> str:
    inbound = owners_inbound({"message": text, "session": session}, key or None, app.api.clock)
    events = [event async for event in follow(app.api, inbound, 60)]
    end = events[-1].data
    told = end["error"]["message"] if "error" in end else end.get("notice")
    return str(told if end["reply"] is None else end["reply"])


def spawn(task: str, **more: Any) -> tuple[str, str]:
    return "spawn", json.dumps({"task": task, **more})


def asks(request: ModelRequest, *named: tuple[str, str]) -> ModelReply:
    """Request calls with fresh ids, as providers do."""
    place = len(request.messages)
    made = tuple(ToolCall(CallId(f"c{place}_{n}"), name, arguments) for n, (name, arguments) in enumerate(named))
    return ModelReply("", made, stop=StopReason.TOOLS, usage=Usage(10, 5))


def opening(request: ModelRequest) -> str:
    return request.messages[0].text


def task_of(request: ModelRequest) -> str:
    return opening(request).partition("\n\n[You are a sub-agent")[0]


def made(request: ModelRequest) -> list[str]:
    return [call.name for each in request.messages if isinstance(each, AssistantMessage) for call in each.calls]


def results(request: ModelRequest) -> list[str]:
    return [each.text for each in request.messages if isinstance(each, ToolMessage)]


def in_child(request: ModelRequest) -> bool:
    return "You are a sub-agent" in opening(request)


def asks_two(request: ModelRequest) -> str | ModelReply:
    """Spawn two sub-agents and report their findings."""
    if in_child(request):
        return "found " + task_of(request)[-1]
    script: list[ModelReply] = [
        asks(request, OPEN),
        asks(request, spawn("look for A", label="first"), spawn("look for B", label="second")),
        asks(request, ("sessions_yield", "{}")),
    ]
    done = len([each for each in request.messages if isinstance(each, AssistantMessage)])
    return script[done] if done < len(script) else results(request)[-1]


async def rows(app: App, session: SessionKey = ROOT) -> tuple[SubagentRow, ...]:
    return await app.store.subagents.of(session)


async def test_unknown_model_is_refused_with_the_available_ones(tmp_path: Path) -> None:
    def think(request: ModelRequest) -> str | ModelReply:
        script = [asks(request, OPEN), asks(request, spawn("look", model="nope/zz"))]
        done = len(made(request))
        return script[done] if done < len(script) else results(request)[-1]

    async with hob(tmp_path, think) as app:
        reply = await said(app, "go")
        assert "no model is called 'nope/zz'; there are: " in reply
        assert not await rows(app)


async def test_sub_agent_reads_how_to_work_and_not_who_its_owner_is(tmp_path: Path) -> None:
    children: list[str] = []

    def think(request: ModelRequest) -> str | ModelReply:
        if in_child(request):
            children.append(request.system)
        return asks_two(request)

    async with hob(tmp_path, think) as app:
        await said(app, "go")
    assert children
    for system in children:
        assert ("AGENTS.md" in system, "SOUL.md" in system, "USER.md" in system) == (True, False, False)


async def settled(app: App, count: int = 1, parent: SessionKey = ROOT) -> tuple[SubagentRow, ...]:
    async with asyncio.timeout(20):
        while True:
            found = [row for row in await rows(app, parent) if row.taken is not None]
            if len(found) >= count:
                return tuple(found)
            await asyncio.sleep(0.02)


async def test_results_of_sub_agents_come_back_to_the_turn_that_waits(tmp_path: Path) -> None:
    async with hob(tmp_path, asks_two) as app:
        reply = await said(app, "find both")
        assert "found A" in reply
        assert "found B" in reply
        done = await rows(app)
        assert [row.status for row in done] == ["completed", "completed"]
        assert all(row.session.startswith("agent:main:subagent:") for row in done)
        titles = [(await app.store.sessions.get(row.session)).title for row in done]
        assert titles == ["first", "second"]
        events = await app.store.timeline.latest(200, ROOT)
        assert {"spawn_accepted", "begun", "completed"} <= {e.name for e in events if e.kind == "subagent"}
        assert not (await app.operations.status())["subagents"]


async def test_sub_agent_cost_is_joined_to_the_parent(tmp_path: Path) -> None:
    async with hob(tmp_path, asks_two) as app:
        await said(app, "find both")
        whole = await app.store.ledger.spent(session=ROOT)
        assert whole.calls == 4 + 2
        child = (await rows(app))[0]
        inbound = await app.store.inbox.find_inbound(child.id)
        assert inbound is not None
        assert (inbound.hops, inbound.background) == (1, True)


PRICED = {"HOB_MODEL_PRICES": "{ m = { input = 1.0, output = 1.0 } }", "HOB_SPENDING_PER_SESSION": "0.5"}
DEAR = Usage(1_000_000, 0)
"""Costs a dollar."""


@pytest.mark.parametrize("dear", ["parent", "child"])
async def test_sub_agents_and_their_parent_share_its_spending_limit(tmp_path: Path, dear: str) -> None:
    asked: list[bool] = []

    def think(request: ModelRequest) -> str | ModelReply:
        asked.append(in_child(request))
        if in_child(request):
            return ModelReply("found", usage=DEAR if dear == "child" else Usage(10, 5))
        script = [asks(request, OPEN), asks(request, spawn("look")), asks(request, ("sessions_yield", "{}"))]
        reply = script[len(made(request))]
        return replace(reply, usage=DEAR) if dear == "parent" and len(made(request)) == 1 else reply

    async with hob(tmp_path, think, PRICED) as app:
        assert "spending.per_session" in await said(app, "go")
        (row,) = await settled(app)
        assert row.status == ("completed" if dear == "child" else "failed")
        assert asked == [False, False, *([False, True] if dear == "child" else [])]
        spent = await app.store.ledger.spent(session=ROOT)
        assert spent.cost - spent.reserved > 1_000_000


def reports(request: ModelRequest) -> str | ModelReply:
    """Spawn one sub-agent without waiting."""
    if in_child(request):
        return "the answer is 42"
    last = request.messages[-1].text
    if "the answer is 42" in last:
        return "The sub-agent says 42."
    script = [asks(request, OPEN), asks(request, spawn("think", label="thinker"))]
    done = len(made(request))
    return script[done] if done < len(script) else "It works on it."


async def test_unawaited_result_is_reported_in_the_chat(tmp_path: Path) -> None:
    async with hob(tmp_path, reports) as app:
        assert await said(app, "find out") == "It works on it."
        (row,) = await settled(app)
        assert row.taken == "session"
        async with asyncio.timeout(10):
            while not (replies := await app.store.outbox.unfetched("api")):  # noqa: ASYNC110 - delivery writes it
                await asyncio.sleep(0.02)
        result = await app.store.results.find(replies[0].inbound)
        assert result is not None
        assert result.reply == "The sub-agent says 42."


async def test_erased_message_takes_what_its_sub_agents_did_with_it(tmp_path: Path) -> None:
    secret = "xyzzy"

    def think(request: ModelRequest) -> str | ModelReply:
        if in_child(request):
            return f"the {secret} is found"
        last = request.messages[-1].text
        if secret not in str([each.text for each in request.messages]) or f"{secret} is found" in last:
            return f"so: {last.splitlines()[0]}"
        script = [asks(request, OPEN), asks(request, spawn(f"find the {secret}", label=f"the {secret}"))]
        done = len(made(request))
        return script[done] if done < len(script) else "It is looked for."

    def spilled() -> list[str]:
        files = (path for path in (tmp_path / "state").rglob("*") if path.is_file())
        return [path.name for path in files if secret.encode() in path.read_bytes()]

    async with hob(tmp_path, think) as app:
        assert await said(app, "my own words") == "so: my own words"
        inbound = owners_inbound({"message": f"find the {secret}"}, None, app.api.clock)
        assert [event async for event in follow(app.api, inbound, 60)][-1].data["reply"] == "It is looked for."
        await settled(app)
        async with asyncio.timeout(10):
            while not await app.store.outbox.unfetched("api"):  # noqa: ASYNC110 - delivery writes it
                await asyncio.sleep(0.02)
        assert spilled()
        await app.store.erasure.erase_trace(inbound.trace, "asked to")
        assert spilled() == []
        view = await app.store.transcript.load_view(ROOT, 99)
        assert [entry.text for entry in view.entries] == ["my own words", "so: my own words"]


async def test_simultaneous_results_are_reported_in_one_turn(tmp_path: Path) -> None:
    answered: list[str] = []

    def think(request: ModelRequest) -> str | ModelReply:
        if in_child(request):
            return "found " + task_of(request)[-1]
        last = request.messages[-1].text
        if "[sub-agent" in last:
            answered.append(last)
            return "All are there."
        script = [asks(request, OPEN), asks(request, *(spawn(f"look for {name}", label=name) for name in "ABC"))]
        done = len([each for each in request.messages if isinstance(each, AssistantMessage)])
        return script[done] if done < len(script) else "They work on it."

    async with hob(tmp_path, think) as app:
        assert await said(app, "find three") == "They work on it."
        await settled(app, 3)
        async with asyncio.timeout(10):
            while not await app.store.outbox.unfetched("api"):  # noqa: ASYNC110 - delivery writes it
                await asyncio.sleep(0.02)
        (report,) = answered
        assert all(f"found {name}" in report for name in "ABC")


def writes(request: ModelRequest) -> str | ModelReply:
    if in_child(request):
        return (
            asks(request, ("write", '{"path": "x.txt", "content": "x"}')) if not made(request) else results(request)[-1]
        )
    script = [asks(request, OPEN), asks(request, spawn("write a file")), asks(request, ("sessions_yield", "{}"))]
    done = len(made(request))
    return script[done] if done < len(script) else results(request)[-1]


async def test_sub_agent_has_only_read_only_tools(tmp_path: Path) -> None:
    async with hob(tmp_path, writes) as app:
        assert "There is no tool 'write'" in await said(app, "write")
        assert not (tmp_path / "w" / "work" / "x.txt").exists()


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["spawn"], "there is no tool 'spawn'"),
        (["messages"], "no tool of messages may be called here"),
        (["agents"], "sessions_list, sessions_history, sessions_search, session_status can be called now"),
    ],
)
async def test_sub_agent_opens_only_tools_it_may_call(tmp_path: Path, names: list[str], told: str) -> None:
    """It used to be told that `spawn` can be called now, and then that there is no such tool."""

    def think(request: ModelRequest) -> str | ModelReply:
        if in_child(request):
            opens = "load_tools", json.dumps({"names": names})
            return results(request)[-1] if made(request) else asks(request, opens)
        script = [asks(request, OPEN), asks(request, spawn("open it")), asks(request, ("sessions_yield", "{}"))]
        done = len(made(request))
        return script[done] if done < len(script) else results(request)[-1]

    async with hob(tmp_path, think) as app:
        assert told in await said(app, "go")


async def test_sub_agent_without_a_label_is_named_by_its_task(tmp_path: Path) -> None:
    async with hob(tmp_path, writes) as app:
        assert "[sub-agent write a file, run m_" in await said(app, "write")


def too_many(request: ModelRequest) -> str | ModelReply:
    if in_child(request):
        return "fine"
    script = [asks(request, OPEN), asks(request, *(spawn(f"task {n}") for n in range(6)))]
    done = len([each for each in request.messages if isinstance(each, AssistantMessage)])
    return script[done] if done < len(script) else "\n".join(results(request))


async def test_sub_agents_beyond_the_limit_are_refused(tmp_path: Path) -> None:
    async with hob(tmp_path, too_many, {**HELD, "HOB_SUBAGENTS_MAX_CHILDREN": "2"}) as app:
        assert "are at work; wait for one" in await said(app, "go")


def idle(request: ModelRequest) -> str | ModelReply:
    """Spawn a sub-agent that never starts, kill it, then wait."""
    names = made(request)
    if "subagents" not in names:
        kill = "subagents", '{"action": "kill", "target": "one"}'
        script = [asks(request, OPEN), asks(request, spawn("a", label="one")), asks(request, kill)]
        return script[len(names)]
    if request.messages[-1].text.startswith("Ended"):
        return "Ended."
    if names[-1] == "subagents":
        return asks(request, spawn("a", timeout_seconds=0.1))
    return asks(request, ("sessions_yield", "{}")) if names[-1] == "spawn" else results(request)[-1]


async def test_sub_agents_end_when_killed_or_timed_out(tmp_path: Path) -> None:
    async with hob(tmp_path, idle, HELD) as app:
        assert "Ended" in await said(app, "kill it")
        (killed,) = await settled(app)
        assert killed.status == "killed"
        assert "timeout" in await said(app, "wait for it")


async def test_kill_names_sub_agents_that_had_already_ended_and_list_shows_killed_ones(tmp_path: Path) -> None:
    manage = [("subagents", json.dumps({"action": action, "target": "one"})) for action in ("kill", "list", "kill")]
    again = "subagents", '{"action": "steer", "target": "99", "text": "x"}'

    def think(request: ModelRequest) -> str | ModelReply:
        script = [OPEN, spawn("a", label="one"), *manage, again]
        done = len(made(request))
        return asks(request, script[done]) if done < len(script) else json.dumps(results(request)[2:])

    async with hob(tmp_path, think, HELD) as app:
        killed, listed, repeated, steered = json.loads(await said(app, "kill it"))
        (row,) = await rows(app)
        assert killed == f"Ended: {row.id}."
        assert '"status": "killed"' in listed
        assert repeated == f"None was at work. {row.id} had already ended (killed)."
        assert "'99' matches no sub-agent" in steered


async def test_sub_agents_ended_by_stop_all_are_not_reported_after_resume(tmp_path: Path) -> None:
    reported: list[str] = []

    def think(request: ModelRequest) -> str | ModelReply | Silence:
        if in_child(request):
            return Silence()
        if "[sub-agent" in request.messages[-1].text:
            reported.append(request.messages[-1].text)
        script = [asks(request, OPEN), asks(request, spawn("think"), spawn("think more"))]
        done = len([each for each in request.messages if isinstance(each, AssistantMessage)])
        return script[done] if done < len(script) else "They work on it."

    async with hob(tmp_path, think) as app:
        assert await said(app, "think") == "They work on it."
        async with asyncio.timeout(10):
            while [row.status for row in await rows(app)] != ["running", "running"]:  # noqa: ASYNC110 - the job begins them
                await asyncio.sleep(0.02)
        assert await app.operations.stop_all("/stop all") == 2
        assert [row.taken for row in await settled(app, 2)] == ["nobody", "nobody"]
        assert await app.operations.lift()
        assert await said(app, "what now?") == "They work on it."
        assert not reported


def endless(request: ModelRequest) -> str | ModelReply | Silence:
    """A sub-agent, and one of its own that never answers; both wait."""
    if "inner" in opening(request):
        return Silence()
    task = "inner" if in_child(request) else "outer"
    script = [asks(request, OPEN), asks(request, spawn(task)), asks(request, ("sessions_yield", "{}"))]
    return script[len(made(request))]


async def command(app: App, text: str) -> str:
    accepted = await app.api.accept(owners_inbound({"message": text, "session": "main"}, None, app.api.clock))
    return accepted.answer or ""


async def begun(app: App, count: int) -> None:
    async with asyncio.timeout(20):
        while len([row for row in await rows(app) if row.own_turn is not None]) < count:  # noqa: ASYNC110 - the job begins them
            await asyncio.sleep(0.02)


async def test_stop_ends_the_waiting_turn_and_its_whole_tree(tmp_path: Path) -> None:
    async with hob(tmp_path, endless, TREE) as app:
        async with asyncio.TaskGroup() as group:
            asked = group.create_task(said(app, "go"))
            await begun(app, 2)
            assert await command(app, "/stop") == "Stopping."
        assert asked.result() == "Stopped."
        done = await settled(app, 2)
        assert [(row.status, row.taken) for row in done] == [("killed", "nobody")] * 2
        assert (await app.operations.status())["parked"] == 0
        assert await command(app, "/stop") == "Nothing is running here."


async def test_stop_ends_sub_agents_of_turns_that_have_ended(tmp_path: Path) -> None:
    reported: list[str] = []

    def think(request: ModelRequest) -> str | ModelReply | Silence:
        if in_child(request):
            return endless(request)
        if "[sub-agent" in request.messages[-1].text:
            reported.append(request.messages[-1].text)
        script = [asks(request, OPEN), asks(request, spawn("outer"))]
        done = len(made(request))
        return script[done] if done < len(script) else "It works on it."

    async with hob(tmp_path, think, TREE) as app:
        assert await said(app, "go") == "It works on it."
        await begun(app, 2)
        assert await command(app, "/stop") == "Stopping."
        assert {row.status for row in await settled(app, 2)} == {"killed"}
        assert await command(app, "/stop") == "Nothing is running here."
        assert not reported


async def test_stop_ends_a_sub_agent_that_has_not_begun(tmp_path: Path) -> None:
    def think(request: ModelRequest) -> str | ModelReply:
        script = [asks(request, OPEN), asks(request, spawn("wait"))]
        done = len(made(request))
        return script[done] if done < len(script) else "It works on it."

    async with hob(tmp_path, think, HELD) as app:
        await said(app, "go")
        assert await command(app, "/stop") == "Stopping."
        assert [row.status for row in await settled(app)] == ["killed"]


async def test_killed_sub_agent_takes_its_own_with_it(tmp_path: Path) -> None:
    def think(request: ModelRequest) -> str | ModelReply | Silence:
        if in_child(request):
            return endless(request)
        kill = "subagents", '{"action": "kill", "target": "outer"}'
        if "kill it" in request.messages[-1].text:
            return asks(request, kill)
        script = [asks(request, OPEN), asks(request, spawn("outer"))]
        done = len(made(request))
        return script[done] if done < len(script) else request.messages[-1].text

    async with hob(tmp_path, think, TREE) as app:
        await said(app, "go")
        await begun(app, 2)
        assert (await said(app, "kill it")).startswith("Ended: m_")
        assert {row.status for row in await settled(app, 2)} == {"killed"}
        assert (await app.operations.status())["parked"] == 0


class Gated(ScriptedModel):
    """Requests that start with a gated text wait until its event is set."""

    def __init__(self, think: Line) -> None:
        super().__init__(otherwise=think)
        self.gates: dict[Callable[[ModelRequest], bool], asyncio.Event] = {}

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        for applies, event in self.gates.items():
            if applies(request):
                await event.wait()
        async for each in super().stream(request):
            yield each


async def test_sub_agent_steered_in_its_last_round_reports_what_it_says_to_that(tmp_path: Path) -> None:
    begun, steered = asyncio.Event(), asyncio.Event()

    def think(request: ModelRequest) -> str | ModelReply:
        if in_child(request):
            return "new report" if "hurry" in request.messages[-1].text else "old report"
        steer = "subagents", '{"action": "steer", "target": "one", "text": "hurry"}'
        script = [OPEN, spawn("look", label="one"), steer, ("sessions_yield", "{}")]
        done = len(made(request))
        return asks(request, script[done]) if done < len(script) else results(request)[-1]

    def is_first_of_child(request: ModelRequest) -> bool:
        if in_child(request):
            begun.set()
        elif "sessions_yield" not in made(request) and "subagents" in made(request):
            steered.set()
        return in_child(request) and len(request.messages) == 1

    model = Gated(think)
    model.gates[is_first_of_child] = steered
    model.gates[lambda request: made(request)[-1:] == ["spawn"]] = begun
    async with hob(tmp_path, model) as app:
        reply = await said(app, "go")
        assert "new report" in reply
        (row,) = await rows(app)
        assert row.status == "completed"


HINTS = ("look left", "look right")


def steers_twice(request: ModelRequest) -> str | ModelReply:
    """Correct a sub-agent twice; it reports how often it was told what. Stateless, so it survives restarts."""
    if in_child(request):
        told = "\n".join(each.text for each in request.messages if isinstance(each, UserMessage))
        return "; ".join(f"{hint} {told.count(hint)}" for hint in HINTS)
    steers = [("subagents", json.dumps({"action": "steer", "target": "one", "text": hint})) for hint in HINTS]
    script = [OPEN, spawn("look", label="one"), *steers, ("sessions_yield", "{}")]
    done = len(made(request))
    return asks(request, script[done]) if done < len(script) else results(request)[-1]


async def steer_until_killed(folder: str) -> None:
    """Say on standard output when both corrections wait for a sub-agent that never answers."""

    def are_sent(request: ModelRequest) -> bool:
        if made(request).count("subagents") == len(HINTS):
            print("steered", flush=True)
        return in_child(request)

    model = Gated(steers_twice)
    model.gates[are_sent] = asyncio.Event()
    async with hob(Path(folder), model) as app:
        await said(app, "go", key="steered")


async def test_two_corrections_of_a_killed_run_reach_it_exactly_once(tmp_path: Path) -> None:
    process = await calling(steer_until_killed, tmp_path)
    assert process.stdout is not None
    async with asyncio.timeout(60):
        assert await process.stdout.readline() == b"steered\n"
    process.kill()
    await process.communicate()
    async with hob(tmp_path, steers_twice) as app:
        assert "look left 1; look right 1" in await said(app, "go", key="steered")
        (row,) = await rows(app)
        assert row.status == "completed"


# conversations of one request


async def said_once(app: App, text: str, key: str = "") -> str:
    """Return the answer to a request that is its own conversation."""
    inbound = owners_inbound({"message": text}, key or None, app.api.clock)
    inbound = replace(inbound, session=SessionKey("once:it"), origin=Address("api", "once/it"))
    events = [event async for event in follow(app.api, inbound, 60)]
    return str(events[-1].data["reply"])


def forgets_to_wait(request: ModelRequest) -> str | ModelReply:
    """Answer too early, and wait when told to."""
    if in_child(request):
        return "the answer is 42"
    if "Your answer was not shown" in request.messages[-1].text:
        return asks(request, ("sessions_yield", "{}"))
    if made(request)[-1:] == ["sessions_yield"]:
        return "It is 42." if "the answer is 42" in results(request)[-1] else results(request)[-1]
    return reports(request)


async def test_conversation_of_one_request_waits_for_its_sub_agents(tmp_path: Path) -> None:
    async with hob(tmp_path, forgets_to_wait) as app:
        assert await said_once(app, "find out") == "It is 42."


async def test_answer_that_does_not_wait_names_the_sub_agents_at_work(tmp_path: Path) -> None:
    async with hob(tmp_path, reports) as app:
        reply = await said_once(app, "find out")
        (row,) = await settled(app, parent=SessionKey("once:it"))
        assert reply.startswith("It works on it.\n\nSub-agents are still at work; this answer is without")
        assert f"- thinker: `hob sessions show {row.session}`" in reply
        view = await app.store.transcript.load_view(row.session, 10)
        assert view.entries[-1].text == "the answer is 42"


async def test_killed_sub_agent_is_not_waited_for(tmp_path: Path) -> None:
    def kills(request: ModelRequest) -> str | ModelReply:
        if in_child(request):
            return "too late"
        script = [OPEN, spawn("think"), ("subagents", '{"action": "kill"}')]
        done = len(made(request))
        return asks(request, script[done]) if done < len(script) else "I ended it."

    async with hob(tmp_path, kills, HELD) as app:
        assert await said_once(app, "find out") == "I ended it."


async def answer_once_until_killed(folder: str) -> None:
    """Say on standard output when the early answer was held back; the model never answers to that."""

    def is_held_back(request: ModelRequest) -> bool:
        held = "Your answer was not shown" in request.messages[-1].text
        if held:
            print("held back", flush=True)
        return held

    model = Gated(forgets_to_wait)
    model.gates[is_held_back] = asyncio.Event()
    async with hob(Path(folder), model) as app:
        await said_once(app, "find out", key="once")


async def test_killed_conversation_of_one_request_still_waits_for_its_sub_agents(tmp_path: Path) -> None:
    process = await calling(answer_once_until_killed, tmp_path)
    assert process.stdout is not None
    async with asyncio.timeout(60):
        assert await process.stdout.readline() == b"held back\n"
    process.kill()
    await process.communicate()
    async with hob(tmp_path, forgets_to_wait) as app:
        assert await said_once(app, "find out", key="once") == "It is 42."


# a tree of twelve


def tree(request: ModelRequest) -> str | ModelReply:
    """Three sub-agents with three of their own each; stateless, so it survives restarts."""
    first = opening(request)
    if "leaf" in first:
        return ModelReply(f"<{first[first.index('leaf') :].split()[0]}>", usage=Usage(7, 3))
    names = made(request)
    branch = first[first.index("branch") :].split()[0] if "branch" in first else ""
    if "spawn" not in names:
        if "load_tools" not in names:
            return asks(request, OPEN)
        tasks = [f"leaf{branch[6:]}{n}" for n in range(3)] if branch else [f"branch{n}" for n in range(3)]
        return asks(request, *(spawn(task) for task in tasks))
    if "sessions_yield" not in names:
        return asks(request, ("sessions_yield", "{}"))
    found = results(request)[-1]
    return ModelReply(" ".join(sorted(part for part in found.split() if part.startswith("<leaf"))), usage=Usage(9, 4))


LEAVES = " ".join(sorted(f"<leaf{branch}{n}>" for branch in range(3) for n in range(3)))


async def grow(folder: str) -> None:
    """Start the tree if needed, print each request, and end with the answer."""

    def think(request: ModelRequest) -> str | ModelReply:
        print("asked", flush=True)
        return tree(request)

    async with hob(Path(folder), think, TREE) as app:
        await said(app, "grow", key="tree")
        print("done", flush=True)
        await asyncio.Event().wait()


@pytest.mark.slow
async def test_tree_of_twelve_delivers_every_result_once_despite_random_kills(
    tmp_path: Path, rounds: Callable[[int, int], int]
) -> None:
    dice, kills, runs = random.Random(11), 0, 0
    wanted = rounds(10, 100)
    while kills < wanted:
        home = tmp_path / str(runs)
        runs += 1
        finished = False
        while kills < wanted and not finished:
            finished = await killed(home, dice.randint(1, 9), dice.random() * 0.1)
            kills += not finished
        await check_tree(home)


async def killed(home: Path, after: int, pause: float) -> bool:
    """Grow the tree for so many requests, then kill it; True if it finished first."""
    process = await calling(grow, home)
    assert process.stdout is not None
    done = False
    async with asyncio.timeout(60):
        for _ in range(after):
            line = (await process.stdout.readline()).strip()
            done = line == b"done"
            if done or not line:
                break
    await asyncio.sleep(pause)
    process.kill()
    await process.communicate()
    return done


async def check_tree(home: Path) -> None:
    async with hob(home, tree, TREE) as app:
        assert await said(app, "grow", key="tree") == LEAVES
        found = await rows(app)
        assert len(found) == 12
        assert all(row.status == "completed" and row.taken and row.taken != "session" for row in found)
        turns = [row.own_turn for row in found] + [row.turn for row in found if row.depth == 1][:1]
        journals = [await app.store.journal.load_steps(turn) for turn in turns if turn]
        answers = [step for steps in journals for step in steps if isinstance(step, ModelReplied)]
        used = [step.usage for step in answers if step.usage is not None]
        spent = await app.store.ledger.spent(session=ROOT)
        assert spent.usage.output == sum(usage.output for usage in used)
        assert spent.usage.input == sum(usage.input for usage in used)
        assert sum(step.cost or 0 for step in answers) == 3 * spent.usage.input + 15 * spent.usage.output > 0
        assert (spent.cost, spent.reserved, spent.unknown_calls) == (sum(map(cost_of, journals)), 0, 0)


def cost_of(steps: Sequence[Step]) -> int:
    """Return the cost of a turn's calls. An interrupted one may have been billed: it costs what it could."""
    asked: list[int] = []
    for step in steps:
        if isinstance(step, ModelAsked):
            asked.append(step.reserved or 0)
        elif isinstance(step, ModelReplied):
            asked[-1] = step.cost or 0
    return sum(asked)


READ_MAIL = "read", '{"path": "x.eml"}'


@pytest.mark.parametrize(
    ("reader", "task", "result"),
    [
        ("nobody", Trust.TRUSTED, Trust.TRUSTED),
        ("parent", Trust.UNTRUSTED, Trust.UNTRUSTED),
        ("child", Trust.TRUSTED, Trust.UNTRUSTED),
    ],
)
async def test_trust_is_joined_on_the_way_to_a_sub_agent_and_back(
    tmp_path: Path, reader: str, task: Trust, result: Trust
) -> None:
    def think(request: ModelRequest) -> str | ModelReply:
        if in_child(request):
            return asks(request, READ_MAIL) if reader == "child" and not made(request) else "done"
        script = [OPEN, *([READ_MAIL] if reader == "parent" else []), spawn("look"), ("sessions_yield", "{}")]
        done = len(made(request))
        return asks(request, script[done]) if done < len(script) else "done"

    work = tmp_path / "w" / "work"
    work.mkdir(parents=True)
    (work / "x.eml").write_text("From: a@b.example\nSubject: x\n\nhi")
    async with hob(tmp_path, think) as app:
        assert await said(app, "go") == "done"
        (row,) = await rows(app)
        inbound = await app.store.inbox.find_inbound(row.id)
        assert inbound is not None
        assert inbound.label.trust is task
        steps = await app.store.journal.load_steps(row.turn)
        assert [step.result.label.trust for step in steps if isinstance(step, ToolReceived)][-1] is result


async def test_sessions_are_listed_searched_read_and_written_to(tmp_path: Path) -> None:
    def think(request: ModelRequest) -> str | ModelReply:
        if in_child(request):
            if "A message from session" in request.messages[-1].text:
                return "twelve pots"
            return "found seven cups" if made(request) else asks(request, OPEN)
        script: list[ModelReply] = [
            asks(request, OPEN),
            asks(request, spawn("count cups", label="cups")),
            asks(request, ("sessions_yield", "{}")),
            asks(
                request,
                *(("sessions_list", "{}"), ("sessions_search", '{"query": "seven"}'), ("session_status", "{}")),
                *(("sessions_history", '{"session": "cups"}'), ("agents_list", "{}")),
                ("sessions_list", '{"kinds": ["subagent"], "message_limit": 1}'),
                ("sessions_history", '{"session": "cups", "include_tools": false}'),
            ),
            asks(request, ("sessions_send", '{"session": "cups", "message": "and pots?"}')),
        ]
        done = len([each for each in request.messages if isinstance(each, AssistantMessage)])
        return script[done] if done < len(script) else json.dumps(results(request)[3:])

    async with hob(tmp_path, think) as app:
        listed, found, status, history, agents, children, plain, sent = json.loads(await said(app, "count"))
        assert '"kind": "main"' in listed
        assert '"kind": "subagent"' in listed
        assert "found seven cups" in found
        assert f'"session": "{ROOT}"' in status
        assert 'm", "cost_usd"' in status
        assert '"messages": "assistant: found seven cups"' in children
        assert '"main"' not in children
        assert "tool: " in history
        assert "tool: " not in plain
        assert "assistant: found seven cups" in history
        assert agents == '[{"id": "main"}]'
        assert "twelve pots" in sent


def asks_status(*rounds: dict[str, str]) -> Callable[[ModelRequest], str | ModelReply]:
    """Call `session_status` once per round and report the results."""

    def think(request: ModelRequest) -> str | ModelReply:
        script = [asks(request, OPEN), *(asks(request, ("session_status", json.dumps(each))) for each in rounds)]
        done = len([each for each in request.messages if isinstance(each, AssistantMessage)])
        told = [re.sub(r"</?untrusted[^>]*>\n?", "", each) for each in results(request)[1:]]
        return script[done] if done < len(script) else json.dumps(told)

    return think


async def test_status_tells_what_changed_since_a_time(tmp_path: Path) -> None:
    rounds = ({"changes_since": "2020-01-01T00:00:00Z"}, {"changes_since": "4102444800"}, {"changes_since": "soon"})
    async with hob(tmp_path, asks_status(*rounds)) as app:
        old, future, unreadable = json.loads(await said(app, "what is new?"))
        assert json.loads(old)["changes"]["calls"] >= 1
        assert json.loads(future)["changes"] == {"messages": 0, "newest": [], "calls": 0, "cost_usd": "0.00"}
        assert "'soon' is no time" in unreadable


async def test_model_chosen_after_reading_text_of_others_needs_approval(tmp_path: Path) -> None:
    async with hob(tmp_path, asks_status({}, {"model": "m"})) as app:
        inbound = owners_inbound({"message": "use m here", "session": "main"}, None, app.api.clock)
        async with aclosing(follow(app.api, inbound, 60)) as events:
            async for event in events:
                if event.name == "question":
                    break
            else:
                pytest.fail("it did not ask")
        assert (await app.store.sessions.get(ROOT)).model is None


@pytest.mark.parametrize(("name", "chosen"), [("m", "m"), ("nobody/else", None), ("default", None)])
async def test_status_sets_a_known_model(tmp_path: Path, name: str, chosen: str | None) -> None:
    async with hob(tmp_path, asks_status({"model": name})) as app:
        (told,) = json.loads(await said(app, f"use the model {name}"))
        assert ("no model is called" in told) is (name == "nobody/else")
        assert (await app.store.sessions.get(ROOT)).model == chosen


async def test_reused_call_id_starts_two_sub_agents(tmp_path: Path) -> None:
    def think(request: ModelRequest) -> str | ModelReply:
        if in_child(request):
            return "found " + task_of(request)[-1]
        one, two = (ToolCall(CallId("call_0"), *spawn(f"look for {name}")) for name in "AB")
        script = [
            asks(request, OPEN),
            ModelReply("", (one,), stop=StopReason.TOOLS),
            ModelReply("", (two,), stop=StopReason.TOOLS),
            asks(request, ("sessions_yield", "{}")),
        ]
        done = len([each for each in request.messages if isinstance(each, AssistantMessage)])
        return script[done] if done < len(script) else results(request)[-1]

    async with hob(tmp_path, think) as app:
        reply = await said(app, "look")
        assert "found A" in reply
        assert "found B" in reply


async def test_one_shot_reports_that_sub_agents_need_the_daemon(tmp_path: Path) -> None:
    def think(request: ModelRequest) -> str | ModelReply:
        script = [asks(request, OPEN), asks(request, ("spawn", '{"task": "count"}'))]
        done = len([each for each in request.messages if isinstance(each, AssistantMessage)])
        return script[done] if done < len(script) else results(request)[-1]

    usual = {"HOB_MODEL_BASE_URL": "http://127.0.0.1:9/v1", "HOB_MODEL_NAME": "m"}
    environ = {**usual, "HOB_WORKSPACE_PATH": str(tmp_path / "w")}
    config = load_config(SECTIONS, home=tmp_path / "state", environ=environ)
    models = stand_ins(ScriptedModel(otherwise=think))
    async with open_app(config.home, config, subsystems=models, own_only=True) as app:
        assert "`hob serve`" in await said(app, "count")


async def test_answer_between_sessions_is_not_sent_to_the_person(tmp_path: Path) -> None:
    def think(request: ModelRequest) -> str | ModelReply:
        if in_child(request):
            return "REPLY_SKIP" if "A message from session" in request.messages[-1].text else "seven cups"
        script = [
            asks(request, OPEN),
            asks(request, spawn("count cups", label="cups")),
            asks(request, ("sessions_yield", "{}")),
            asks(request, ("sessions_send", '{"session": "cups", "message": "thank you"}')),
        ]
        done = len([each for each in request.messages if isinstance(each, AssistantMessage)])
        return script[done] if done < len(script) else "Seven."

    async with hob(tmp_path, think) as app:
        assert await said(app, "count") == "Seven."
        async with asyncio.timeout(5):
            while (await app.store.outbox.counts()).open:  # noqa: ASYNC110 - delivery writes it
                await asyncio.sleep(0.02)
        assert not await app.store.outbox.unfetched("api")


async def test_sub_agent_approvals_are_asked_in_the_parents_chat(tmp_path: Path) -> None:
    async with memory_store() as store:
        person, run = Address("telegram", "7"), InboundId("m_run")
        row = SubagentRow(run, SPAWN, TurnId("t"), ROOT, ROOT, SessionKey("s"), 1, "", "", person)
        own = Address(INTERNAL_CHANNEL, run)
        task = Inbound(run, "run:m_run", own, Sender("hob", "Hob"), "count", HOB_LABEL, new_trace_id())
        await store.subagents.add(row, task, 1)
        buttons = (Button("ok", "approve:a"),)
        asked = Outbound(OutboxId("q"), own, "May I?", OutboundKind.NOTICE, None, new_trace_id(), buttons=buttons)
        await store.outbox.enqueue([replace(asked, id=OutboxId("r"), buttons=()), asked])
        kept = await store.outbox.next(INTERNAL_CHANNEL, "", math.inf)
        assert [each.outbound.id for each in kept] == ["q"], "a reply is found with its turn"
        await SelfChannel(INTERNAL_CHANNEL, store, Hub(), lambda _: None).send(asked)
        forwarded = await store.outbox.find(OutboxId("q.fwd"))
        assert forwarded is not None
        assert forwarded.outbound.to == person
        assert forwarded.outbound.buttons == asked.buttons


@pytest.mark.parametrize("seconds", [0, 5])
async def test_reply_loop_between_two_sessions_ends(tmp_path: Path, seconds: int) -> None:
    """Each session sends the other a message whenever it gets one."""
    told: list[str] = []

    def think(request: ModelRequest) -> str | ModelReply:
        last = request.messages[-1]
        if last.text.startswith("Hello"):
            return "Hello."
        if isinstance(last, ToolMessage) and "can be called now" not in last.text:
            told.append(last.text)
            return "Good."
        if not isinstance(last, ToolMessage):
            return asks(request, OPEN)
        heard = [each.text for each in request.messages if isinstance(each, UserMessage)][-1]
        other = "main" if "message from session api:main" in heard else "other"
        arguments = {"session": f"api:{other}", "message": "and you?", "timeout_seconds": seconds}
        return asks(request, ("sessions_send", json.dumps(arguments)))

    async with hob(tmp_path, think, {"HOB_SUBAGENTS_VISIBILITY": "all"}) as app:
        await said(app, "Hello", session="other")
        assert await said(app, "go") == "Good."
        async with asyncio.timeout(10):
            while not any("agents away from a person" in each for each in told):  # noqa: ASYNC110 - another turn's
                await asyncio.sleep(0.02)
        assert not [each for each in told if "timeout" in each]
        sent = [row.session for key in (ROOT, SessionKey("api:other")) for row in await rows(app, key)]
        assert sent == ["api:other", "api:other", "api:main"]
