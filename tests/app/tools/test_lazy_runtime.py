"""The tools of an open Hob."""

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from hob.app.settings.sections import SECTIONS
from hob.app.tools.lazy_runtime import LazyToolRuntime, open_tool_runtime
from hob.app.tools.runtime import file_roots
from hob.app.trust.guard import BackendSandbox
from hob.bus.notices import Hub
from hob.config.loading import Config, load_config
from hob.core.clock import SystemClock
from hob.core.errors import ToolFailed
from hob.core.ids import CallId, SessionKey
from hob.core.tools import ToolCall
from hob.store.audit.audit import show_audit
from hob.store.settings import StoreSettings
from hob.store.store import open_store
from hob.testing.channel import message
from hob.tools.filesystem.whole_files import write_new
from hob.tools.registry.builtin_groups import BUILTIN_GROUPS
from hob.tools.registry.groups import LOAD, grouped
from hob.workspace.settings import WorkspaceSettings
from tests.guard.judge_bench import turn_of
from tests.tools.calling import made, text_of


@asynccontextmanager
async def opened(top: Path, **environ: str) -> AsyncIterator[tuple[LazyToolRuntime, Config]]:
    home, clock = top / "home", SystemClock()
    config = load_config(SECTIONS, home=home, environ={"HOB_WORKSPACE_PATH": str(top / "workspace"), **environ})
    async with (
        open_store(home, config[StoreSettings], clock) as store,
        open_tool_runtime(config, store, Hub(), clock, {"PATH": os.environ["PATH"]}) as tool_runtime,
    ):
        yield tool_runtime, config


@pytest.fixture
async def tool_runtime(tmp_path: Path) -> AsyncIterator[LazyToolRuntime]:
    async with opened(tmp_path) as (tool_runtime, _):
        yield tool_runtime


def test_runtime_implements_every_declared_tool(tool_runtime: LazyToolRuntime) -> None:
    declared = {spec.name: spec for spec in tool_runtime.specs()}
    assert tool_runtime.made.loaded is None
    assert declared == {spec.name: spec for spec in tool_runtime.made().toolset.specs()}


async def test_call_is_dispatched_to_the_named_tool(tool_runtime: LazyToolRuntime, tmp_path: Path) -> None:
    await made(tool_runtime, "write", path="a.md", content="one\n")
    assert (tmp_path / "workspace" / "work" / "a.md").read_text() == "one\n"


@pytest.mark.parametrize(
    ("tool", "arguments", "why"),
    [
        ("read", {"path": ".env"}, ""),
        ("grep", {"path": ".env", "pattern": "x"}, "closed to the file tools"),
        ("write", {"path": ".git/config", "content": "x"}, "git's own"),
        ("read", {"path": "../../.."}, "outside"),
        ("edit", {"path": "a.md", "old_text": "not there", "new_text": "x"}, ""),
        ("exec", {"command": "cat .env"}, ""),
        ("browser", {"action": "open", "url": "file:///etc/passwd"}, "the tool read shows files"),
        ("browser", {"action": "navigate", "url": "chrome://settings"}, "begins with http:// or https://"),
        ("browser", {"action": "open", "url": "https://a.example/"}, ""),
        ("browser", {"action": "snapshot"}, ""),
        ("web_fetch", {"url": "file:///etc/passwd"}, "the tool read shows files"),
        ("web_fetch", {"url": "https://a.example/"}, ""),
        ("message", {"action": "send", "text": "hi"}, "is not connected"),
        ("message", {"action": "send", "text": "hi", "to": "bob"}, "nobody whom the owner has let in"),
    ],
)
async def test_certain_refusal_is_known_before_asking_for_approval(
    tool_runtime: LazyToolRuntime, tool: str, arguments: dict[str, str], why: str
) -> None:
    await made(tool_runtime, "write", path="a.md", content="one\n")
    said = await tool_runtime.made().refusal_of(
        ToolCall(CallId("c"), tool, json.dumps(arguments)), turn_of(message("hi", channel="api"))
    )
    assert bool(said) == bool(why)
    assert why in said


