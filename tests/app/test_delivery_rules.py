"""Silent mode, web users and their chats: the real application with in-memory channels."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2

from hob.app.delivery_rules import GATHER_SECONDS
from hob.app.subsystem import api_v1_of
from hob.app.subsystems import SUBSYSTEMS
from hob.gateway.http.asgi import build_api
from tests.app.visiting import ANNA, ME, Visited, visited

SILENT = "delivery.silent_mode"


@asynccontextmanager
async def page(visit: Visited) -> AsyncIterator[httpx2.AsyncClient]:
    """The dashboard's API as its owner."""
    listener = build_api(visit.app.api, local=True, endpoints=api_v1_of(SUBSYSTEMS))
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(listener), base_url="http://hob") as client:
        yield client


async def web_user(client: httpx2.AsyncClient, name: str, address: str) -> dict[str, Any]:
    user = (await client.post("/api/v1/webusers", json={"name": name})).raise_for_status().json()
    linked = await client.post("/api/v1/weblinks", json={"web_user_id": user["id"], "address": address})
    return dict(linked.raise_for_status().json())


async def silence(client: httpx2.AsyncClient, on: bool | None) -> None:
    (await client.patch("/api/v1/settings", json={"values": {SILENT: on}})).raise_for_status()


async def skipped(visit: Visited, count: int) -> list[tuple[str, str]]:
    """Wait for a number of skipped chunks and return them."""
    async with asyncio.timeout(10):
        while True:
            events = [each for each in await visit.app.api.store.timeline.latest(200) if each.status == "skipped"]
            if len(events) >= count:
                return [(event.name, event.text) for event in events]
            await visit.clock.advance(GATHER_SECONDS)
            await asyncio.sleep(0.005)


async def sent(visit: Visited, count: int) -> list[str]:
    """Wait for a number of chunks sent to the linked chat and return them."""
    async with asyncio.timeout(10):
        while len(visit.sent("77")) < count:
            await visit.clock.advance(GATHER_SECONDS)
            await asyncio.sleep(0.005)
    return list(visit.sent("77"))


async def test_silent_mode_is_limited_to_channels_at_run_time(tmp_path: Path) -> None:
    async with visited(tmp_path) as visit, page(visit) as client:
        await visit.knows()
        await silence(client, True)
        elsewhere = {"delivery.silent_channels": ["signal"]}
        (await client.patch("/api/v1/settings", json={"values": elsewhere})).raise_for_status()
        assert await visit.answer("hi", ME) == "Yes."
        here = {"delivery.silent_channels": ["signal", "telegram"]}
        (await client.patch("/api/v1/settings", json={"values": here})).raise_for_status()
        await visit.comes("and now?", ME)
        assert len(await skipped(visit, 1)) == 1
        wrong = await client.patch("/api/v1/settings", json={"values": {"delivery.silent_channels": {"a": 1}}})
        assert (wrong.status_code, "a list of texts" in wrong.text) == (400, True)


async def test_silent_mode_sends_nothing_and_records_it_as_skipped(tmp_path: Path) -> None:
    async with visited(tmp_path) as visit, page(visit) as client:
        await visit.knows()
        assert await visit.answer("hi", ME) == "Yes."
        assert (await client.get("/api/v1/status")).json()["mode"] == "full"  # connected to chats
        await silence(client, True)
        await visit.comes("and now?", ME)
        assert await skipped(visit, 1) == [("telegram", "silent mode (delivery.silent_mode)")]
        assert visit.sent(ME) == ["Yes."]
        await silence(client, None)
        assert await visit.answer("again", ME) == "Yes."
        assert visit.sent(ME) == ["Yes.", "Yes."]  # skipped chunks stay skipped


async def test_web_users_answer_reaches_the_linked_chat_and_force_send_overrides_silence(tmp_path: Path) -> None:
    async with visited(tmp_path) as visit, page(visit) as client:
        user = await web_user(client, "Anna", "telegram:77")
        assert (user["name"], user["force_send"], user["address"]) == ("Anna", True, "telegram:77")
        said = {"message": "Is it open?", "web_user_id": user["id"]}
        told = (await client.post("/api/v1/webchat/send", json=said)).raise_for_status().json()
        assert (told["reply"], told["session"]) == ("Yes.", user["session"])
        assert await sent(visit, 2) == ["Anna: Is it open?", "Yes."]

        await silence(client, True)
        await client.post("/api/v1/webchat/send", json=said)
        assert len(await sent(visit, 4)) == 4

        force = {"web_user_id": user["id"], "force_send": False}
        (await client.post("/api/v1/webusers/force", json=force)).raise_for_status()
        await client.post("/api/v1/webchat/send", json=said)
        assert len(await skipped(visit, 2)) == 2
        assert len(visit.sent("77")) == 4


async def test_web_users_persist_keep_their_name_and_are_removed(tmp_path: Path) -> None:
    async with visited(tmp_path) as visit, page(visit) as client:
        user = await web_user(client, "Anna", "signal:+491701234")
        again = (await client.post("/api/v1/webusers", json={"name": " anna "})).json()
        assert again == user  # a user of this name exists
    async with visited(tmp_path) as visit, page(visit) as client:
        assert (await client.get("/api/v1/webusers")).json() == {"web_users": [user]}
        wrong = {"web_user_id": user["id"], "address": "nowhere"}
        answer = await client.post("/api/v1/weblinks", json=wrong)
        assert (answer.status_code, "channel:id" in answer.text) == (400, True)
        machine = {"web_user_id": user["id"], "address": "webhook_out:hook"}
        assert (await client.post("/api/v1/weblinks", json=machine)).status_code == 400
        unlinked = await client.post("/api/v1/weblinks", json={"web_user_id": user["id"], "address": ""})
        assert unlinked.json()["address"] == ""
        assert (await client.delete(f"/api/v1/webusers/{user['id']}")).status_code == 200
        assert (await client.get("/api/v1/weblinks", params={"web_user_id": user["id"]})).status_code == 404
        assert visit.channels["signal"].sent == []


async def test_erasing_a_person_removes_the_link_to_their_chat(tmp_path: Path) -> None:
    async with visited(tmp_path) as visit, page(visit) as client:
        await visit.knows()
        await visit.answer("hi", ANNA)
        await web_user(client, "Anna at home", f"telegram:{ANNA}")
        await visit.app.api.operations.erase("anna", preview=False)
        assert (await client.get("/api/v1/webusers")).json() == {"web_users": []}
