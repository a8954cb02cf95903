"""`/ws`: authentication, messages, limits, and close codes."""

import asyncio
import contextlib
import json
import logging
import socket
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from hob.core.ids import SessionKey, new_event_id
from hob.core.trust.labels import SenderClass
from hob.gateway.auth.callers import TokenScope
from hob.gateway.auth.lockout import MAX_TRIES
from hob.gateway.auth.tokens import TokenFile
from hob.gateway.live import connected, connection, frames, table
from hob.gateway.live.connection import BURST
from hob.gateway.live.table import CLOSES, KINDS
from hob.testing.channel import message
from hob.testing.model import Silence
from tests.gateway.conftest import TOKEN, Machine, machine
from tests.gateway.lively import BEARER, reached
from tests.samples import event_of

OWNER, MEMBER, STRANGER = SenderClass
CHAT, READ, VIEW, METRICS, APPROVE, ADMIN = TokenScope


def token(hob: Machine, name: str, *scopes: TokenScope, cls: SenderClass = OWNER) -> str:
    return TokenFile(hob.app.home, hob.app.api.clock).add(name, frozenset(scopes), cls, None)


async def test_token_is_accepted_in_the_header_or_in_the_first_message(hob: Machine) -> None:
    async with reached(hob) as at:
        async with at.raw(BEARER) as client:
            welcome = await client.next()
        async with at.raw() as client:
            assert await client.ask("hello", "welcome", token=TOKEN) == welcome
    assert (welcome["who"], welcome["sender_class"]) == ("api:owner", "owner")
    assert welcome["scopes"] == ["admin", "approve", "chat", "metrics", "read", "view"]


async def test_token_in_the_url_is_refused_with_a_hint(hob: Machine) -> None:
    async with reached(hob) as at:
        for path in (f"/ws?token={TOKEN}", "/ws?access_token=x", "/ws?x"):
            status, body = await at.refused(path=path)
            assert (status, body["error"]["code"]) == (400, "invalid_request")
            assert "Authorization: Bearer" in body["error"]["message"]


async def test_wrong_header_is_answered_as_over_http(hob: Machine, caplog: pytest.LogCaptureFixture) -> None:
    async with reached(hob) as at:
        for header in ("Bearer wrong", "Basic " + TOKEN, "Bearer"):
            status, body = await at.refused({"authorization": header})
            assert (status, body["error"]["code"]) == (401, "unauthorized")
    assert "ERROR" not in caplog.text


@pytest.mark.parametrize(
    "first",
    [
        '{"type": "hello", "token": "wrong"}',
        '{"type": "ping"}',
        '{"type": "hello"}',
        "[]",
        "x",
        '{"type": "hello", "token": 5}',
    ],
)
async def test_connection_without_a_valid_hello_is_closed_with_a_reason(hob: Machine, first: str) -> None:
    async with reached(hob) as at, at.raw() as client:
        await client.wire.send(first)
        assert (await client.next())["error"]["message"]
        assert (await client.end())[0] == 4401
    assert hob.app.api.connected.view() == []


async def test_silent_connection_is_closed(hob: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "HELLO_SECONDS", 0.05)
    async with reached(hob) as at, at.raw() as client:
        assert (await client.end())[0] == 4408


async def test_token_guessing_is_locked_out_without_affecting_connected_clients(hob: Machine) -> None:
    async with reached(hob) as at:
        async with at.client():
            pass
        for number in range(MAX_TRIES):
            async with at.raw() as client:
                await client.say("hello", token=f"wrong-{number}")
                assert (await client.end())[0] == 4401
        async with at.raw() as client:
            assert (await client.ask("hello", token="wrong"))["error"]["code"] == "too_many_attempts"
            assert (await client.end())[0] == 4429
        assert (await at.refused({"authorization": "Bearer wrong"}))[0] == 429
        async with at.client():
            pass


