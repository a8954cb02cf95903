"""All traffic of a page goes through Hob's proxy, which reaches only the internet."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from websockets.asyncio.server import ServerConnection, serve

from tests.tools.web.server import WebServer, redirect, reply

from .browsing import ONE_BROWSER, Desk, open_desk

pytestmark = [ONE_BROWSER, pytest.mark.slow]

ENDLESS = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n<h1>So far</h1>"


@pytest.mark.parametrize(
    "address",
    ["http://169.254.169.254/latest/meta-data/", "http://metadata.example/", "http://inside.example/", "http://[::1]/",
     "http://127.0.0.1:22/", "http://2130706433/", "http://localhost:8080/", "https://inside.example/"],
)  # fmt: skip
async def test_local_addresses_are_refused(desk: Desk, address: str) -> None:
    desk.web.pages["/away"] = redirect(address)
    for url in (address, desk.web.url("/away")):
        told = await desk.say(action="navigate", url=url)
        assert told.startswith(("ToolRefused", "ToolFailed")), told
        assert "latest" not in told.partition("\n")[2]
        assert re.search(r"(\S+) leads to \1,", told) is None  # "127.0.0.1 leads to 127.0.0.1"
    assert [head for head in desk.web.heads if "site.example" not in head] == []


@pytest.mark.asyncio(loop_scope="function")
async def test_only_the_local_address_named_by_the_owner_is_open(tmp_path: Path) -> None:
    async with open_desk(tmp_path, local=True, hosts=("127.0.0.1",)) as desk:
        assert "mine" in await desk.show("<h1>mine</h1>", host="127.0.0.1")
        assert "mine" in await desk.say(action="navigate", url=desk.web.url("/", "2130706433"))
        for host in ("127.0.0.2", "10.0.0.7", "[::1]", "[::ffff:7f00:1]", "169.254.169.254"):
            told = await desk.say(action="navigate", url=desk.web.url("/", host))
            assert told.startswith("ToolRefused"), told
            assert "the owner can name hosts of their own in browser.hosts" in told


async def test_subresources_of_a_page_are_filtered_too(desk: Desk) -> None:
    inside = "http://inside.example/x"
    await desk.show(
        f"<img src={inside}><script src={inside}></script><iframe src={inside}></iframe>"
        f"<script>fetch('{inside}').catch(e => document.body.append('failed'))</script>"
    )
    assert "failed" in await desk.act("wait", text="failed", seconds=5)


async def test_websocket_goes_only_through_the_proxy(desk: Desk) -> None:
    heard: list[str] = []

    async def answer(connection: ServerConnection) -> None:
        heard.append(connection.request.headers["Host"] if connection.request else "")
        await connection.send("hello there")

    async with serve(answer, "127.0.0.1", 0) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        await desk.show(
            "<p id=a>a</p><p id=b>b</p><script>"
            f"const s = new WebSocket('ws://site.example:{port}/');s.onmessage = e => a.textContent = e.data;"
            f"const t = new WebSocket('ws://inside.example:{port}/');"
            "t.onerror = e => b.textContent = 'refused'</script>"
        )
        assert "hello there" in await desk.act("wait", text="hello there", seconds=5)
        assert "refused" in await desk.act("wait", text="refused", seconds=5)
    assert heard == [f"site.example:{port}"]


async def test_webrtc_quic_and_dns_do_not_bypass_the_proxy(desk: Desk) -> None:
    async with _datagrams() as (port, received):
        await desk.show(
            "<script>const p = new RTCPeerConnection({iceServers: [{urls: ["
            f"'stun:127.0.0.1:{port}', 'turn:127.0.0.1:{port}?transport=udp']"
            ", username: 'a', credential: 'b'}]});"
            "p.createDataChannel('x'); p.createOffer().then(o => p.setLocalDescription(o));"
            f"try {{ new WebTransport('https://127.0.0.1:{port}/').ready.catch(() => 0) }} catch (e) {{}}</script>"
        )
        await desk.act("wait", seconds=2)
    assert received == []


@asynccontextmanager
async def _datagrams() -> AsyncIterator[tuple[int, list[bytes]]]:
    received: list[bytes] = []

    class Listening(asyncio.DatagramProtocol):
        def datagram_received(self, data: bytes, addr: object) -> None:
            received.append(data)

    transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(Listening, ("127.0.0.1", 0))
    try:
        yield transport.get_extra_info("sockname")[1], received
    finally:
        transport.close()


async def test_gigabyte_page_is_cut_and_the_browser_stays_usable(desk: Desk) -> None:
    sent = 0

    async def pour(_head: str, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(ENDLESS)
        while sent < 1_000_000_000:
            writer.write(b"<p>" + b"x" * 1_000_000)
            await writer.drain()
            sent += 1_000_000

    desk.web.pages["/big"] = pour
    told = await desk.say(action="navigate", url=desk.web.url("/big"))
    assert len(told) < 100_000
    assert sent < 100_000_000
    assert "still here" in await desk.show("<h1>still here</h1>")


async def test_endless_page_is_shown_up_to_what_arrived(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    from hob.tools.browser import actions

    monkeypatch.setattr(actions, "_LOAD_SECONDS", 1.5)

    async def drip(_head: str, writer: asyncio.StreamWriter) -> None:
        writer.write(ENDLESS)
        while True:
            writer.write(b"<p>more</p>")
            await writer.drain()
            await asyncio.sleep(0.05)

    desk.web.pages["/stream"] = drip
    told = await desk.say(action="navigate", url=desk.web.url("/stream"))
    assert "So far" in told
    assert "was still loading" in told
    assert "still here" in await desk.show("<h1>still here</h1>")


@pytest.mark.asyncio(loop_scope="function")
async def test_service_worker_of_a_permitted_host_reaches_no_other_host(tmp_path: Path) -> None:
    web = WebServer()
    web.pages["/worker.js"] = reply(
        b"self.onactivate = e => e.waitUntil(clients.claim());"
        b"self.onmessage = e => fetch('http://inside.example/x').then(() => 'got', () => 'nothing got')"
        b".then(t => e.source.postMessage(t))",
        "text/javascript",
    )
    script = (
        "navigator.serviceWorker.onmessage = e => document.body.append(e.data);"
        "navigator.serviceWorker.register('/worker.js').then(() => navigator.serviceWorker.ready)"
        ".then(r => r.active.postMessage('go'))"
    )
    async with open_desk(tmp_path, web=web, local=True, hosts=("localhost",)) as desk:
        await desk.show(f"<h1>mine</h1><script>{script}</script>", host="localhost")
        told = await desk.act("wait", text="nothing got", seconds=5)
        assert "nothing got" in told
        told = await desk.say(action="navigate", url=web.url("/", "site.example"))
        assert "the owner can name hosts of their own in browser.hosts" in told
