"""What ER1 recorded enters memory: all of it, once, as nobody's word."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from hob.app.memory.er1 import Er1Sync
from hob.app.running_app import RunningServices
from hob.core.clock import SystemClock
from hob.core.memory import Layer, MemoryItem, Scope
from hob.core.settings import Secret
from hob.core.trust.labels import Trust
from hob.memory.er1.client import Er1Client
from hob.memory.er1.settings import Er1Settings
from hob.memory.json_answer import SourceFailed
from hob.store.settings import StoreSettings
from hob.store.store import Store, open_store
from hob.testing.clock import ManualClock
from tests.tools.web.server import WebServer, reply, web_server

OWNER = Scope("owner")
FIRST = datetime(2026, 5, 1, 9, 0, tzinfo=UTC)


def recording(n: int, **more: Any) -> dict[str, Any]:
    """The n-th, an hour after the one before."""
    return {
        "id": f"m{n}", "type": "audio", "transcript": f"Recording {n}: the shed needs a new roof.",
        "transcript_status": "processed", "created_at": (FIRST + timedelta(hours=n)).isoformat(), "tags": ["garden"],
        "location_lat": 52.520008, "location_lon": 13.404954, "description": "", **more,
    }  # fmt: skip


class Er1Server(WebServer):
    """ER1 as its clients know it: the newest recordings first, never more than the limit."""

    def __init__(self, recordings: Sequence[dict[str, Any]] = ()) -> None:
        super().__init__()
        self.recordings = list(recordings)
        self.key = "er1-key"
        self.pages = {"*": self.reply_to}

    async def reply_to(self, head: str, writer: asyncio.StreamWriter) -> None:
        method, target, _ = head.split(" ", 2)
        url = urlsplit(target)
        if f"x-api-key: {self.key}" not in head.lower():
            answer: Any = {"error": "forbidden"}
            writer.write(reply(json.dumps(answer).encode(), "application/json", "403 Forbidden"))
            return
        if (method, url.path) == ("POST", "/user/access"):
            answer = {"ctx_id": f"ctx-{json.loads(self.bodies[-1])['uid']}", "tier": "free"}
        else:
            assert url.path == "/memory/ctx-ada"
            query = parse_qs(url.query)
            since = datetime.fromisoformat(query.get("startDate", ["2000-01-01T00:00:00+00:00"])[0])
            later = [each for each in self.recordings if datetime.fromisoformat(each["created_at"]) >= since]
            answer = {"memories": later[::-1][: int(query["limit"][0])]}
        writer.write(reply(json.dumps(answer).encode(), "application/json"))


@asynccontextmanager
async def synced(
    home: Path, server: Er1Server, key: str = "er1-key"
) -> AsyncIterator[tuple[Store, Er1Sync, Er1Client]]:
    settings = Er1Settings(f"http://127.0.0.1:{server.port}/", Secret.of(key), "ada")
    async with open_store(home, StoreSettings(), SystemClock()) as store:
        yield store, Er1Sync(settings, store, SystemClock()), Er1Client(settings)


async def kept(store: Store) -> list[MemoryItem]:
    return await store.items.of(OWNER).select("i.layer = 'er1'")


async def test_every_recording_is_stored_once_across_pages_and_restarts(tmp_path: Path) -> None:
    async with web_server(Er1Server([recording(n) for n in range(130)])) as server:
        async with synced(tmp_path, server) as (store, sync, client):
            assert await sync.sync(client) == 130
            first = (await kept(store))[-1]
            assert first.text == ("Tags: garden\nLocation: 52.5200, 13.4050\nRecording 0: the shed needs a new roof.")
            assert (first.source, first.layer, first.label.trust) == ("er1:m0", Layer.ER1, Trust.UNTRUSTED)
            assert first.at == FIRST.timestamp()
        server.recordings.append(recording(130))
        async with synced(tmp_path, server) as (store, sync, client):
            assert await sync.sync(client) == 1
            assert len(await kept(store)) == 131
            assert sync.view()["connected"] is True


async def test_recording_transcribed_later_or_again_is_updated(tmp_path: Path) -> None:
    pending = recording(0, transcript_status="pending")
    async with web_server(Er1Server([pending, recording(1)])) as server, synced(tmp_path, server) as (
        store, sync, client,
    ):  # fmt: skip
        assert await sync.sync(client) == 1
        server.recordings[0] = recording(0)
        assert await sync.sync(client) == 1
        server.recordings[0] = recording(0, transcript="Recording 0: the shed needs a new door.")
        assert await sync.sync(client) == 1
        assert [item.text.splitlines()[-1] for item in await kept(store)] == [
            "Recording 1: the shed needs a new roof.", "Recording 0: the shed needs a new door.",
        ]  # fmt: skip


async def test_forgotten_recording_does_not_come_back(tmp_path: Path) -> None:
    async with web_server(Er1Server([recording(0), recording(1)])) as server, synced(tmp_path, server) as (
        store, sync, client,
    ):  # fmt: skip
        await sync.sync(client)
        await store.erasure.erase_items([(await kept(store))[0].id], "test")
        assert await sync.sync(client) == 0
        assert [item.source for item in await kept(store)] == ["er1:m0"]


async def test_recording_with_a_date_in_the_future_does_not_hide_later_ones(tmp_path: Path) -> None:
    ahead = recording(0, created_at="2999-01-01T00:00:00+00:00")
    async with web_server(Er1Server([ahead, recording(1)])) as server, synced(tmp_path, server) as (
        store, sync, client,
    ):  # fmt: skip
        await sync.sync(client)
        server.recordings.append(recording(2))
        assert await sync.sync(client) == 1
        assert len(await kept(store)) == 3


async def test_refused_key_is_reported_with_a_hint_and_retried(tmp_path: Path) -> None:
    async with web_server(Er1Server([recording(0)])) as server, synced(tmp_path, server, "wrong") as (_, sync, client):
        with pytest.raises(SourceFailed, match=r"check er1\.api_key"):
            await sync.sync(client)
        assert sync.view()["connected"] is False
        server.key = "wrong"
        assert await sync.sync(client) == 1


@pytest.mark.parametrize("body", [b"", b"[]", b"<html>", b"[" * 100_000, b'{"memories": 3}', b'{"memories": [3, {}]}'])
async def test_invalid_response_is_reported_in_one_line_and_stores_nothing(tmp_path: Path, body: bytes) -> None:
    async with web_server(Er1Server()) as server, synced(tmp_path, server) as (store, sync, client):
        server.pages = {"/user/access": reply(b'{"ctx_id": "ada"}'), "*": reply(body)}
        if body.startswith(b"{"):
            assert await sync.sync(client) == 0
        else:
            with pytest.raises(SourceFailed, match=r"check er1\.url"):
                await sync.sync(client)
        assert await kept(store) == []


@pytest.mark.parametrize("at", ["", "yesterday", "9999999-01-01", 5, None])
async def test_recording_without_a_time_is_passed_over(tmp_path: Path, at: Any) -> None:
    broken = {**recording(1), "created_at": at}
    async with web_server(Er1Server()) as server, synced(tmp_path, server) as (_, sync, client):
        page = json.dumps({"memories": [recording(0), broken]}).encode()
        server.pages = {"/user/access": reply(b'{"ctx_id": "ada"}'), "*": reply(page)}
        assert await sync.sync(client) == 1


class Pauses(ManualClock):
    """A clock that records pauses instead of waiting; `then` is called before each."""

    def __init__(self, then: Callable[[int], None]) -> None:
        super().__init__()
        self.pauses = list[float]()
        self._then = then

    async def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self._then(len(self.pauses))


async def test_failing_server_is_asked_ever_more_rarely_and_at_the_usual_rate_once_it_answers(tmp_path: Path) -> None:
    async with web_server(Er1Server([recording(0)])) as server, synced(tmp_path, server) as (store, _, _):

        def then(pauses: int) -> None:
            server.key = "another" if pauses < 7 else "er1-key"
            if pauses == 9:
                raise asyncio.CancelledError

        clock = Pauses(then)
        settings = Er1Settings(f"http://127.0.0.1:{server.port}/", Secret.of("er1-key"), "ada")
        sync = Er1Sync(settings, store, clock)
        with pytest.raises(asyncio.CancelledError):
            await sync.run(object.__new__(RunningServices))
        assert clock.pauses == [300, 600, 1_200, 2_400, 3_600, 3_600, 3_600, 300, 300]
        assert (sync.view()["connected"], sync.view()["problem"]) == (True, "")
        assert len(await kept(store)) == 1
