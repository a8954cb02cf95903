"""Failures below /v1 outside any endpoint still have OpenAI's format."""

from typing import Any

import httpx2
import pytest

from hob.core.errors import HobError
from hob.gateway.auth.callers import TokenScope
from hob.gateway.http.asgi import build_api
from hob.gateway.http.endpoint import Endpoint, EndpointCall
from hob.gateway.http.fields import Nothing
from hob.gateway.openai.errors import openai_response
from tests.gateway.conftest import Machine

WRONG: dict[str, Exception] = {"defect": ZeroDivisionError("a secret of the inside"), "internal": HobError("odd")}


@pytest.mark.parametrize(
    ("method", "path", "headers", "status", "kind", "code"),
    [
        ("GET", "/v1", {}, 404, "invalid_request_error", "not_found"),
        ("GET", "/v1/nope", {}, 404, "invalid_request_error", "not_found"),
        ("GET", "/v1/chat/completions", {}, 405, "invalid_request_error", "method_not_allowed"),
        ("DELETE", "/v1/models", {}, 405, "invalid_request_error", "method_not_allowed"),
        ("GET", "/v1/nope", {"authorization": "Bearer wrong"}, 401, "authentication_error", "unauthorized"),
        ("GET", "/v1/models", {"host": "evil.example"}, 421, "invalid_request_error", "wrong_host"),
        ("GET", "/v1/models", {"origin": "http://evil.example"}, 403, "permission_error", "wrong_origin"),
    ],
)
async def test_unknown_endpoint_is_answered_in_openai_format(
    hob: Machine, method: str, path: str, headers: dict[str, str], status: int, kind: str, code: str
) -> None:
    answer = await hob.tcp.request(method, path, headers=headers)
    assert answer.status_code == status
    error = answer.json()["error"]
    assert (error["type"], error["param"], error["code"]) == (kind, None, code)
    assert error["message"]


@pytest.mark.parametrize("path", ["/nope", "/v10/models"])
async def test_errors_of_other_routes_keep_hobs_format(hob: Machine, path: str) -> None:
    assert (await hob.tcp.get(path)).json()["error"].keys() == {"code", "message"}


@pytest.mark.parametrize("which", WRONG)
async def test_internal_error_is_not_retried(hob: Machine, which: str) -> None:
    async def fail(call: EndpointCall[Nothing]) -> Any:
        raise WRONG[which]

    routes = (Endpoint("GET", "/v1/wrong", fail, TokenScope.READ, Nothing, failing=openai_response),)
    app = build_api(hob.app.api, local=True, endpoints=routes)
    door = httpx2.ASGITransport(app, raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=door, base_url="http://hob") as client:
        answer = await client.get("/v1/wrong")
    assert (answer.status_code, answer.headers["x-should-retry"]) == (500, "false")
    error = answer.json()["error"]
    assert (error["type"], error["param"], error["code"]) == ("server_error", None, "internal")
    assert "inside" not in answer.text


async def test_endlessly_nested_body_is_refused(hob: Machine) -> None:
    body = '{"messages": [{"role": "user", "content": "hi"}], "metadata": ' + "[" * 600 + "]" * 600 + "}"
    answer = await hob.tcp.post("/v1/chat/completions", content=body, headers={"content-type": "application/json"})
    assert (answer.status_code, answer.json()["error"]["type"]) == (400, "invalid_request_error")
