"""The dashboard's listener: authentication, browser security, and its routes."""

import asyncio
import json
import re
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.types import ASGIApp

from hob.app.subsystem import api_v1_of
from hob.app.subsystems import SUBSYSTEMS
from hob.core.clock import SystemClock
from hob.core.translation.language import say, translated
from hob.core.trust.labels import SenderClass
from hob.core.trust.scopes import TokenScope
from hob.gateway.auth.callers import WITH_THE_TOKEN
from hob.gateway.auth.tokens import TokenFile
from hob.gateway.dashboard.endpoint_names import RESERVED
from hob.gateway.dashboard.files import PackageFiles
from hob.gateway.http.asgi import build_api
from hob.gateway.http.endpoint import Endpoint
from hob.guard.policy.rule_names import MODES, RULES, explain_verdict
from hob.memory.views import led
from hob.store.audit.audit import AuditEntry
from hob.testing.model import calls
from hob.testing.model_server import ModelServer
from tests.confined import BACKEND
from tests.gateway.conftest import TOKEN, Machine, machine

ENDPOINTS = api_v1_of(SUBSYSTEMS)
OPEN = {"/health", "/api/v1/status", "/api/v1/auth/verify", "/api/v1/auth/login"}
"""Routes that answer without a token."""
KAFCLAWS_COLOURS = {
    "soul": "#a855f7", "conversation": "#58a6ff", "tool": "#fb923c", "group": "#22c55e", "er1": "#fbbf24",
    "observation": "#67e8f9",
}  # fmt: skip
PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 40


@pytest.fixture
async def hob(tmp_path: Path) -> AsyncIterator[Machine]:
    async with machine(tmp_path, "Hello!", "Again.") as made:
        yield made


def pages_of(hob: Machine) -> ASGIApp:
    api = replace(hob.app.api, dashboard="http://localhost")
    return build_api(
        api, local=False, endpoints=api_v1_of(SUBSYSTEMS), pages={"/": PackageFiles("tests.gateway", "pages")}
    )


@asynccontextmanager
async def browser(hob: Machine, base: str = "http://localhost", **headers: str) -> AsyncIterator[httpx2.AsyncClient]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    async with httpx2.AsyncClient(
        transport=httpx2.ASGITransport(pages_of(hob)), base_url=base, headers=named
    ) as client:
        yield client


@asynccontextmanager
async def signed_in(hob: Machine, token: str = TOKEN) -> AsyncIterator[httpx2.AsyncClient]:
    """Return a signed-in browser page."""
    async with browser(hob) as page:
        told = (await page.post("/api/v1/auth/login", json={"token": token})).raise_for_status().json()
        page.headers["x-csrf-token"] = told["csrf"]
        yield page


def given(endpoint: Endpoint[Any]) -> str:
    return re.sub(r"{[^}]*}", "x", endpoint.path)


async def test_no_endpoint_answers_without_a_token(hob: Machine) -> None:
    for endpoint in ENDPOINTS:
        name = f"{endpoint.method} {endpoint.path}"
        async with browser(hob) as page:
            answer = await page.request(endpoint.method, given(endpoint), json=None if endpoint.method == "GET" else {})
        if endpoint.path in OPEN:
            assert answer.status_code in (200, 400), name
        elif endpoint.path == "/ws":  # over plain HTTP it only says how to connect
            assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_request"), name
        else:
            assert (answer.status_code, answer.json()["code"]) == (401, "unauthorized"), name
            assert answer.headers["content-type"] == "application/problem+json", name


async def test_reserved_family_without_a_subsystem_is_not_found(hob: Machine) -> None:
    families = {endpoint.path.split("/")[3] for endpoint in ENDPOINTS if endpoint.path.startswith("/api/v1/")}
    missing = [each for each in RESERVED if each not in families]
    assert {"jobs", "harness", "projects", "boards"} <= {*missing}
    async with browser(hob, authorization=f"Bearer {TOKEN}") as page:
        for each in missing:
            for path in (f"/api/v1/{each}", f"/api/v1/{each}/x"):
                answer = await page.get(path)
                assert (answer.status_code, answer.json()["code"]) == (404, "not_found"), path
                assert answer.headers["content-type"] == "application/problem+json", path


async def test_status_before_login_has_version_mode_and_readiness_only(hob: Machine) -> None:
    async with browser(hob) as page:
        assert (await page.get("/api/v1/status")).json().keys() == {"version", "mode", "ready"}
        assert (await page.get("/health")).json() == {"ok": True}


async def test_status_with_a_token_is_complete(hob: Machine) -> None:
    async with browser(hob, authorization=f"Bearer {TOKEN}") as page:
        told = (await page.get("/api/v1/status")).json()
        alive = (await page.get("/health")).json()
        assert (alive["ok"], alive["status"], alive["problem"]) == (True, "ok", None)
        assert {"agent_id", "uptime_seconds", "group_enabled", "orchestrator_enabled", "running"} <= told.keys()


async def test_status_for_another_person_is_the_public_one(hob: Machine) -> None:
    token = TokenFile(hob.app.home, SystemClock()).add("anna", frozenset({TokenScope.CHAT}), SenderClass.MEMBER, None)
    async with browser(hob, authorization=f"Bearer {token}") as page:
        assert (await page.get("/api/v1/status")).json().keys() == {"version", "mode", "ready"}


