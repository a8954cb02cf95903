"""GET /unread: what nobody has fetched yet."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from starlette.types import Message

from hob.app.endpoints import ENDPOINTS
from hob.core.events.notices import Settled
from hob.core.models import ModelEvent, ModelRequest
from hob.gateway.chat.inbound import owners_inbound
from hob.gateway.http.asgi import build_api
from tests.gateway.conftest import Machine


async def answered(hob: Machine, text: str, channel: str) -> str:
    """A message whose answer nobody looks at; its id."""
    with hob.app.bus.hub.subscribe() as notices:
        inbound = owners_inbound({"message": text, "channel": channel}, None, hob.app.api.clock)
        accepted = await hob.app.api.accept(inbound)
        while not isinstance(await anext(notices), Settled):
            pass
    return accepted.id


async def test_unfetched_reply_is_listed(hob: Machine) -> None:
    first, second = await answered(hob, "one\nmore", "local"), await answered(hob, "two", "local")
    await answered(hob, "three", "api")
    listed = (await hob.unix.get("/unread", params={"channel": "local"})).json()["messages"]
    assert [(row["id"], row["session"], row["state"], row["title"]) for row in listed] == [
        (first, "local:main", "done", "one"),
        (second, "local:main", "done", "two"),
    ]


async def test_unread_waits_for_a_later_outcome(hob: Machine) -> None:
    first = await answered(hob, "one", "local")
    (row,) = (await hob.unix.get("/unread", params={"channel": "local"})).json()["messages"]
    assert not row["unasked"]
    newer = {"channel": "local", "session": "local:main", "after": row["created"]}
    assert (await hob.unix.get("/unread", params=newer)).json()["messages"] == []
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(hob.unix.get("/unread", params={**newer, "wait": 20}))
        second = await answered(hob, "two", "local")
    assert [row["id"] for row in waiting.result().json()["messages"]] == [second] != [first]


async def test_fetched_reply_is_no_longer_listed(hob: Machine) -> None:
    id = await answered(hob, "one", "api")
    assert len((await hob.tcp.get("/unread")).json()["messages"]) == 1
    await hob.tcp.get(f"/chat/{id}")
    assert (await hob.tcp.get("/unread")).json()["messages"] == []


async def test_answer_arriving_during_a_202_stays_unfetched(hob: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[Message] = []
    saying, stream = asyncio.Event(), hob.model.stream

    async def answers_meanwhile(request: ModelRequest) -> AsyncIterator[ModelEvent]:
        await saying.wait()
        async for event in stream(request):
            yield event

    monkeypatch.setattr(hob.model, "stream", answers_meanwhile)
    body = b'{"message": "one", "wait": 0}'
    scope: dict[str, Any] = {
        "type": "http",
        "method": "POST",
        "path": "/chat",
        "query_string": b"",
        "headers": [(b"content-type", b"application/json")],
    }

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)
        saying.set()
        while message["type"] == "http.response.body" and not isinstance(await anext(notices), Settled):
            pass

    with hob.app.bus.hub.subscribe() as notices:
        await build_api(hob.app.api, local=True, endpoints=ENDPOINTS)(scope, receive, send)
    assert sent[0]["status"] == 202
    assert len((await hob.tcp.get("/unread")).json()["messages"]) == 1


async def test_fully_streamed_reply_is_no_longer_listed(hob: Machine) -> None:
    id = await answered(hob, "one", "api")
    followed = await hob.tcp.get(f"/chat/{id}", headers={"accept": "text/event-stream"})
    assert "event: result" in followed.text
    assert (await hob.tcp.get("/unread")).json()["messages"] == []
