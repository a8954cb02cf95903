"""Nothing of a private conversation enters memory: not by commands, tools, sub-agents, notes or scores."""

import asyncio
import json
from pathlib import Path

from hob.core.ids import CallId
from hob.core.memory import Scope
from hob.core.models import ModelReply
from hob.core.tools import ToolCall
from hob.gateway.memory import SetGoalRequest
from tests.app.memory.test_control import memory
from tests.app.memory.test_facts import found, lives, says, until
from tests.app.visiting import ME, Visited, visited

OWNER = Scope("owner")
WORD = "zanzibarquux"


def calls(name: str, **arguments: object) -> ModelReply:
    return ModelReply("", calls=(ToolCall(CallId(f"c_{name}"), name, json.dumps(arguments)),))


async def remembered(hob: Visited) -> list[str]:
    return [item.text for item in await hob.app.store.items.of(OWNER).select("i.layer != 'soul'")]


async def test_commands_keep_no_words_of_a_private_conversation(tmp_path: Path) -> None:
    async with visited(tmp_path) as hob:
        await hob.knows()
        hob.model.background = [found(lives("Paris"))]
        await says(hob, "I live in Paris, close to the river.")
        (fact,) = await until(hob, bool)
        goal = await memory(hob).facts.set_goal(SetGoalRequest(text="Finish the thesis"))
        before = await remembered(hob)
        await says(hob, "/private")
        for command in (f"/goals {goal['id']} done {WORD}", f"/memory correct {fact.id} {WORD}"):
            assert "nothing of it is remembered" in await says(hob, command)
        assert await remembered(hob) == before
        assert "no longer known" in (await says(hob, f"/memory correct {fact.id}")).lower()


async def test_sub_agents_and_tools_of_a_private_conversation_leave_nothing(tmp_path: Path) -> None:
    allowed = json.dumps(["remember", "create_goal", "update_working_memory"])
    async with visited(tmp_path, HOB_SUBAGENTS_TOOLS=allowed) as hob:
        await hob.knows()
        await says(hob, "/private")
        note = {"content": f"The plan is {WORD}."}
        hob.model.script = [
            calls("load_tools", names=["agents", "notes"]),
            calls("update_working_memory", **note),
            calls("spawn", task=f"Remember {WORD}"),
            "Begun.",
            calls("load_tools", names=["notes"]),
            calls("remember", text=f"The plan is {WORD}."),
            calls("create_goal", goal=f"Reach {WORD}"),
            calls("update_working_memory", everywhere=True, **note),
            f"I remembered {WORD} as I was asked to, and I made it a goal of yours, so that nobody forgets the plan.",
            "Done.",
        ]
        await says(hob, f"Have somebody remember {WORD}.")
        async with asyncio.timeout(20):
            while "Done." not in hob.sent(ME):
                await hob.clock.advance(1)
                await asyncio.sleep(0.01)
        assert await remembered(hob) == []
        status = await memory(hob).status.status()
        assert status["working_memory"] == {"entries": 0, "preview": ""}
        assert status["expertise"] == []
        assert not any(WORD in each.title for each in await hob.app.store.sessions.find(archived=False))
