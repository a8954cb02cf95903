"""Tokens that were given out: what each is good for, and how long."""

import json
import stat
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import pytest

from hob.agent.commands.table import BY_NAME
from hob.app.endpoints import ENDPOINTS
from hob.app.trust.guard import _author_id
from hob.cli.table import run
from hob.core.clock import SystemClock
from hob.core.errors import InvalidRequest, NotAllowed, NotConfigured, NotFound
from hob.core.ids import SessionKey
from hob.core.trust.labels import SenderClass
from hob.gateway.auth.callers import WITH_THE_TOKEN, ApiCaller, TokenScope
from hob.gateway.auth.login_codes import LoginCodes
from hob.gateway.auth.tokens import Keyring, TokenFile, ensure_token, token_file
from hob.gateway.chat.inbound import ChatRequest, inbound_of
from hob.gateway.http.asgi import build_api
from hob.guard.admission.people import People
from hob.testing.clock import ManualClock
from tests.gateway.conftest import Machine, machine

OWNER, MEMBER, STRANGER = SenderClass
CHAT, READ, _, METRICS, APPROVE, ADMIN = TokenScope


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def file(tmp_path: Path, clock: ManualClock) -> TokenFile:
    return TokenFile(tmp_path, clock)


def keyring(home: Path, clock: ManualClock) -> Keyring:
    return Keyring(lambda: ensure_token(home, None), TokenFile(home, clock), clock)


def test_concurrently_issued_tokens_are_all_kept(tmp_path: Path) -> None:
    names = [f"t{number}" for number in range(24)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: TokenFile(tmp_path, SystemClock()).add(name, frozenset({CHAT}), OWNER, None), names))
    assert sorted(each.name for each in TokenFile(tmp_path, SystemClock()).tokens()) == sorted(names)


def test_only_the_hash_of_a_token_is_stored(file: TokenFile, tmp_path: Path) -> None:
    secret = file.add("phone", frozenset({CHAT}), OWNER, None)
    kept = tmp_path / "secrets" / "gateway-tokens.json"
    assert secret.startswith("hob_")
    assert len(secret) >= 43
    assert secret not in kept.read_text()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


def test_token_is_valid_at_once_and_until_revoked(file: TokenFile, tmp_path: Path, clock: ManualClock) -> None:
    keys = keyring(tmp_path, clock)
    assert keys.find("hob_nothing") is None
    secret = file.add("phone", frozenset({CHAT, READ}), OWNER, None)
    found = keys.find(secret)
    assert found is not None
    assert (found.name, found.scopes, found.cls) == ("phone", frozenset({CHAT, READ}), OWNER)
    file.revoke("phone")
    assert keys.find(secret) is None


async def test_token_expires_on_time(file: TokenFile, tmp_path: Path, clock: ManualClock) -> None:
    secret = file.add("guest", frozenset({CHAT}), MEMBER, 60)
    keys = keyring(tmp_path, clock)
    await clock.advance(59)
    assert keys.find(secret) is not None
    await clock.advance(1)
    assert keys.find(secret) is None


async def test_rotated_token_stays_valid_for_the_overlap(file: TokenFile, tmp_path: Path, clock: ManualClock) -> None:
    old = file.add("phone", frozenset({CHAT}), OWNER, None)
    new = file.rotate("phone", overlap=100)
    keys = keyring(tmp_path, clock)
    assert keys.find(old) == keys.find(new) is not None
    await clock.advance(100)
    assert (keys.find(old), keys.find(new) is None) == (None, False)


async def test_rotated_token_keeps_the_old_expiry(file: TokenFile, tmp_path: Path, clock: ManualClock) -> None:
    file.add("guest", frozenset({CHAT}), MEMBER, 60)
    secret = file.rotate("guest", overlap=0)
    await clock.advance(60)
    assert keyring(tmp_path, clock).find(secret) is None
    with pytest.raises(InvalidRequest, match="--expires"):
        file.rotate("guest", overlap=0)
    assert keyring(tmp_path, clock).find(file.rotate("guest", overlap=0, lifetime=60)) is not None