async def test_login_link_signs_in_one_browser_once(hob: Machine) -> None:
    api = hob.app.api
    code = api.login_codes.issue(WITH_THE_TOKEN, api.clock.monotonic, api.keyring.owners_hash())
    earlier = api.login_codes.issue(WITH_THE_TOKEN, api.clock.monotonic, "of a token that was replaced")
    async with browser(hob) as page:
        first = await page.post("/api/v1/auth/login", json={"code": code})
        assert first.status_code == 200
        cookie = first.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=strict" in cookie
        assert first.json()["csrf"] not in cookie
        for ended in (code, earlier):
            assert (await page.post("/api/v1/auth/login", json={"code": ended})).status_code == 401


async def test_cookie_without_the_csrf_token_is_refused(hob: Machine) -> None:
    async with signed_in(hob) as page:
        assert (await page.get("/api/v1/sessions")).status_code == 200
        del page.headers["x-csrf-token"]
        for method, path in (("GET", "/api/v1/sessions"), ("POST", "/api/v1/auth/logout")):
            answer = await page.request(method, path)
            assert (answer.status_code, answer.json()["code"]) == (403, "missing_csrf")


async def test_csrf_token_without_its_cookie_is_refused(hob: Machine) -> None:
    async with signed_in(hob) as page:
        csrf = page.headers["x-csrf-token"]
    async with browser(hob, x_csrf_token=csrf) as other:
        assert (await other.get("/api/v1/sessions")).status_code == 401
        assert (await other.get("/api/v1/sessions", headers={"authorization": f"Bearer {csrf}"})).status_code == 401


async def test_csrf_token_of_another_login_is_refused(hob: Machine) -> None:
    async with signed_in(hob) as one, signed_in(hob) as two:
        answer = await two.get("/api/v1/sessions", headers={"x-csrf-token": one.headers["x-csrf-token"]})
        assert answer.status_code == 401


async def test_logout_voids_copies_of_the_login(hob: Machine) -> None:
    async with signed_in(hob) as page:
        kept = {"cookie": "; ".join(f"{name}={value}" for name, value in page.cookies.items())}
        kept["x-csrf-token"] = page.headers["x-csrf-token"]
        assert (await page.post("/api/v1/auth/logout")).status_code == 200
    async with browser(hob) as thief:
        assert (await thief.get("/api/v1/sessions", headers=kept)).status_code == 401


async def test_revoking_a_token_ends_its_browser_logins(hob: Machine) -> None:
    file = TokenFile(hob.app.home, SystemClock())
    token = file.add("tablet", frozenset({TokenScope.READ}), SenderClass.OWNER, None)
    async with signed_in(hob, token) as page:
        assert (await page.get("/api/v1/sessions")).status_code == 200
        file.revoke("tablet")
        assert (await page.get("/api/v1/sessions")).status_code == 401


async def test_guessing_codes_is_locked_out(hob: Machine) -> None:
    async with browser(hob) as page:
        tried = [(await page.post("/api/v1/auth/login", json={"code": f"wrong-{n}"})).status_code for n in range(12)]
    assert tried[:10] == [401] * 10
    assert tried[-1] == 429


async def test_viewer_gets_no_message_content(hob: Machine) -> None:
    await hob.tcp.post("/chat", json={"message": "the secret of the garden"})
    token = TokenFile(hob.app.home, SystemClock()).add("wall", frozenset({TokenScope.VIEW}), SenderClass.OWNER, None)
    async with signed_in(hob, token) as page:
        events = (await page.get("/api/v1/timeline")).json()["events"]
        assert events
        trace = events[0]["trace_id"]
        for path in ("timeline", "tasks?all=true", "sessions", f"trace/{trace}", f"trace-graph/{trace}", "status"):
            answer = await page.get(f"/api/v1/{path}")
            assert answer.status_code == 200, path
            assert "garden" not in answer.text, path
            assert "Hello!" not in answer.text, path
        assert (await page.get("/api/v1/timeline?text=garden")).json()["events"] == events
        for path in ("sessions/history", "approvals/pending", "settings", "audit", f"media/{'0' * 64}"):
            assert (await page.get(f"/api/v1/{path}")).status_code == 403, path


async def test_viewer_gets_no_first_word_of_a_message_as_a_command_or_tool(tmp_path: Path) -> None:
    async with machine(tmp_path, calls(("garden", "{}")), "Hello!") as hob:
        for said in ("/garden of mine", "look into the plot"):
            await hob.tcp.post("/chat", json={"message": said})
        tokens = TokenFile(hob.app.home, SystemClock())
        async with signed_in(hob, tokens.add("wall", frozenset({TokenScope.VIEW}), SenderClass.OWNER, None)) as page:
            answer = await page.get("/api/v1/timeline")
            traces = {each["trace_id"] for each in answer.json()["events"]}
            texts = [answer.text]
            for trace in traces:
                texts += [(await page.get(f"/api/v1/{path}/{trace}")).text for path in ("trace", "trace-graph")]
        assert "garden" in (await hob.tcp.get("/timeline")).text
    assert len(traces) == 2
    assert not [text for text in texts if "garden" in text]


async def test_draft_of_a_model_cannot_run_commands_or_send_files_over_tcp(hob: Machine, tmp_path: Path) -> None:
    async with ModelServer() as server, signed_in(hob) as page:
        for key in (f"command:touch {tmp_path / 'ran'}", f"file:{tmp_path / 'hob.db'}"):
            draft = {"model": "m", "provider": "server", "base_url": f"{server.root}/v1", "key": key}
            answer = await page.post("/api/v1/models/test", json={"draft": json.dumps(draft)})
            assert (answer.status_code, answer.json()["code"]) == (400, "invalid_request")
        assert not server.requests
    assert not (tmp_path / "ran").exists()


