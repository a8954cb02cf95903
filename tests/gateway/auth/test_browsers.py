"""Pages of others, names of others, and those who guess."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hob.core.trust.labels import SenderClass
from hob.gateway.auth.browsers import is_our_host
from hob.gateway.auth.callers import TokenScope
from hob.gateway.auth.lockout import MAX_TRIES, WINDOW_SECONDS, Lockout, place_of
from hob.gateway.auth.tokens import TokenFile, load_token
from hob.testing.clock import ManualClock
from tests.gateway.conftest import TOKEN, Machine, machine

PAGE = "https://app.example"
ALLOWED = {"HOB_GATEWAY_CORS_ORIGINS": f'["{PAGE}"]', "HOB_GATEWAY_HOSTS": '["hob.example"]'}


@pytest.mark.parametrize(
    "host", ["localhost", "localhost:18790", "127.0.0.1:1", "[::1]:18790", "192.168.1.7", "LOCALHOST"]
)
async def test_addresses_and_localhost_are_accepted(hob: Machine, host: str) -> None:
    assert (await hob.tcp.get("/status", headers={"host": host})).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "", "hob.example", "[::1", "::1::x"]
)
async def test_another_name_for_our_address_is_refused(hob: Machine, host: str) -> None:
    response = await hob.tcp.get("/status", headers={"host": host})
    assert (response.status_code, response.json()["error"]["code"]) == (421, "wrong_host")


async def test_configured_host_name_is_accepted(tmp_path: Path) -> None:
    async with machine(tmp_path, **ALLOWED) as hob:
        assert (await hob.tcp.get("/status", headers={"host": "Hob.example:443"})).status_code == 200


@given(st.text())
def test_odd_host_is_only_refused(host: str) -> None:
    assert isinstance(is_our_host(host, ()), bool)


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://localhost:9999", "https://localhost", PAGE])
async def test_foreign_page_may_not_call_even_with_a_token(hob: Machine, origin: str) -> None:
    response = await hob.tcp.post("/chat", json={"message": "hi"}, headers={"origin": origin})
    assert (response.status_code, response.json()["error"]["code"]) == (403, "wrong_origin")
    assert "access-control-allow-origin" not in response.headers
    assert hob.model.requests == []


async def test_own_page_may_call(hob: Machine) -> None:
    assert (await hob.tcp.get("/status", headers={"origin": "http://localhost"})).status_code == 200


async def test_allowed_page_may_call_with_cors_headers(tmp_path: Path) -> None:
    async with machine(tmp_path, **ALLOWED) as hob:
        asked = {"origin": PAGE, "access-control-request-method": "POST"}
        before = await hob.tcp.options("/chat", headers=asked | {"authorization": ""})
        assert (before.status_code, before.headers["access-control-allow-origin"]) == (204, PAGE)
        assert "authorization" in before.headers["access-control-allow-headers"]
        response = await hob.tcp.get("/status", headers={"origin": PAGE})
        assert (response.status_code, response.headers["access-control-allow-origin"]) == (200, PAGE)
        assert (await hob.tcp.get("/status", headers={"origin": "https://evil.example"})).status_code == 403


async def test_every_answer_has_the_security_headers(hob: Machine) -> None:
    for path in ("/status", "/nothing"):
        headers = (await hob.tcp.get(path)).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert "frame-ancestors 'none'" in headers["content-security-policy"]


async def test_html_form_is_not_accepted_as_json(hob: Machine) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""):
        response = await hob.tcp.post("/chat", content=b'{"message": "hi"}', headers={"content-type": kind})
        assert (response.status_code, response.json()["error"]["code"]) == (415, "not_json")
    assert hob.model.requests == []


async def test_large_body_is_refused_with_or_without_a_length(tmp_path: Path) -> None:
    async with machine(tmp_path, HOB_GATEWAY_BODY_BYTES="2000") as hob:
        read = 0

        async def endless() -> AsyncIterator[bytes]:
            nonlocal read
            while True:
                read += 1_000
                yield b"x" * 1_000

        headers = {"content-type": "application/json"}
        response = await hob.tcp.post("/chat", content=endless(), headers=headers)
        assert response.status_code == 413
        assert read <= 10_000
        response = await hob.tcp.post("/chat", content=b"{}", headers=headers | {"content-length": "9" * 30})
        assert response.status_code == 413


# who guesses


async def guess(hob: Machine, client: str, token: str) -> httpx2.Response:
    door = httpx2.ASGITransport(hob.guarded, client=(client, 1))
    async with httpx2.AsyncClient(transport=door, base_url="http://localhost") as browser:
        return await browser.get("/status", headers={"authorization": f"Bearer {token}"})


async def test_guessing_address_is_locked_out_but_others_and_the_socket_are_not(hob: Machine) -> None:
    for number in range(MAX_TRIES):
        assert (await guess(hob, "10.0.0.1", f"wrong-{number}")).status_code == 401
    response = await guess(hob, "10.0.0.1", "wrong")
    assert (response.status_code, response.json()["error"]["code"]) == (429, "too_many_attempts")
    assert 1 <= int(response.headers["retry-after"]) <= WINDOW_SECONDS
    assert (await guess(hob, "10.0.0.1", TOKEN)).status_code == 429
    assert (await guess(hob, "10.0.0.2", TOKEN)).status_code == 200
    assert (await hob.unix.get("/status")).status_code == 200


async def test_known_browser_is_not_locked_out_by_others(hob: Machine) -> None:
    assert (await guess(hob, "10.0.0.1", TOKEN)).status_code == 200
    for number in range(MAX_TRIES + 1):
        await guess(hob, "10.0.0.1", f"wrong-{number}")
    assert (await guess(hob, "10.0.0.1", "wrong")).status_code == 429
    assert (await guess(hob, "10.0.0.1", TOKEN)).status_code == 200


async def test_missing_token_does_not_count_as_a_guess(hob: Machine) -> None:
    door = httpx2.ASGITransport(hob.guarded, client=("10.0.0.1", 1))
    async with httpx2.AsyncClient(transport=door, base_url="http://localhost") as browser:
        for _ in range(MAX_TRIES + 1):
            assert (await browser.get("/status")).status_code == 401
    assert (await guess(hob, "10.0.0.1", TOKEN)).status_code == 200


async def test_lockout_ends_after_a_while() -> None:
    clock = ManualClock()
    lockout = Lockout(clock)
    for number in range(MAX_TRIES):
        lockout.failed("10.0.0.1", f"wrong-{number}")
        await clock.advance(1)
    assert lockout.wait("10.0.0.1") == WINDOW_SECONDS - MAX_TRIES
    await clock.advance(WINDOW_SECONDS - MAX_TRIES)
    assert lockout.wait("10.0.0.1") == 0


def test_lockout_covers_an_ipv6_network_and_bounded_memory() -> None:
    assert place_of("2001:db8::1") == place_of("2001:db8::2") != place_of("2001:db8:1::1")
    assert place_of("::ffff:10.0.0.1") == place_of("10.0.0.1") != place_of("10.0.0.2")
    lockout = Lockout(ManualClock())
    for number in range(5_000):
        lockout.failed(f"10.1.{number // 250}.{number % 250}")
    assert len(lockout._places) <= 1_000


async def test_repeated_expired_token_causes_no_lockout(hob: Machine) -> None:
    for _ in range(3 * MAX_TRIES):
        assert (await guess(hob, "10.0.0.1", "old")).status_code == 401
    assert (await guess(hob, "10.0.0.1", TOKEN)).status_code == 200


async def test_generated_token_is_accepted_during_a_lockout(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with machine(tmp_path, HOB_GATEWAY_AUTH_TOKEN="") as hob:
        given = TokenFile(tmp_path, hob.app.api.clock).add(
            "phone", frozenset({TokenScope.READ}), SenderClass.OWNER, None
        )
        for number in range(2 * MAX_TRIES):
            await guess(hob, "10.0.0.1", f"wrong-{number}")
        assert caplog.text.count("wrong tokens came from 10.0.0.1") == 1
        for right in (given, load_token(tmp_path) or ""):
            assert (await guess(hob, "10.0.0.1", right)).status_code == 200
        assert (await guess(hob, "10.0.0.1", "wrong")).status_code == 429