async def test_only_allowed_origins_may_connect(tmp_path: Path) -> None:
    async with machine(tmp_path, HOB_GATEWAY_CORS_ORIGINS='["https://ours.example"]') as hob, reached(hob) as at:
        for origin in ("https://evil.example", "null", f"https://127.0.0.1:{at.port}"):
            status, body = await at.refused({**BEARER, "origin": origin})
            assert (status, body["error"]["code"]) == (403, "wrong_origin")
        for origin in ("https://ours.example", f"http://127.0.0.1:{at.port}"):
            async with at.raw({**BEARER, "origin": origin}) as client:
                assert (await client.next())["type"] == "welcome"
        status, body = await replace(at, name="rebound.example").refused(BEARER)
        assert (status, body["error"]["code"]) == (421, "wrong_host")


async def test_streamed_answer_ends_with_the_same_result_as_over_http(hob: Machine) -> None:
    async with reached(hob) as at, at.client() as client:
        await client.say("send", ref="a", key="k1", message="hi there")
        said = await client.until("result")
        assert {each["ref"] for each in said} == {"a"}
        assert len({each["id"] for each in said}) == 1
        assert "".join(each["text"] for each in said if each["type"] == "delta") == said[-1]["reply"]
        told = {name: value for name, value in said[-1].items() if name not in {"type", "ref"}}
        assert (await hob.tcp.get(f"/chat/{told['id']}")).json() == told


async def test_same_key_joins_the_same_message(hob: Machine) -> None:
    async with reached(hob) as at, at.client() as client:
        first = await client.ask("send", "result", key="k1", message="hi")
        again = await client.ask("send", "result", key="k1", message="hi")
    assert first == again
    assert len(hob.model.requests) == 1


async def test_turn_is_stopped_while_its_message_is_followed(tmp_path: Path) -> None:
    async with machine(tmp_path, Silence()) as hob, reached(hob) as at, at.client() as client:
        id = (await client.ask("send", "accepted", key="k1", message="hi"))["id"]
        await client.say("stop", ref="s", id=id)
        said = await client.until("result")
        assert said[-1]["state"] == "cancelled"
        assert [each["stopped"] for each in said if each["type"] == "stopped"] == [True]
        assert await client.ask("stop", "stopped", id=id) == {"type": "stopped", "id": id, "stopped": False}


async def test_earlier_message_is_followed_from_another_connection(tmp_path: Path) -> None:
    async with machine(tmp_path, Silence()) as hob, reached(hob) as at, at.client() as one, at.client() as other:
        id = (await one.ask("send", "accepted", key="k1", message="hi"))["id"]
        await other.say("follow", id=id)
        await one.say("stop", id=id)
        assert (await other.last("result"))["state"] == (await one.last("result"))["state"] == "cancelled"


