"""Outgoing webhooks: what is sent, and where it is never sent."""

import asyncio
import json
import re
import socket
import ssl
from dataclasses import replace
from datetime import UTC, datetime
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hob.channels.webhooks.channel import OutgoingWebhooks, body_of
from hob.channels.webhooks.http_client import addresses_of, is_public
from hob.channels.webhooks.settings import WebhookOutSettings, WebhooksOut
from hob.core.clock import SystemClock
from hob.core.errors import NotConfigured, SendFailed
from hob.core.events.webhooks import sign
from hob.core.ids import OutboxId, new_trace_id
from hob.core.messages import Address, Button, Outbound, OutboundAction, OutboundKind
from hob.core.settings import Secret
from tests.channels.receiving import DRIP, HANG, SECRET, receiving


def outbound(text: str = '{"a": "ü"}', to: str = "there") -> Outbound:
    return Outbound(OutboxId("wh_1"), Address("webhook_out", to), text, OutboundKind.NOTICE, None, new_trace_id())


def test_message_tool_sends_its_own_event_type() -> None:
    written = replace(outbound("Tea?"), kind=OutboundKind.REPLY, buttons=(Button("Yes", "y"),), about="m1")
    body = json.loads(body_of(written, datetime(2026, 11, 22, tzinfo=UTC)))
    assert body == {
        "id": "wh_1",
        "type": "message",
        "timestamp": "2026-11-22T00:00:00.000+00:00",
        "data": {
            "action": "send", "about": "m1", "text": "Tea?", "buttons": [{"label": "Yes", "answer": "y"}],
        },
    }  # fmt: skip
    assert body_of(outbound(), datetime.now(UTC)) == '{"a": "ü"}'


@pytest.mark.parametrize(
    ("message", "data"),
    [
        (
            replace(outbound("At 9."), action=OutboundAction.EDIT, about="wh_0"),
            {"action": "edit", "about": "wh_0", "text": "At 9."},
        ),
        (replace(outbound(""), action=OutboundAction.DELETE, about="wh_0"), {"action": "delete", "about": "wh_0"}),
        (
            replace(outbound("👍"), action=OutboundAction.REACT, about="wh_0"),
            {"action": "react", "about": "wh_0", "text": "👍"},
        ),
        (
            replace(outbound("Lunch?"), poll=("Soup", "Salad")),
            {"action": "send", "text": "Lunch?", "poll": ["Soup", "Salad"]},
        ),
    ],
)
def test_event_names_its_action_and_the_message_it_is_about(message: Outbound, data: dict[str, object]) -> None:
    body = body_of(replace(message, kind=OutboundKind.REPLY), datetime(2026, 11, 22, tzinfo=UTC))
    assert json.loads(body)["data"] == data


def channel_to(url: str, *, allow_private: bool = True, secret: Secret | None = None) -> OutgoingWebhooks:
    settings = WebhookOutSettings(url, secret or Secret.of(SECRET), allow_private=allow_private)
    return OutgoingWebhooks({"there": settings}, SystemClock())


async def refused(channel: OutgoingWebhooks, message: Outbound | None = None) -> SendFailed:
    try:
        with pytest.raises(SendFailed) as failed:
            await channel.send(message or outbound())
    finally:
        await channel.aclose()
    return failed.value


async def test_delivery_is_signed_with_an_id_and_unchanged_body() -> None:
    async with receiving() as receiver:
        channel = channel_to(receiver.url)
        assert (await channel.send(outbound())).receipt == "wh_1"
        await channel.aclose()
    (told,) = receiver.told
    assert told.line == "POST /hook?x=1 HTTP/1.1"
    assert (told.id, told.json, told.proven) == ("wh_1", {"a": "ü"}, True)
    assert told.headers["content-type"] == "application/json"
    assert receiver.url.startswith(f"http://{told.headers['host']}/")


@pytest.mark.parametrize(
    ("answer", "permanent", "retry_after"),
    [
        ("500 Oh", False, None),
        ("404 Not Found", False, None),
        ("410 Gone", True, None),
        ("429 Slow\r\nretry-after: 7", False, 7.0),
        ("503 Slow\r\nretry-after: 999999999", False, 3600.0),
        ("503 Slow\r\nretry-after: Fri, 31 Dec 1999 23:59:59 GMT", False, None),
    ],
)
async def test_non_success_status_is_a_failure(answer: str, permanent: bool, retry_after: float | None) -> None:
    async with receiving(answer) as receiver:
        failed = await refused(channel_to(receiver.url))
    assert (failed.permanent, failed.retry_after) == (permanent, retry_after)
    assert answer[:3] in str(failed)


@pytest.mark.parametrize("answer", [HANG, DRIP])
async def test_response_must_complete_within_the_timeout(answer: str) -> None:
    async with receiving(answer) as receiver:
        settings = WebhookOutSettings(receiver.url, Secret.of(SECRET), allow_private=True, seconds=1)
        failed = await refused(OutgoingWebhooks({"there": settings}, SystemClock()))
    assert not failed.permanent
    assert "within 1 s" in str(failed)


async def test_delivery_is_signed_with_every_secret() -> None:
    new = "another-secret-of-tests"
    async with receiving() as receiver:
        settings = WebhookOutSettings(receiver.url, Secret.of(SECRET), [Secret.of(new)], allow_private=True)
        channel = OutgoingWebhooks({"there": settings}, SystemClock())
        await channel.send(outbound())
        await channel.aclose()
    (told,) = receiver.told
    at = int(told.headers["webhook-timestamp"])
    assert told.headers["webhook-signature"].split() == [sign(each, told.id, at, told.body) for each in (SECRET, new)]