async def test_member_token_does_not_open_the_dashboard(hob: Machine) -> None:
    file = TokenFile(hob.app.home, SystemClock())
    token = file.add("anna", frozenset({TokenScope.CHAT}), SenderClass.MEMBER, None)
    async with browser(hob) as page:
        assert (await page.post("/api/v1/auth/login", json={"token": token})).status_code == 403


@pytest.mark.parametrize("path", ["/", "/api/v1/status", "/health"])
async def test_foreign_host_is_refused(hob: Machine, path: str) -> None:
    async with browser(hob, "http://evil.example") as page:
        assert (await page.get(path)).status_code == 421


async def test_request_from_another_origin_is_refused(hob: Machine) -> None:
    async with signed_in(hob) as page:
        for origin in ("http://evil.example", "http://localhost:3000", "null"):
            answer = await page.get("/api/v1/sessions", headers={"origin": origin})
            assert (answer.status_code, answer.json()["code"]) == (403, "wrong_origin")
        assert (await page.get("/api/v1/sessions", headers={"origin": "http://localhost"})).status_code == 200


async def test_page_has_a_strict_policy(hob: Machine) -> None:
    async with browser(hob) as page:
        answer = await page.get("/")
        policy = answer.headers["content-security-policy"]
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
        assert "http" not in policy
        again = await page.get("/", headers={"if-none-match": answer.headers["etag"]})
        assert again.status_code == 304


@pytest.mark.parametrize("path", ["/../conftest.py", "/%2e%2e/conftest.py", "/..%2fconftest.py", "//etc/passwd.txt"])
async def test_path_traversal_out_of_the_page_files_is_refused(hob: Machine, path: str) -> None:
    async with browser(hob) as page:
        answer = await page.get(path)
        assert "import" not in answer.text
        assert "root:" not in answer.text


