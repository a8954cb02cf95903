"""Who may call."""

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hob.core.errors import NotConfigured
from hob.core.settings import Secret
from hob.gateway.auth.tokens import bearer_of, ensure_token, token_file
from hob.gateway.http.sockets import bind_unix
from tests.gateway.conftest import TOKEN, Machine


@pytest.mark.parametrize(
    "header", ["", "Bearer", "Bearer ", "Basic " + TOKEN, f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}"]
)
async def test_request_without_a_token_learns_nothing(hob: Machine, header: str) -> None:
    for method, route in (("POST", "/chat"), ("GET", "/health"), ("GET", "/nothing"), ("GET", "/status")):
        response = await hob.tcp.request(method, route, headers={"authorization": header})
        assert (response.status_code, response.json()["error"]["code"]) == (401, "unauthorized")
    assert hob.model.requests == []


async def test_unix_socket_needs_no_token(hob: Machine) -> None:
    assert (await hob.unix.get("/health")).json()["status"] == "ok"


@pytest.mark.parametrize("route", ["/backup", "/hand-over", "/backup%0A", "/hand-over%0A", "/backup/", "//backup"])
async def test_machine_routes_are_for_the_unix_socket_only(hob: Machine, route: str, tmp_path: Path) -> None:
    copy = tmp_path / "stolen.db"
    response = await hob.tcp.post(route, json={"file": str(copy)}, follow_redirects=True)
    assert response.status_code == 404
    assert not copy.exists()


async def test_daemon_refuses_to_hand_over(hob: Machine) -> None:
    assert (await hob.unix.post("/hand-over")).status_code == 403


async def test_unknown_routes_and_methods_answer_as_json(hob: Machine) -> None:
    for method, route, status in (("GET", "/nothing", 404), ("DELETE", "/chat", 405)):
        response = await hob.tcp.request(method, route)
        assert response.status_code == status
        assert response.json()["error"]["message"]


@given(st.text())
def test_token_is_read_from_the_authorization_header_only(header: str) -> None:
    assert bearer_of(header) != TOKEN or header.strip().partition(" ")[2].strip() == TOKEN


def test_token_is_made_once_and_kept_private(tmp_path: Path) -> None:
    token = ensure_token(tmp_path, None)
    assert len(token) >= 32
    assert ensure_token(tmp_path, None) == token
    assert stat.S_IMODE(token_file(tmp_path).stat().st_mode) == 0o600


def test_token_that_is_too_short_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotConfigured, match="shorter than 16"):
        ensure_token(tmp_path, Secret.of("secret"))


def test_unreadable_token_file_says_what_to_do(tmp_path: Path) -> None:
    token_file(tmp_path).mkdir(parents=True)
    with pytest.raises(NotConfigured, match="remove the file"):
        ensure_token(tmp_path, None)


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
async def test_answers_contain_no_known_secret(hob: Machine, accept: str) -> None:
    said = {"message": f"my token is {TOKEN}", "session": TOKEN}
    for client in (hob.tcp, hob.unix):
        answers = [
            await client.post("/chat", json=said, headers={"accept": accept}),
            await client.get("/sessions"),
            await client.get("/export"),
            await client.get("/timeline"),
        ]
        for answer in answers:
            assert answer.status_code == 200
            assert TOKEN not in answer.text
            assert len(answer.content) == int(answer.headers.get("content-length", len(answer.content)))


def test_unix_socket_is_private(tmp_path: Path) -> None:
    path = tmp_path / "hob.sock"
    before = os.umask(0)
    try:
        with bind_unix(path):
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
    finally:
        os.umask(before)


@pytest.mark.parametrize("local", [False, True])
async def test_every_answer_has_a_request_id(hob: Machine, local: bool) -> None:
    client = hob.unix if local else hob.tcp
    own = await client.get("/health", headers={"x-request-id": "abc-1"})
    assert own.headers["x-request-id"] == "abc-1"
    made = [(await client.get(path)).headers["x-request-id"] for path in ("/health", "/nothing")]
    assert len(set(made)) == 2
    long = await client.get("/health", headers={"x-request-id": "x" * 300})
    assert len(long.headers["x-request-id"]) == 16


async def test_wrong_method_gets_all_allowed_methods(hob: Machine) -> None:
    told = await hob.unix.patch("/approvals/a_1")
    assert (told.status_code, told.headers["allow"]) == (405, "GET, HEAD, POST")
