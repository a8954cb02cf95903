"""What a feature brings is part of an open Hob; what clashes is refused by name."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hob.agent.commands.slash_commands import CommandCall
from hob.agent.commands.table import CommandTiming, SlashCommand
from hob.app.composition import App, open_app
from hob.app.contribution import Contribution, Job
from hob.app.kernel import Kernel
from hob.app.running_app import RunningServices
from hob.app.settings.sections import SECTIONS
from hob.app.subsystem import FeatureCommand, Open, Subsystem
from hob.config.loading import load_config
from hob.core.errors import NotConfigured
from hob.core.events.hooks import Decision, HookEvent, Proceed
from hob.core.lazy import Lazy
from hob.core.tools import ToolGroup
from hob.core.trust.labels import HOB_LABEL, Label
from hob.core.turns import Turn
from hob.gateway.chat.inbound import owners_inbound
from hob.gateway.chat.outcome import follow
from hob.testing.model import ScriptedModel, calls
from hob.testing.toolset import FunctionTools, tool
from tests.stand_ins import stand_ins

Answering = Callable[[Kernel, CommandCall], Awaitable[str]]


class Watching:
    """A hook that lets everything pass and remembers it."""

    name = "watching"

    def __init__(self) -> None:
        self.seen: list[HookEvent] = []

    async def __call__(self, event: HookEvent) -> Decision:
        self.seen.append(event)
        return Proceed()


def lazy_open(contribution: Contribution) -> Lazy[Open]:
    @asynccontextmanager
    async def opening(_: Kernel) -> AsyncIterator[Contribution]:
        yield contribution

    def load() -> Open:
        return opening

    return Lazy(load)


def answering(name: str) -> FeatureCommand:
    async def answer(kernel: Kernel, call: CommandCall) -> str:
        return f"{call.rest}! in {kernel.config.home.name}"

    def load() -> Answering:
        return answer

    row = SlashCommand(name, CommandTiming.ARRIVAL, f"/{name}", "shout it")
    return FeatureCommand(row, Lazy(load))


async def rain(arguments: Mapping[str, Any]) -> str:
    return "it rains"


NOW = tool("weather_now", rain)


def weather(hook: Watching, started: asyncio.Event) -> Subsystem:
    async def run(running: RunningServices) -> None:
        assert running.operations.accepting()
        started.set()

    contribution = Contribution(
        toolsets=(FunctionTools(NOW),),
        hooks=(hook,),
        jobs=(Job("barometer", run),),
        status=lambda: {"weather": "wet"},
    )
    return Subsystem(
        name="weather",
        tools=(ToolGroup("weather", "what the sky does", (NOW.spec,)),),
        slash_commands=(answering("shout"),),
        open=lazy_open(contribution),
    )


@asynccontextmanager
async def hob_with(home: Path, features: Sequence[Subsystem], *script: Any) -> AsyncIterator[App]:
    environ = {
        "HOB_MODEL_BASE_URL": "http://127.0.0.1:9/v1",
        "HOB_MODEL_NAME": "m",
        "HOB_WORKSPACE_PATH": str(home / "w"),
    }
    config = load_config(SECTIONS, home=home / "state", environ=environ)
    model = script[0] if script and isinstance(script[0], ScriptedModel) else ScriptedModel(*script)
    async with open_app(config.home, config, subsystems=(*stand_ins(model), *features)) as app:
        yield app


async def said(app: App, text: str) -> str:
    events = [event async for event in follow(app.api, owners_inbound({"message": text}, None, app.api.clock), 30)]
    return str(events[-1].data["reply"])


async def test_feature_contributes_tools_hooks_commands_jobs_and_status(tmp_path: Path) -> None:
    hook, started = Watching(), asyncio.Event()
    script = (calls(("load_tools", '{"names": ["weather"]}')), calls(("weather_now", "{}")), "It rains.")
    async with hob_with(tmp_path, [weather(hook, started)], *script) as app:
        assert await said(app, "what does the sky do?") == "It rains."
        assert await said(app, "/shout hello") == "hello! in state"
        assert "/shout" in await said(app, "/help")
        async with asyncio.timeout(10):
            await started.wait()
        status = await app.operations.status()
        assert status["weather"] == "wet"
        assert "barometer" in [job["name"] for job in status["jobs"]]
    assert hook.seen


class Profile:
    """A part of prompts that counts how often it was written."""

    def __init__(self, name: str, *, cached: bool) -> None:
        self.name = name
        self.cached = cached
        self.epoch = 0
        self._written = 0

    async def write(self, turn: Turn) -> tuple[str, Label]:
        self._written += 1
        return f"{self.name} no. {self._written}", HOB_LABEL


def writing(*sections: Profile) -> Subsystem:
    return Subsystem(name="profile", open=lazy_open(Contribution(prompt_sections=sections)))


async def test_feature_contributes_stable_and_volatile_prompt_sections(tmp_path: Path) -> None:
    stable, fresh = Profile("stable", cached=True), Profile("fresh", cached=False)
    model = ScriptedModel("one", "two", "three")
    async with hob_with(tmp_path, [writing(stable, fresh)], model) as app:
        await said(app, "first")
        await said(app, "second")
        stable.epoch += 1
        await said(app, "third")
        shown = await app.operations.prompt("main")
        assert {"stable", "fresh"} <= {section["name"] for section in shown["sections"]}
    first, second, third = model.requests
    assert first.system.endswith("\n\nstable no. 1")
    assert first.system == second.system
    assert third.system.endswith("\n\nstable no. 2")
    newest = [str(each.messages[-1]) for each in model.requests]
    assert ["fresh no. 1" in newest[0], "fresh no. 2" in newest[1]] == [True, True]


async def test_duplicate_tool_group_is_refused_by_name(tmp_path: Path) -> None:
    clashing = replace(weather(Watching(), asyncio.Event()), tools=(ToolGroup("files", "more", (NOW.spec,)),))
    with pytest.raises(NotConfigured, match="files"):
        async with hob_with(tmp_path, [clashing]):
            pass


async def test_duplicate_command_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(NotConfigured, match="weather brings /help"):
        async with hob_with(tmp_path, [Subsystem(name="weather", slash_commands=(answering("help"),))]):
            pass