def test_rotated_token_without_an_overlap_ends_at_once(file: TokenFile, tmp_path: Path, clock: ManualClock) -> None:
    old = file.add("phone", frozenset({CHAT}), OWNER, None)
    file.rotate("phone", overlap=0)
    assert keyring(tmp_path, clock).find(old) is None


async def test_owners_token_is_rotated_in_a_running_daemon(file: TokenFile, tmp_path: Path, clock: ManualClock) -> None:
    old = ensure_token(tmp_path, None)
    keys = keyring(tmp_path, clock)
    assert keys.find(old) == WITH_THE_TOKEN
    new = file.rotate_owners(overlap=100)
    assert token_file(tmp_path).read_text().strip() == new
    assert keys.find(old) == keys.find(new) == WITH_THE_TOKEN
    await clock.advance(100)
    assert (keys.find(old), keys.find(new)) == (None, WITH_THE_TOKEN)


# browsers that a token has signed in


def found(keys: Keyring, secret: str) -> ApiCaller:
    caller = keys.find(secret)
    assert caller is not None
    return caller


@pytest.mark.parametrize("name", ["owner", "tablet"])
async def test_old_secret_signs_in_for_no_longer_than_its_overlap(
    file: TokenFile, tmp_path: Path, clock: ManualClock, name: str
) -> None:
    old = ensure_token(tmp_path, None) if name == "owner" else file.add(name, frozenset({READ}), OWNER, None)
    file.rotate_owners(100) if name == "owner" else file.rotate(name, 100)
    keys = keyring(tmp_path, clock)
    browser = keys.sign_in(found(keys, old), 86_400)
    assert keys.find(browser) is not None
    await clock.advance(100)
    assert keys.find(browser) is None


async def test_rotating_a_token_ends_its_browser_logins(file: TokenFile, tmp_path: Path, clock: ManualClock) -> None:
    keys = keyring(tmp_path, clock)
    browser = keys.sign_in(found(keys, file.add("tablet", frozenset({READ}), OWNER, None)), 86_400)
    other = keys.sign_in(found(keys, file.add("wall", frozenset({READ}), OWNER, None)), 86_400)
    file.rotate("tablet", overlap=100)
    assert keys.find(browser) is not None
    await clock.advance(100)
    assert keys.find(browser) is None
    file.rotate("wall", overlap=0)
    assert keys.find(other) is None


def test_browser_login_signs_in_no_other_browser(file: TokenFile, tmp_path: Path, clock: ManualClock) -> None:
    keys = keyring(tmp_path, clock)
    browser = keys.sign_in(found(keys, ensure_token(tmp_path, None)), 86_400)
    with pytest.raises(NotAllowed, match="signs in no browser"):
        keys.sign_in(found(keys, browser), 86_400)


def test_login_link_ends_when_the_owners_token_is_rotated(file: TokenFile, tmp_path: Path, clock: ManualClock) -> None:
    keys, codes = keyring(tmp_path, clock), LoginCodes()
    code, other = (codes.issue(WITH_THE_TOKEN, clock.monotonic, keys.owners_hash()) for _ in range(2))
    assert codes.redeem(code, clock.monotonic, keys.owners_hash()) == WITH_THE_TOKEN
    file.rotate_owners(overlap=0)
    assert codes.redeem(other, clock.monotonic, keys.owners_hash()) is None


def test_token_revoked_meanwhile_signs_in_no_browser(file: TokenFile, tmp_path: Path, clock: ManualClock) -> None:
    keys = keyring(tmp_path, clock)
    caller = found(keys, file.add("tablet", frozenset({READ}), OWNER, None))
    file.revoke("tablet")
    with pytest.raises(NotAllowed, match="signs in no browser"):
        keys.sign_in(caller, 86_400)


@pytest.mark.parametrize("name", ["", "owner", "Phone", "a b", "-x", "x" * 33, "../x", "a\n"])
def test_invalid_token_name_is_refused(file: TokenFile, name: str) -> None:
    with pytest.raises(InvalidRequest, match="invalid token name"):
        file.add(name, frozenset({CHAT}), OWNER, None)