async def test_events_arrive_in_order_exactly_once_and_resume_from_a_cursor(hob: Machine) -> None:
    async with reached(hob) as at:
        for n in range(3):
            await hob.tcp.post("/chat", json={"message": f"m{n}"})
        async with at.client() as client:
            await client.say("subscribe", after=0)
            whole = [each for each in await client.until("caught_up") if each["type"] == "event"]
        cursors = [each["cursor"] for each in whole]
        assert cursors == sorted(set(cursors))
        for half in (1, len(cursors) // 2, len(cursors) - 1):
            async with at.client() as client:
                await client.say("subscribe", after=cursors[half - 1])
                rest = [each for each in await client.until("caught_up") if each["type"] == "event"]
            assert whole[:half] + rest == whole
    assert [each["event"] for each in whole] == (await hob.tcp.get("/timeline?limit=1000")).json()["events"]


async def test_subscription_without_a_cursor_gets_only_new_matching_events(hob: Machine) -> None:
    await hob.tcp.post("/chat", json={"message": "before"})
    async with reached(hob) as at, at.client() as client:
        await client.say("subscribe", sessions=["api:tea"], kinds=["inbound"])
        await client.last("caught_up")
        await hob.tcp.post("/chat", json={"message": "elsewhere"})
        await hob.tcp.post("/chat", json={"message": "now", "session": "tea"})
        assert (await client.next())["event"]["text"] == "now"
        await client.say("subscribe", ref="2", kinds=["turn"])
        await hob.tcp.post("/chat", json={"message": "more", "session": "tea"})
        assert {each["ref"] for each in await client.until("event")} == {"2"}


async def test_future_cursor_is_refused(hob: Machine) -> None:
    async with reached(hob) as at, at.client() as client:
        assert (await client.ask("subscribe", after=10**6))["error"]["code"] == "not_found"
        assert (await client.ask("ping", "pong", ref="x")) == {"type": "pong", "ref": "x"}


async def test_slow_reader_is_closed_with_a_cursor_to_resume_from(
    hob: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "SLOW_SECONDS", 0.2)
    long = replace(event_of(message("hello")), session=SessionKey("api:main"), text="x" * 100_000)
    await hob.app.store.timeline.add([replace(long, id=new_event_id()) for _ in range(200)])
    async with reached(hob) as at:
        async with at.client(max_queue=1) as client:
            await client.say("subscribe", after=0)
            async with asyncio.timeout(10):
                while hob.app.api.connected.view():  # noqa: ASYNC110 - nobody tells
                    await asyncio.sleep(0.01)
            seen, (code, reason) = await client.rest()
        cursors = [each["cursor"] for each in seen if each["type"] == "event"]
        assert (code, reason.split("=")[1]) == (4000, str(cursors[-1]))
        assert cursors == list(range(1, len(cursors) + 1))
        assert len(cursors) < 200
        monkeypatch.setattr(connection, "SLOW_SECONDS", 10.0)
        async with at.client() as client:
            await client.say("subscribe", after=cursors[-1])
            rest = [each["cursor"] for each in await client.until("caught_up") if each["type"] == "event"]
        assert cursors + rest == list(range(1, 201))


async def test_token_is_limited_to_its_scopes(hob: Machine) -> None:
    allowed = {
        CHAT: {"send", "follow", "stop"},
        READ: {"subscribe", "approvals"},
        VIEW: {"subscribe"},
        APPROVE: {"answer"},
        ADMIN: {kind.name for kind in KINDS},
    }
    fields: dict[str, dict[str, Any]] = {
        "send": {"key": "k", "message": "hi"},
        "answer": {"approval": "a_x", "allowed": True},
        "canvas": {},
        "canvas_answer": {"ask": "q_x", "text": "x"},
    }
    async with reached(hob) as at:
        for scope, may in allowed.items():
            async with at.client(token(hob, scope.value, scope)) as client:
                for kind in KINDS:
                    if kind.scope is None:
                        continue
                    asked = {"ref": kind.name, **fields.get(kind.name, {"id": "m_x"} if CHAT is kind.scope else {})}
                    await client.say(kind.name, **asked)
                    said = await client.next()
                    while said["ref"] != kind.name:
                        said = await client.next()
                    missing = said["type"] == "error" and said["error"]["code"] == "missing_scope"
                    assert missing is (kind.name not in may), said


async def test_viewer_gets_events_without_message_content(hob: Machine) -> None:
    (await hob.tcp.post("/chat", json={"message": "a secret word"})).raise_for_status()
    async with reached(hob) as at:
        for scope, shown in ((READ, True), (VIEW, False)):
            async with at.client(token(hob, scope.value, scope)) as client:
                await client.say("subscribe", after=0)
                told = [each for each in await client.until("caught_up") if each["type"] == "event"]
                assert {each["event"]["kind"] for each in told} >= {"inbound", "outbound"}
                assert ("a secret word" in str(told)) is shown


async def test_member_client_sees_only_its_own_conversations(hob: Machine) -> None:
    theirs = (await hob.tcp.post("/chat", json={"message": "the owner's"})).json()["id"]
    async with reached(hob) as at, at.client(token(hob, "anna", CHAT, cls=MEMBER)) as client:
        own = await client.ask("send", "result", key="k1", message="hi")
        assert own["session"] == "api:@anna"
        for kind in ("follow", "stop"):
            assert (await client.ask(kind, "result", id=theirs))["error"]["code"] == "not_found"
        assert (await client.ask("follow", "result", id=own["id"]))["reply"] == own["reply"]
        assert (await client.ask("send", "result", key="k", message="x", session="api:main"))["error"]["code"] == (
            "not_allowed"
        )
    assert hob.model.requests[-1].messages[-1].text != "the owner's"


async def test_revoked_token_receives_nothing_more(hob: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "RECHECK_SECONDS", 0.05)
    made, file = token(hob, "phone", READ), TokenFile(hob.app.home, hob.app.api.clock)
    async with reached(hob) as at:
        async with at.client(made) as client:
            await client.ask("subscribe", "caught_up")
            file.revoke("phone")
            await hob.tcp.post("/chat", json={"message": "hi"})
            assert (await client.end())[0] == 4401
        made = token(hob, "phone", READ)
        async with at.client(made) as client:
            file.revoke("phone")
            assert (await client.end())[0] == 4401  # silent in both directions meanwhile


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[" * 100_000, "within each other"),
        ('{"type": "ping", "x": ' + "[" * 100 + "]" * 100 + "}", "within each other"),
        ("5", "an object"),
        ("{}", "type must be one of"),
        ('{"type": ["ping"]}', "type must be one of"),
        ('{"type": "ping", "ref": ""}', "ref must"),
        ('{"type": "ping", "x": 1}', "unknown field"),
        ('{"type": "send", "message": "hi"}', "key is missing"),
        ('{"type": "send", "key": "k", "message": "\\ud800"}', "UTF-8"),
        ('{"type": "subscribe", "after": -1}', "after must be"),
        ('{"type": "subscribe", "kinds": ["nothing"]}', "kinds[0] must be one of"),
        ('{"type": "hello", "token": "x"}', "hello comes first"),
    ],
)
async def test_invalid_message_is_answered_with_an_error_on_an_open_connection(
    hob: Machine, text: str, complaint: str
) -> None:
    async with reached(hob) as at, at.client() as client:
        await client.wire.send(text)
        error = (await client.next())["error"]
        assert error["code"] == "invalid_request"
        assert complaint in error["message"]
        assert (await client.ask("ping", "pong"))["type"] == "pong"


