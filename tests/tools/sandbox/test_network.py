"""Commands reach the allowed hosts, by name, on the internet, and nothing else."""

import asyncio
import ssl
import struct
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial

import pytest

from hob.core.errors import NotConfigured
from hob.tools.sandbox.backends.bubblewrap import Bubblewrap
from hob.tools.sandbox.network.hosts import (
    HostDecision,
    HostRules,
    host_name,
    host_or_address,
    is_link_local,
    is_public_address,
)
from hob.tools.sandbox.network.proxy import Internet, NotTls, parse_request, server_name
from hob.tools.sandbox.network.request_heads import ProxyRefused
from hob.tools.sandbox.running_command import OutputCallbacks
from tests.tools.sandbox.conftest import Place

ALLOWED = "packages.example.org"


@dataclass
class Outside:
    """A server that acts as the internet for every name; records requests and the proxy's decisions."""

    place: Place
    port: int
    heard: list[bytes] = field(default_factory=list)
    decided: list[HostDecision] = field(default_factory=list)

    async def python(self, code: str, hosts: Sequence[str] = (ALLOWED,)) -> str:
        return await self.place.python(code, hosts=tuple(hosts))


@asynccontextmanager
async def opened(place: Place, address: str = "127.0.0.1", *, private: bool = False) -> AsyncIterator[Outside]:
    heard: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if data := await reader.read(65536):
            heard.append(data)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")
        await writer.drain()
        writer.close()

    async def resolve(_host: str, _port: int) -> list[str]:
        return [address]

    async with await asyncio.start_server(answer, "127.0.0.1") as server:
        port = server.sockets[0].getsockname()[1]
        backend = place.backend
        assert isinstance(backend, Bubblewrap)
        internet = Internet(resolve, is_public_address if private else lambda _: True, port, port)
        outside = Outside(place, port, heard)
        outside.place = replace(
            place,
            backend=replace(backend, internet=internet),
            callbacks=OutputCallbacks(network=outside.decided.append),
        )
        yield outside


def fetch(host: str, port: int) -> str:
    return f"""
import urllib.request, urllib.error
try: print(urllib.request.urlopen("http://{host}:{port}/x", timeout=10).read().decode())
except urllib.error.HTTPError as error: print(error.code, error.read().decode())
"""


async def test_allowed_host_is_reached(wrapped: Place) -> None:
    async with opened(wrapped) as outside:
        assert (await outside.python(fetch(ALLOWED, outside.port))).strip() == "hello"
        assert outside.heard[0].startswith(b"GET /x HTTP/1.1\r\n")
        assert outside.decided == [HostDecision(ALLOWED, outside.port, True, "allowed")]


async def test_other_host_is_not_reached(wrapped: Place) -> None:
    async with opened(wrapped) as outside:
        said = await outside.python(fetch("evil.example.org", outside.port))
        assert "403 Refused by the sandbox: evil.example.org is not among the allowed hosts." in said
        assert outside.heard == []
        assert [decision.allowed for decision in outside.decided] == [False]


async def test_name_resolving_to_this_machine_is_not_reached(wrapped: Place) -> None:
    async with opened(wrapped, private=True) as outside:
        assert "an address of this machine or its network" in await outside.python(fetch(ALLOWED, outside.port))
        assert outside.heard == []


async def test_only_two_ports_are_open(wrapped: Place) -> None:
    async with opened(wrapped) as outside:
        assert "only ports" in await outside.python(fetch(ALLOWED, 22))
        assert outside.heard == []


async def test_proxy_is_the_only_way_out(wrapped: Place) -> None:
    async with opened(wrapped) as outside:
        code = f"import socket; socket.create_connection(('127.0.0.1', {outside.port}), 3)"
        assert "refused" in await outside.python(code)
        assert outside.heard == []


