"""Whose memory it is: nobody else is shown any of it, by any way, and the owner none where they forbid it."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from hob.core.ids import CallId, SessionKey
from hob.core.memory import Fact, FactChange, Layer, MemoryItem, Scope, WorkingNote
from hob.core.models import AssistantMessage, ModelReply, ModelRequest, ToolMessage
from hob.core.tools import ToolCall
from hob.core.trust.labels import OWNER_LABEL, Label, Origin, Trust
from hob.gateway.answer_types import ReloadedAnswer
from hob.gateway.memory import SetGoalRequest
from tests.app.memory.test_control import memory
from tests.app.visiting import ANNA, ME, Visited, in_group, until, visited

SECRET = "Xanadu"
OWNER = Scope("owner")
WAYS: Sequence[tuple[str, dict[str, object]]] = (
    ("recall", {"query": f"{SECRET} where", "untrusted": True}),
    ("memory_search", {"query": f"{SECRET} where", "untrusted": True}),
    ("memory_get", {"path": ""}),
    ("facts", {}),
    ("get_goals", {"closed": True}),
    ("correct_fact", {"id": "", "right": ""}),
    ("update_goal", {"id": "", "state": "done"}),
)


async def fill(hob: Visited) -> dict[str, str]:
    """The owner's memory has the secret in each of its forms; the ids by tool."""
    said = MemoryItem(
        scope=OWNER, layer=Layer.CONVERSATION, source="conversation:telegram", text=f"I moved to {SECRET}.",
        label=OWNER_LABEL, at=5.0, role="user", kind="turn", session="telegram:9",
    )  # fmt: skip
    seen = MemoryItem(
        scope=OWNER, layer=Layer.OBSERVATION, source="observation:observer", text=f"Lives in {SECRET}", at=5.0,
        label=OWNER_LABEL, kind="high",
    )  # fmt: skip
    await hob.app.store.items.add([said, seen])
    await hob.app.store.working_notes.put(SessionKey("owner"), WorkingNote(f"Plan: pack for {SECRET}", OWNER_LABEL))
    fact = Fact(subject="owner", predicate="lives_in", object=SECRET, at=5.0)
    (known,) = await hob.app.store.facts.change(OWNER, [lambda _: FactChange(added=(fact,))], "e_1")
    goal = await memory(hob).facts.set_goal(SetGoalRequest(text=f"Leave {SECRET}"))
    return {"memory_get": said.id, "correct_fact": known.id, "update_goal": goal["id"]}


def calls(ids: dict[str, str]) -> list[ModelReply]:
    """The model tries every way, one after the other."""
    replies = [ModelReply("", calls=(ToolCall(CallId("c_load"), "load_tools", json.dumps({"names": ["notes"]})),))]
    for name, arguments in WAYS:
        given = {key: ids[name] if key in ("id", "path") else value for key, value in arguments.items()}
        replies.append(ModelReply("", calls=(ToolCall(CallId(f"c_{name}"), name, json.dumps(given)),)))
    return replies


def shown(hob: Visited, since: int) -> int:
    """How many bytes of the owner's memory the model was shown, but for what it wrote itself."""
    texts = list[str]()
    for request in hob.model.requests[since:]:
        messages = [each for each in request.messages if not isinstance(each, AssistantMessage)]
        texts += [request.system, *(each.text for each in messages)]
    return sum(text.count(SECRET) for text in texts)


async def test_owner_reaches_their_memory_by_every_way(tmp_path: Path) -> None:
    async with visited(tmp_path) as hob:
        await hob.knows()
        ids = await fill(hob)
        hob.model.script = [*calls(ids)[:6], "Yes."]
        await hob.answer(f"Where did I say I moved, to {SECRET}?", ME)
        first = hob.model.requests[0]
        assert f"owner lives in {SECRET}" in first.system
        volatile = "\n".join(entry.text for entry in first.messages)
        for line in (f"Lives in {SECRET}", f"Leave {SECRET}", f"I moved to {SECRET}", f"pack for {SECRET}"):
            assert line in volatile
        assert shown(hob, 0) > 9


@pytest.mark.parametrize("group", [False, True])
async def test_others_reach_none_of_the_owners_memory_by_any_way(tmp_path: Path, group: bool) -> None:
    async with visited(tmp_path, HOB_ADMISSION_GROUPS='["telegram:-100"]', HOB_ADMISSION_MENTION="false") as hob:
        await hob.knows()
        ids = await fill(hob)
        hob.model.script = [*calls(ids), "Nothing."]
        if group:
            await hob.comes("", made=in_group("Where does he live?", ME))
            await until(lambda: len(hob.model.requests) > 1)
        else:
            await hob.answer("Where does he live?", ANNA)
        assert hob.model.requests
        assert shown(hob, 0) == 0
        assert [fact.object for fact in await hob.app.store.facts.known(OWNER)] == [SECRET]
        assert [goal["state"] for goal in (await memory(hob).facts.goals(closed=True))["goals"]] != ["done"]


