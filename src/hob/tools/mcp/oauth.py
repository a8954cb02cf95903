"""OAuth 2.1 logins of MCP servers (authorization code with PKCE), and their encrypted storage.

The key is kept among the secrets, so the token files alone are useless.
"""

import asyncio
import json
import logging
import os
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
)

from hob.core.errors import ToolFailed
from hob.core.values import dataclass
from hob.tools.mcp.settings import McpServer

FOLDER = "oauth"
"""The folder in the home that holds the logins."""

logging.getLogger(OAuthClientProvider.__module__).setLevel(logging.CRITICAL)  # the caller reports failures

_KEY = ".oauth.key"
_NONCE = 12
_EARLY = 30.0  # renew tokens this many seconds before they expire


class OAuthTokenFile:
    """Implements the SDK's `TokenStorage` for one login: a file encrypted with the key of the home."""

    def __init__(self, home: Path, name: str, client: OAuthClientInformationFull | None = None) -> None:
        """`client` is Hob's manual registration with this server, if there is one."""
        self.path = home / FOLDER / name
        self._key = home / "secrets" / _KEY
        self._client = client

    def read(self) -> Mapping[str, Any]:
        """Return the stored values; empty if this home's key cannot decrypt them."""
        try:
            sealed = self.path.read_bytes()
            plain = AESGCM(self._key.read_bytes()).decrypt(sealed[:_NONCE], sealed[_NONCE:], self.path.name.encode())
            value: Mapping[str, Any] = json.loads(plain)
            return value
        except (OSError, ValueError, InvalidTag):
            return {}

    def keep(self, **values: Any) -> None:
        """Merge these values into the stored ones. Raises OSError."""
        for folder in (self.path.parent, self._key.parent):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not self._key.exists():
            _write(self._key, AESGCM.generate_key(256))
        nonce = os.urandom(_NONCE)
        plain = json.dumps({**self.read(), **values}).encode()
        _write(self.path, nonce + AESGCM(self._key.read_bytes()).encrypt(nonce, plain, self.path.name.encode()))

    def forget(self) -> bool:
        """Delete the login. Returns whether there was one."""
        there = self.path.exists()
        self.path.unlink(missing_ok=True)
        return there

    async def get_tokens(self) -> OAuthToken | None:
        kept = self.read().get("tokens")
        return None if kept is None else OAuthToken.model_validate(kept)

    async def set_tokens(self, tokens: OAuthToken) -> None:
        until = None if tokens.expires_in is None else time.time() + tokens.expires_in - _EARLY
        self.keep(tokens=tokens.model_dump(mode="json"), until=until)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        kept = self.read().get("client") if self._client is None else None
        return self._client if kept is None else OAuthClientInformationFull.model_validate(kept)

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.keep(client=client_info.model_dump(mode="json"))


@dataclass(frozen=True, slots=True)
class OAuthLogin:
    """Callbacks to a person who can log in: show the address, wait for the answer. `callback` is the redirect URI."""

    show: Callable[[str], Awaitable[None]]
    answer: Callable[[], Awaitable[AuthorizationCodeResult]]
    callback: str


class _Auth(OAuthClientProvider):  # type: ignore[misc]  # the library's types are not looked at
    """The SDK's OAuth client, with tokens kept across processes and a clear error if no person can log in."""

    def __init__(self, name: str, url: str, tokens: OAuthTokenFile, login: OAuthLogin | None) -> None:
        client = OAuthClientMetadata(client_name="Hob", redirect_uris=[_callback(login)])
        asks = (login.show, login.answer) if login is not None else (None, None)
        super().__init__(url, client, tokens, *asks)
        self._name = name
        self._tokens = tokens
        kept = tokens.read()
        self.context.token_expiry_time = kept.get("until")
        if kept.get("metadata"):
            self.context.oauth_metadata = OAuthMetadata.model_validate(kept["metadata"])
        self._asks = login is not None

    async def _perform_authorization(self) -> httpx2.Request:
        if not self._asks:
            raise ToolFailed(f"{self._name} wants a login: `hob mcp login {self._name}`")
        request: httpx2.Request = await super()._perform_authorization()
        if self.context.oauth_metadata is not None:
            self._tokens.keep(metadata=self.context.oauth_metadata.model_dump(mode="json"), url=self.context.server_url)
        return request


def auth_of(name: str, server: McpServer, home: Path, login: OAuthLogin | None = None) -> httpx2.Auth:
    """Create the auth that adds and renews tokens, and runs a login if a person is there."""
    auth: httpx2.Auth = _Auth(name, server.url, OAuthTokenFile(home, name, _registered(server, login)), login)
    return auth


def _registered(server: McpServer, login: OAuthLogin | None) -> OAuthClientInformationFull | None:
    if not server.client_id:
        return None
    secret = server.client_secret.reveal() if server.client_secret is not None else None
    return OAuthClientInformationFull(
        client_id=server.client_id,
        client_secret=secret,
        redirect_uris=[_callback(login)],
        token_endpoint_auth_method="none" if secret is None else "client_secret_basic",
    )


def _callback(login: OAuthLogin | None) -> str:
    return login.callback if login is not None else "http://127.0.0.1/callback"


def read_callback(text: str) -> AuthorizationCodeResult:
    """Parse the redirect address or a bare code. Raises ToolFailed."""
    given = parse_qs(urlsplit(text).query) if "?" in text else {"code": [text.strip()]}
    if "error" in given:
        raise ToolFailed(f"the login failed: {' '.join(given['error'] + given.get('error_description', []))[:300]}")
    if not given.get("code", [""])[0]:
        raise ToolFailed("there is no code in this address")
    fields = {name: given[name][0] for name in ("code", "state", "iss") if name in given}
    return AuthorizationCodeResult(**fields)


class CallbackListener:
    """An HTTP listener on loopback that receives the OAuth redirect."""

    def __init__(self) -> None:
        self._heard: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._server: asyncio.Server | None = None
        self.url = ""

    async def __aenter__(self) -> "CallbackListener":
        self._server = await asyncio.start_server(self._answer, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/callback"
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()

    async def wait(self) -> str:
        """Wait for the redirect and return its address."""
        return await asyncio.shield(self._heard)

    def give(self, text: str) -> None:
        """Accept the redirect address or code that a person pasted."""
        if not self._heard.done():
            self._heard.set_result(text)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            line = (await reader.readuntil(b"\r\n")).decode("latin-1")
            path = line.split(" ")[1] if line.count(" ") == 2 else ""
            wanted = path.startswith("/callback?")
            text = "You are logged in; this page can be closed." if wanted else "Not found"
            status = "200 OK" if wanted else "404 Not Found"
            writer.write(
                f"HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {len(text)}\r\n"
                f"Connection: close\r\n\r\n{text}".encode()
            )
            await writer.drain()
            if wanted:
                self.give(path)
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            writer.close()


def _write(path: Path, data: bytes) -> None:
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "wb") as file:
        file.write(data)
    part.replace(path)
