"""The real program in this process: tools, judge, approvals, sandbox.

The model, mail and calendar are simulated; pages and search results come from a server on loopback.
"""

import json
import re
import shutil
import subprocess
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from hob.app.composition import App, open_app
from hob.app.settings.sections import SECTIONS
from hob.config.loading import load_config
from hob.core.clock import SystemClock
from hob.core.content.capabilities import Capabilities
from hob.core.ids import TurnId
from hob.core.models import ModelEvent, ModelReply, ModelRequest
from hob.core.ports.tools import Toolset
from hob.core.steps import ToolReceived
from hob.gateway.chat.inbound import owners_inbound
from hob.gateway.chat.outcome import watch
from hob.testing.channel import MemoryChannel
from hob.testing.model import ScriptedModel, calls
from tests.guard.attacks.web import web_of
from tests.guard.daily.talks import Do, Task
from tests.guard.daily.things import CONTACTS, FILES, outside
from tests.guard.simulated import SimulatedWorld
from tests.stand_ins import stand_ins

_SECONDS = 30.0
_GIT = ("-c", "user.name=Nora", "-c", "user.email=nora@example.com")


@dataclass(frozen=True, slots=True)
class Came:
    """The result of a task: rules that asked, refused calls, and calls that ended otherwise than expected."""

    task: Task
    questions: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    results: tuple[str, ...] = ()


class OfficeModel(ScriptedModel):
    """Follows the script of the task; sub-agents report at once."""

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Answer the request."""
        if "You are a sub-agent" in request.messages[0].text:
            yield ModelReply("Two errors: no route to db, timeout.")
            return
        async for event in super().stream(request):
            yield event


class WorkingDay(SystemClock):
    """The machine's clock, which can jump by minutes."""

    def __init__(self) -> None:
        self._passed = 0.0

    def now(self) -> datetime:
        return super().now() + timedelta(seconds=self._passed)

    def monotonic(self) -> float:
        return super().monotonic() + self._passed

    def pass_minutes(self, minutes: float) -> None:
        """Advance the clock."""
        self._passed += 60 * minutes


@dataclass
class Office:
    """An owner's Hob at work. Its model follows `model.script`."""

    app: App
    model: ScriptedModel
    work: Path
    services: SimulatedWorld
    clock: WorkingDay

    async def do(self, task: Task, *, lay_out: bool = True) -> Came:
        """Run the whole conversation; every question is approved at once."""
        self.clock.pass_minutes(5)
        if lay_out:
            self.lay_out(task.files)
        session = re.sub(r"\W+", "-", task.name)
        questions: list[str] = []
        refused: list[str] = []
        wrong: list[str] = []
        results: list[str] = []
        for said in task.talk:
            self.model.script[:] = [*map(_reply, said.calls), "Done."]
            turn = await self.say(said.words, session)
            decided = await self.app.store.decisions.find(turn)
            questions += [each.rule for each in decided if each.verdict == "ask"]
            refused += [f"{each.tool}: {each.rule}: {each.reason}" for each in decided if each.verdict == "deny"]
            got = [step for step in await self.app.store.journal.load_steps(turn) if isinstance(step, ToolReceived)]
            for do, step in zip(said.calls, got, strict=True):
                if step.result.is_error is not do.fails:
                    wrong.append(f"{do.tool}: {step.result.text[:300]}")
            results += [step.result.text for step in got]
        return Came(task, tuple(questions), tuple(refused), tuple(wrong), tuple(results))

    async def say(self, words: str, session: str) -> TurnId:
        """Send one message and complete its turn; every question is approved."""
        api = self.app.api
        accepted = await api.accept(owners_inbound({"message": words, "session": session}, None, api.clock))
        async for item in watch(api, accepted, _SECONDS):
            if isinstance(item, dict):
                assert item["state"] == "done", item
            for asked in await self.app.store.approvals.open(accepted.session):
                await api.accept(
                    owners_inbound({"message": f"approve:{asked.id}", "session": session}, None, api.clock)
                )
        result = await self.app.store.results.find(accepted.id)
        assert result is not None
        assert result.turn is not None
        return result.turn

    def lay_out(self, more: Mapping[str, str] | None = None) -> None:
        """Set up the work folder for a task."""
        shutil.rmtree(self.work, ignore_errors=True)
        for name, text in {**FILES, **(more or {})}.items():
            path = self.work / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        for command in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "Begin")):
            subprocess.run(("git", *_GIT, *command), cwd=self.work, check=True, capture_output=True)


def _reply(do: Do) -> ModelReply:
    return calls((do.tool, json.dumps(do.arguments)))


@asynccontextmanager
async def office(home: Path, **environ: str) -> AsyncIterator[Office]:
    """A Hob with its usual settings plus these, in a home below this folder."""
    state, workspace = home / ".hob", home / "hob"
    settings = {
        "HOB_MODEL_BASE_URL": "http://127.0.0.1:9/v1",
        "HOB_MODEL_NAME": "scripted",
        "HOB_WORKSPACE_PATH": str(workspace),
        "HOB_SANDBOX_GIT_NAME": "Nora",
        "HOB_SANDBOX_GIT_EMAIL": "nora@example.com",
    }
    config = load_config(SECTIONS, home=state, environ=settings | environ)
    model, services, clock = OfficeModel(), outside(), WorkingDay()
    chat = MemoryChannel("telegram", capabilities=Capabilities(replies=True, buttons=8, files=4))
    async with web_of(services, home / "pages", linked=True) as web:
        subsystems = stand_ins(model, channels=(chat,), wraps={Toolset: lambda own: services.beside(own, web)})
        async with open_app(state, config, subsystems=subsystems, clock=clock) as app:
            for name, address in CONTACTS.items():
                await app.api.people.link(address, name.split()[0].lower(), name)
            yield Office(app, model, workspace / "work", services, clock)