async def test_opening_a_group_does_not_load_the_runtime(tool_runtime: LazyToolRuntime) -> None:
    groups = grouped(BUILTIN_GROUPS, [tool_runtime])
    assert "list_dir" in await text_of(groups, LOAD, names=["files"])
    assert "list_dir" in {spec.name for spec in groups.of(SessionKey("here")).specs()}
    assert tool_runtime.made.loaded is None


def test_browser_saves_a_file_in_a_new_home(tmp_path: Path) -> None:
    """Covers PDFs and downloads: `write_new` below these roots."""
    config = load_config(SECTIONS, home=tmp_path / "home", environ={"HOB_WORKSPACE_PATH": str(tmp_path / "workspace")})
    write_new(file_roots(config), "page.pdf", b"%PDF-")
    assert (config[WorkspaceSettings].work / "page.pdf").read_bytes() == b"%PDF-"


@pytest.mark.bubblewrap
async def test_commands_run_in_an_external_work_folder_before_the_workspace_exists(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    async with opened(tmp_path, HOB_WORKSPACE_WORK_REPO=str(site)) as (tool_runtime, _):
        assert "(exit status 0" in await text_of(tool_runtime, "exec", command="pwd")


@pytest.mark.parametrize(("work", "exposed"), [("workspace/work", False), ("workspace", True)])
async def test_unprotected_command_counts_as_changing_instructions(tmp_path: Path, work: str, exposed: bool) -> None:
    environ = {"HOB_SANDBOX_BACKEND": "plain", "HOB_WORKSPACE_WORK_REPO": str(tmp_path / work)}
    async with opened(tmp_path, **environ) as (tool_runtime, config):
        assert (await BackendSandbox(tool_runtime.made(), config).sandbox()).exposed is exposed


@pytest.mark.bubblewrap
async def test_commands_are_irreversible_while_a_folder_cannot_be_snapshotted(tmp_path: Path) -> None:
    async with opened(tmp_path, HOB_SANDBOX_UNDO_FILE_MIB="1") as (tool_runtime, config):
        here = BackendSandbox(tool_runtime.made(), config)
        await made(tool_runtime, "exec", command="true")
        assert (await here.sandbox()).versioned
        film = config[WorkspaceSettings].work / "film.mp4"
        film.write_bytes(b"x" * 2_000_000)
        with pytest.raises(ToolFailed, match=r"film\.mp4 cannot be kept for undoing"):
            await made(tool_runtime, "exec", command="rm film.mp4")
        assert film.exists()
        assert not (await here.sandbox()).versioned
        assert "(exit status 0" in await text_of(tool_runtime, "exec", command="ls")
    async with opened(tmp_path, HOB_SANDBOX_UNDO_FILE_MIB="1") as (tool_runtime, config):
        assert not (await BackendSandbox(tool_runtime.made(), config).sandbox()).versioned
        film.unlink()
        assert (await BackendSandbox(tool_runtime.made(), config).sandbox()).versioned


@pytest.mark.bubblewrap
async def test_refused_hosts_are_in_the_result_and_the_audit_log(tmp_path: Path) -> None:
    code = """
import socket
way = socket.create_connection(("127.0.0.1", 3128))
for _ in range(2): way.sendall(b"CONNECT evil.example.org:443 HTTP/1.1\\r\\n\\r\\n")
way.recv(1000)
"""
    async with opened(tmp_path, HOB_SANDBOX_HOSTS='["packages.example.org"]') as (tool_runtime, _):
        said = await text_of(tool_runtime, "exec", command=f"python3 -c '{code}'", network=True)
    rows = show_audit(tmp_path / "home", 10)
    assert said.count("[no network to evil.example.org:443: evil.example.org is not among the allowed hosts]") == 1
    assert [(row.entry.name, row.entry.outcome) for row in rows] == [("network", "refused")]
    assert "evil.example.org:443" in str(rows[0].detail)
