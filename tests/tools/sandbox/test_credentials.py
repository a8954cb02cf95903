"""Commands use secrets that they never hold: the proxy inserts them into requests to one host only."""

import asyncio
import base64
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hob.app.settings.sections import SECTIONS
from hob.config.loading import load_config
from hob.core.errors import NotConfigured
from hob.core.settings import Secret
from hob.guard.screening.masking.known_secrets import readable_values
from hob.testing.clock import ManualClock
from hob.tools.mcp.connector import job_of
from hob.tools.mcp.server_environment import ServerEnvironment
from hob.tools.mcp.settings import McpServer
from hob.tools.sandbox.backends.bubblewrap import Bubblewrap
from hob.tools.sandbox.network.authority import RunAuthority
from hob.tools.sandbox.network.credentials import CredentialStore, JobCredential, ResponseMask
from hob.tools.sandbox.network.hosts import HostDecision
from hob.tools.sandbox.network.interception import insert_credentials
from hob.tools.sandbox.network.proxy import Internet
from hob.tools.sandbox.network.request_heads import ProxyRefused
from hob.tools.sandbox.running_command import OutputCallbacks
from hob.tools.sandbox.settings import CredentialSettings, SandboxSettings
from tests.tools.sandbox.conftest import Place

HOST, OTHER = "api.example.org", "other.example.org"
SECRET = "ghp_4bQ9zT7wX2kLmN8vR1sD6y"
BASIC = base64.b64encode(f"me:{SECRET}".encode()).decode()
SETTINGS = CredentialSettings(host=HOST, value=Secret.of(SECRET))


def book(**more: object) -> CredentialStore:
    return CredentialStore({"github": replace(SETTINGS, **more)}, ManualClock())  # type: ignore[arg-type]


def one(**more: object) -> JobCredential:
    (found,) = book(**more).of("main", [HOST])
    return found


