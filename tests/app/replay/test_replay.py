"""Replaying a turn: real store, real servers on loopback."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from hob.app.composition import App, open_app
from hob.app.endpoints import ENDPOINTS
from hob.app.settings.sections import SECTIONS
from hob.config.loading import load_config
from hob.gateway.http.asgi import build_api
from hob.testing.model_server import ModelServer, Reply
from tests.app.visiting import until
from tests.confined import BACKEND

READ = ("read", '{"path": "notes.txt"}')


@asynccontextmanager
async def opened(tmp: Path, server: ModelServer, wire: str) -> AsyncIterator[tuple[App, httpx2.AsyncClient]]:
    home = tmp / "home"
    settings = {
        "HOB_MODEL_NAME": f"{wire}/fake-1",
        "HOB_SANDBOX_BACKEND": BACKEND,
        "HOB_WORKSPACE_PATH": str(tmp / "workspace"),
        "HOB_WORKSPACE_SEED": "false",
    }
    address = server.url.removesuffix("/v1")
    file = (
        f'[model.providers.{wire}]\nbase_url = "{address if wire != "openai" else server.url}"\napi_key = "k-123456"\n'
    )
    home.mkdir()
    (home / "config.toml").write_text(file)
    config = load_config(SECTIONS, home=home, environ=settings)
    work = tmp / "workspace" / "work"
    work.mkdir(parents=True, exist_ok=True)
    (work / "notes.txt").write_text("The key is under the mat.\n")
    async with open_app(home, config) as app:
        socket = httpx2.ASGITransport(build_api(app.api, local=True, endpoints=ENDPOINTS))
        async with httpx2.AsyncClient(transport=socket, base_url="http://hob", timeout=60) as client:
            yield app, client


async def said(client: httpx2.AsyncClient, text: str) -> dict[str, Any]:
    answer = await client.post("/chat", json={"message": text})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


async def replayed(client: httpx2.AsyncClient, id: str, model: str = "") -> dict[str, Any]:
    answer = await client.post("/replay", json={"id": id, "model": model})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


@pytest.mark.parametrize("wire", ["openai", "anthropic", "gemini", "ollama"])
async def test_every_request_of_a_turn_is_rebuilt_byte_for_byte_for_its_wire(tmp_path: Path, wire: str) -> None:
    script = (Reply("", (READ,), "where may it be?"), "Under the mat.", "Still there.")
    async with ModelServer(*script) as server, opened(tmp_path, server, wire) as (_, client):
        first = await said(client, "Where is the key? Grüße")
        second = await said(client, "And now?")
        asked = len(server.chats)
        for one, requests in ((first, 2), (second, 1)):
            seen = await replayed(client, one["id"])
            assert [each["identical"] for each in seen["rebuilt"]] == [True] * requests, seen["rebuilt"]
            assert seen["now"] is None
        assert len(server.chats) == asked  # no request was sent for it


async def test_another_model_gets_recorded_results_and_changes_nothing(tmp_path: Path) -> None:
    script = (Reply("", (READ,)), "Under the mat.")
    async with ModelServer(*script) as server, opened(tmp_path, server, "openai") as (app, client):
        one = await said(client, "Where is the key?")
        (tmp_path / "workspace" / "work" / "notes.txt").write_text("It was moved.\n")
        before = (await client.get("/sessions/show", params={"session": "main"})).json()
        server.script.extend([Reply("", (READ, ("exec", '{"command": "ls"}'))), Reply("Below the mat.")])
        seen = await replayed(client, one["id"], "openai/fake-2")
        now = seen["now"]
        assert (now["text"], now["rounds"], now["trouble"]) == ("Below the mat.", 2, "")
        assert [(call["name"], call["recorded"]) for call in now["calls"]] == [("read", True), ("exec", False)]
        told = server.chats[-1].body.decode()
        assert "under the mat" in told, told[-1500:]
        assert "It was moved" not in told
        assert "-Under the mat." in seen["difference"]
        assert "+Below the mat." in seen["difference"]
        assert (await client.get("/sessions/show", params={"session": "main"})).json() == before
        rows = (await client.get("/usage", params={"by": "task"})).json()["rows"]
        assert {row["key"]: row["calls"] for row in rows}["replay"] == 2
        assert app.api.store.health().problem is None


async def test_message_that_joined_a_turn_joins_its_replay_at_the_same_point(tmp_path: Path) -> None:
    script = (Reply("", (READ,), delay=0.5), "Under the mat, and the spare one too.")
    async with ModelServer(*script) as server, opened(tmp_path, server, "openai") as (_, client):
        first = asyncio.create_task(said(client, "Where is the key?"))
        await until(lambda: bool(server.chats))
        other = (await client.post("/chat", json={"message": "The spare one, I mean.", "wait": 0})).json()
        one = await first
        assert (await client.get(f"/chat/{other['id']}", params={"wait": 5})).json()["merged_into"] == one["id"]
        server.script.extend([Reply("I look.", (READ,)), Reply("The spare one is below the mat.")])
        seen = await replayed(client, one["id"], "openai/fake-2")
        assert (seen["now"]["text"], seen["now"]["rounds"]) == ("The spare one is below the mat.", 2)
        asked = [json.loads(chat.body)["input"] for chat in server.chats[-2:]]
        assert "spare" not in json.dumps(asked[0])
        assert "The spare one, I mean." in json.dumps(asked[1][-1])
        server.script.extend(
            [Reply("Under the mat."), Reply("That one too.")]
        )  # it needs no tool and still gets the message
        assert (await replayed(client, one["id"], "openai/fake-2"))["now"]["text"] == "That one too."


async def test_replay_of_an_erased_turn_reports_the_erasure(tmp_path: Path) -> None:
    async with (
        ModelServer("Hello.", "Hello again.") as server,
        opened(tmp_path, server, "openai") as (app, client),
    ):
        one, two = await said(client, "hi"), await said(client, "hi again")
        await app.api.store.retention.drop_details(app.api.clock.now().timestamp() + 90_000)
        gone = await client.post("/replay", json={"id": one["id"]})
        assert gone.status_code == 400
        assert "retention.details_days" in gone.text
        assert (await client.post("/replay", json={"id": "nothing"})).status_code == 404
        server.script.append(Reply("Kept."))
        three = await said(client, "keep this")
        assert (await replayed(client, three["id"]))["rebuilt"][0]["identical"] is True
        deleted = await client.post("/sessions/delete", json={"session": two["session"]})
        assert deleted.status_code == 200, deleted.text
        gone = await client.post("/replay", json={"id": three["id"]})
        assert "erased" in gone.text


async def test_shared_parts_of_requests_are_stored_once(tmp_path: Path) -> None:
    async with (
        ModelServer(otherwise=Reply("Fine.")) as server,
        opened(tmp_path, server, "openai") as (app, client),
    ):
        for number in range(3):
            await said(client, f"message {number}")
        ids = [json.loads(row) for row in await _parts(app)]
        assert ids[0][:3] == ids[1][:3] == ids[2][:3]  # system text, tools, the rest
        assert ids[1][3] in ids[2]


async def _parts(app: App) -> list[str]:
    import apsw

    connection = apsw.Connection(str(app.api.store._path), flags=apsw.SQLITE_OPEN_READONLY)
    return [row[0] for row in connection.execute("SELECT parts FROM requests ORDER BY at")]
