"""From settings to a model, and what that must not load."""

import asyncio
import subprocess
import sys
import threading

import pytest

from hob.core.errors import ModelError, ModelFault
from hob.core.models import ModelReply, ModelRequest, UserMessage
from hob.core.settings import Secret
from hob.providers.opening import open_model
from hob.providers.routing.choice import ModelChoice
from hob.providers.settings import ModelSettings
from hob.testing.clock import ManualClock
from hob.testing.model_server import Fault, ModelServer, Reply

HI = ModelRequest("", "", (UserMessage("hi"),))


def test_no_http_library_is_loaded_before_the_first_request() -> None:
    code = """
import asyncio, sys
from hob.core.clock import SystemClock
from hob.providers.opening import open_model
from hob.providers.settings import ModelSettings

async def main():
    async with open_model(ModelSettings(base_url="http://127.0.0.1:1"), SystemClock()):
        print("httpx2" in sys.modules, "email" in sys.modules)

asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


async def test_configured_model_is_asked_with_the_configured_key() -> None:
    async with ModelServer(key="k-1") as server:
        settings = ModelSettings(name="mine", base_url=server.url.removesuffix("/v1"), api_key=Secret.of("k-1"))
        async with open_model(settings, ManualClock()) as model:
            reply = [event async for event in model.stream(HI)][-1]
    assert isinstance(reply, ModelReply)
    assert reply.model == "mine"


async def test_nothing_waits_for_a_look_whether_a_server_runs_here() -> None:
    seen = threading.Event()
    choice = ModelChoice(ModelSettings(), {}, which=lambda _: None, is_reachable=lambda _: seen.wait(5))
    asyncio.get_running_loop().call_soon(seen.set)  # never comes to it while the loop is held
    async with open_model(ModelSettings(), ManualClock(), choice=choice):
        assert choice.line().endswith("(running here)")


async def test_fewer_attempts_may_be_configured() -> None:
    async with ModelServer(*[Reply(fault=Fault.ERROR_500)] * 3, "late") as server:
        settings = ModelSettings(name="m", base_url=server.url, max_attempts=2)
        async with open_model(settings, ManualClock(jump=True)) as model:
            with pytest.raises(ModelError) as caught:
                _ = [event async for event in model.stream(HI)]
        assert caught.value.attempts == len(server.chats) == 2


async def test_servers_first_model_is_asked_without_a_name_and_asked_for_once() -> None:
    async with ModelServer(models=("first", "second")) as server:
        async with open_model(ModelSettings(base_url=server.url), ManualClock()) as model:
            assert await model.default_model() == "first"
            for _ in range(2):
                assert (await model.route(HI)).request.models == ("first",)
        assert [asked.path for asked in server.requests] == ["/v1/models"]


async def test_server_without_models_says_what_to_do() -> None:
    async with (
        ModelServer(models=()) as server,
        open_model(ModelSettings(base_url=server.url), ManualClock(jump=True)) as model,
    ):
        with pytest.raises(ModelError, match="load one, or set") as caught:
            await model.default_model()
    assert caught.value.fault is ModelFault.NOT_FOUND


async def test_server_is_asked_for_its_models_as_patiently_as_for_an_answer() -> None:
    async with ModelServer() as server:
        pass
    away = open_model(ModelSettings(base_url=server.url), ManualClock(jump=True), draw=lambda: 0.0)
    async with away as model:
        with pytest.raises(ModelError) as caught:
            await model.default_model()
    assert (caught.value.fault, caught.value.attempts) == (ModelFault.NETWORK, 4)


async def test_closing_the_model_closes_its_connections() -> None:
    async with ModelServer() as server:
        async with open_model(ModelSettings(base_url=server.url), ManualClock()) as model:
            _ = [event async for event in model.stream(HI)]
            assert len(server.connections) == 1
        async with asyncio.timeout(5):
            while server.connections:  # noqa: ASYNC110 - the server hears of it through the kernel
                await asyncio.sleep(0)
