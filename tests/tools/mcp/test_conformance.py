"""Hob's client against the MCP project's conformance program."""

import asyncio
import json
import os
import re
import shutil
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).with_name("servers")
PROGRAM = FOLDER / "node_modules" / ".bin" / "conformance"
ROOT = Path(__file__).parents[3]

AUTH = (
    *("metadata-default", "metadata-var1", "basic-cimd"),
    *("2025-03-26-oauth-metadata-backcompat", "2025-03-26-oauth-endpoint-fallback"),
    *("scope-from-www-authenticate", "scope-from-scopes-supported", "scope-omitted-when-undefined"),
    *("scope-step-up", "scope-retry-limit", "resource-mismatch", "pre-registration"),
    *("token-endpoint-auth-basic", "token-endpoint-auth-post", "token-endpoint-auth-none"),
)
SCENARIOS = (
    *("initialize", "tools_call", "sse-retry", "elicitation-sep1034-client-defaults"),
    *(f"auth/{each}" for each in AUTH),
)
LEFT_OUT = {
    # the authorization server names a foreign issuer, which clients must refuse by RFC 8414
    *("auth/metadata-var2", "auth/metadata-var3"),
    # machine logins, which assistants do not use
    *("auth/client-credentials-jwt", "auth/client-credentials-basic"),
}

FAILS = {
    # the first call gets no answer, since a question may wait for the user for days
    "elicitation-sep1034-client-defaults": {"client-elicitation-sep1034-general"},
}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        shutil.which("node") is None or not PROGRAM.is_file(),
        reason="Node or the conformance program is missing; `make web` adds them",
    ),
]


async def test_page_says_which_scenarios_are_run() -> None:
    program = await asyncio.create_subprocess_exec(
        "node", str(PROGRAM), "list", "--client", stdout=asyncio.subprocess.PIPE
    )
    listed = re.findall(r"^ +- (\S+)$", (await program.communicate())[0].decode(), re.MULTILINE)
    assert set(listed) - set(SCENARIOS) == LEFT_OUT
    version = json.loads((FOLDER / "package.json").read_text())["dependencies"]["@modelcontextprotocol/conformance"]
    page = " ".join((ROOT / "docs/how-to/use-mcp-servers.md").read_text("utf-8").split())
    assert f"({version}) contains {len(listed)} scenarios for clients; {len(SCENARIOS)} are run" in page


@pytest.mark.parametrize("scenario", SCENARIOS)
async def test_client_conforms(scenario: str, tmp_path: Path) -> None:
    client = f"{sys.executable} -m tests.tools.mcp.conforming"
    program = await asyncio.create_subprocess_exec(
        *("node", str(PROGRAM), "client", "--command", client, "--scenario", scenario),
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said = (await program.communicate())[0].decode()
    checks = re.findall(r"\[([a-z0-9-]+) *\] \x1b\[\d+m(SUCCESS|FAILURE)", said)
    assert any(result == "SUCCESS" for _, result in checks), said
    assert {check for check, result in checks if result == "FAILURE"} == FAILS.get(scenario, set()), said
