"""The transport straight on asyncio, against servers that say exactly these bytes."""

import asyncio
import gzip
import ssl
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest

from hob.providers.direct import DirectTransport, _Connection, open_client

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def serving(serve: Serve, tls: ssl.SSLContext | None = None) -> AsyncIterator[str]:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await serve(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0, ssl=tls)
    async with server:
        port = server.sockets[0].getsockname()[1]
        yield f"{'https' if tls else 'http'}://127.0.0.1:{port}"


def saying(*answers: bytes) -> Serve:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for answer in answers:
            head = await reader.readuntil(b"\r\n\r\n")
            if b"content-length: " in head.lower():
                length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
                await reader.readexactly(length)
            writer.write(answer)
            await writer.drain()

    return serve


@asynccontextmanager
async def direct(tls: ssl.SSLContext | None = None) -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(transport=DirectTransport(tls), timeout=5, trust_env=False) as client:
        yield client


async def get(*answers: bytes) -> httpx2.Response:
    async with serving(saying(*answers)) as url, direct() as client:
        return await client.get(url)


def kept(client: httpx2.AsyncClient) -> _Connection:
    transport = client._transport
    assert isinstance(transport, DirectTransport)
    return next(iter(transport._idle.values()))[-1]


SHORT = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"


@pytest.mark.parametrize(
    "answer",
    [
        SHORT,
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nh\r\n1;x=y\r\ni\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhi",
        b"HTTP/1.0 200 OK\r\n\r\nhi",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + SHORT,
    ],
)
async def test_a_body_ends_where_http_says(answer: bytes) -> None:
    response = await get(answer)
    assert (response.status_code, response.content) == (200, b"hi")
    assert "link" not in response.headers


async def test_packed_bodies_are_unpacked_by_httpx() -> None:
    packed = gzip.compress(b"hello")
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed)
    assert (await get(head + packed)).text == "hello"


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.1 200",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhi",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhi",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhi",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X-A: " + b"a" * 1000 + b"\r\n" + (b"X: " + b"b" * 60_000 + b"\r\n") * 9,
    ],
)
async def test_what_is_cut_or_no_http_is_a_protocol_error(answer: bytes) -> None:
    with pytest.raises((httpx2.RemoteProtocolError, httpx2.ReadError)):
        await get(answer)


async def test_a_connection_is_used_again_after_a_whole_answer() -> None:
    connections = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        await saying(SHORT, SHORT, SHORT)(reader, writer)

    async with serving(serve) as url, direct() as client:
        for _ in range(3):
            assert (await client.post(url, content=b"x" * 100)).text == "hi"
    assert connections == 1


async def test_a_connection_the_server_closed_is_not_used_again() -> None:
    async with serving(saying(SHORT)) as url, direct() as client:
        for _ in range(3):
            assert (await client.get(url)).text == "hi"
            async with asyncio.timeout(5):
                while not kept(client).closed:  # noqa: ASYNC110 - the goodbye comes through the kernel
                    await asyncio.sleep(0)


async def test_words_after_the_answer_spoil_the_connection_only() -> None:
    async with serving(saying(SHORT + b"surplus", SHORT)) as url, direct() as client:
        assert (await client.get(url)).text == "hi"
        assert (await client.get(url)).text == "hi"


async def test_a_reader_who_is_slow_makes_the_server_wait() -> None:
    size = 64 * 1024 * 1024
    written = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal written
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size)
        for _ in range(size // 65536):
            writer.write(b"x" * 65536)
            await writer.drain()
            written += 65536

    async with serving(serve) as url, direct() as client, client.stream("GET", url) as response:
        for _ in range(3000):  # enough for all of it, were it let through
            await asyncio.sleep(0)
        assert written < size // 2
        received = 0
        async for data in response.aiter_raw():
            received += len(data)
    assert received == size


async def test_silence_ends_in_time() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    async with serving(serve) as url, direct() as client:
        with pytest.raises(httpx2.ReadTimeout):
            await client.get(url, timeout=0.05)


async def test_a_port_without_a_server_is_a_connect_error() -> None:
    async with serving(saying()) as url:
        pass
    async with direct() as client:
        with pytest.raises(httpx2.ConnectError):
            await client.get(url)


@pytest.mark.parametrize("name", ["x\ny", "x\r\nInjected: yes"])
async def test_headers_cannot_smuggle_lines(name: str) -> None:
    async with serving(saying(SHORT)) as url, direct() as client:
        with pytest.raises(httpx2.LocalProtocolError):
            await client.get(url, headers={"x-title": name})


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A key and a certificate for 127.0.0.1 in one file."""
    folder = tmp_path_factory.mktemp("tls")
    made = folder / "both.pem"
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        "-days",
        "2",
    ]
    command += ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(made)]
    try:
        done = subprocess.run([*command, "-out", str(folder / "cert.pem")], capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("openssl is not installed")
    assert done.returncode == 0, done.stderr
    with made.open("a") as file:
        file.write((folder / "cert.pem").read_text())
    return made


async def test_tls_is_spoken_and_the_certificate_checked(certificate: Path) -> None:
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(certificate)
    async with serving(saying(SHORT, SHORT), server) as url:
        async with direct(ssl.create_default_context(cafile=str(certificate))) as client:
            assert (await client.get(url)).text == "hi"
            assert (await client.get(url)).text == "hi"
        async with open_client(url) as client:
            with pytest.raises(httpx2.ConnectError, match="certificate"):
                await client.get(url)


async def test_a_proxy_of_the_environment_is_asked_for_other_machines_only(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(saying(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nproxy")) as proxy:
        monkeypatch.setenv("http_proxy", proxy)
        async with open_client("http://models.example.org") as client:
            assert (await client.get("http://models.example.org/v1/models")).text == "proxy"
    async with serving(saying(SHORT)) as url, open_client(url) as client:
        assert (await client.get(url)).text == "hi"