async def test_binary_large_or_too_frequent_messages_end_the_connection(hob: Machine) -> None:
    async with reached(hob, message_bytes=5_000) as at:
        async with at.client() as client:
            await client.wire.send(b'{"type": "ping"}')
            assert (await client.end())[0] == 1003
        async with at.client() as client:
            await client.say("ping", ref="x" * 5_000)
            assert (await client.end())[0] == 1009
        async with at.client() as client:
            for _ in range(BURST + 5):
                await client.say("ping")
            assert (await client.end())[0] == 4429
        async with at.raw() as client:  # less is read before authentication
            await client.say("hello", token="x" * frames.MAX_UNAUTHENTICATED_BYTES)
            assert (await client.end())[0] == 1009


async def test_message_in_endless_fragments_ends_the_connection(hob: Machine) -> None:
    async with reached(hob) as at, at.client() as client:

        async def pieces() -> AsyncIterator[str]:
            for _ in range(frames.MAX_PIECES + 10):
                yield ""

        with contextlib.suppress(ConnectionClosed):
            await client.wire.send(pieces())
        assert (await client.end())[0] == 1008


async def test_client_that_floods_pings_without_reading_is_no_longer_read(hob: Machine) -> None:
    async with reached(hob) as at:
        with socket.create_connection(("127.0.0.1", at.port)) as wire:
            wire.setblocking(False)
            loop = asyncio.get_running_loop()
            key = b"sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
            head = b"GET /ws HTTP/1.1\r\nhost: localhost\r\nupgrade: websocket\r\nconnection: upgrade\r\n"
            await loop.sock_sendall(wire, head + key + b"\r\n")
            assert (await loop.sock_recv(wire, 1_000)).startswith(b"HTTP/1.1 101")
            ping, sent = b"\x89\xfd" + bytes(4) + bytes(125), 0
            with contextlib.suppress(TimeoutError):
                while sent < 1_000:  # more than the buffers of both kernels hold
                    async with asyncio.timeout(1):
                        await loop.sock_sendall(wire, ping * 1_000)
                    sent += 1
            assert sent < 1_000


async def test_connections_beyond_the_limit_are_told_to_retry(hob: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connected, "MAX_CONNECTED", 2)
    async with reached(hob) as at, at.raw(), at.client():
        status, body = await at.refused(BEARER)
        assert (status, body["error"]["code"]) == (503, "too_many_connections")


