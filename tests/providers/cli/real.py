"""The real CLIs, installed from npm and pointed at the fake model server: no account, no internet."""

import fcntl
import json
import os
import shutil
import subprocess
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import cast

import pytest

from hob.core.clock import SystemClock
from hob.core.errors import ModelError, ModelFault
from hob.core.models import ModelEvent, ModelReply, ModelRequest
from hob.core.ports.model import Model
from hob.providers.cli.backend import CliModel
from hob.providers.cli.program import CliSettings
from hob.testing.model import Cut, Silence
from hob.testing.model_check import Behaviour, Make
from hob.testing.model_server import Fault, ModelServer, Reply

VERSIONS = {
    "@anthropic-ai/claude-code": "2.1.197",
    "@openai/codex": "0.169.0",
    "@google/gemini-cli": "0.61.0",
    "@github/copilot": "1.0.102",
}
"""What the recordings were made with; raise them together."""

_FAULTS = {
    ModelFault.AUTH: Fault.UNAUTHORIZED,
    ModelFault.OVERLOAD: Fault.ERROR_500,
    ModelFault.CONTEXT_OVERFLOW: Fault.OVERFLOW,
    ModelFault.RATE_LIMIT: Fault.RATE_LONG,
}
_MODELS = {
    "claude-cli": "claude-sonnet-4-5",
    "codex-cli": "gpt-5",
    "gemini-cli": "gemini-2.5-flash",
    "copilot-cli": "claude-sonnet-4-5",
}


def install(folder: Path) -> Path:
    """The folder of their programs; they are installed there if they are not yet (a gigabyte, a minute)."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed: the real CLIs come from there")
    folder.mkdir(parents=True, exist_ok=True)
    wanted = json.dumps(VERSIONS)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # the workers of a test run share it
        stamp = folder / "installed.json"
        if not stamp.exists() or stamp.read_text() != wanted:
            packages = [f"{name}@{version}" for name, version in VERSIONS.items()]
            command = [npm, "install", "--no-audit", "--no-fund", "--prefix", str(folder), *packages]
            subprocess.run(command, check=True, capture_output=True, timeout=900)
            stamp.write_text(wanted)
    return folder / "node_modules" / ".bin"


def real_cli(name: str, programs: Path, folder: Path) -> Make:
    """Opens the CLI's model; its server behaves as asked."""

    @asynccontextmanager
    async def make(behaviours: tuple[Behaviour, ...]) -> AsyncIterator[Model]:
        async with ModelServer() as server:
            yield _InStep(open_real(name, programs, folder, server), server, behaviours)

    return make


class _InStep:
    """A model whose server has the replies to open requests only: a request may end before it got to the server."""

    def __init__(self, model: Model, server: ModelServer, behaviours: Iterable[Behaviour]) -> None:
        self._model = model
        self._server = server
        self._behaviours = iter(behaviours)
        self._open = 0

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        if not self._open:
            self._server.script.clear()
        self._open += 1
        behaviour = next(self._behaviours)
        times = 20 if isinstance(behaviour, ModelError) else 1  # some ask again before they say anything
        self._server.script.extend([_on_the_wire(behaviour)] * times)
        try:
            async with aclosing(cast("AsyncGenerator[ModelEvent]", self._model.stream(request))) as events:
                async for event in events:
                    yield event
        finally:
            self._open -= 1


def open_real(name: str, programs: Path, folder: Path, server: ModelServer) -> CliModel:
    """The CLI's model, asking this server."""
    home = folder / "home"
    (home / ".gemini").mkdir(parents=True, exist_ok=True)
    chosen = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
    (home / ".gemini" / "settings.json").write_text(json.dumps(chosen))
    environ = {"PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(home), **_environ(name, server)}
    settings = CliSettings(model=_MODELS[name], arguments=_arguments(name, server), idle_seconds=60)
    return CliModel(name, settings, SystemClock(), environ=environ, folder=folder / name)


def _environ(name: str, server: ModelServer) -> Mapping[str, str]:
    match name:
        case "claude-cli":
            return {"ANTHROPIC_BASE_URL": server.root, "ANTHROPIC_API_KEY": "sk-fake-key"}
        case "codex-cli":
            return {"OPENAI_API_KEY": "sk-fake-key"}
        case "gemini-cli":
            return {"GOOGLE_GEMINI_BASE_URL": server.root, "GEMINI_API_KEY": "sk-fake-key"}
    return {
        "COPILOT_OFFLINE": "true",
        "COPILOT_PROVIDER_TYPE": "anthropic",
        "COPILOT_PROVIDER_BASE_URL": server.root,
        "COPILOT_PROVIDER_API_KEY": "sk-fake-key",
    }


def _arguments(name: str, server: ModelServer) -> list[str]:
    if name != "codex-cli":
        return []
    fake = {"name": "fake", "base_url": server.url, "wire_api": "responses", "env_key": "OPENAI_API_KEY"}
    settings = ["model_provider=fake", *(f"model_providers.fake.{key}={value}" for key, value in fake.items())]
    return [part for value in settings for part in ("-c", value)]


def _on_the_wire(behaviour: Behaviour) -> Reply:
    match behaviour:
        case ModelReply():
            return Reply(behaviour.text, reasoning=behaviour.reasoning)
        case ModelError():
            return Reply(fault=_FAULTS[behaviour.fault])
        case Cut(text):
            return Reply(text, fault=Fault.CUT_AFTER_TEXT)
        case Silence():
            return Reply(fault=Fault.SILENCE)