NO_MEMORY = "deny = ['group:memory']\n"
EACH = "deny = ['recall', 'memory_*', 'facts', 'get_goals', '*_fact', '*_goal']\n"


def write_settings(home: Path, text: str) -> None:
    """Write the settings file of `visited`."""
    (state := home / "state").mkdir(mode=0o700, parents=True, exist_ok=True)
    (state / "config.toml").write_text(text)
    (state / "config.toml").chmod(0o600)


@pytest.mark.parametrize(
    "rules",
    [
        f"[policy]\n{NO_MEMORY}",
        f"[policy]\n{EACH}",
        f"[policy.senders.owner]\n{NO_MEMORY}",
        f"[policy.providers.scripted]\n{NO_MEMORY}",
    ],
)
async def test_denied_memory_tools_also_deny_automatic_recall(tmp_path: Path, rules: str) -> None:
    write_settings(tmp_path, rules)
    async with visited(tmp_path) as hob:
        await hob.knows()
        hob.model.script = [*calls(await fill(hob)), "Nothing."]
        await hob.answer("Where do I live, and what do I want?", ME)
        assert hob.model.requests
        assert shown(hob, 0) == 0


@pytest.mark.parametrize("trust", list(Trust))
async def test_members_denied_memory_are_shown_no_working_note(tmp_path: Path, trust: Trust) -> None:
    for name, rules in (("allowed", ""), ("denied", f"[policy.senders.member]\n{NO_MEMORY}")):
        write_settings(tmp_path / name, rules)
        async with visited(tmp_path / name) as hob:
            await hob.knows()
            await hob.answer("Hello.", ANNA)
            session = next(each.session for each in await hob.app.store.timeline.latest(50) if each.session)
            note = WorkingNote(f"Plan: {SECRET}", Label(Origin.MODEL, trust))
            await hob.app.store.working_notes.put(session, note)
            await hob.answer("And now?", ANNA, id="m_2")
            assert (SECRET in hob.seen) is (name == "allowed")


async def test_revocation_holds_from_the_next_step_of_a_running_turn(tmp_path: Path) -> None:
    async with visited(tmp_path) as hob:
        await hob.knows()
        recall = calls(await fill(hob))[1]
        hob.model.script = [recall, "There."]
        await hob.answer("Where do I live?", ME)  # calls have been judged by the former rules
        began, reloaded = len(hob.model.requests), list[ReloadedAnswer]()

        def revoke(_: ModelRequest) -> ModelReply:
            write_settings(tmp_path, f"[policy]\n{NO_MEMORY}")
            reloaded.append(hob.app.operations.reload())
            return replace(recall, calls=(replace(recall.calls[0], id=CallId("c_again")),))

        hob.model.script = [revoke, "Nothing."]
        await hob.answer(f"And what of {SECRET}?", ME, id="m_2")
        before, after = hob.model.requests[began:]
        assert f"owner lives in {SECRET}" in before.system
        assert f"pack for {SECRET}" in before.messages[-1].text
        assert SECRET not in after.system
        assert "pack for" not in "\n".join(each.text for each in after.messages)
        (refused,) = [each for each in after.messages if isinstance(each, ToolMessage) and each.call == "c_again"]
        assert SECRET not in refused.text
        assert reloaded[0]["waiting"] == []


async def test_settings_of_memory_hold_from_the_next_message_on_without_a_restart(tmp_path: Path) -> None:
    async with visited(tmp_path) as hob:
        await hob.knows()
        await fill(hob)
        await hob.answer("Where do I live?", ME)
        assert f"owner lives in {SECRET}" in hob.seen
        now = "recall = false\ncitations = 'off'\nmax_items = 500\nbackground_tokens = 7\n"
        write_settings(tmp_path, f"[memory]\n{now}")
        assert hob.app.operations.reload()["waiting"] == []
        await hob.answer("/new", ME)
        await hob.answer("Where do I live?", ME, id="m_2")
        assert f"lives in {SECRET}" not in hob.seen
        assert f"pack for {SECRET}" in hob.seen  # written for each conversation, not recalled
        told = await memory(hob).status.status()
        assert (told["totals"]["max_chunks"], told["background"]["tokens_a_day"]) == (500, 7)
        write_settings(tmp_path, f"[memory]\n{now}tool_days = 3\n")
        assert hob.app.operations.reload()["waiting"] == ["memory.tool_days"]
