"""The real application in this process, its model scripted, its API reached without sockets."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest
from starlette.types import ASGIApp

from hob.app.composition import App, open_app
from hob.app.endpoints import ENDPOINTS
from hob.app.settings.sections import SECTIONS
from hob.config.loading import load_config
from hob.gateway.http.asgi import build_api
from hob.testing.model import Line, ScriptedModel
from tests.confined import BACKEND
from tests.stand_ins import stand_ins

TOKEN = "a-token-of-more-than-sixteen"


@dataclass
class Machine:
    app: App
    model: ScriptedModel
    tcp: httpx2.AsyncClient
    unix: httpx2.AsyncClient
    guarded: ASGIApp
    """The application that `tcp` reaches, door and all."""


@asynccontextmanager
async def machine(home: Path, *script: Line, **environ: str) -> AsyncIterator[Machine]:
    settings = {
        "HOB_GATEWAY_AUTH_TOKEN": TOKEN,
        "HOB_MODEL_BASE_URL": "http://127.0.0.1:9/v1",
        "HOB_MODEL_NAME": "scripted",
        "HOB_SANDBOX_BACKEND": BACKEND,
        "HOB_WORKSPACE_PATH": str(home / "workspace"),
        "HOB_WORKSPACE_SEED": "false",
    }
    config = load_config(SECTIONS, home=home, environ=settings | environ)
    model = ScriptedModel(*script)
    async with open_app(home, config, subsystems=stand_ins(model)) as app:
        headers = {"authorization": f"Bearer {TOKEN}"}
        socket = httpx2.ASGITransport(build_api(app.api, local=True, endpoints=ENDPOINTS))
        guarded = build_api(app.api, local=False, endpoints=ENDPOINTS)
        door = httpx2.ASGITransport(guarded)
        async with (
            httpx2.AsyncClient(transport=door, base_url="http://localhost", headers=headers) as tcp,
            httpx2.AsyncClient(transport=socket, base_url="http://hob") as unix,
        ):
            yield Machine(app, model, tcp, unix, guarded)


@pytest.fixture
async def hob(tmp_path: Path) -> AsyncIterator[Machine]:
    async with machine(tmp_path) as made:
        yield made
