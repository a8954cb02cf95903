"""Sub-agents: what they see of the conversation, how many run, how long their reports and sessions are kept."""

import asyncio
import json
from collections.abc import Sequence
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import pytest

from hob.app.running_app import RunningServices
from hob.app.subagents.runs import SubagentRuns
from hob.app.subagents.settings import SubagentSettings
from hob.bus.notices import Hub
from hob.core.errors import Busy, BusyScope
from hob.core.ids import InboundId, SessionKey, TurnId, new_trace_id
from hob.core.messages import INTERNAL_CHANNEL, Address, Inbound, Sender
from hob.core.models import ModelReply, ModelRequest
from hob.core.ports.accept import Accepted
from hob.core.trust.labels import HOB_LABEL
from hob.store.subagents import SPAWN, SubagentRow
from hob.testing.clock import ManualClock
from hob.testing.memory_store import memory_store
from hob.testing.model import Silence
from tests.app.subagents.test_subagents import (
    HELD,
    OPEN,
    ROOT,
    asks,
    hob,
    in_child,
    made,
    opening,
    results,
    rows,
    said,
    settled,
    spawn,
)

YIELD = ("sessions_yield", "{}")


@pytest.mark.parametrize(
    ("chosen", "numbers", "most", "longest"),
    [
        ({}, [], 0, 0),
        ({"context_mode": "fork"}, range(6), 6 * 650, 650),
        ({"share": "handoff"}, [3, 4, 5], 2_400, 650),
        ({"share": "inherit-readonly"}, [2, 3, 4, 5], 1_800, 240 + len("assistant: ")),
    ],
)
async def test_sub_agent_sees_the_chosen_part_of_the_conversation(
    tmp_path: Path, chosen: dict[str, str], numbers: Sequence[int], most: int, longest: int
) -> None:
    seen: list[str] = []

    def think(request: ModelRequest) -> str | ModelReply:
        if in_child(request):
            seen.append(opening(request))
            return "ok"
        if "number" in request.messages[-1].text.partition("\n")[0]:
            return "noted"
        script = [asks(request, OPEN), asks(request, spawn("look", **chosen)), asks(request, YIELD)]
        return script[len(made(request))] if len(made(request)) < 3 else "done"

    async with hob(tmp_path, think) as app:
        for n in range(6):
            await said(app, f"number {n} {'y' * 600}")
        await said(app, "go")
    _, _, after = seen[0].partition("[The conversation that the task comes from]\n")
    shared = after.partition("\n\nlook\n")[0]
    assert [n for n in range(6) if f"number {n}" in shared] == list(numbers)
    assert len(shared) <= most
    assert all(len(line) <= longest for line in shared.splitlines())


async def managed(home: Path, *calls: tuple[str, str], **environ: str) -> list[str]:
    """Make these calls in one turn whose sub-agents never start; return the results."""

    def think(request: ModelRequest) -> str | ModelReply:
        done = len(made(request))
        return asks(request, [OPEN, *calls][done]) if done <= len(calls) else json.dumps(results(request)[1:])

    async with hob(home, think, {**HELD, **environ}) as app:
        told: list[str] = json.loads(await said(app, "go"))
        return told


def kill(target: str) -> tuple[str, str]:
    return "subagents", json.dumps({"action": "kill", "target": target})


async def test_sub_agents_are_selected_by_last_number_label_or_the_beginning_of_either(tmp_path: Path) -> None:
    labels = ["alpha one", "alpha two", "beta", "gamma", "delta"]
    targets = ["alpha", "2", "beta", "gam", "last", "99"]
    told = await managed(tmp_path, *(spawn("wait", label=each) for each in labels), *map(kill, targets))
    started, (unclear, *ended, unknown) = told[: len(labels)], told[len(labels) :]
    ids = [json.loads(each)["runId"] for each in started]
    assert f"'alpha' matches several sub-agents ({ids[0]}, {ids[1]})" in unclear
    assert ended == [f"Ended: {id}." for id in ids[1:]]
    assert "'99' matches no sub-agent" in unknown


@pytest.mark.parametrize("target", ["session", "runId"])
async def test_sub_agents_are_selected_by_session_and_by_the_beginning_of_the_id(tmp_path: Path, target: str) -> None:
    chosen: list[str] = []

    def think(request: ModelRequest) -> str | ModelReply:
        done = len(made(request))
        if done == 2:
            row = json.loads(results(request)[-1])
            chosen.append(row["childSessionKey"] if target == "session" else row["runId"][:8])
        script = [OPEN, spawn("wait"), kill(chosen[0] if chosen else "")]
        return asks(request, script[done]) if done < 3 else results(request)[-1]

    async with hob(tmp_path, think, HELD) as app:
        assert (await said(app, "go")).startswith("Ended: m_")


async def test_all_sub_agents_are_killed_at_once(tmp_path: Path) -> None:
    *_, told = await managed(tmp_path, spawn("wait"), spawn("wait longer"), kill("all"))
    assert told.count("m_") == 2


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"agent": "other"}, "there is no agent 'other'; there is main"),
        ({"name": "No Name"}, "a name has lower-case letters"),
        ({"thinking": "much"}, "thinking is one of"),
        ({"cleanup": "burn"}, "cleanup"),
        ({"share": "everything"}, "share"),
    ],
)
async def test_wrong_parameters_are_refused(tmp_path: Path, arguments: dict[str, Any], told: str) -> None:
    (refused,) = await managed(tmp_path, spawn("look", **arguments))
    assert told in refused


