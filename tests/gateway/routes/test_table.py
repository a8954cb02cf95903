"""The table of routes: what it must say of each, and what the application makes of it."""

import inspect
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import httpx2
import pytest
from starlette.responses import Response

from hob.app.endpoints import ENDPOINTS
from hob.core.errors import Busy, BusyScope, HobError, NotConfigured, ShuttingDown, StoreFull
from hob.gateway.auth.callers import TokenScope
from hob.gateway.http.asgi import build_api
from hob.gateway.http.endpoint import JSON, Endpoint, EndpointCall
from hob.gateway.http.failures import STATUS, HttpRefusal, failure_of
from hob.gateway.http.fields import Nothing, fields_of
from hob.gateway.http.reply import JsonResponse, json_response
from tests.gateway.conftest import TOKEN, Machine, machine

PUBLIC = ("/hooks/", "/ws")
"""Where callers show who they are in another way: by a signature, or when the WebSocket opens."""

each_endpoint = pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda each: f"{each.method} {each.path}")


@each_endpoint
def test_every_route_has_a_scope_and_a_manual(endpoint: Endpoint[Any]) -> None:
    assert endpoint.scope is not None or endpoint.path.startswith(PUBLIC)
    assert inspect.getdoc(endpoint.handler)
    assert set(endpoint.errors) <= STATUS.keys()
    taken: Any = endpoint.takes
    assert endpoint.raw or [each.name for each in fields_of(taken) if not each.bounds.doc] == []


@each_endpoint
def test_every_json_route_declares_its_answer(endpoint: Endpoint[Any]) -> None:
    declared = get_type_hints(endpoint.handler)["return"]
    forms = [get_args(kind)[0] for kind in (declared, *get_args(declared)) if get_origin(kind) is JsonResponse]
    assert bool(forms) == (JSON in endpoint.media and endpoint.live is None)
    assert Any not in forms
    assert all(get_origin(form) is not dict for form in forms)


def test_routes_are_unique() -> None:
    assert [line for line, times in Counter((each.method, each.path) for each in ENDPOINTS).items() if times > 1] == []


async def fail(call: EndpointCall[Nothing]) -> Response:
    """Raise what the test says."""
    raise ERRORS[call.id]


async def echo(call: EndpointCall[bytes]) -> Response:
    """Who called, and how much was sent."""
    return json_response({"name": call.caller.name, "bytes": len(call.payload)})


ERRORS: dict[str, Exception] = {
    "defect": ZeroDivisionError("a secret of the inside"),
    "internal": HobError("odd"),
    "full": StoreFull(),
    "stopping": ShuttingDown(),
    "total": Busy(BusyScope.TOTAL, 3.0),
    "lane": Busy(BusyScope.LANE, 3.0),
    "settings": NotConfigured(),
    "refused": HttpRefusal("too_large", "no"),
}


def asking(hob: Machine, *more: Endpoint[Any]) -> httpx2.AsyncClient:
    door = httpx2.ASGITransport(build_api(hob.app.api, local=False, endpoints=more), raise_app_exceptions=False)
    headers = {"authorization": f"Bearer {TOKEN}"}
    return httpx2.AsyncClient(transport=door, base_url="http://localhost", headers=headers)


@pytest.mark.parametrize(
    ("name", "status", "code"),
    [
        ("defect", 500, "internal"),
        ("internal", 500, "internal"),
        ("full", 507, "store_full"),
        ("stopping", 503, "stopping"),
        ("total", 503, "busy_total"),
        ("lane", 429, "busy_lane"),
        ("settings", 503, "not_configured"),
        ("refused", 413, "too_large"),
    ],
)
async def test_every_error_has_its_status_and_code(hob: Machine, name: str, status: int, code: str) -> None:
    async with asking(hob, Endpoint("GET", "/fail/{id}", fail, TokenScope.READ, Nothing)) as client:
        response = await client.get(f"/fail/{name}")
        assert (response.status_code, response.json()["error"]["code"]) == (status, code)
        assert "secret of the inside" not in response.text
        assert ("retry-after" in response.headers) is (name in {"full", "stopping", "total", "lane"})


