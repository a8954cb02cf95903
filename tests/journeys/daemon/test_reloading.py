"""Secrets and settings change while Hob runs: by SIGHUP and by `hob secrets`, without a turn that fails."""

import json
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from hob.guard.screening.masking.mask import MASKED
from hob.testing.model_server import ModelServer
from tests.journeys.world import Daemon, World, open_world, until

OLD, NEW = "sk-rotated-old-0123456789", "sk-rotated-new-9876543210"


@asynccontextmanager
async def keyed() -> AsyncIterator[tuple[World, ModelServer, Path]]:
    """A Hob whose key lies in a file, and a server that takes the new key alone."""
    async with open_world() as world, ModelServer(key=NEW) as strict:
        (world.home / "secrets").mkdir(parents=True, mode=0o700)
        config = world.home / "config.toml"
        config.write_text(
            f'[model]\nbase_url = "{strict.url}"\nname = "fake-1"\napi_key = "file:secrets/k"\n'
            '[logs]\nformat = "json"\n'
        )
        (world.home / "secrets" / "k").write_text(OLD)
        yield world, strict, config


def environ() -> dict[str, str]:
    return {"OPENAI_API_KEY": "", "OPENAI_BASE_URL": "", "HOB_MODEL_NAME": ""}


def log_of(world: World) -> str:
    return (world.home / "logs" / "hob.log").read_text()


async def settings_of(daemon: Daemon) -> dict[str, Any]:
    found: dict[str, Any] = (await daemon.ask("/status"))["settings"]
    return found


async def test_refused_key_that_was_rotated_is_used_after_sighup_at_once() -> None:
    async with keyed() as (world, _, config), world.serve(**environ()) as daemon:
        assert (await daemon.post("hi")).status_code >= 400  # and the key rests
        (world.home / "secrets" / "k").write_text(NEW)
        config.write_text(config.read_text() + "level = 'debug'\n[agent]\nmax_rounds = 7\n")
        daemon.signal(signal.SIGHUP)
        await until(lambda: "were read again" in log_of(world))
        assert (await daemon.post(f"hi {NEW}")).json()["reply"] == f"You said: hi {MASKED}"
        assert (await settings_of(daemon))["waiting"] == ["agent.max_rounds"]
        assert "agent.max_rounds" in (await world.hob("status")).out
        config.write_text("[agent]\nmax_rounds = 'many'\n")
        daemon.signal(signal.SIGHUP)
        await until(lambda: "stay as they were" in log_of(world))
        assert "max_rounds" in (await settings_of(daemon))["problem"]
        told = await world.hob("status", "--json", LC_ALL="de_DE.UTF-8")
        assert json.loads(told.out)["settings"] == await settings_of(daemon)
        assert (
            "agent.max_rounds: erwartet wird eine ganze Zahl" in (await world.hob("status", LC_ALL="de_DE.UTF-8")).out
        )
        assert (await daemon.post("still there")).json()["reply"]
        assert all(json.loads(line) for line in log_of(world).splitlines())
        assert OLD not in log_of(world)
        assert NEW not in log_of(world)


async def test_hob_secrets_rotates_under_a_running_hob() -> None:
    async with keyed() as (world, _, config), world.serve(**environ()) as daemon:
        assert (await daemon.post("hi")).status_code >= 400
        said = await world.hob("secrets", "rotate", "model.api_key", stdin=NEW.encode(), **environ())
        assert said.status == 0, said.err
        assert "has read" in said.out
        assert (await daemon.post("hi")).json()["reply"] == "You said: hi"
        assert NEW not in config.read_text()


async def test_rotated_log_is_recreated_and_stays_masked() -> None:
    async with keyed() as (world, _, __), world.serve(**environ()) as daemon:
        log = world.home / "logs" / "hob.log"
        log.rename(log.with_name("mine"))
        daemon.signal(signal.SIGHUP)
        await until(log.exists)
        await until(lambda: "were read again" in log_of(world))


async def test_model_connected_at_run_time_answers_at_once() -> None:
    nothing = {**environ(), "OLLAMA_HOST": "http://127.0.0.1:1", "PATH": ""}
    async with open_world() as world, world.serve(**nothing) as daemon:
        kept = [(await daemon.post(text)).json()["id"] for text in ("first", "second")]
        assert [(await daemon.get(id))["error"]["code"] for id in kept] == ["no_model", "no_model"]
        for command in ("status", "tasks"):
            assert "2 messages are kept without an answer" in (await world.hob(command, stdin=None, **nothing)).out
        assert "No model is connected" in (await world.hob("retry", stdin=None, **nothing)).out
        assert [(await daemon.get(id, wait=20))["error"]["code"] for id in kept] == ["no_model", "no_model"]
        begin = ("onboard", "--json", "--base-url", world.model.url, "--model", "fake-1", "--key", "-")
        done = await world.hob(*begin, stdin=b"sk-connected-0123456789\n", **nothing)
        assert done.status == 0, done.err
        assert (await daemon.post("third")).json()["reply"] == "You said: third"
        assert world.model.requests[-1].headers["authorization"] == "Bearer sk-connected-0123456789"
        assert (await world.hob("retry", stdin=None, **nothing)).out.count("will be tried again") == 2
        assert [(await daemon.get(id, wait=20))["reply"] for id in kept] == ["You said: first", "You said: second"]
        assert "No message is waiting" in (await world.hob("retry", stdin=None, **nothing)).out
        chosen = await world.hob("models", "set", "fake-2", "--no-test", stdin=None, **nothing)
        assert "uses it now: fake-2" in chosen.err
        await daemon.post("fourth")
        assert json.loads(world.model.requests[-1].body)["model"] == "fake-2"


async def test_key_of_a_model_connected_while_hob_runs_can_be_rotated_too() -> None:
    nothing = {**environ(), "OLLAMA_HOST": "http://127.0.0.1:1", "PATH": ""}
    async with open_world() as world, world.serve(**nothing) as daemon:
        begin = ("onboard", "--json", "--base-url", world.model.url, "--model", "fake-1", "--key", "-")
        assert (await world.hob(*begin, stdin=f"{OLD}\n".encode(), **nothing)).status == 0
        assert (await daemon.post(f"hi {OLD}")).json()["reply"] == f"You said: hi {MASKED}"
        said = await world.hob("secrets", "rotate", "model.api_key", stdin=NEW.encode(), **nothing)
        assert said.status == 0, said.err
        assert (await daemon.post(f"hi {NEW}")).json()["reply"] == f"You said: hi {MASKED}"
        assert world.model.requests[-1].headers["authorization"] == f"Bearer {NEW}"