@dataclass
class Server:
    """An internet host that echoes every request, or redirects its client to another host."""

    place: Place
    port: int = 0
    heard: list[str] = field(default_factory=list)
    decided: list[HostDecision] = field(default_factory=list)
    onward: bool = False

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
        except (asyncio.IncompleteReadError, OSError):
            writer.close()
            return
        self.heard.append(head)
        code = f"302 Found\r\nLocation: https://{OTHER}:{self.port}/next" if self.onward else "200 OK"
        body = f"you said:\n{head}"
        writer.write(f"HTTP/1.1 {code}\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
        self.onward = False
        await writer.drain()
        writer.close()

    async def sh(self, script: str, *given: JobCredential, hosts: tuple[str, ...] = (HOST, OTHER)) -> str:
        """Return the output of a command with these credentials; `$URL` is the host's."""
        script = f"URL=https://{HOST}:{self.port}; {script}"
        return await self.place.sh(script, hosts=hosts, credentials=given or (one(),))


@asynccontextmanager
async def opened(place: Place, *, name: str = HOST, tls: bool = True) -> AsyncIterator[Server]:
    authority = RunAuthority([name], datetime.now(UTC))
    server = Server(place)

    async def resolve(_host: str, _port: int) -> list[str]:
        return ["127.0.0.1"]

    def trust() -> ssl.SSLContext:
        return ssl.create_default_context(cadata=authority.pem.decode())

    context = authority.context(name)
    context.sni_callback = None
    async with await asyncio.start_server(server.answer, "127.0.0.1", 0, ssl=context if tls else None) as listening:
        server.port = listening.sockets[0].getsockname()[1]
        backend = place.backend
        assert isinstance(backend, Bubblewrap)
        internet = Internet(resolve, lambda _: True, server.port, server.port, trust)
        server.place = replace(
            place,
            backend=replace(backend, internet=internet),
            callbacks=OutputCallbacks(network=server.decided.append),
        )
        yield server


async def test_request_carries_the_secret_and_the_command_sees_a_placeholder(wrapped: Place) -> None:
    async with opened(wrapped) as server:
        said = await server.sh('curl -sS -H "Authorization: Bearer $GITHUB_TOKEN" $URL/user; env; cat /run/hob/ca.pem')
        assert f"Authorization: Bearer {SECRET}\r\n" in server.heard[0]
        assert server.heard[0].startswith("GET /user HTTP/1.1\r\n")
        assert "Authorization: Bearer hob-" in said
        assert "GITHUB_TOKEN=hob-" in said
        assert "BEGIN CERTIFICATE" in said
        assert SECRET not in said
        assert server.decided[-1] == HostDecision(HOST, server.port, True, "", "github")


async def test_python_clients_and_basic_auth_work(wrapped: Place) -> None:
    async with opened(wrapped) as server:
        code = (
            "import os, urllib.request as r; q = r.Request(os.environ['U'] + '/x', data=b'body', "
            "headers={'authorization': 'token ' + os.environ['GITHUB_TOKEN']}); print(r.urlopen(q).read().decode())"
        )
        said = await server.sh(f'U=$URL python3 -c "{code}"; curl -sS -u "me:$GITHUB_TOKEN" $URL/git')
        assert f"token {SECRET}" in server.heard[0]
        assert f"Basic {BASIC}" in server.heard[1]
        assert SECRET not in said
        assert BASIC not in said


async def test_redirect_to_another_host_carries_no_secret(wrapped: Place) -> None:
    async with opened(wrapped) as server:
        server.onward = True
        await server.sh('curl -sSk -L --location-trusted -H "Authorization: Bearer $GITHUB_TOKEN" $URL/go')
        assert len(server.heard) == 2
        assert SECRET in server.heard[0]
        assert f"Host: {OTHER}" in server.heard[1]
        assert SECRET not in server.heard[1]


async def test_request_to_another_host_behind_the_same_address_is_refused(wrapped: Place) -> None:
    async with opened(wrapped) as server:
        said = await server.sh(f'curl -sS -H "Host: {OTHER}" -H "Authorization: $GITHUB_TOKEN" $URL/')
        assert "names another host" in said
        assert server.heard == []


async def test_secret_is_inserted_only_into_its_header(wrapped: Place) -> None:
    async with opened(wrapped) as server:
        await server.sh('curl -sS -H "X-Note: $GITHUB_TOKEN" -d "$GITHUB_TOKEN" "$URL/?q=$GITHUB_TOKEN"')
        assert SECRET not in server.heard[0]
        assert [each.credential for each in server.decided] == [""]


async def test_real_server_must_have_a_valid_certificate(wrapped: Place) -> None:
    async with opened(wrapped, name="evil.example.org") as server:
        said = await server.sh('curl -sS -H "Authorization: Bearer $GITHUB_TOKEN" $URL/')
        assert "no certificate that holds" in said
        assert server.heard == []


async def test_placeholder_is_never_sent_without_tls(wrapped: Place) -> None:
    async with opened(wrapped, tls=False) as server:
        said = await server.sh('curl -sS -H "Authorization: $GITHUB_TOKEN" http://api.example.org:${URL##*:}/')
        assert "into https requests to its own host only" in said
        assert server.heard == []


async def test_other_hosts_keep_their_tunnel(wrapped: Place) -> None:
    async with opened(wrapped, name=OTHER) as server:
        said = await server.sh(f"curl -sSkv https://{OTHER}:{server.port}/ 2>&1")
        assert "you said" in said
        assert "Hob's proxy, for one command" not in said.partition("issuer:")[0]
        assert f"CN={OTHER}" in said


async def test_credential_use_is_limited_and_reported(wrapped: Place) -> None:
    async with opened(wrapped) as server:
        limited = one(per_minute=2)
        said = await server.sh(
            'for n in 1 2 3; do curl -sS -o /dev/null -w "%{http_code} " -H "Authorization: $GITHUB_TOKEN" $URL/; done',
            limited,
        )
        assert [word for word in said.split() if word.isdigit()] == ["200", "200", "429"]
        assert "[no credential github for api.example.org" in said
        assert not server.decided[-1].allowed


async def test_command_cannot_find_the_secret_anywhere(wrapped: Place) -> None:
    looked = f"[{SECRET[4]}]{SECRET[5:]}"  # which does not match itself
    async with opened(wrapped) as server:
        said = await server.sh(
            'curl -sS -H "Authorization: $GITHUB_TOKEN" $URL/ >/tmp/answer;'
            f" cat /tmp/answer /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\\0' '\\n' | grep -c '{looked}';"
            f" grep -rl '{looked}' /run /tmp /home /etc 2>/dev/null; echo done"
        )
        assert said.split() == ["0", "done"]


def test_mcp_server_gets_the_credentials_that_name_it(tmp_path: Path) -> None:
    settings = SandboxSettings(credentials={"github": replace(SETTINGS, agents=["mcp.notes"])})
    around = ServerEnvironment(tmp_path, settings, {}, ManualClock())
    server = McpServer(command=["notes"], hosts=[HOST])
    assert [each.name for each in job_of("notes", server, around)[1].credentials] == ["github"]
    assert job_of("others", server, around)[1].credentials == ()


def test_value_of_a_credential_is_a_known_secret(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(
        f'[sandbox.credentials.github]\nhost = "{HOST}"\nvalue = "env:T"\nheader = "PRIVATE-TOKEN"\n'
    )
    config = load_config(SECTIONS, home=tmp_path, environ={"T": SECRET})
    assert SECRET in readable_values(config.secrets()).values()
    (tmp_path / "config.toml").write_text('[sandbox.credentials.x]\nhost = "*.example.org"\n')
    with pytest.raises(NotConfigured, match="is not the name of one host"):
        load_config(SECTIONS, home=tmp_path, environ={})
    for local in ("localhost", "api.LOCALHOST."):
        (tmp_path / "config.toml").write_text(f'[sandbox.credentials.x]\nhost = "{local}"\n')
        with pytest.raises(NotConfigured, match="is this machine; credentials are written only into requests to other"):
            load_config(SECTIONS, home=tmp_path, environ={})


def test_credential_is_only_given_to_its_agents_at_its_host() -> None:
    assert book().of("subagents", [HOST]) == ()
    assert book().of("main", [OTHER]) == ()
    assert len(book(agents=["mcp.notes"]).of("mcp.notes", ["*.example.org"])) == 1
    assert len({one().placeholder for _ in range(5)}) == 5
    assert len(one().placeholder) == len(SECRET)
    assert SECRET not in repr(one())


@pytest.mark.parametrize("value", ["short", "has a space in it", "ümläutümläut", "line\nline\nline"])
def test_secret_unfit_for_a_header_is_refused(value: str) -> None:
    with pytest.raises(NotConfigured, match=r"sandbox.credentials.github.value needs 12"):
        one(value=Secret.of(value))


@pytest.mark.parametrize(
    "head",
    [
        "GET https://other/ HTTP/1.1\r\n",
        "GET / HTTP/2\r\n",
        "GET /\r\n",
        "GET / HTTP/1.1\r\nA : b\r\n",
        "GET / HTTP/1.1\r\nA: b\r\n c: folded\r\n",
        "GET / HTTP/1.1\r\nA: b\nHost: other\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n",
        "GET / HTTP/1.1\r\nHost: other.example.org\r\n",
    ],
)
def test_ambiguous_request_head_is_refused(head: str) -> None:
    with pytest.raises(ProxyRefused):
        insert_credentials(f"{head}\r\n".encode(), HOST, [one()])


@given(st.lists(st.sampled_from(["a", SECRET, SECRET[:9], SECRET[9:], "\n"])), st.lists(st.integers(1, 40)))
def test_response_is_masked_however_it_is_split(parts: list[str], cuts: list[int]) -> None:
    whole = "".join(parts).encode()
    mask, made, rest = ResponseMask([(SECRET.encode(), b"x" * len(SECRET))]), b"", whole
    for cut in cuts:
        piece, rest = rest[:cut], rest[cut:]
        made += mask.feed(piece) if piece else b""
    made += (mask.feed(rest) if rest else b"") + mask.feed(b"")
    assert made == whole.replace(SECRET.encode(), b"x" * len(SECRET))
