"""Hob's client against the MCP project's conformance program."""

import asyncio
import json
import os
import re
import shutil
from pathlib import Path

import pytest

from tests.tools.mcp.conforming import relayed_client

FOLDER = Path(__file__).with_name("servers")
PROGRAM = FOLDER / "node_modules" / ".bin" / "conformance"
ROOT = Path(__file__).parents[3]
PATH = f"{ROOT / '.venv' / 'node'}:{os.environ['PATH']}"
NODE = shutil.which("node", path=PATH)

AUTH = (
    *("metadata-default", "metadata-var1", "metadata-var2", "metadata-var3", "metadata-issuer-mismatch", "basic-cimd"),
    *("2025-03-26-oauth-metadata-backcompat", "2025-03-26-oauth-endpoint-fallback"),
    *("scope-from-www-authenticate", "scope-from-scopes-supported", "scope-omitted-when-undefined"),
    *("scope-step-up", "scope-retry-limit", "resource-mismatch", "pre-registration"),
    *("token-endpoint-auth-basic", "token-endpoint-auth-post", "token-endpoint-auth-none"),
    *("offline-access-scope", "offline-access-not-supported", "authorization-server-migration"),
    *("iss-supported", "iss-not-advertised", "iss-supported-missing", "iss-wrong-issuer"),
    *("iss-unexpected", "iss-normalized"),
)
SCENARIOS = (
    *("initialize", "tools_call", "sse-retry", "elicitation-sep1034-client-defaults", "request-metadata"),
    *("sep-2322-client-request-state", "http-standard-headers", "http-custom-headers", "http-invalid-tool-headers"),
    *("json-schema-ref-no-deref", "json-schema-2020-12-preservation"),
    *(f"auth/{each}" for each in AUTH),
)
LEFT_OUT = {
    # logins of machines and companies, which assistants do not use
    *("auth/client-credentials-jwt", "auth/client-credentials-basic", "auth/enterprise-managed-authorization"),
    *("auth/dpop", "auth/dpop-nonce", "auth/wif-jwt-bearer"),
    # skills over MCP, an extension
    *("sep-2640-client-no-prefetch", "sep-2640-client-verify-digest"),
    *("sep-2640-client-verify-size", "sep-2640-client-verify-frontmatter"),
}

FAILS = {
    # the first call gets no answer, since a question may wait for the user for days
    "elicitation-sep1034-client-defaults": {"client-elicitation-sep1034-general"},
}
WITHOUT_CALLS = {"json-schema-ref-no-deref"}  # the server lists a tool and refuses to be called

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        NODE is None or not PROGRAM.is_file(),
        reason="Node or the conformance program is missing; `make web` adds them",
    ),
]


async def test_page_says_which_scenarios_are_run() -> None:
    program = await asyncio.create_subprocess_exec(
        str(NODE), str(PROGRAM), "list", "--client", stdout=asyncio.subprocess.PIPE
    )
    listed = re.findall(r"^ +- (\S+)", (await program.communicate())[0].decode(), re.MULTILINE)
    assert set(listed) - set(SCENARIOS) == LEFT_OUT
    version = json.loads((FOLDER / "package.json").read_text())["dependencies"]["@modelcontextprotocol/conformance"]
    page = " ".join((ROOT / "docs/how-to/use-mcp-servers.md").read_text("utf-8").split())
    assert f"({version}) contains {len(listed)} scenarios for clients; {len(SCENARIOS)} are run" in page


@pytest.mark.parametrize("scenario", SCENARIOS)
async def test_client_conforms(scenario: str, tmp_path: Path) -> None:
    async with relayed_client(tmp_path) as command:
        program = await asyncio.create_subprocess_exec(
            *(str(NODE), str(PROGRAM), "client", "--command", command, "--scenario", scenario),
            cwd=tmp_path,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        said = (await program.communicate())[0].decode()
    checks = re.findall(r"\[([a-z0-9-]+) *\] \x1b\[\d+m(SUCCESS|FAILURE)", said)
    assert ("CLIENT EXITED WITH ERROR" in said) == (scenario in WITHOUT_CALLS), said
    assert any(result == "SUCCESS" for _, result in checks), said
    assert {check for check, result in checks if result == "FAILURE"} == FAILS.get(scenario, set()), said