def test_impossible_request_is_refused(file: TokenFile) -> None:
    with pytest.raises(InvalidRequest, match="scope chat only"):
        file.add("guest", frozenset({CHAT, APPROVE}), MEMBER, None)
    file.add("guest", frozenset({CHAT}), MEMBER, None)
    with pytest.raises(InvalidRequest, match="already"):
        file.add("guest", frozenset({CHAT}), MEMBER, None)
    for change in (file.revoke, lambda name: file.rotate(name, 0)):
        with pytest.raises(NotFound, match="hob token list"):
            change("nobody")


def test_unreadable_token_file_admits_nobody(file: TokenFile, tmp_path: Path, clock: ManualClock) -> None:
    secret = file.add("phone", frozenset({CHAT}), OWNER, None)
    (tmp_path / "secrets" / "gateway-tokens.json").write_text('{"tokens": [{}]}')
    with pytest.raises(NotConfigured, match="remove it"):
        keyring(tmp_path, clock).find(secret)


def test_owners_token_works_with_an_unreadable_token_file(file: TokenFile, tmp_path: Path, clock: ManualClock) -> None:
    keys = keyring(tmp_path, clock)
    phone = file.add("phone", frozenset({CHAT}), OWNER, None)
    kept = (tmp_path / "secrets" / "gateway-tokens.json").read_text()
    (tmp_path / "secrets" / "gateway-tokens.json").write_text("{broken")
    assert keys.find(ensure_token(tmp_path, None)) == WITH_THE_TOKEN
    (tmp_path / "secrets" / "gateway-tokens.json").write_text(kept)
    assert keys.find(phone) is not None
    assert keys.find("wrong") is None


# what they are good for


def caller(hob: Machine, *scopes: TokenScope, cls: SenderClass = OWNER, name: str = "phone") -> httpx2.AsyncClient:
    """Somebody with a token of these scopes."""
    secret = TokenFile(hob.app.home, hob.app.api.clock).add(name, frozenset(scopes), cls, None)
    door = httpx2.ASGITransport(build_api(hob.app.api, local=False, endpoints=ENDPOINTS))
    headers = {"authorization": f"Bearer {secret}"}
    return httpx2.AsyncClient(transport=door, base_url="http://localhost", headers=headers)


@pytest.fixture
async def asked(tmp_path: Path) -> AsyncIterator[Machine]:
    async with machine(tmp_path, "one", "two", "three") as made:
        yield made


@pytest.mark.parametrize("scope", list(TokenScope))
async def test_scope_permits_only_its_routes(hob: Machine, scope: TokenScope) -> None:
    async with caller(hob, scope) as client:
        for endpoint in ENDPOINTS:
            if endpoint.scope is None or endpoint.local:
                continue
            response = await client.request(endpoint.method, endpoint.path.replace("{id}", "x"), params={"wrong": "1"})
            refused = response.status_code == 403 and response.json()["error"]["code"] == "missing_scope"
            assert refused is (scope not in (endpoint.scope, *endpoint.also, ADMIN)), endpoint.path


def opened_by(scope: TokenScope) -> set[str]:
    return {f"{each.method} {each.path}" for each in ENDPOINTS if scope in (each.scope, *each.also) and not each.local}


def test_metrics_token_reads_no_conversation() -> None:
    assert opened_by(METRICS) == {"GET /health", "GET /metrics"}


async def test_approver_sees_the_question_and_nothing_else(hob: Machine) -> None:
    looking = {each for each in opened_by(APPROVE) if each.startswith("GET")}
    assert looking == {"GET /approvals", "GET /approvals/{id}", "GET /grants"}
    async with caller(hob, APPROVE) as client:
        assert (await client.get("/approvals")).json() == {"approvals": []}
        assert (await client.get("/export")).json()["error"]["code"] == "missing_scope"


async def test_chat_token_cannot_approve_by_message(hob: Machine) -> None:
    async with caller(hob, CHAT) as client:
        assert (await client.post("/approvals/a_1", json={"allowed": True})).status_code == 403
        said = (await client.post("/chat", json={"message": "approve:a_00000000"})).json()
        assert "not for approval" in str(said)
        assert hob.model.requests == []


