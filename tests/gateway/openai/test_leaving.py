"""Clients that disconnect before the answer."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from hob.gateway.chat.inbound import owners_inbound
from hob.gateway.openai import ask as asking
from hob.testing.model import Silence
from tests.gateway.conftest import TOKEN, Machine, machine

SOON = {"HOB_AGENT_IDLE_NOTICE_SECONDS": "0.1"}


async def leave(hob: Machine, body: dict[str, Any], **headers: str) -> None:
    """Send a request and disconnect once the model is asked; return when the application is done."""
    shown = {"host": "localhost", "authorization": f"Bearer {TOKEN}", "content-type": "application/json", **headers}
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": "/v1/chat/completions",
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in shown.items()],
        "client": ("127.0.0.1", 1),
    }
    sent = False

    async def receive() -> dict[str, Any]:
        nonlocal sent
        if not sent:
            sent = True
            return {"type": "http.request", "body": json.dumps(body).encode(), "more_body": False}
        with hob.app.bus.hub.subscribe() as notices:
            async for _ in notices:
                if hob.model.open_streams:
                    break
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        pass

    async with asyncio.timeout(20):
        await hob.guarded(scope, receive, send)


async def state(hob: Machine) -> str:
    (task,) = (await hob.tcp.get("/tasks", params={"all": "1"})).json()["tasks"]
    return str(task["state"])


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "LINGER", 0.1)


@pytest.mark.parametrize("stream", [False, True])
async def test_unreachable_work_is_cancelled(tmp_path: Path, stream: bool) -> None:
    async with machine(tmp_path, Silence(), **SOON) as hob:
        await leave(hob, {"messages": [{"role": "user", "content": "hi"}], "stream": stream})
        with hob.app.bus.hub.subscribe() as notices:
            while await state(hob) == "running":
                await anext(notices)
        assert await state(hob) == "cancelled"


@pytest.mark.parametrize("by", [{"idempotency-key": "k"}, {"x-hob-session": "tea"}])
async def test_fetchable_work_continues_after_a_disconnect(tmp_path: Path, by: dict[str, str]) -> None:
    async with machine(tmp_path, Silence(), **SOON) as hob:
        await leave(hob, {"messages": [{"role": "user", "content": "hi"}]}, **by)
        assert await state(hob) == "running"


async def test_work_awaited_by_another_attempt_continues(tmp_path: Path) -> None:
    async with machine(tmp_path, Silence(), **SOON) as hob:
        api = hob.app.api
        accepted = await api.accept(owners_inbound({"message": "hi"}, None, api.clock))
        with hob.app.bus.hub.subscribe() as notices:
            while not hob.model.open_streams:
                await anext(notices)
        async with asking.awaited(api, accepted.id):
            await asking.part(api, asking.ChatRun(accepted, "hob", returns=False), delivered=False)
        await api.operations.cancel(accepted.id, "stopped by hand")
        with hob.app.bus.hub.subscribe() as notices:
            while await state(hob) == "running":
                await anext(notices)
        (task,) = (await hob.tcp.get("/tasks", params={"all": "1"})).json()["tasks"]
        assert (task["state"], task["reason"]) == ("cancelled", "stopped by hand")