@pytest.mark.parametrize(("name", "passes"), [(ALLOWED, True), ("evil.example.org", False)])
async def test_tunnel_only_reaches_its_own_host(wrapped: Place, name: str, passes: bool) -> None:
    async with opened(wrapped) as outside:
        await outside.python(f"""
import socket, ssl
way = socket.create_connection(("127.0.0.1", 3128))
way.sendall(b"CONNECT {ALLOWED}:{outside.port} HTTP/1.1\\r\\n\\r\\n")
print(way.recv(1000))
context = ssl.create_default_context()
try: context.wrap_socket(way, server_hostname="{name}")
except OSError: pass
""")
        assert bool(outside.heard) is passes
        assert outside.decided[-1].allowed is passes


async def test_only_tls_passes_through_a_tunnel(wrapped: Place) -> None:
    async with opened(wrapped) as outside:
        await outside.python(f"""
import socket
way = socket.create_connection(("127.0.0.1", 3128))
way.sendall(b"CONNECT {ALLOWED}:{outside.port} HTTP/1.1\\r\\n\\r\\n")
way.recv(1000)
way.sendall(b"SSH-2.0-secret\\r\\n")
way.recv(1000)
""")
        assert outside.heard == []
        assert outside.decided[-1].reason == "only TLS goes through a tunnel"


@pytest.mark.parametrize(
    ("rule", "host", "allowed"),
    [
        ("example.org", "example.org", True),
        ("example.org", "www.example.org", False),
        ("*.example.org", "a.b.example.org", True),
        ("*.example.org", "example.org", False),
        ("*.example.org", "badexample.org", False),
        ("group:pypi", "files.pythonhosted.org", True),
        ("group:packages", "registry.npmjs.org", True),
        ("group:packages", "github.com", False),
    ],
)
def test_host_rules_match_as_documented(rule: str, host: str, allowed: bool) -> None:
    assert HostRules([rule]).allow(host) is allowed


@pytest.mark.parametrize(
    "rule", ["*", "*.org", "10.0.0.1", "http://example.org", "group:no", "", "ex*mple.org", "[::1]"]
)
def test_malformed_rule_is_refused(rule: str) -> None:
    with pytest.raises(NotConfigured):
        HostRules([rule])


@pytest.mark.parametrize("rule", ["10.0.0.1", "fe80::1", "::1"])
def test_address_rule_is_accepted_if_enabled_and_matches_only_itself(rule: str) -> None:
    rules = HostRules(["wiki.home.arpa", f"[{rule}]" if ":" in rule else rule], addresses=True)
    assert rules.allow(rule)
    assert not rules.allow("10.0.0.2")


@pytest.mark.parametrize("rule", ["010.0.0.1", "2130706433", "0x7f.1", "10.0.0.0/8", "*.0.0.1", "::1", "[10.0.0.1]"])
def test_address_in_an_unusual_form_is_refused(rule: str) -> None:
    with pytest.raises(NotConfigured, match=r"192\.168\.1\.20"):
        HostRules([rule], addresses=True)


@pytest.mark.parametrize(
    ("address", "link"),
    [("169.254.169.254", True), ("::ffff:169.254.169.254", True), ("fe80::1%eth0", True), ("10.0.0.1", False)],
)
def test_link_local_address_is_recognised_in_every_form(address: str, link: bool) -> None:
    assert is_link_local(address) is link


def test_request_to_an_address_is_parsed_if_addresses_are_enabled() -> None:
    read = partial(parse_request, read_host=host_or_address)
    request = read(b"GET http://[::1]:8080/x HTTP/1.1\r\n\r\n")
    assert (request.host, request.port) == ("::1", 8080)
    assert b"Host: [::1]:8080\r\n" in request.head
    assert read(b"GET http://[::1]/ HTTP/1.1\r\n\r\n").port == 80
    assert read(b"CONNECT 10.0.0.1:443 HTTP/1.1\r\n\r\n").host == "10.0.0.1"
    with pytest.raises(ProxyRefused):
        read(b"CONNECT 010.0.0.1:443 HTTP/1.1\r\n\r\n")