async def test_clients_without_a_token_cannot_keep_out_one_that_shows_it_in_its_first_message(hob: Machine) -> None:
    async with contextlib.AsyncExitStack() as stack:
        at = await stack.enter_async_context(reached(hob))
        silent = [await stack.enter_async_context(at.raw()) for _ in range(connected.MAX_UNAUTHENTICATED)]
        page = await stack.enter_async_context(at.raw())
        assert (await page.ask("hello", "welcome", token=TOKEN))["who"] == "api:owner"
        assert (await silent[0].end())[0] == 4408
        assert (await silent[1].ask("hello", "welcome", token=TOKEN))["who"] == "api:owner"


def test_address_with_most_clients_without_a_token_makes_room() -> None:
    ended: list[str] = []
    with contextlib.ExitStack() as stack:
        clients, many = connected.OpenConnections(), connected.MAX_UNAUTHENTICATED - 1
        for address in ("page", *["flood"] * many, "flood", "page"):
            client = connected.LiveClient(address, 0.0, leave=lambda address=address: ended.append(address))  # type: ignore[misc]
            stack.enter_context(clients.enter(client))
    assert ended == ["flood", "flood"]


async def test_owner_sees_open_connections(hob: Machine) -> None:
    async with reached(hob) as at, at.raw(), at.client(token(hob, "phone", CHAT)):
        status = (await hob.unix.get("/status")).json()
        assert [(each["who"], each["address"]) for each in status["connected"]] == [("api:phone", "127.0.0.1")]
    assert (await hob.unix.get("/status")).json()["connected"] == []


async def test_secrets_are_masked_in_all_messages(hob: Machine) -> None:
    async with reached(hob) as at, at.client() as client:
        await client.say("subscribe")
        await client.say("send", key="k", message=f"my token is {TOKEN}")
        said = await client.until("result")
        assert TOKEN not in json.dumps(said)
        assert "my token is" in json.dumps(said)


async def test_listener_shutdown_closes_with_the_restart_code(hob: Machine, caplog: pytest.LogCaptureFixture) -> None:
    async with contextlib.AsyncExitStack() as stack:
        async with reached(hob) as at:
            known, unknown = await stack.enter_async_context(at.client()), await stack.enter_async_context(at.raw())
            await known.ask("subscribe", "caught_up")
        assert [(await each.end())[0] for each in (known, unknown)] == [1012, 1012]
    assert [row for row in caplog.records if row.levelno >= logging.ERROR] == []


async def test_http_on_this_path_and_websockets_on_others_are_refused(hob: Machine) -> None:
    async with reached(hob) as at:
        response = await hob.tcp.get("/ws", headers={"authorization": ""})
        assert (response.status_code, "Upgrade" in response.json()["error"]["message"]) == (400, True)
        assert (await at.refused(BEARER, path="/chat"))[0] == 403


def test_every_close_code_has_a_sentence() -> None:
    ends = {
        value for name, value in vars(table).items() if name[0] != "_" and name.isupper() and isinstance(value, int)
    }
    assert ends <= CLOSES.keys()


async def test_unknown_model_or_conversation_is_refused_by_name(hob: Machine) -> None:
    async with reached(hob) as at, at.client(token(hob, "anna", CHAT, cls=MEMBER)) as client:
        refused = await client.ask("send", "result", key="k1", message="x", model="scripted")
        assert refused["error"]["code"] == "not_allowed"
    async with reached(hob) as at, at.client() as client:
        refused = await client.ask("send", "result", key="k2", message="x", session="nochan:foo")
        assert refused["error"]["code"] == "invalid_request"
    assert hob.model.requests == []


async def test_follower_of_one_conversation_gets_the_overall_cursor(hob: Machine) -> None:
    await hob.tcp.post("/chat", json={"message": "hi", "session": "work"})
    newest = await hob.app.store.timeline.newest()
    async with reached(hob) as at, at.client() as client:
        said = await client.ask("subscribe", "caught_up", sessions=["api:elsewhere"], after=0)
    assert said["cursor"] == newest > 0
