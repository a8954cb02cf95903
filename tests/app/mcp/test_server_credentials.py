"""MCP servers use secrets that they never hold, and the audit log says which."""

import asyncio
import json
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from hob.app.mcp.opening import _note_use
from hob.core.clock import SystemClock
from hob.core.ids import CallId
from hob.core.ports.tools import CallContext
from hob.core.tools import ToolCall
from hob.testing.memory_store import memory_store
from hob.tools.mcp.connection import Connection, Transport
from hob.tools.mcp.connector import job_of
from hob.tools.mcp.stdio import StderrTail, open_streams
from hob.tools.sandbox.backends.bubblewrap import Bubblewrap
from hob.tools.sandbox.backends.detection import find_backend
from hob.tools.sandbox.network.hosts import HostDecision
from hob.tools.sandbox.running_command import OutputCallbacks, RunningCommand, start
from hob.tools.sandbox.sandbox_environment import limits_of
from hob.tools.sandbox.settings import SandboxSettings
from tests.tools.mcp.reaching import a_turn, accept, environment_of, ours, toolset
from tests.tools.sandbox.conftest import PATH, make_place
from tests.tools.sandbox.test_credentials import HOST, SECRET, SETTINGS, opened

pytestmark = [pytest.mark.slow, pytest.mark.bubblewrap]  # each test starts a sandboxed program


async def test_servers_request_carries_the_secret_and_the_server_sees_a_placeholder(tmp_path: Path) -> None:
    settings = SandboxSettings(credentials={"github": replace(SETTINGS, agents=["mcp.notes"], per_minute=1)})
    around = replace(environment_of(tmp_path / "home"), sandbox=settings)
    notes, decided, words = replace(ours("online"), hosts=[HOST]), list[HostDecision](), StderrTail()
    async with opened(make_place("bubblewrap", tmp_path)) as host:
        internet = host.place.backend.internet if isinstance(host.place.backend, Bubblewrap) else None
        assert internet is not None

        async def start_here(callbacks: OutputCallbacks) -> RunningCommand:
            """Start the program as Hob does, but with the internet on loopback."""
            environment, job = job_of("notes", notes, around)
            backend = find_backend("bubblewrap", environment, PATH).backend
            assert isinstance(backend, Bubblewrap)
            callbacks = replace(callbacks, network=decided.append)
            limits = replace(limits_of(settings), output=1 << 62)
            backend = replace(backend, internet=internet)
            return await start(backend, job, SystemClock(), limits=limits, interactive=True, callbacks=callbacks)

        way = Transport(partial(open_streams, start_here, words), words)
        connection = Connection("notes", way, SystemClock(), seconds=30)
        task = asyncio.create_task(connection.run())
        try:
            tools = toolset(await accept(connection), notes, connection, tmp_path)
            call = ToolCall(CallId("c"), "notes__look_up", json.dumps({"url": f"https://{HOST}:{host.port}/user"}))
            said = await tools.call(call, CallContext(a_turn()))
            again = await tools.call(call, CallContext(a_turn()))
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        (head,) = host.heard
    assert f"Authorization: Bearer {SECRET}\r\n" in head
    assert said.text.startswith("hob-")
    assert "GET /user" in said.text
    assert SECRET not in said.text
    assert again.is_error  # within a minute
    async with memory_store() as store:
        for each in decided:
            if each.credential:
                await _note_use(store.audit.add, "notes", each)
        rows = await store.audit.latest(5)
        assert [(row.entry.name, row.entry.outcome) for row in rows] == [
            ("credential", "used"),
            ("credential", "refused"),
        ]
        assert all(json.loads(row.detail or "") == {"target": f"github {HOST} by notes"} for row in rows)
