"""Whose memory it is: nobody else is shown any of it, by any way, and the owner none where they forbid it."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from hob.core.ids import CallId
from hob.core.memory import Fact, FactChange, Layer, MemoryItem, Scope
from hob.core.models import AssistantMessage, ModelReply
from hob.core.tools import ToolCall
from hob.core.trust.labels import OWNER_LABEL
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
        assert all(line in volatile for line in (f"Lives in {SECRET}", f"Leave {SECRET}", f"I moved to {SECRET}"))
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


EACH = '["recall", "memory_*", "facts", "get_goals", "*_fact", "*_goal"]'


@pytest.mark.parametrize("deny", ['["group:memory"]', EACH])
async def test_denied_memory_tools_also_deny_automatic_recall(tmp_path: Path, deny: str) -> None:
    async with visited(tmp_path, HOB_POLICY_DENY=deny) as hob:
        await hob.knows()
        hob.model.script = [*calls(await fill(hob)), "Nothing."]
        await hob.answer("Where do I live, and what do I want?", ME)
        assert hob.model.requests
        assert shown(hob, 0) == 0