async def test_media_type_is_sniffed_and_never_executable(hob: Machine) -> None:
    async with signed_in(hob) as page:
        for data, kind, shown in (
            (PNG, "image/png", "inline"),
            (b"<html><script>alert(1)</script>", "application/octet-stream", "attachment"),
            (b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>", "application/octet-stream", "attachment"),
        ):
            id = (await page.post("/api/v1/attachments", content=data)).json()["id"]
            answer = await page.get(f"/api/v1/media/{id}")
            assert answer.headers["content-type"].startswith(kind)
            assert answer.headers["content-disposition"].startswith(shown)
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["content-security-policy"].startswith("sandbox")


async def test_media_supports_ranges(hob: Machine) -> None:
    async with signed_in(hob) as page:
        id = (await page.post("/api/v1/attachments", content=PNG)).json()["id"]
        for asked, status, part in (
            ("bytes=0-7", 206, PNG[:8]),
            ("bytes=8-", 206, PNG[8:]),
            ("bytes=-4", 206, PNG[-4:]),
            ("bytes=999-", 416, b""),
            ("bytes=7-3", 416, b""),
            ("items=1-2", 200, PNG),
        ):
            answer = await page.get(f"/api/v1/media/{id}", headers={"range": asked})
            assert (answer.status_code, answer.content) == (status, part), asked


@pytest.mark.parametrize("id", ["..%2f..%2fhob.db", "hob.db", "%00", "0" * 63, "G" * 64])
async def test_media_id_cannot_be_a_path(hob: Machine, id: str) -> None:
    async with signed_in(hob) as page:
        assert (await page.get(f"/api/v1/media/{id}")).status_code == 404


async def test_timeline_pages_meet_without_a_gap(hob: Machine) -> None:
    await hob.tcp.post("/chat", json={"message": "one"})
    await hob.tcp.post("/chat", json={"message": "two"})
    async with signed_in(hob) as page:
        whole = (await page.get("/api/v1/timeline?limit=500")).json()
        found: list[Any] = []
        before = None
        while True:
            query = {"limit": 3} | ({"before": before} if before else {})
            part = (await page.get("/api/v1/timeline", params=query)).json()
            found += part["events"]
            before = part["before"]
            if before is None:
                break
        assert found == whole["events"]
        assert [each["text"] for each in found if each["kind"] == "inbound"] == ["two", "one"]
        only = (await page.get("/api/v1/timeline?kind=inbound&text=ONE")).json()["events"]
        assert [each["text"] for each in only] == ["one"]


async def test_unchanged_timeline_answers_304(hob: Machine) -> None:
    async with signed_in(hob) as page:
        first = await page.get("/api/v1/timeline")
        again = await page.get("/api/v1/timeline", headers={"if-none-match": first.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")


async def test_trace_holds_model_requests_and_answers(hob: Machine) -> None:
    await hob.tcp.post("/chat", json={"message": "hi"})
    async with signed_in(hob) as page:
        id = (await page.get("/api/v1/timeline?kind=model")).json()["events"][0]["trace_id"]
        trace = (await page.get(f"/api/v1/trace/{id}")).json()
        assert [span["type"] for span in trace["spans"]] == ["INBOUND", "EVENT", "EVENT", "LLM", "OUTBOUND"]
        assert trace["task"]["channel"] == "api"
        assert trace["task"]["delivery_status"] == "reply"
        assert trace["task"]["total_tokens"] == trace["task"]["prompt_tokens"] + trace["task"]["completion_tokens"] > 0
        model = next(span for span in trace["spans"] if span["type"] == "LLM")
        assert model["metadata"]["response_text"] == "Hello!"
        graph = (await page.get(f"/api/v1/trace-graph/{id}")).json()
        assert len(graph["nodes"]) == len(trace["spans"])
        assert {edge["source"] for edge in graph["edges"]} <= {node["id"] for node in graph["nodes"]}
        assert (await page.get("/api/v1/trace/none")).status_code == 404


async def test_policy_decisions_of_a_trace_name_their_rules(tmp_path: Path) -> None:
    asked = calls(("exec", '{"command": "rm -rf ."}'))
    async with machine(tmp_path, asked, "Done.") as hob, signed_in(hob) as page:
        await hob.tcp.post("/chat", json={"message": "clean up"})
        id = (await page.get("/api/v1/timeline?kind=model")).json()["events"][0]["trace_id"]
        told = (await page.get("/api/v1/policy-decisions", params={"trace_id": id})).raise_for_status().json()
        (decision,) = told["policy_decisions"]
        assert (decision["tool"], decision["allowed"]) == ("exec", False)
        assert decision["rule"]
        assert decision["sentence"]
        assert (await page.get("/api/v1/policy-decisions", params={"trace_id": "none"})).status_code == 404


async def test_rules_and_ends_of_approvals_are_told_in_the_callers_language(tmp_path: Path) -> None:
    ended = AuditEntry("approval", "exec", "expired", "mode.risk", detail='{"note": "there was no answer in time"}')
    asked = calls(("exec", '{"command": "rm -rf ."}'))
    async with machine(tmp_path, asked, "Done.") as hob, signed_in(hob) as page:
        trace = (await hob.tcp.post("/chat", json={"message": "clean up"})).json()["trace_id"]
        await hob.app.store.audit.add(ended)
        for language, note in (("de", "es kam rechtzeitig keine Antwort"), ("en", "there was no answer in time")):
            page.headers["accept-language"] = language
            (decision,) = (await page.get(f"/api/v1/trace/{trace}")).json()["policy_decisions"]
            assert decision["sentence"] == translated(explain_verdict(decision["rule"], decision["verdict"]), language)
            (entry,) = (await page.get("/api/v1/audit?kind=approval")).json()["entries"]
            assert (entry["note"], entry["sentence"]) == (note, translated(RULES["mode.risk"], language))


@pytest.mark.parametrize("sentence", sorted({*RULES.values(), *map(str, MODES.values())}))
def test_every_rule_has_a_german_sentence(sentence: str) -> None:
    assert translated(sentence, "de") != sentence


async def test_layer_of_memory_is_reset_and_reindexing_needs_confirmation(hob: Machine) -> None:
    async with signed_in(hob) as page:
        await page.post("/api/v1/memory/items", json={"text": "Anna likes green tea."})
        layer = (await page.get("/api/v1/memory/items")).json()["items"][0]["layer"]
        gone = (await page.post("/api/v1/memory/reset", json={"layer": layer})).raise_for_status().json()
        assert gone["deleted"] == 1
        assert (await page.get("/api/v1/memory/items")).json()["items"] == []
        refused = await page.post("/api/v1/memory/embedding/reindex", json={"reason": "test"})
        assert (refused.status_code, "confirmWipe=true" in refused.text) == (400, True)


async def test_settings_never_contain_secrets(hob: Machine) -> None:
    async with signed_in(hob) as page:
        answer = await page.get("/api/v1/settings")
        assert TOKEN not in answer.text
        rows = {each["key"]: each for each in answer.json()["settings"]}
        assert rows["gateway.auth_token"]["value"] is None
        assert rows["spending.daily"]["changeable"]


async def test_memory_is_listed_added_and_forgotten(hob: Machine) -> None:
    async with signed_in(hob) as page:
        added = (await page.post("/api/v1/memory/items", json={"text": "Anna likes green tea."})).raise_for_status()
        told = (await page.get("/api/v1/memory/status")).json()
        assert {each["name"]: each["color"] for each in told["layers"]}.items() >= KAFCLAWS_COLOURS.items()
        assert (told["led"], told["totals"]["total_chunks"]) == ("purple", 1)
        figures = (await page.get("/api/v1/memory/metrics")).json()
        assert (figures["memory"]["by_layer"]["fact"], figures["memory"]["chunksEmbedded"]) == (1, 0)
        knowledge = {name: each for name, each in figures["knowledge"].items() if name != "decisions"}
        assert knowledge == {"factsLatest": 0, "factsAccepted": 0, "factsStale": 0, "factsConflict": 0}
        assert set(figures["knowledge"]["decisions"].values()) == {0}
        assert figures["slo"] == {"precisionProxy": 0.0, "recallProxy": 0.0, "conflictRate": 0.0}
        assert (figures["memory"]["overflowEvents"], figures["memory"]["overflowPer1000"]) == (0, 0.0)
        for recall in (False, None):  # null undoes the change
            values = {"values": {"recall": recall, "max_items": 200}}
            changed = (await page.post("/api/v1/memory/config", json=values)).raise_for_status().json()["settings"]
            assert {each["key"]: each["value"] for each in changed}["memory.recall"] is (recall is None)
            told = (await page.get("/api/v1/memory/status")).json()
            assert (told["config"]["recall"], told["totals"]["max_chunks"]) == (recall is None, 200)
        refused = await page.post("/api/v1/memory/config", json={"values": {"profile": "rrf"}})
        assert (refused.status_code, "at run time" in refused.text) == (400, True)
        found = (await page.get("/api/v1/memory/search", params={"query": "tea"})).json()["items"]
        assert (found[0]["id"], found[0]["parts"].keys() > set()) == (added.json()["id"], True)
        wanted = {"id": found[0]["id"]}
        shown = (await page.post("/api/v1/memory/forget", json={**wanted, "preview": True})).json()
        assert (len(shown["items"]), shown["erased"]) == (1, 0)
        assert (await page.post("/api/v1/memory/forget", json=wanted)).json()["erased"] > 0
        assert (await page.post("/api/v1/memory/reset", json={"layer": "nonsense"})).status_code == 400


async def test_vectors_are_dropped_only_on_confirmation_and_health_tells_whether_the_embedder_answers(
    tmp_path: Path,
) -> None:
    async with machine(tmp_path / "without") as hob, signed_in(hob) as page:
        told = await page.get("/api/v1/memory/embedding/healthz")
        assert (told.status_code, told.json()["status"]) == (503, "disabled")
    async with (
        ModelServer() as server,
        machine(tmp_path / "with", HOB_MODEL_BASE_URL=server.url, HOB_MODEL_EMBEDDING="fake-embed") as hob,
        signed_in(hob) as page,
    ):
        told = await page.get("/api/v1/memory/embedding/healthz")
        assert (told.status_code, told.json()["runtime"]["ready"]) == (200, True)
        for body in ({}, {"confirmWipe": False, "reason": "a trial"}):
            refused = await page.post("/api/v1/memory/embedding/reindex", json=body)
            assert (refused.status_code, "confirmWipe=true" in refused.text) == (400, True)
        done = await page.post("/api/v1/memory/embedding/reindex", json={"confirmWipe": True, "reason": "a trial"})
        assert done.json() == {"status": "ok", "wipedChunks": 0, "reason": "a trial"}


@pytest.mark.parametrize(
    ("total", "used", "light"),
    [(0, 0.0, "grey"), (1, 0.7, "purple"), (1, 0.71, "amber"), (1, 0.9, "amber"), (1, 0.91, "red")],
)
def test_light_of_memory_shows_how_full_it_is(total: int, used: float, light: str) -> None:
    assert led(total, used) == light


async def test_settings_are_read_and_changed_under_kafclaws_keys(hob: Machine) -> None:
    async with signed_in(hob) as page:
        set_ = (await page.post("/api/v1/settings", json={"key": "daily_token_limit", "value": 5000})).json()
        assert set_ == {"status": "ok", "key": "daily_token_limit", "value": 5000}
        for key in ("daily_token_limit", "spending.daily_tokens"):
            assert (await page.get("/api/v1/settings", params={"key": key})).json() == {"key": key, "value": 5000}
        await page.post("/api/v1/settings", json={"key": "silent_mode", "value": True})
        assert (await page.get("/api/v1/settings", params={"key": "delivery.silent_mode"})).json()["value"] is True
        assert (await page.get("/api/v1/settings", params={"key": "nonsense"})).status_code == 404
        for answer in (
            await page.get("/api/v1/settings", params={"key": "whatsapp_allowlist"}),
            await page.post("/api/v1/settings", json={"key": "whatsapp_denylist", "value": "+49"}),
        ):
            assert (answer.status_code, "reserved for a channel WhatsApp" in answer.text) == (404, True)
        assert (await page.post("/api/v1/settings", json={"key": "bot_repo_path", "value": "/x"})).status_code == 400


async def test_repositories_are_searched_below_the_configured_folder(
    hob: Machine, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder, work = tmp_path_factory.mktemp("code"), tmp_path_factory.mktemp("work")
    (folder / "boats" / ".git").mkdir(parents=True)
    async with signed_in(hob) as page:
        told = await page.post("/api/v1/settings", json={"key": "default_repo_search_path", "value": str(folder)})
        assert told.raise_for_status().json()["value"] == str(folder)
        (await page.post("/api/v1/workrepo", json={"path": str(work)})).raise_for_status()
        found = (await page.get("/api/v1/repo/search")).raise_for_status().json()
        assert (found["root"], found["repos"]) == (str(folder.resolve()), ["boats"])


async def test_web_user_is_linked_to_a_whatsapp_chat_by_jid(hob: Machine) -> None:
    async with signed_in(hob) as page:
        user = (await page.post("/api/v1/webusers", json={"name": "Anna"})).json()
        link = {"web_user_id": user["id"], "whatsapp_jid": "49123@s.whatsapp.net"}
        told = (await page.post("/api/v1/weblinks", json=link)).raise_for_status().json()
        assert (told["web_user_id"], told["whatsapp_jid"]) == (user["id"], "49123@s.whatsapp.net")
        assert told["address"] == "whatsapp:+49123"
        assert (await page.post("/api/v1/weblinks", json={**link, "whatsapp_jid": ""})).json()["address"] == ""


async def test_tasks_and_events_are_filtered_by_channel_and_paginated_by_offset(hob: Machine) -> None:
    for text in ("one", "two"):
        await hob.tcp.post("/chat", json={"message": text})
    async with signed_in(hob) as page:

        async def tasks(**query: Any) -> list[str]:
            found = await page.get("/api/v1/tasks", params={"all": "true", **query})
            return [each["title"] for each in found.raise_for_status().json()["tasks"]]

        assert await tasks(channel="api", status="done") == ["two", "one"]
        assert await tasks(channel="telegram") == await tasks(channel="ap") == []
        assert await tasks(offset=1) == ["one"]
        query = {"kind": "inbound"}
        every = (await page.get("/api/v1/timeline", params=query)).json()["events"]
        later = (await page.get("/api/v1/timeline", params={**query, "offset": 1})).json()["events"]
        assert [each["text"] for each in every] == ["two", "one"]
        assert [each["text"] for each in later] == ["one"]


async def test_tasks_are_paginated_by_cursor_and_those_that_wait_name_their_question(tmp_path: Path) -> None:
    asks = calls(("ask_user", '{"question": "Which?", "options": ["red", "blue"]}'))
    outside = {"HOB_WORKSPACE_PATH": str(tmp_path / "workspace")}
    async with machine(tmp_path / "home", "1", "2", "3", asks, **outside) as hob, signed_in(hob) as page:
        for text in ("one", "two", "three", "four"):
            await hob.tcp.post("/chat", json={"message": text})

        async def tasks(**query: Any) -> dict[str, Any]:
            found: dict[str, Any] = (await page.get("/api/v1/tasks", params=query)).raise_for_status().json()
            return found

        [waiting] = (await tasks())["tasks"]
        assert waiting["question"].startswith("Which?")
        assert waiting["choices"] == ["red", "blue"]
        first = await tasks(ended="true", limit=2)
        rest = await tasks(ended="true", limit=2, before=first["before"])
        assert [each["title"] for each in (*first["tasks"], *rest["tasks"])] == ["three", "two", "one"]
        assert rest["before"] is None


async def test_usage_names_the_daily_token_limit(tmp_path: Path) -> None:
    async with machine(tmp_path, HOB_SPENDING_DAILY_TOKENS="1") as hob:
        await hob.tcp.post("/chat", json={"message": "hi"})
        async with signed_in(hob) as page:
            [limit] = (await page.get("/api/v1/usage")).json()["token_limits"]
            assert (limit["key"], limit["limit"], limit["left"]) == ("spending.daily_tokens", 1, 0)
            assert limit["used"] >= 1


async def test_owners_changes_are_events_for_all_clients(hob: Machine) -> None:
    async with signed_in(hob) as page:
        item = (await page.post("/api/v1/memory/items", json={"text": "Anna likes tea."})).json()
        await page.post("/api/v1/memory/forget", json={"id": item["id"], "preview": True})
        user = (await page.post("/api/v1/webusers", json={"name": "Anna"})).json()
        await page.post("/api/v1/weblinks", json={"web_user_id": user["id"], "address": "telegram:12"})
        assert (await page.post("/api/v1/memory/reset", json={"layer": "nonsense"})).status_code == 400
        events = (await page.get("/api/v1/timeline", params={"kind": "system"})).json()["events"]
        assert [(each["name"], each["status"]) for each in events] == [
            ("web_users", "changed"), ("web_users", "changed"), ("memory", "changed"),
        ]  # fmt: skip


async def test_repository_is_confined_to_the_work_folder(hob: Machine) -> None:
    work = hob.app.home / "workspace" / "work"
    async with signed_in(hob) as page:
        assert (await page.get("/api/v1/repo/tree")).status_code == 404
        work.mkdir(parents=True)
        (work / "a.md").write_text("one")
        assert (await page.get("/api/v1/repo/status")).json()["repository"] is False
        assert (await page.post("/api/v1/repo/init", json={})).status_code == 200
        assert (await page.get("/api/v1/repo/file", params={"path": "a.md"})).json()["content"] == "one"
        for path in ("../../hob.db", "%2e%2e/x", "/etc/passwd", ".git/config"):
            for name in ("file", "raw"):
                assert (await page.get(f"/api/v1/repo/{name}", params={"path": path})).status_code == 404
        assert (await page.get("/api/v1/repo/tree", params={"repo": "../.."})).status_code == 400
        assert (await page.post("/api/v1/repo/commit", json={"message": "One"})).json()["hash"]
        identity = (await page.get("/api/v1/repo/tree", params={"repo": "identity"})).json()
        assert identity["root"] == str(work.parent)


async def test_commit_of_a_change_that_is_no_longer_what_was_reviewed_is_refused(hob: Machine) -> None:
    work = hob.app.home / "workspace" / "work"
    work.mkdir(parents=True)
    file = work / "a.md"
    file.write_text("one\n")
    async with signed_in(hob) as page:
        assert (await page.post("/api/v1/repo/init", json={})).status_code == 200

        async def seen() -> dict[str, str]:
            return {"a.md": (await page.get("/api/v1/repo/diff-file", params={"path": "a.md"})).json()["version"]}

        async def commit(reviewed: dict[str, str]) -> tuple[int, str]:
            answer = await page.post("/api/v1/repo/commit", json={"message": "One", "reviewed": reviewed})
            return answer.status_code, answer.json().get("param", "")

        for before, after in (("one", "other"), ("", None), ("two", "three")):  # new, gone again, and changed
            file.write_text(before)
            reviewed = await seen()
            file.unlink() if after is None else file.write_text(after)
            assert await commit(reviewed) == (409, "a.md")
            file.write_text(before)
            assert await commit(reviewed) == (200, "")


async def test_file_of_a_repository_is_served_as_bytes_and_never_executable(hob: Machine) -> None:
    work = hob.app.home / "workspace" / "work"
    work.mkdir(parents=True)
    (work / "one.png").write_bytes(PNG)
    (work / "page.html").write_text("<html><script>alert(1)</script>")
    async with signed_in(hob) as page:
        for name, kind, shown in (
            ("one.png", "image/png", "inline"),
            ("page.html", "application/octet-stream", "attachment"),
        ):
            answer = await page.get("/api/v1/repo/raw", params={"path": name})
            assert answer.content == (work / name).read_bytes()
            assert answer.headers["content-type"].startswith(kind)
            assert answer.headers["content-disposition"].startswith(shown)
            assert answer.headers["content-security-policy"].startswith("sandbox")
        asked = await page.get("/api/v1/repo/raw", params={"path": "one.png"}, headers={"range": "bytes=0-7"})
        assert (asked.status_code, asked.content) == (206, PNG[:8])


async def test_history_is_read_in_both_directions(hob: Machine) -> None:
    for text in ("one", "two", "three"):
        await hob.tcp.post("/chat", json={"message": text})
    async with signed_in(hob) as page:

        async def read(**query: int) -> tuple[list[str], Any, Any]:
            params: dict[str, str | int] = {"session": "api:main", "limit": 2, **query}
            part = (await page.get("/api/v1/sessions/history", params=params)).raise_for_status().json()
            return [each["text"] for each in part["entries"] if each["role"] == "user"], part["before"], part["after"]

        latest, before, after = await read()
        assert (latest, after) == (["three"], None)
        middle, earlier, after = await read(before=before)
        assert middle == ["two"]
        assert await read(after=after) == (["three"], before, before + 1)
        assert await read(after=before + 1) == ([], before + 2, None)
        first, earlier, after = await read(before=earlier)
        assert first == ["one"]
        assert (await read(before=earlier))[:2] == ([], None)
        assert await read(after=0) == (["one"], 1, after)


async def test_repository_is_branched_logged_pushed_and_pulled(hob: Machine, tmp_path: Path) -> None:
    work, remote = hob.app.home / "workspace" / "work", tmp_path / "remote.git"
    work.mkdir(parents=True)
    (work / "a.md").write_text("one")
    await asyncio.to_thread(subprocess.run, ["git", "init", "-q", "--bare", str(remote)], check=True)
    async with signed_in(hob) as page:

        async def act(name: str, **fields: Any) -> dict[str, Any]:
            done = await page.post(f"/api/v1/repo/{name}", json=fields)
            return dict(done.raise_for_status().json())

        await act("init", remote_url=str(remote))
        await act("commit", message="One")
        first = (await page.get("/api/v1/repo/branches")).json()["current"]
        await act("checkout", branch="two", create=True)
        assert (await page.get("/api/v1/repo/branches")).json() == {
            "branches": sorted([first, "two"]),
            "current": "two",
        }
        await act("push")
        await act("pull")
        commits = (await page.get("/api/v1/repo/log", params={"path": "a.md"})).json()["commits"]
        assert [each["subject"] for each in commits] == ["One"]
        assert (await page.post("/api/v1/repo/checkout", json={"branch": "nowhere"})).status_code == 400


async def test_fork_copies_up_to_a_position_and_keeps_the_old_session(hob: Machine) -> None:
    for text in ("one", "two"):
        await hob.tcp.post("/chat", json={"message": text})
    async with signed_in(hob) as page:

        async def texts(session: str) -> list[str]:
            answer = await page.get("/api/v1/sessions/history", params={"session": session})
            return [each["text"] for each in answer.raise_for_status().json()["entries"]]

        entries = (await page.get("/api/v1/sessions/history", params={"session": "api:main"})).json()["entries"]
        wanted = {"session": "api:main", "before": entries[2]["n"]}
        made = (await page.post("/api/v1/sessions/fork", json=wanted)).raise_for_status().json()
        assert (made["copied"], made["of"]) == (2, "api:main")
        assert await texts(made["session"]) == ["one", "Hello!"]
        assert await texts("api:main") == ["one", "Hello!", "two", "Again."]
        assert (await page.post("/api/v1/sessions/fork", json={**wanted, "before": 1})).status_code == 400
        assert (await page.post("/api/v1/sessions/fork", json={"session": "api:nowhere"})).status_code == 404


async def test_slash_fork_moves_the_chat_into_the_copy(hob: Machine) -> None:
    await hob.tcp.post("/chat", json={"message": "one"})
    said = (await hob.tcp.post("/chat", json={"message": "/fork", "session": "main"})).json()
    assert "api:main-" in said["reply"]
    fork, old = (await hob.tcp.get("/sessions")).json()["sessions"]
    assert (fork["title"], old["title"]) == ("Fork of one", "one")


async def test_slash_fork_of_a_named_session_moves_no_chat(hob: Machine) -> None:
    for text in ("one", "/permission read-only"):
        await hob.tcp.post("/chat", json={"message": text, "session": "api:trip"})
    said = (await hob.tcp.post("/chat", json={"message": "/fork", "session": "api:trip"})).json()
    assert "api:trip goes on as it is" in said["reply"]
    for asked in ({"session": "main"}, {}):
        assert (await hob.tcp.post("/chat", json={"message": "two", **asked})).json()["session"] == "api:main"
    found = {each["title"]: each for each in (await hob.tcp.get("/sessions")).json()["sessions"]}
    assert found["Fork of one"]["permission"] == "read-only"


async def test_policy_explains_a_hypothetical_call(hob: Machine) -> None:
    async with signed_in(hob) as page:

        async def said(**asked: Any) -> tuple[str, str]:
            told = (await page.post("/api/v1/policy/explain", json=asked)).raise_for_status().json()
            assert told["told"]
            return told["verdict"], told["rule"]

        assert await said(tool="exec", arguments="rm -rf .", tainted=True) == ("deny", "hard.state")
        assert (await said(tool="no_such_tool"))[0] != "allow"
        assert (await page.post("/api/v1/policy/explain", json={"tool": "exec", "mode": "x"})).status_code == 400


async def test_log_doctor_models_channels_and_people_are_served(hob: Machine) -> None:
    folder = hob.app.home / "logs"
    folder.mkdir(exist_ok=True)
    (folder / "hob.log.1").write_text("2026-05-01T08:00:00.000+00:00 INFO hob.bus abc older\n")
    (folder / "hob.log").write_text(
        "2026-05-02T08:00:00.000+00:00 INFO hob.bus abc <b>began</b>\n"
        "2026-05-02T08:00:01.000+00:00 WARNING hob.store - slow disk\nno line of a log\n"
    )
    async with signed_in(hob) as page:

        async def texts(**wanted: Any) -> list[str]:
            answer = await page.get("/api/v1/logs", params=wanted)
            return [line["text"] for line in answer.raise_for_status().json()["lines"]]

        assert await texts() == ["older", "<b>began</b>", "slow disk"]
        assert await texts(level="warning") == ["slow disk"]
        assert await texts(limit=2) == ["<b>began</b>", "slow disk"]
        assert await texts(trace_id="abc", text="BEGAN") == ["<b>began</b>"]
        assert (await page.get("/api/v1/models")).json()["models"]
        assert (await page.get("/api/v1/channels")).json()["channels"][0]["undelivered"] == 0
        assert (await page.get("/api/v1/plugins")).json() == {"plugins": []}
        assert (await page.get("/api/v1/people")).json()["people"] is not None


async def test_work_folder_is_changed_by_its_own_route(hob: Machine, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = str(tmp_path_factory.mktemp("notes"))
    async with signed_in(hob) as page:
        changed = await page.post("/api/v1/workrepo", json={"path": folder})
        assert changed.raise_for_status().json() == {"path": folder}
        assert (await page.post("/api/v1/workrepo", json={"path": str(hob.app.home)})).status_code == 400


async def test_doctor_results_are_cached_until_refreshed(hob: Machine) -> None:
    async with signed_in(hob) as page:
        found = (await page.get("/api/v1/doctor")).json()
        assert found["checks"] > 10
        assert (await page.get("/api/v1/doctor")).json() == found
        assert (await page.get("/api/v1/doctor?refresh=true")).json()["at"] > found["at"]


async def test_settings_and_errors_are_in_the_requested_language(hob: Machine) -> None:
    async with signed_in(hob) as page:
        told = {}
        for language in ("en-US,en;q=0.9", "de", "de-DE,de;q=0.9", "fr"):
            answer = await page.get("/api/v1/settings", headers={"accept-language": language})
            docs = {each["key"]: each["doc"] for each in answer.json()["settings"]}
            wrong = await page.get("/api/v1/settings", params={"key": "x"}, headers={"accept-language": language})
            told[language] = (docs["spending.daily"], wrong.json()["detail"])
        english, german, region, other = told.values()
        assert english == other
        assert german == region
        assert english[0] != german[0]
        assert english[1] == "there is no setting x"
        assert german[1] == say("de", "there is no setting {key}", key="x") != english[1]


async def test_cached_settings_reflect_each_change(hob: Machine) -> None:
    async with signed_in(hob) as page:
        for language, value in (("en", 5.0), ("de", 6.0), ("de", 7.0), ("en", 7.0)):
            changed = await page.patch("/api/v1/settings", json={"values": {"spending.daily": value}})
            changed.raise_for_status()
            for _ in range(2):
                told = await page.get("/api/v1/settings", headers={"accept-language": language})
                rows = {each["key"]: each["value"] for each in told.json()["settings"]}
                assert rows["spending.daily"] == value


async def test_secrets_and_sandbox_are_described_without_secret_values(tmp_path: Path) -> None:
    settings = {"HOB_MODEL_API_KEY": "sk-canary-5d1e", "HOB_SANDBOX_HOSTS": '["example.org"]'}
    async with machine(tmp_path, **settings) as hob, signed_in(hob) as page:
        answer = await page.get("/api/v1/secrets")
        rows = {each["key"]: each for each in answer.raise_for_status().json()["secrets"]}
        assert rows["model.api_key"]["reference"] is None
        assert rows["model.api_key"]["about"]
        assert TOKEN not in answer.text
        assert "canary" not in answer.text
        told = (await page.get("/api/v1/sandbox")).raise_for_status().json()
        assert (told["hosts"], told["credentials"], told["backend"]) == (["example.org"], [], BACKEND)
        assert told["found"] or told["advice"]
        assert told["work"].startswith(str(tmp_path))
    async with browser(hob) as stranger:
        assert (await stranger.get("/api/v1/secrets")).status_code == 401


async def test_doctor_and_sandbox_report_problems_and_fixes_in_german(tmp_path: Path) -> None:
    async with machine(tmp_path, HOB_SANDBOX_BACKEND="docker") as hob, signed_in(hob) as page:
        told = {}
        for language in ("en", "de"):
            page.headers["accept-language"] = language
            sandbox = (await page.get("/api/v1/sandbox")).raise_for_status().json()
            found = (await page.get("/api/v1/doctor")).raise_for_status().json()["findings"]
            told[language] = sandbox["advice"], {each["id"]: (each["title"], each["advice"]) for each in found}
        assert re.search(r"Set sandbox\.image|Install docker", told["en"][0])
        assert re.search(r"kein Image.*Setze sandbox\.image|nicht installiert.*Installiere docker", told["de"][0])
        assert told["en"][1].keys() == told["de"][1].keys() != set()
        assert not set(told["en"][1].values()) & set(told["de"][1].values())


async def test_mode_reports_whether_other_machines_can_reach_hob(hob: Machine, tmp_path: Path) -> None:
    async with browser(hob) as page:
        assert (await page.get("/api/v1/status")).json()["mode"] == "standalone"
    async with (
        machine(tmp_path / "other", HOB_GATEWAY_HOSTS='["hob.example.org"]') as reached,
        browser(reached) as page,
    ):
        assert (await page.get("/api/v1/status")).json()["mode"] == "remote"
    async with machine(tmp_path / "third", HOB_GATEWAY_HOST="0.0.0.0") as open_, browser(open_) as page:
        assert (await page.get("/api/v1/status")).json()["mode"] == "headless"
