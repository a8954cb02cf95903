"""What memory does in the background: each call of a model is in the ledger to the token, and none is made twice."""

import asyncio
import json
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

from hob.app.composition import open_app
from hob.app.settings.sections import SECTIONS
from hob.config.loading import load_config
from hob.core.memory import Scope
from hob.core.models import ModelReply, ModelRequest, Usage
from hob.memory.background_model import TASKS
from hob.testing.channel import MemoryChannel
from hob.testing.clock import ManualClock
from hob.testing.model import ScriptedModel
from hob.testing.model_server import ModelServer
from hob.testing.model_server.openai_chat import OpenAIChat, get_text
from hob.testing.model_server.prompt import count_tokens
from hob.testing.model_server.replies import Reply
from tests.app.memory.test_control import memory
from tests.app.visiting import ME, Visited, visited
from tests.stand_ins import stand_ins

OWNER = Scope("owner")
LINES = "\n".join(f"- [LOW] tell more about the weather on day {chr(96 + n)} ({n})" for n in range(1, 26))
FEWER = "\n".join(f"- [LOW] the weather on day {n} ({n})" for n in range(1, 6))


ANSWERS = (
    ("facts", "You keep the list", json.dumps([])),
    ("observer", "You compress", LINES),
    ("reflector", "You condense", FEWER),
    ("consolidation", "Summarise", "They talked about the weather on many days."),
)
"""By task: the beginning of its instructions, and an answer."""
LARGE = {
    "HOB_MEMORY_BACKGROUND_TOKENS": "1000000", "HOB_MEMORY_OBSERVE_AFTER": "10", "HOB_MEMORY_MAX_OBSERVATIONS": "20",
}  # fmt: skip


class Counting:
    """Answers every task of the background, and counts what it says it took, as a server would."""

    def __init__(self) -> None:
        self.taken = Usage(0, 0)
        self.asked: list[str] = []

    def __call__(self, request: ModelRequest) -> ModelReply:
        used = Usage(len(request.system) + 7 * len(self.asked), 11 + len(self.asked))
        self.taken = Usage(self.taken.input + used.input, self.taken.output + used.output)
        for task, begins, answer in ANSWERS:
            if request.system.startswith(begins):
                self.asked.append(task)
                return ModelReply(answer, usage=used)
        raise AssertionError(request.system)


def observing(home: Path) -> AbstractAsyncContextManager[Visited]:
    """Hob with a large budget, which observes early and condenses soon."""
    return visited(home, **LARGE)  # type: ignore[arg-type]


@asynccontextmanager
async def served(home: Path, server: ModelServer) -> AsyncIterator[Visited]:
    """The same with a model behind a real wire."""
    settings = {"HOB_MODEL_BASE_URL": server.url, "HOB_MODEL_NAME": "fake-1", "HOB_WORKSPACE_PATH": str(home / "work")}
    config = load_config(SECTIONS, home=home / "state", environ=settings | LARGE)
    channel, clock = MemoryChannel("telegram"), ManualClock()
    async with open_app(home / "state", config, subsystems=stand_ins(channels=(channel,)), clock=clock) as app:
        yield Visited(app, ScriptedModel(), clock, {"telegram": channel})


async def idle(hob: Visited, asked: Collection[str]) -> None:
    """Let time pass until each kind of work was done, and then some."""
    async with asyncio.timeout(20):
        while {*asked} != {*TASKS}:
            await hob.clock.advance(600)
            await asyncio.sleep(0.01)
    for _ in range(20):
        await hob.clock.advance(600)
        await asyncio.sleep(0.01)


async def test_ledger_holds_every_call_of_every_task_to_the_token(tmp_path: Path) -> None:
    model = Counting()
    async with observing(tmp_path) as hob:
        await hob.knows()
        hob.model.background = [model] * 60
        for n in range(12):
            await hob.answer(f"Tell me more about the weather on day {n}, please.", ME)
        await idle(hob, model.asked)
        spent = [await hob.app.store.ledger.spent(task=task) for task in TASKS]
        assert sum(each.calls for each in spent) == len(model.asked) == len(hob.model.background_requests)
        assert sum(each.usage.input for each in spent) == model.taken.input
        assert sum(each.usage.output for each in spent) == model.taken.output
        assert [each.calls for each in spent] == [model.asked.count(task) for task in TASKS]
        calls = len(model.asked)
        for _ in range(30):
            await hob.clock.advance(3_600)
            await asyncio.sleep(0.002)
        assert len(model.asked) == calls  # an idle day costs nothing
        observed = await hob.app.store.memory_work.observations(OWNER)
        assert len(observed) == 5
        told = await memory(hob).status.status()  # with the seed's fields
        assert told["observer"] == {
            "enabled": True, "observation_count": 5, "queue_depth": 0, "last_observation": observed[0].at
        }  # fmt: skip
        assert {*told["observations"][0]} == {"id", "content", "priority", "date"}
        assert told["working_memory"] == {"entries": 0, "preview": ""}
    async with observing(tmp_path) as hob:
        hob.model.background = [model] * 60
        await hob.clock.advance(7_200)
        await hob.answer("What was the weather like?", ME)
        assert model.asked.count("observer") == 1  # what was worked through is not worked through again


async def test_ledger_equals_what_a_server_counted_for_every_task(tmp_path: Path) -> None:
    asked, said = list[str](), 0

    def answer(request: Mapping[str, Any]) -> Reply:
        nonlocal said
        for task, begins, text in ANSWERS:
            if get_text(request["messages"][0]).startswith(begins):
                asked.append(task)
                said += len(text.split())  # the server counts words of answers
                return Reply(text)
        return Reply("Noted.")

    async with ModelServer(otherwise=answer) as server, served(tmp_path, server) as hob:
        await hob.knows()
        for n in range(12):
            await hob.answer(f"Tell me more about the weather on day {n}, please.", ME)
        await idle(hob, asked)
        prompts = [
            OpenAIChat().read(request, json.loads(request.body))
            for request in server.requests
            if request.path == "/v1/chat/completions"
        ]
        counted = sum(
            count_tokens(prompt)
            for prompt in prompts
            if any(get_text(prompt.request["messages"][0]).startswith(begins) for _, begins, _ in ANSWERS)
        )
        spent = [await hob.app.store.ledger.spent(task=task) for task in TASKS]
        assert sum(each.calls for each in spent) == len(asked)
        assert sum(each.usage.input for each in spent) == counted > 0
        assert sum(each.usage.output for each in spent) == said > 0