async def test_no_sub_agent_starts_at_depth_zero(tmp_path: Path) -> None:
    (refused,) = await managed(tmp_path, spawn("look"), HOB_SUBAGENTS_MAX_DEPTH="0")
    assert "(subagents.max_depth)" in refused


async def test_attachments_are_named_in_the_task(tmp_path: Path) -> None:
    seen: list[str] = []

    def think(request: ModelRequest) -> str | ModelReply:
        if in_child(request):
            seen.append(opening(request))
            return results(request)[-1] if made(request) else asks(request, ("read", f'{{"path": "blob:{blob}"}}'))
        script = [OPEN, spawn("look", attachments=[f"blob:{blob}"]), YIELD]
        return asks(request, script[len(made(request))]) if len(made(request)) < 3 else results(request)[-1]

    async with hob(tmp_path, think) as app:
        blob = await app.store.blobs.put(b"forty-two", "text/plain")
        assert "forty-two" in await said(app, "go")
        assert f"look\n[attached: read blob:{blob}]" in seen[0]


async def test_only_so_many_sub_agents_run_at_once(tmp_path: Path) -> None:
    open_gate = asyncio.Event()

    def think(request: ModelRequest) -> str | ModelReply | Silence:
        if in_child(request):
            return "done" if open_gate.is_set() else Silence()
        script = [asks(request, OPEN), asks(request, spawn("one"), spawn("two"), spawn("three"))]
        return script[len(made(request))] if len(made(request)) < 2 else "They work on it."

    async with hob(tmp_path, think, {"HOB_SUBAGENTS_MAX_RUNNING": "2"}) as app:
        await said(app, "go")
        async with asyncio.timeout(20):
            while len([row for row in await rows(app) if row.began is not None]) < 2:  # noqa: ASYNC110 - the job begins them
                await asyncio.sleep(0.02)
        assert [row.status for row in await rows(app)] == ["running", "running", "accepted"]
        open_gate.set()
        await app.operations.cancel((await rows(app))[0].id, "enough")
        done = await settled(app, 2)
        assert sorted(row.status for row in done) == ["completed", "killed"]


@pytest.mark.parametrize(("cleanup", "archived"), [("keep", True), ("delete", False)])
async def test_session_of_an_ended_sub_agent_is_archived_or_deleted(
    tmp_path: Path, cleanup: str, archived: bool
) -> None:
    def think(request: ModelRequest) -> str | ModelReply:
        if in_child(request):
            return "found"
        script = [OPEN, spawn("look", cleanup=cleanup), YIELD]
        return asks(request, script[len(made(request))]) if len(made(request)) < 3 else "done"

    async with hob(tmp_path, think, {"HOB_SUBAGENTS_ARCHIVE_MINUTES": "0"}) as app:
        await said(app, "go")
        (row,) = await settled(app)
        async with asyncio.timeout(20):
            while not (await rows(app))[0].closed:  # noqa: ASYNC110 - the job closes it
                await asyncio.sleep(0.02)
        listed = [await app.operations.conversations.all(archived=each) for each in (False, True)]
        assert [row.session in {each["session"] for each in found["sessions"]} for found in listed] == [False, archived]


async def test_sub_agent_with_nothing_to_report_is_not_reported(tmp_path: Path) -> None:
    heard: list[str] = []

    def think(request: ModelRequest) -> str | ModelReply:
        if in_child(request):
            return "ANNOUNCE_SKIP"
        heard.append(request.messages[-1].text)
        script = [OPEN, spawn("look")]
        return asks(request, script[len(made(request))]) if len(made(request)) < 2 else "It works on it."

    async with hob(tmp_path, think) as app:
        await said(app, "go")
        (row,) = await settled(app)
        assert (row.status, row.taken) == ("completed", "nobody")
        assert not [text for text in heard if "[sub-agent" in text]


@pytest.mark.parametrize(("days", "taken"), [(6, "session"), (8, "nobody")])
async def test_refused_report_is_repeated_for_seven_days(days: int, taken: str) -> None:
    clock = ManualClock(jump=True)
    tried: list[float] = []

    async def accept(inbound: Inbound) -> Accepted:
        tried.append(clock.monotonic())
        if len(tried) == 7:
            clock.set_wall(clock.now() + timedelta(days=days))
        if len(tried) < 8:
            raise Busy(BusyScope.SELF, 1.0)
        return Accepted(inbound.id, inbound.trace, ROOT)

    async with memory_store(clock) as store:
        run, child = InboundId("m_run"), SessionKey("agent:main:subagent:1")
        row = SubagentRow(run, SPAWN, TurnId("t"), ROOT, ROOT, child, 1, "", "", Address("api", "main"))
        own = Address(INTERNAL_CHANNEL, run)
        task = Inbound(run, "run:m_run", own, Sender("hob", "Hob"), "count", HOB_LABEL, new_trace_id())
        await store.subagents.add(row, task, 1)
        await store.subagents.remove_queued("run:m_run")
        await store.subagents.end(run, "timeout")
        runs = SubagentRuns(store, Hub(), clock, SubagentSettings(), "en")
        nothing = cast(Any, None)
        working = asyncio.create_task(runs.run(RunningServices(accept, nothing, nothing, nothing)))
        async with asyncio.timeout(20):
            while (found := await store.subagents.find(run)) is None or found.taken is None:  # noqa: ASYNC110 - the job
                await asyncio.sleep(0.01)
        working.cancel()
        pauses = [round(later - earlier) for earlier, later in pairwise(tried)]
        assert pauses == [15, 30, 60, 120, 240, 300] + [300] * (taken == "session")
        assert found.taken == taken