OF_COMMANDS = {
    "/help": CHAT, "/whoami": CHAT, "/stop": CHAT, "/new": CHAT, "/compact": CHAT, "/undo": CHAT, "/queue": CHAT,
    "/session switch tea": CHAT, "/model default": CHAT, "/think": CHAT, "/permission read-only": CHAT,
    "/status": READ, "/tasks": READ, "/usage": READ, "/context": READ, "/session": READ, "/session list": READ,
    "/permission workspace": APPROVE, "/permission default": APPROVE, "/autonomy autonomous": APPROVE,
    "/pause": ADMIN, "/resume": ADMIN, "/cancel m_x": ADMIN, "/session archive tea": ADMIN, "/session title tea": ADMIN,
    "/undo files": ADMIN, "/undo files preview": ADMIN, "/undo FILES": ADMIN,
}  # fmt: skip


def test_every_command_is_in_the_tested_list() -> None:
    assert {text.split()[0][1:] for text in OF_COMMANDS} == BY_NAME.keys() - {"reset"}


@pytest.mark.parametrize("scope", list(TokenScope))
async def test_command_needs_the_scope_of_its_route(hob: Machine, scope: TokenScope) -> None:
    key = "api:work"
    async with caller(hob, *{CHAT, scope}) as client:
        for text, needed in OF_COMMANDS.items():
            await hob.app.api.store.sessions.change(SessionKey(key), paused=False, permission="read-only")
            said = (await client.post("/chat", json={"message": text, "session": key})).json()["reply"]
            assert ("needs the scope" in said) is (needed not in {CHAT, scope} and scope is not ADMIN), text


async def test_waiting_command_keeps_its_tokens_scopes_after_a_restart(tmp_path: Path) -> None:
    key = SessionKey("api:work")
    async with machine(tmp_path) as hob, caller(hob, CHAT) as client:
        await hob.app.api.store.sessions.change(key, paused=True)
        fields = {"message": "/autonomy autonomous", "session": key, "wait": 0}
        waits = (await client.post("/chat", json=fields)).json()["id"]
    async with machine(tmp_path) as hob:
        await hob.tcp.post("/sessions/change", json={"session": key, "paused": False})
        done = (await hob.tcp.get(f"/chat/{waits}", params={"wait": 20})).json()
        assert "needs the scope `approve`" in done["reply"]
        assert (await hob.app.api.store.sessions.get(key)).autonomy is None


async def test_member_prompts_exclude_the_owners_files(asked: Machine, tmp_path: Path) -> None:
    (tmp_path / "workspace").mkdir(exist_ok=True)
    (tmp_path / "workspace" / "USER.md").write_text("The owner lives in Trondheim.")
    async with caller(asked, CHAT, cls=MEMBER) as client:
        await client.post("/chat", json={"message": "hi"})
    await asked.tcp.post("/chat", json={"message": "hi"})
    members, owners = ("\n".join([*map(str, request.messages), str(request)]) for request in asked.model.requests)
    assert ("Trondheim" in members, "Trondheim" in owners) == (False, True)


async def test_members_messages_are_labelled_as_the_members(asked: Machine) -> None:
    async with caller(asked, CHAT, cls=MEMBER, name="anna") as client:
        said = (await client.post("/chat", json={"message": "hi"})).json()
        assert (said["session"], said["reply"]) == ("api:@anna", "one")
        named = (await client.post("/chat", json={"message": "hi", "session": "tea"})).json()
        assert named["session"] == "api:@anna/tea"
        who = (await client.post("/chat", json={"message": "/whoami"})).json()
        assert "member" in who["reply"]
    events = (await asked.tcp.get("/timeline", params={"trace": said["trace_id"]})).json()["events"]
    assert {(event["sender_id"], event["trust"]) for event in events if event["kind"] == "inbound"} == {
        ("token:anna", "untrusted")
    }


@pytest.mark.parametrize("fields", [{"session": "local:main"}, {"channel": "local"}])
async def test_member_cannot_join_the_owners_conversations(hob: Machine, fields: dict[str, str]) -> None:
    async with caller(hob, CHAT, cls=MEMBER) as client:
        response = await client.post("/chat", json={"message": "hi", **fields})
        assert (response.status_code, response.json()["error"]["code"]) == (403, "not_allowed")


