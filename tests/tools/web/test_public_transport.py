"""Requests reach only the public internet, whatever the notation of an address and the answers of DNS."""

from collections.abc import AsyncIterator, Sequence

import httpx2
import pytest

from hob.core.errors import ToolFailed, ToolRefused
from hob.tools.sandbox.network.proxy import INTERNET, Internet, is_reachable
from hob.tools.web.public_transport import PublicTransport
from tests.tools.web.server import PUBLIC, WebServer, only_loopback_is_public, redirect, reply, web_server

FORMS = (
    # this machine, in every notation that some resolver accepts
    "127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.0.0.1", "017700000001", "0177.0.0.01", "0",
    "0.0.0.0", "127.255.255.254", "localhost", "LOCALHOST", "localhost.", "127.0.0.1.", "①②⑦.⓪.⓪.①", "127。0。0。1",
    "[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]",
    # other embeddings of IPv4 in IPv6: translation, 6to4
    "[64:ff9b::7f00:1]", "[64:ff9b:1::7f00:1]", "[2002:7f00:1::]", "[2001:0:7f00:1::]",
    # private and carrier networks, link-local, multicast, broadcast, test networks
    "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1", "169.254.1.1", "224.0.0.1",
    "255.255.255.255", "192.0.2.1", "198.18.0.1", "[fe80::1]", "[fc00::1]", "[fd12:3456::1]", "[ff02::1]", "[fec0::1]",
    # cloud metadata services
    "169.254.169.254", "2852039166", "0xa9fea9fe", "[::ffff:169.254.169.254]", "[fd00:ec2::254]", "168.63.129.16",
    "100.100.100.200", "192.0.0.192",
)  # fmt: skip


@pytest.fixture
async def web() -> AsyncIterator[WebServer]:
    async with web_server(WebServer()) as server:
        yield server


async def get(url: str, internet: Internet = INTERNET, *, follow: bool = False) -> httpx2.Response:
    transport = PublicTransport(internet)
    async with httpx2.AsyncClient(transport=transport, trust_env=False, follow_redirects=follow) as client:
        return await client.get(url)


def names(table: dict[str, Sequence[str]]) -> Internet:
    """Resolve names from a table; a list of lists gives a different answer each time."""

    async def resolve(host: str, _port: int) -> list[str]:
        return list(table[host])

    return Internet(resolve, is_reachable)


@pytest.mark.parametrize("form", FORMS)
async def test_local_address_is_refused_in_every_notation(form: str, web: WebServer) -> None:
    web.pages["/"] = reply(b"secret")
    with pytest.raises((ToolRefused, ToolFailed, httpx2.InvalidURL)):
        await get(f"http://{form}:{web.port}/")
    assert web.connections == 0


def test_at_least_thirty_notations_are_tested() -> None:
    assert len(set(FORMS)) >= 30


@pytest.mark.parametrize("address", ["93.184.216.34", "1.1.1.1", "2606:4700:4700::1111"])
def test_public_address_is_reachable(address: str) -> None:
    assert is_reachable(address)


async def test_name_with_one_local_address_is_refused(web: WebServer) -> None:
    internet = names({"mixed.example": (PUBLIC, "127.0.0.1")})
    with pytest.raises(ToolRefused, match=r"mixed\.example leads to 127\.0\.0\.1"):
        await get(web.url("/", "mixed.example"), internet)
    assert web.connections == 0


async def test_rebinding_name_is_resolved_once_and_pinned(web: WebServer) -> None:
    """A rebinding resolver gives a public address to the check and a local one to the connection."""
    asked = 0

    async def rebinding(_host: str, _port: int) -> list[str]:
        nonlocal asked
        asked += 1
        return [PUBLIC] if asked == 1 else ["127.0.0.1"]

    connected: list[str] = []

    async def connect(request: httpx2.Request) -> httpx2.Response:
        connected.append(request.url.host)
        return httpx2.Response(200, text="from outside")

    transport = PublicTransport(Internet(rebinding, is_reachable), httpx2.MockTransport(connect))
    async with httpx2.AsyncClient(transport=transport) as client:
        answer = await client.get("http://rebind.example/")
        assert answer.text == "from outside"
        assert connected == [PUBLIC]
        with pytest.raises(ToolRefused):
            await client.get("http://rebind.example/")
    assert connected == [PUBLIC]


async def test_pinned_request_keeps_its_host_header_and_tls_name() -> None:
    seen: list[httpx2.Request] = []

    async def connect(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        return httpx2.Response(200)

    async def resolve(_host: str, _port: int) -> list[str]:
        return ["2606:4700:4700::1111"]

    transport = PublicTransport(Internet(resolve, is_reachable), httpx2.MockTransport(connect))
    async with httpx2.AsyncClient(transport=transport) as client:
        await client.get("https://site.example/a?b=c")
    (request,) = seen
    assert str(request.url) == "https://[2606:4700:4700::1111]/a?b=c"
    assert request.headers["host"] == "site.example"
    assert request.extensions["sni_hostname"] == "site.example"


async def test_redirect_is_checked_like_any_request(web: WebServer) -> None:
    inside = f"http://127.0.0.1:{web.port}/secret"
    web.pages = {"/": redirect(inside), "/secret": reply(b"secret")}

    async def resolve(host: str, port: int) -> list[str]:
        return [PUBLIC if host == "site.example" else host]

    def is_reachable(address: str) -> bool:
        return address == PUBLIC

    async def connect(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(302, headers={"location": inside})

    transport = PublicTransport(Internet(resolve, is_reachable), httpx2.MockTransport(connect))
    async with httpx2.AsyncClient(transport=transport, follow_redirects=True) as client:
        with pytest.raises(ToolRefused, match=r"127\.0\.0\.1"):
            await client.get("http://site.example/")
    assert web.connections == 0


@pytest.mark.parametrize("port", [22, 25, 110, 993])
async def test_ports_of_other_services_are_refused(port: int) -> None:
    with pytest.raises(ToolRefused, match=f"port {port}"):
        await get(f"http://site.example:{port}/", only_loopback_is_public())


async def test_next_address_is_tried_if_the_first_does_not_answer(web: WebServer) -> None:
    web.pages["/"] = reply(b"hello")

    async def resolve(_host: str, _port: int) -> list[str]:
        return ["127.0.0.2", "127.0.0.1"]

    assert (await get(web.url(), Internet(resolve, lambda _: True))).text == "hello"
