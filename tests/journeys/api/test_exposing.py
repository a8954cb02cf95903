"""The exposed API: certificates, proxies, tokens, and refused configurations."""

import asyncio
import contextlib
import signal
import socket
import ssl
from pathlib import Path

import httpx2
import pytest

from hob.gateway.auth.lockout import MAX_TRIES
from tests.journeys.world import LOST, TOKEN, Daemon, World, until

PEM = Path(__file__).parents[1] / "localhost.pem"
RENEWED = Path(__file__).parents[1] / "renewed.pem"
BEARER = {"authorization": f"Bearer {TOKEN}"}


def trusting() -> ssl.SSLContext:
    """Trust only the test certificate."""
    return ssl.create_default_context(cafile=str(PEM))


async def test_tls_listener_speaks_only_https(world: World) -> None:
    async with world.serve(HOB_GATEWAY_TLS_CERT=str(PEM)) as daemon:
        assert daemon.url.startswith("https://")
        async with httpx2.AsyncClient(verify=trusting(), headers=BEARER, trust_env=False) as client:
            sent = await client.post(f"{daemon.url}/chat", json={"message": "hi"})
            assert (sent.status_code, sent.json()["state"]) == (200, "done")
            page = await client.get(f"{daemon.url}/status", headers={"origin": daemon.url})
            assert page.status_code == 200
            with pytest.raises(httpx2.TransportError):
                await client.get(daemon.url.replace("https", "http") + "/status")
        async with httpx2.AsyncClient(headers=BEARER, trust_env=False) as client:
            with pytest.raises(httpx2.TransportError):  # the default trust store does not contain the certificate
                await client.get(f"{daemon.url}/status")
        # commands use the Unix socket, which needs no certificate
        assert (await world.hob("status")).status == 0


async def test_sighup_reloads_a_valid_certificate_and_ignores_a_broken_one(world: World) -> None:
    file = world.root / "cert.pem"
    file.write_text(PEM.read_text())
    async with world.serve(HOB_GATEWAY_TLS_CERT=str(file)) as daemon:

        async def is_shown(certificate: Path) -> bool:
            context = ssl.create_default_context(cafile=str(certificate))
            async with httpx2.AsyncClient(verify=context, headers=BEARER, trust_env=False) as client:
                try:
                    return (await client.get(f"{daemon.url}/health")).status_code == 200
                except httpx2.TransportError:
                    return False

        file.write_text("nothing")
        daemon.signal(signal.SIGHUP)
        await until(lambda: "stays as it was" in daemon.errors)
        assert await is_shown(PEM)
        file.write_text(RENEWED.read_text())
        daemon.signal(signal.SIGHUP)
        async with asyncio.timeout(10):
            while not await is_shown(RENEWED):
                pass
        assert not await is_shown(PEM)


@pytest.mark.parametrize(
    ("environ", "complaint"),
    [
        ({"HOB_GATEWAY_TLS_CERT": "/nowhere/cert.pem"}, "cannot be read"),
        ({"HOB_GATEWAY_TLS_CERT": __file__}, "not a certificate and its key"),
        ({"HOB_GATEWAY_TLS_KEY": str(PEM)}, "gateway.tls_cert is not"),
        ({"HOB_GATEWAY_HOST": "0.0.0.0", "HOB_GATEWAY_AUTH_TOKEN": "short"}, "16 characters"),
        ({"HOB_GATEWAY_CORS_ORIGINS": '["*"]'}, "gateway: cors_origins"),
        ({"HOB_GATEWAY_CORS_ORIGINS": '["https://a.example/"]'}, "gateway: cors_origins"),
        ({"HOB_GATEWAY_HOSTS": '["https://a.example"]'}, "gateway: hosts"),
        ({"HOB_GATEWAY_TRUSTED_PROXIES": '["proxy"]'}, "gateway: trusted_proxies"),
        ({"HOB_GATEWAY_TRUSTED_PROXIES": '["0.0.0.0/0"]'}, "nearly every address"),
    ],
)
async def test_unsafe_listener_does_not_start(world: World, environ: dict[str, str], complaint: str) -> None:
    said = await world.hob("serve", stdin=None, **environ)
    # retryable: the file may appear later
    assert (said.status, "Traceback" in said.err) == (1 if complaint == "cannot be read" else 2, False)
    assert complaint in said.err


async def test_printed_link_signs_one_browser_in_over_tls(world: World) -> None:
    async with world.serve(HOB_GATEWAY_TLS_CERT=str(PEM)):
        link = (await world.hob("dashboard", "--link")).out.strip()
        base, _, code = link.partition("/#login=")
        assert base.startswith("https://")
        async with httpx2.AsyncClient(base_url=base, verify=trusting(), trust_env=False) as browser:
            login = (await browser.post("/api/v1/auth/login", json={"code": code})).raise_for_status()
            assert {"secure", "httponly", "samesite=strict"} <= set(cookie_of(login))
            browser.headers["x-csrf-token"] = login.json()["csrf"]
            assert (await browser.get("/api/v1/settings")).status_code == 200
            assert (await browser.post("/api/v1/auth/login", json={"code": code})).status_code == 401