async def test_member_sees_only_own_messages(asked: Machine) -> None:
    owners = (await asked.tcp.post("/chat", json={"message": "a secret"})).json()
    async with caller(asked, CHAT, cls=MEMBER) as client:
        own = (await client.post("/chat", json={"message": "hi"})).json()
        assert (await client.get(f"/chat/{own['id']}")).json()["reply"] == own["reply"]
        assert (await client.get(f"/chat/{owners['id']}")).status_code == 404
        followed = await client.get(f"/chat/{owners['id']}", headers={"accept": "text/event-stream"})
        assert "secret" not in followed.text
        assert "not_found" in followed.text


async def test_idempotency_keys_are_separate_per_caller(asked: Machine) -> None:
    headers = {"idempotency-key": "k1"}
    owners = (await asked.tcp.post("/chat", json={"message": "hi"}, headers=headers)).json()
    async with caller(asked, CHAT, cls=MEMBER) as client:
        own = (await client.post("/chat", json={"message": "hi"}, headers=headers)).json()
    assert own["id"] != owners["id"]


async def test_stranger_is_rate_limited(tmp_path: Path) -> None:
    async with (
        machine(tmp_path, HOB_ADMISSION_STRANGERS_PER_MINUTE="1") as hob,
        caller(hob, CHAT, cls=STRANGER) as client,
    ):
        assert (await client.post("/chat", json={"message": "hi"})).status_code == 200
        assert (await client.post("/chat", json={"message": "hi again"})).status_code != 200


def test_calls_of_a_token_are_not_counted_as_the_owners(tmp_path: Path) -> None:
    def who(caller: ApiCaller) -> str:
        return _author_id(People(()), inbound_of(ChatRequest("hi"), None, ManualClock(), caller))

    assert who(WITH_THE_TOKEN) == "owner"
    assert who(ApiCaller("phone", frozenset({CHAT}))) == "token:phone"
    assert who(ApiCaller("anna", frozenset({CHAT}), MEMBER)) == "token:anna"


# the command


def test_token_command_creates_lists_rotates_and_revokes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOB_HOME", str(tmp_path))

    def hob(*arguments: str) -> str:
        assert run(["token", *arguments]) == 0
        return capsys.readouterr().out.strip()

    first = hob("new", "phone", "--scope", "chat", "--scope", "read", "--expires", "30d")
    (listed,) = json.loads(hob("list", "--json"))["tokens"]
    assert (listed["name"], listed["scopes"], listed["class"]) == ("phone", ["chat", "read"], "owner")
    second = hob("rotate", "phone", "--overlap", "1h")
    assert first != second
    assert "former secret is still valid" in hob("show", "phone")
    own = hob("show")
    assert hob("rotate") != own
    hob("revoke", "phone")
    assert "No tokens yet" in hob("list")
    for wrong, status in (("new x --expires soon", 2), ("show nobody", 1), ("revoke nobody", 1), ("new Big", 2)):
        assert run(["token", *wrong.split()]) == status
        assert capsys.readouterr().err


@pytest.mark.parametrize("cls", [MEMBER, SenderClass.STRANGER])
async def test_only_the_owner_chooses_the_model(asked: Machine, cls: SenderClass) -> None:
    usual = (await asked.unix.get("/v1/models")).json()["data"][1]["id"]
    async with caller(asked, CHAT, cls=cls, name="anna") as client:
        refused = await client.post("/chat", json={"message": "hi", "model": usual})
        assert (refused.status_code, refused.json()["error"]["code"]) == (403, "not_allowed")
        said = [{"role": "user", "content": "hi"}]
        refused = await client.post("/v1/chat/completions", json={"messages": said, "model": usual})
        assert (refused.status_code, refused.json()["error"]["param"]) == (403, "model")
        assert asked.model.requests == []
        assert [each["id"] for each in (await client.get("/v1/models")).json()["data"]] == ["hob"]
        assert (await client.get(f"/v1/models/{usual}")).status_code == 403
        assert (await client.post("/v1/chat/completions", json={"messages": said})).status_code == 200
    async with caller(asked, CHAT) as client:
        assert (await client.post("/chat", json={"message": "hi", "model": usual})).status_code == 200
