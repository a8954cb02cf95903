"""OAuth logins: redirect, pasted code, refresh, and the files on disk."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest
from mcp.shared.auth import AuthorizationCodeResult

from hob.core.errors import ToolFailed
from hob.tools.mcp.connection import Connection
from hob.tools.mcp.oauth import CallbackListener, OAuthLogin, OAuthTokenFile, read_callback
from hob.tools.mcp.settings import McpServer
from tests.tools.mcp.authorizing import protected_server
from tests.tools.mcp.reaching import connected


@asynccontextmanager
async def a_browser(*, typed: bool = False) -> AsyncIterator[OAuthLogin]:
    """A user who agrees to everything, in a local browser or, with `typed`, in a remote one."""
    async with CallbackListener() as listener:

        async def show(url: str) -> None:
            async with httpx2.AsyncClient() as browser:
                answer = await browser.get(url)
                back = answer.headers["location"]
                if typed:
                    listener.give(back)
                else:
                    assert "logged in" in (await browser.get(back)).text

        async def answer() -> AuthorizationCodeResult:
            return read_callback(await listener.wait())

        yield OAuthLogin(show, answer, listener.url)


async def gold(connection: Connection) -> str:
    return ", ".join(await connection.tools())


@pytest.mark.parametrize("typed", [False, True])
async def test_login_works_by_redirect_or_by_pasted_address(tmp_path: Path, typed: bool) -> None:
    async with protected_server() as authority, a_browser(typed=typed) as login:
        server = McpServer(url=f"{authority.base}/mcp")
        async with connected(tmp_path, server, "vault", login=login) as connection:
            assert await gold(connection) == "open_vault"
        kept = (tmp_path / "oauth/vault").read_bytes()
        token = next(iter(authority.tokens))
        assert token.encode() not in kept
        assert OAuthTokenFile(tmp_path, "vault").read()["tokens"]["access_token"] == token
        async with connected(tmp_path, server, "vault") as connection:  # nobody can log in any more
            assert await gold(connection) == "open_vault"
        assert len(authority.clients) == 1


async def test_expired_token_is_renewed_without_a_person(tmp_path: Path) -> None:
    async with protected_server(life=1) as authority, a_browser() as login:
        server = McpServer(url=f"{authority.base}/mcp")
        async with connected(tmp_path, server, "vault", login=login) as connection:
            await gold(connection)
        before = authority.refreshed
        async with connected(tmp_path, server, "vault") as connection:
            assert await gold(connection) == "open_vault"
        assert authority.refreshed > before


async def test_server_without_a_login_names_the_login_command(tmp_path: Path) -> None:
    async with protected_server() as authority:
        server = McpServer(url=f"{authority.base}/mcp")
        async with connected(tmp_path, server, "vault") as connection:
            with pytest.raises(ToolFailed, match="hob mcp login vault"):
                await connection.tools()


def test_tokens_open_only_with_their_own_key_and_name(tmp_path: Path) -> None:
    OAuthTokenFile(tmp_path, "vault").keep(tokens={"access_token": "t"})
    (tmp_path / "oauth/bank").write_bytes((tmp_path / "oauth/vault").read_bytes())
    assert OAuthTokenFile(tmp_path, "bank").read() == {}
    (tmp_path / "secrets/.oauth.key").write_bytes(bytes(32))
    assert OAuthTokenFile(tmp_path, "vault").read() == {}
    assert (tmp_path / "oauth/vault").stat().st_mode & 0o777 == 0o600
    assert OAuthTokenFile(tmp_path, "vault").forget()


def test_refused_login_reports_the_reason() -> None:
    with pytest.raises(ToolFailed, match="access_denied"):
        read_callback("http://127.0.0.1/callback?error=access_denied")
    assert read_callback("http://127.0.0.1/callback?code=c&state=s").state == "s"