async def test_redirect_is_not_followed() -> None:
    async with receiving() as elsewhere, receiving(f"302 Found\r\nlocation: {elsewhere.url}") as receiver:
        failed = await refused(channel_to(receiver.url))
    assert "redirects are not followed" in str(failed)
    assert elsewhere.told == []


async def test_unreachable_receiver_is_a_failure() -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        failed = await refused(channel_to(f"http://127.0.0.1:{held.getsockname()[1]}/"))
    assert not failed.permanent
    assert "cannot be reached" in str(failed)


async def test_tls_receiver_must_show_a_certificate_for_its_name() -> None:
    names: list[str | None] = []
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(Path(__file__).parents[1] / "journeys" / "localhost.pem")
    context.sni_callback = lambda _, name, __: names.append(name)

    async def never(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    async with await asyncio.start_server(never, "127.0.0.1", 0, ssl=context) as server:
        port = server.sockets[0].getsockname()[1]
        failed = await refused(channel_to(f"https://localhost:{port}/"))
    assert "certificate" in str(failed).lower()
    assert names == ["localhost"]


async def test_removed_receiver_gets_nothing() -> None:
    failed = await refused(channel_to("http://127.0.0.1:9/"), outbound(to="other"))
    assert failed.permanent


async def test_missing_secret_is_reported() -> None:
    def missing() -> str:
        raise NotConfigured("the variable X is not set")

    failed = await refused(channel_to("http://127.0.0.1:9/", secret=Secret(missing)))
    assert "the variable X is not set" in str(failed)


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "[::1]", "0.0.0.0", "2130706433", "127.1", "169.254.169.254"]
)
async def test_private_addresses_are_not_called_unless_allowed(host: str) -> None:
    failed = await refused(channel_to(f"https://{host}:9/", allow_private=False))
    assert failed.permanent
    assert "allow_private" in str(failed)


async def test_temporarily_local_name_is_retried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A captive portal resolves every name to its own address."""

    async def getaddrinfo(host: str, port: int, **_: object) -> object:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("10.0.0.1", port))]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", getaddrinfo)
    failed = await refused(channel_to("https://desk.example.org/", allow_private=False))
    assert not failed.permanent
    assert "allow_private" in str(failed)


async def test_name_is_checked_once_and_called_at_the_checked_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hostile resolver: public first, then private."""
    answers = [["93.184.215.14", "10.0.0.1"], ["93.184.215.14"]]

    async def getaddrinfo(host: str, port: int, **_: object) -> object:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, port)) for each in answers.pop(0)]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", getaddrinfo)
    with pytest.raises(SendFailed, match=re.escape("10.0.0.1")):
        await addresses_of("rebind.example", 443, private=False)
    assert await addresses_of("rebind.example", 443, private=False) == ("93.184.215.14",)
    assert answers == []


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0",
        "224.0.0.1", "255.255.255.255", "198.18.0.1", "::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "ff02::1",
        "::ffff:10.0.0.1", "::ffff:127.0.0.1", "::127.0.0.1", "2002:7f00:1::", "64:ff9b::7f00:1", "64:ff9b::a00:1",
        "2001:0:4136:e378:8000:63bf:3fff:fdd2", "example.org", "",
        "192.0.0.192", "168.63.129.16", "::ffff:168.63.129.16", "192.88.99.1", "192.0.0.9", "fec0::1", "3fff::1",
        "2001:20::1", "2001:db8::1", "5f00::1", "100::1", "64:ff9b:1::1", "2606:2800:21f::1%eth0", "240.0.0.1",
    ],
)  # fmt: skip
def test_private_address_is_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["93.184.215.14", "2606:2800:21f::1", "::ffff:8.8.8.8", "64:ff9b::808:808"])
def test_public_address_is_public(address: str) -> None:
    assert is_public(address)


@given(st.ip_addresses(v=4) | st.ip_addresses(network="2000::/3"))
def test_no_address_is_public_that_python_calls_private(address: IPv4Address | IPv6Address) -> None:
    assert is_public(str(address)) <= (address.is_global and not address.is_multicast)


@given(st.ip_addresses(v=4))
def test_embedded_ipv4_address_is_public_only_if_public_itself(address: IPv4Address) -> None:
    number = int(address)
    wrapped = (0xFFFF << 32 | number, 0x2002 << 112 | number << 80, 0x0064FF9B << 96 | number)
    for each in wrapped:
        assert is_public(str(IPv6Address(each))) <= is_public(str(address))


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("", "not an address"),
        ("desk.example.org", "not an address"),
        ("ftp://desk.example.org/", "not an address"),
        ("https:///path", "not an address"),
        ("https://desk.example.org:99999/", "not an address"),
        ("https://desk.example.org/a b", "not an address"),
        ("https://me:pw@desk.example.org/", "user"),
        ("http://desk.example.org/", "plain http"),
    ],
)
def test_unusable_address_is_refused(url: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        WebhookOutSettings(url, Secret.of(SECRET))


def test_receiver_has_a_secret_and_a_name() -> None:
    with pytest.raises(ValueError, match="secret"):
        WebhookOutSettings("https://desk.example.org/")
    with pytest.raises(ValueError, match="invalid webhook name"):
        WebhooksOut({"a b": WebhookOutSettings("https://desk.example.org/", Secret.of(SECRET))})