@pytest.mark.parametrize("error", [error for error in ERRORS.values() if isinstance(error, HobError)], ids=repr)
def test_every_code_has_a_status(error: HobError) -> None:
    assert 400 <= failure_of(error).status < 600


async def test_first_matching_route_is_used(hob: Machine) -> None:
    async def tell(call: EndpointCall[Nothing]) -> Response:
        return json_response({"route": call.request.scope["route"].path})

    paths = "/a/{id}/c", "/a/b/c", "/a/{id}", "/a/b", "/a/{id:path}", "/a-{id}", "/{id}"
    table = [Endpoint("GET", path, tell, TokenScope.READ, Nothing) for path in paths]
    asked = "/a/b/c", "/a/x/c", "/a/b", "/a/x", "/a/b/d", "/a-x", "/x"
    async with asking(hob, *table, Endpoint("POST", "/a/b", tell, TokenScope.READ, Nothing)) as client:
        taken = [(await client.get(path)).json()["route"] for path in asked]
        assert taken == ["/a/{id}/c", "/a/{id}/c", "/a/{id}", "/a/{id}", "/a/{id:path}", "/a-{id}", "/{id}"]
        assert (await client.post("/a/b")).json() == {"route": "/a/b"}
        refused = await client.delete("/a/b")
        assert (refused.status_code, refused.headers["allow"]) == (405, "GET, HEAD, POST")
        assert (await client.get("/b/c")).status_code == 404


async def test_public_route_reads_and_counts_no_token(hob: Machine) -> None:
    public: Endpoint[Any] = Endpoint("POST", "/hooks/{id}", echo, None, bytes)
    async with asking(hob, public, replace(public, path="/ours", scope=TokenScope.CHAT)) as client:
        for _ in range(20):
            response = await client.post("/hooks/x", content=b"\xff\x00", headers={"authorization": "Bearer theirs"})
            assert response.json() == {"name": "", "bytes": 2}
        assert (await client.post("/ours", content=b"")).status_code == 200


async def test_route_may_take_larger_bodies_than_others(tmp_path: Path) -> None:
    async with machine(tmp_path, HOB_GATEWAY_BODY_BYTES="1000") as hob:
        wide: Endpoint[Any] = Endpoint("POST", "/wide", echo, TokenScope.CHAT, bytes, max_bytes=5_000)
        async with asking(hob, wide, replace(wide, path="/narrow", max_bytes=None)) as client:
            assert (await client.post("/wide", content=b"x" * 5_000)).json()["bytes"] == 5_000
            assert (await client.post("/wide", content=b"x" * 5_001)).status_code == 413
            assert (await client.post("/narrow", content=b"x" * 1_001)).status_code == 413


async def test_feature_endpoints_load_once_with_the_first_unmatched_request(hob: Machine) -> None:
    loads: list[str] = []

    def further() -> tuple[Endpoint[Any], ...]:
        loads.append("loaded")
        return (Endpoint("POST", "/own", fail, TokenScope.READ, Nothing),)

    own = Endpoint("GET", "/own", fail, TokenScope.READ, Nothing)
    app = build_api(hob.app.api, local=False, endpoints=[own], more=further)
    door = httpx2.ASGITransport(app, raise_app_exceptions=False)
    headers = {"authorization": f"Bearer {TOKEN}"}
    async with httpx2.AsyncClient(transport=door, base_url="http://localhost", headers=headers) as client:
        await client.get("/own")
        assert loads == []
        for _ in range(2):
            response = await client.put("/own")
            assert (response.status_code, response.headers["allow"]) == (405, "GET, HEAD, POST")
        assert (await client.get("/nowhere")).status_code == 404
        assert loads == ["loaded"]