@pytest.mark.parametrize(
    "text", ["127.0.0.1", "2130706433", "0x7f000001", "0x7f.1", "127.1", "[::1]", "::1", "a b", "a..b", "-", "x" * 300]
)
def test_addresses_and_invalid_text_are_not_host_names(text: str) -> None:
    assert host_name(text) == ""


def test_host_names_are_normalised() -> None:
    assert host_name("WWW.Example.org.") == "www.example.org"
    assert host_name("bücher.example") == "xn--bcher-kva.example"


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0"),
        *(
            "224.0.0.1",
            "255.255.255.255",
            "168.63.129.16",
            "::1",
            "::",
            "fe80::1",
            "fe80::1%eth0",
            "fc00::1",
            "ff02::1",
        ),
        *(
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "fd00:ec2::254",
            "nonsense",
        ),
    ],
)
def test_private_addresses_are_never_reached(address: str) -> None:
    assert not is_public_address(address)


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:4700::1111", "::ffff:93.184.216.34"])
def test_public_addresses_are_reached(address: str) -> None:
    assert is_public_address(address)


@pytest.mark.parametrize(
    "head",
    [
        "GET / HTTP/1.1\r\nHost: a.org",
        "GET https://a.org/ HTTP/1.1",
        "GET http://a.org/ HTTP/2",
        "GET  http://a.org/ HTTP/1.1",
        "CONNECT a.org HTTP/1.1",
        "CONNECT 127.0.0.1:443 HTTP/1.1",
        "CONNECT a.org:99999 HTTP/1.1",
        "CONNECT a.org:²² HTTP/1.1",
        "GET http://me@a.org/ HTTP/1.1",
        "POST http://a.org/ HTTP/1.1\r\nTransfer-Encoding: chunked",
        "POST http://a.org/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2",
        "POST http://a.org/ HTTP/1.1\r\nContent-Length: +1",
        "GET http://a.org/ HTTP/1.1\r\nX : y",
        "GET http://a.org/ HTTP/1.1\r\n folded",
        "GET http://a.org/ HTTP/1.1\r\nX: y\nHost: b.org",
        "GET http://a.org/\x00 HTTP/1.1\r\nX: \x00",
    ],
)
def test_ambiguous_request_is_refused(head: str) -> None:
    with pytest.raises(ProxyRefused):
        parse_request(f"{head}\r\n\r\n".encode())


def test_request_host_is_that_of_its_url() -> None:
    request = parse_request(b"GET http://a.org/x?y HTTP/1.1\r\nHost: b.org\r\nAccept: z\r\nProxy-Connection: q\r\n\r\n")
    assert (request.host, request.port) == ("a.org", 80)
    assert request.head == b"GET /x?y HTTP/1.1\r\nHost: a.org\r\nAccept: z\r\nConnection: close\r\n\r\n"


def hello(name: str | None) -> bytes:
    """Return the first bytes of a real client."""
    into, out = ssl.MemoryBIO(), ssl.MemoryBIO()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    with pytest.raises(ssl.SSLWantReadError):
        context.wrap_bio(into, out, server_hostname=name).do_handshake()
    return out.read()


def test_server_name_is_read_from_the_client_hello() -> None:
    assert server_name(hello("www.example.org")) == "www.example.org"
    assert server_name(hello(None)) == ""


def test_split_client_hello_is_assembled() -> None:
    whole = hello("www.example.org")
    assert {server_name(whole[:end]) for end in range(len(whole))} == {None}
    body = whole[5:]
    records = b"".join(b"\x16\x03\x01" + struct.pack("!H", 1) + body[at : at + 1] for at in range(len(body)))
    assert server_name(records) == "www.example.org"


@pytest.mark.parametrize(
    "data", [b"GET / HTTP/1.1", b"SSH-2.0-x", b"\x15\x03\x01\x00\x02\x02\x28", b"\x16\x03\x01\x00\x01\x02"]
)
def test_malformed_client_hello_is_rejected_at_once(data: bytes) -> None:
    with pytest.raises(NotTls):
        server_name(data)
