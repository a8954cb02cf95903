"""The real daemon answers every request as the OpenAPI file describes."""

import asyncio
import copy
import json
import re
import warnings
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.core.result import Ok
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi import checks

from tests.conftest import Rounds
from tests.dashboard.scene import dashboard_of
from tests.docs.pages import ROOT
from tests.journeys.world import SHARED, TOKEN, Shared, World

FILE = json.loads((ROOT / "docs" / "openapi.json").read_text("utf-8"))
FILE_V1 = json.loads((ROOT / "docs" / "openapi-v1.json").read_text("utf-8"))
CHECKS = [
    checks.negative_data_rejection,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
    checks.allow_header_conformance,
]
SOON, LATEST = 0.1, 25.0
"""Seconds to wait for news: as short as possible, instead of any number that a client may send."""


def without_security(file: dict[str, Any]) -> dict[str, Any]:
    """Remove security from the file; other tests cover missing tokens."""
    file = copy.deepcopy(file)
    del file["components"]["securitySchemes"]
    for operations in file["paths"].values():
        for operation in operations.values():
            operation.pop("security", None)
    return file


def fuzz(url: str, examples: int, operation: Any) -> None:
    """Fuzz one operation with valid and invalid requests."""
    asked = st.one_of(*(operation.as_strategy(generation_mode=mode) for mode in GenerationMode))

    @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))
    @given(case=asked)
    def ask(case: Any) -> None:
        wait = case.query.get("wait")
        if isinstance(wait, int | float) and SOON < wait <= LATEST:
            case.query["wait"] = SOON
        headers = {"authorization": f"Bearer {TOKEN}"}
        response = case.call(base_url=url, headers=headers, timeout=30)
        # 502 and similar are model failures that the file describes; 500 is a bug
        assert response.status_code != 500, f"{case.method} {case.path}: {response.text}"
        # a body too large to be read (413) is rejected too, which schemathesis does not count
        case.validate_response(response, checks=CHECKS[1:] if response.status_code == 413 else CHECKS)

    ask()


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("file", [FILE, FILE_V1], ids=["api", "dashboard"])
async def test_every_answer_is_described_by_the_openapi_file(
    world: World, rounds: Rounds, file: dict[str, Any]
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings of the test tool's own libraries
        schema = schemathesis.openapi.from_dict(without_security(file))
        operations = [found.ok() for found in schema.get_all_operations() if isinstance(found, Ok)]
        async with world.serve() as daemon:
            url = daemon.url if file is FILE else await dashboard_of(world)
            for operation in operations:
                await asyncio.to_thread(fuzz, url, rounds(8, 300), operation)
            assert "Traceback" not in daemon.errors


MALFORMED: tuple[tuple[bytes, int], ...] = (
    (b"POST /chat HTTP/1.1\r\nhost: localhost\r\n\r\n", 401),
    (b"GET /status HTTP/1.1\r\n\r\n", 421),
    (b"GET /status HTTP/1.0\r\n\r\n", 421),
    (b"BREW /chat HTTP/1.1\r\nhost: localhost\r\n\r\n", 400),
    (b"nonsense\r\n\r\n", 400),
    (b"GET /\xff\xfe HTTP/1.1\r\nhost: localhost\r\n\r\n", 400),
    (b"GET /chat/%00%ff HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer TOKEN\r\n\r\n", 404),
    (b"POST /chat HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer TOKEN\r\ncontent-length: nine\r\n\r\n", 400),
    (
        b"POST /chat HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer TOKEN\r\ncontent-type: application/json\r\n"
        b"transfer-encoding: chunked\r\n\r\nzz\r\n",
        400,
    ),
)


async def raw(url: str, request: bytes) -> bytes:
    """Send raw bytes and return the answer up to the end of the connection."""
    host, _, port = url.removeprefix("http://").rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(request.replace(b"TOKEN", TOKEN.encode()))
    async with asyncio.timeout(10):
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head)
        body = await reader.readexactly(int(length[1]) if length else 0)
    writer.close()
    assert json.loads(body)["error"]["code"]
    return head


@SHARED
async def test_malformed_requests_are_answered_with_an_error(shared: Shared) -> None:
    daemon = shared.daemon
    seen = [(await raw(daemon.url, request), status, request) for request, status in MALFORMED]
    assert [(head, request) for head, status, request in seen if not head.startswith(b"HTTP/1.1 %d" % status)] == []
    assert (await daemon.client.get("/health")).status_code == 200
    assert "Traceback" not in daemon.errors


def test_openapi_file_lists_every_status_of_its_error_codes() -> None:
    for path, operations in (FILE["paths"] | FILE_V1["paths"]).items():
        for operation in operations.values():
            assert {"101", "200", "202"} & operation["responses"].keys(), path
            if "security" not in operation:
                continue
            assert {"400", "401", "403", "421", "429"} <= operation["responses"].keys(), path
