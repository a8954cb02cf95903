"""A model server that fails in every way, seen from outside: the failure is a failure everywhere, and passes."""

import asyncio
import json
import time
from contextlib import aclosing

import pytest

from tests.journeys.world import SHARED, Daemon, Shared, World, until

FAULTS = {
    "error_500": 503,
    "error_503": 503,
    "overloaded": 503,
    "rate_short": 429,
    "rate_long": 429,
    "unauthorized": 502,
    "forbidden": 502,
    "payment": 402,
    "quota": 402,
    "bad_request": 502,
    "overflow": 502,
    "html_200": 502,
    "html_502": 503,
    "garbage": 502,
    "empty_body": 502,
    "empty_answer": 502,
    "cut_json": 502,
    "cut_before": 502,
    "cut_headers": 502,
    "cut_middle": 502,
    "error_event": 503,
    "silence": 504,
    "silence_middle": 504,
}
"""Each fault and the HTTP status of a message that met it."""

CALLS, SECONDS = 4, 8.0


async def entries(daemon: Daemon, session: str) -> list[tuple[str, str]]:
    """What is kept of a session: roles and texts."""
    lines = (await daemon.client.get("/export", params={"session": session})).raise_for_status().text.splitlines()
    rows = [json.loads(line) for line in lines[1:]]
    return [(row["role"], row["text"]) for row in rows if "role" in row]


@pytest.mark.parametrize("fault", FAULTS)
async def test_failure_is_reported_as_a_failure_by_every_client(world: World, fault: str) -> None:
    idle = {"HOB_AGENT_IDLE_SECONDS": "1"} if fault.startswith("silence") else {}
    async with world.serve(**idle) as daemon:
        began = time.monotonic()
        response = await daemon.post(f"FAULT {fault}", key="key", session="s")
        assert time.monotonic() - began < SECONDS
        assert 1 <= len(world.model.chats) <= CALLS
        view = response.json()
        assert (response.status_code, view["state"], view["reply"]) == (FAULTS[fault], "failed", None)
        assert view["error"]["code"]
        assert view["error"]["message"]
        assert "Some words that come before the trouble" not in response.text
        assert [role for role, _ in await entries(daemon, view["session"])] == ["user", "user"]

        again = await daemon.post(f"FAULT {fault}", key="key", session="s")
        assert (again.status_code, again.json()) == (response.status_code, view)
        later = await daemon.client.get(f"/chat/{view['id']}")
        assert (later.status_code, later.json()) == (response.status_code, view)
        following = await daemon.post("hello", session="s")
        assert (following.status_code, following.json()["reply"]) == (200, "You said: hello")


@pytest.mark.parametrize("fault", ["unauthorized", "cut_middle"])
async def test_ask_reports_failure_by_stderr_and_exit_status(world: World, fault: str) -> None:
    said = await world.hob("ask", f"FAULT {fault}")
    assert (said.status, said.out) == (1, "")
    assert said.err.strip()
    assert "sk-test" not in said.err
    following = await world.hob("ask", "hello")
    assert (following.status, following.out, following.err) == (0, "You said: hello\n", "")


@SHARED
async def test_watcher_sees_the_beginning_of_a_failed_answer_retracted(shared: Shared) -> None:
    daemon = shared.daemon
    events = [event async for event in daemon.events("FAULT cut_middle", "key")]
    names = [name for name, _ in events]
    assert names[0] == "accepted"
    assert "delta" in names
    assert "delta" not in names[names.index("retracted") :]
    assert names[-1] == "result"
    assert events[-1][1]["error"]["code"] == "cut_stream"


@SHARED
async def test_model_that_recovers_in_time_is_waited_for(shared: Shared) -> None:
    world, daemon = shared.world, shared.daemon
    for fault in ("rate_short", "error_500", "cut_before"):
        response = await daemon.post(f"FAULT {fault} 1")
        assert (response.status_code, response.json()["reply"]) == (200, "ok")
    assert len(world.model.chats) == 6


async def test_missing_model_is_reported(world: World) -> None:
    async with world.serve(OPENAI_BASE_URL="http://127.0.0.1:1/v1") as daemon:
        response = await daemon.post("hello")
        assert (response.status_code, response.json()["reply"]) == (502, None)
        assert response.json()["error"]["code"] == "network"


async def test_message_without_a_model_is_kept_with_advice(world: World) -> None:
    async with world.serve(OPENAI_BASE_URL="", OPENAI_API_KEY="", HOB_MODEL_NAME="") as daemon:
        response = await daemon.post("hello")
        assert (response.status_code, response.json()["error"]["code"]) == (503, "no_model")
        assert "OPENAI_API_KEY" in response.json()["error"]["message"]
        daemon.kill()
    async with world.serve() as daemon:
        await daemon.client.post(f"/retry/{response.json()['id']}")
        assert (await daemon.get(response.json()["id"], wait=3))["reply"] == "You said: hello"


async def test_unreadable_key_is_reported_as_such(world: World) -> None:
    async with world.serve(OPENAI_API_KEY="", HOB_MODEL_API_KEY="file:/nowhere/key") as daemon:
        response = await daemon.post("hello")
        assert (response.status_code, response.json()["error"]["code"]) == (503, "model_settings")
        assert "/nowhere/key" in response.json()["error"]["message"]
        assert "hob config check" in response.json()["error"]["message"]


@pytest.mark.parametrize("mode", ["steer", "followup", "collect", "interrupt"])
async def test_message_behind_a_hanging_model_is_acknowledged_or_interrupts(world: World, mode: str) -> None:
    """Only in the mode `steer` it used to be; elsewhere the two minutes of a silent model passed without a word."""
    quick = {"HOB_BUS_QUEUE_MODE": mode, "HOB_AGENT_IDLE_NOTICE_SECONDS": "0.2"}
    async with world.serve(**quick) as daemon:
        first = await daemon.accepted("FAULT silence 1", "first", session="s")
        await until(lambda: world.model.chats)
        async with asyncio.timeout(20), aclosing(daemon.events("hello", "second", session="s")) as events:
            async for name, data in events:
                if mode in ("followup", "collect") and name == "progress" and data["what"] == "waiting":
                    assert data["text"].startswith("Your message waits: the model has sent nothing for ")
                    await daemon.post("/stop", session="s")
        assert (name, data["state"]) == ("result", "done")
        assert (await daemon.get(first))["state"] == ("done" if mode == "steer" else "cancelled")


async def test_failure_reason_is_in_the_configured_language(world: World) -> None:
    said = await world.hob("ask", "FAULT unauthorized", HOB_AGENT_LANGUAGE="de")
    assert "nimmt den API-Schlüssel nicht an; prüfe " in said.err
    away = await world.hob("ask", "hello", HOB_AGENT_LANGUAGE="de", OPENAI_BASE_URL="http://127.0.0.1:1/v1")
    assert "127.0.0.1:1 ist nicht zu erreichen; läuft der Server?" in away.err
    view = json.loads((await world.hob("ask", "FAULT unauthorized", "--json")).out)
    assert "does not accept the API key" in json.dumps(view)