async def test_dashboard_behind_a_trusted_proxy_signs_in_with_a_secure_cookie(world: World) -> None:
    environ = {"HOB_GATEWAY_TRUSTED_PROXIES": '["127.0.0.1"]', "HOB_GATEWAY_HOSTS": '["hob.example"]'}
    async with world.serve(**environ):
        base, _, code = (await world.hob("dashboard", "--link")).out.strip().partition("/#login=")
        forwarded = {"host": "hob.example", "x-forwarded-proto": "https", "origin": "https://hob.example"}
        async with httpx2.AsyncClient(base_url=base, headers=forwarded, trust_env=False) as browser:
            foreign = {"origin": "https://other.example"}
            assert (await browser.post("/api/v1/auth/login", json={"code": code}, headers=foreign)).status_code == 403
            login = (await browser.post("/api/v1/auth/login", json={"code": code})).raise_for_status()
            assert "secure" in cookie_of(login)
            signed_in = {"x-csrf-token": login.json()["csrf"], "cookie": login.headers["set-cookie"].partition(";")[0]}
            assert (await browser.get("/api/v1/settings", headers=signed_in)).status_code == 200
            assert (await browser.get("/api/v1/settings", headers={**signed_in, **foreign})).status_code == 403
            assert (await browser.get("/", headers={"host": "other.example"})).status_code != 200


def cookie_of(login: httpx2.Response) -> list[str]:
    return login.headers["set-cookie"].lower().split("; ")


@pytest.mark.parametrize("proxies", ["", '["127.0.0.1"]'])
async def test_exposed_daemon_has_a_token_and_warns_about_tls(world: World, proxies: str) -> None:
    environ = {"HOB_GATEWAY_AUTH_TOKEN": "", "HOB_GATEWAY_TRUSTED_PROXIES": proxies}
    async with world.serve(HOB_GATEWAY_HOST="0.0.0.0", **environ) as daemon:
        async with httpx2.AsyncClient(trust_env=False) as stranger:
            assert (await stranger.get(f"{daemon.url}/health")).status_code == 401
        assert "without TLS" in daemon.errors


async def test_created_and_revoked_tokens_take_effect_immediately(world: World) -> None:
    async with world.serve() as daemon:
        token = (await world.hob("token", "new", "phone", "--scope", "chat")).out.strip()
        headers = {"authorization": f"Bearer {token}"}
        async with httpx2.AsyncClient(base_url=daemon.url, headers=headers, trust_env=False) as phone:
            assert (await phone.post("/chat", json={"message": "hi"})).status_code == 200
            assert (await phone.get("/status")).status_code == 403
            assert (await world.hob("token", "revoke", "phone")).status == 0
            assert (await phone.post("/chat", json={"message": "hi"})).status_code == 401
        assert token not in daemon.errors
    assert all(token.encode() not in file.read_bytes() for file in world.home.rglob("*") if file.is_file())


@pytest.mark.parametrize("proxies", ["", '["127.0.0.1"]'])
async def test_callers_behind_a_trusted_proxy_are_counted_separately(world: World, proxies: str) -> None:
    async with world.serve(HOB_GATEWAY_TRUSTED_PROXIES=proxies) as daemon:

        async def status(address: str, token: str) -> int:
            headers = {"authorization": f"Bearer {token}", "x-forwarded-for": address}
            async with httpx2.AsyncClient(base_url=daemon.url, headers=headers, trust_env=False) as client:
                return (await client.get("/health")).status_code

        for number in range(MAX_TRIES):
            assert await status("203.0.113.1", f"wrong-{number}") == 401
        assert await status("203.0.113.1", "wrong") == 429
        assert await status("203.0.113.2", TOKEN) == (200 if proxies else 429)
        assert (await world.hob("status")).status == 0


async def test_idle_connections_do_not_block_the_owner(world: World) -> None:
    crowd: list[socket.socket] = []
    loop = asyncio.get_running_loop()
    async with world.serve_with_few(256) as daemon:
        address = ("127.0.0.1", httpx2.URL(daemon.url).port)
        try:
            for _ in range(400):
                crowd.append(each := socket.socket())
                each.setblocking(False)
                with contextlib.suppress(OSError):  # the daemon may refuse the connection
                    async with asyncio.timeout(1):
                        await loop.sock_connect(each, address)
                        await loop.sock_sendall(each, b"GET /h")
            assert (await world.hob("ask", "hi")).status == 0
        finally:
            for each in crowd:
                each.close()
        assert len(daemon.errors.splitlines()) < 20
        async with asyncio.timeout(10):
            while not await is_heard(daemon):  # connections are closed one by one
                pass


async def test_connection_flood_during_start_does_not_end_the_daemon(world: World) -> None:
    crowd: list[socket.socket] = []
    async with world.serve_with_few(32) as daemon:
        address = ("127.0.0.1", httpx2.URL(daemon.url).port)
        try:
            for _ in range(40):
                crowd.append(each := socket.socket())
                each.setblocking(False)
                each.connect_ex(address)
            assert (await world.hob("ask", "hi")).status == 0
        finally:
            for each in crowd:
                each.close()
        assert daemon.process.returncode is None
        assert "Too many open files" not in daemon.errors


async def is_heard(daemon: Daemon) -> bool:
    """Return whether the daemon answers over TCP."""
    try:
        return (await daemon.client.get("/health")).status_code == 200
    except LOST:
        return False
