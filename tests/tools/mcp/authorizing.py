"""An authorization server and an MCP server behind it, on loopback: discovery, registration, PKCE, refresh."""

import asyncio
import base64
import hashlib
import json
import secrets
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import uvicorn
from mcp.server import MCPServer
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send


@dataclass(slots=True)
class Authority:
    """The authorization server and the tokens it issued, valid for `life` seconds."""

    base: str
    life: int = 3600
    clients: dict[str, Any] = field(default_factory=dict)
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    tokens: set[str] = field(default_factory=set)
    refreshing: set[str] = field(default_factory=set)
    refreshed: int = 0

    async def protected(self, _: Request) -> Response:
        return JSONResponse({"resource": f"{self.base}/mcp", "authorization_servers": [self.base]})

    async def metadata(self, _: Request) -> Response:
        ends = {f"{name}_endpoint": f"{self.base}/{name}" for name in ("authorization", "token", "registration")}
        told = {"response_types_supported": ["code"], "code_challenge_methods_supported": ["S256"]}
        return JSONResponse({"issuer": self.base, **ends, **told})

    async def register(self, request: Request) -> Response:
        id = secrets.token_hex(4)
        self.clients[id] = await request.json()
        return JSONResponse({**self.clients[id], "client_id": id, "token_endpoint_auth_method": "none"}, 201)

    async def authorize(self, request: Request) -> Response:
        asked = dict(request.query_params)
        if asked["redirect_uri"] not in self.clients[asked["client_id"]]["redirect_uris"]:
            return JSONResponse({"error": "invalid_request"}, 400)
        code = secrets.token_hex(8)
        self.codes[code] = asked
        back = urlencode({"code": code, "state": asked["state"], "iss": self.base})
        return RedirectResponse(f"{asked['redirect_uri']}?{back}", 302)

    async def token(self, request: Request) -> Response:
        form = await request.form()
        if form["grant_type"] == "refresh_token":
            if form["refresh_token"] not in self.refreshing:
                return JSONResponse({"error": "invalid_grant"}, 400)
            self.refreshing.discard(str(form["refresh_token"]))
            self.refreshed += 1
            return self._give()
        asked = self.codes.pop(str(form["code"]), None)
        digest = hashlib.sha256(str(form.get("code_verifier", "")).encode()).digest()
        proof = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        if asked is None or proof != asked["code_challenge"] or form["redirect_uri"] != asked["redirect_uri"]:
            return JSONResponse({"error": "invalid_grant"}, 400)
        return self._give()

    def _give(self) -> Response:
        access, refresh = secrets.token_hex(12), secrets.token_hex(12)
        self.tokens.add(access)
        self.refreshing.add(refresh)
        told = {"access_token": access, "token_type": "Bearer", "expires_in": self.life, "refresh_token": refresh}
        return JSONResponse(told)


class _Guarded:
    """Middleware that admits only requests with a token."""

    def __init__(self, inner: ASGIApp, authority: Authority) -> None:
        self._inner = inner
        self._authority = authority

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            given = dict(scope["headers"]).get(b"authorization", b"").decode().removeprefix("Bearer ")
            if given not in self._authority.tokens:
                where = f'Bearer resource_metadata="{self._authority.base}/.well-known/oauth-protected-resource/mcp"'
                await Response(status_code=401, headers={"www-authenticate": where})(scope, receive, send)
                return
        await self._inner(scope, receive, send)


@asynccontextmanager
async def protected_server(life: int = 3600) -> AsyncIterator[Authority]:
    """Run both servers on one port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    authority = Authority(f"http://127.0.0.1:{port}", life)
    server = MCPServer("vault")
    server.add_tool(open_vault, description="Get what is in the vault.")
    inner = server.streamable_http_app()
    routes = [
        Route("/.well-known/oauth-protected-resource/mcp", authority.protected),
        Route("/.well-known/oauth-authorization-server", authority.metadata),
        Route("/registration", authority.register, methods=["POST"]),
        Route("/authorization", authority.authorize),
        Route("/token", authority.token, methods=["POST"]),
        Mount("/", _Guarded(inner, authority)),
    ]
    app = Starlette(routes=routes, lifespan=lambda _: server.session_manager.run())
    listening = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=port, log_level="warning"))
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(listening.serve())
        while not listening.started:  # noqa: ASYNC110 - uvicorn tells it by nothing else
            await asyncio.sleep(0.01)
        try:
            yield authority
        finally:
            listening.should_exit = True


def open_vault() -> str:
    return json.dumps({"gold": 3})
