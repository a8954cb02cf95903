"""Published servers in the sandbox without network."""

import asyncio
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from hob.core.errors import ToolFailed
from hob.core.ports.tools import CallContext
from hob.core.settings import Secret
from hob.core.tools import Effect
from hob.tools.mcp.settings import McpServer
from tests.tools.calling import a_call
from tests.tools.mcp.reaching import a_turn, accept, connected, toolset

FOLDER = Path(__file__).with_name("servers")
PROGRAMS = FOLDER / "node_modules" / ".bin"

pytestmark = [
    pytest.mark.bubblewrap,
    pytest.mark.slow,
    pytest.mark.skipif(
        shutil.which("node") is None or not PROGRAMS.is_dir(),
        reason="Node or the servers are missing; `make web` adds them",
    ),
]


def server(name: str, *arguments: str, **more: list[str]) -> McpServer:
    command = ["node", str(PROGRAMS / f"mcp-server-{name}"), *arguments]
    return McpServer(command=command, read=[str(FOLDER), *more.get("read", [])], write=more.get("write", []))


async def test_memory_server_writes_to_its_own_folder(tmp_path: Path) -> None:
    memory = replace(server("memory"), env={"MEMORY_FILE_PATH": Secret.of("{data}/memory.jsonl")})
    entity = {"name": "tea", "entityType": "drink", "observations": ["green"]}
    for _ in range(2):  # the second round starts it anew
        async with connected(tmp_path / "home", memory, "memory") as connection:
            tools = toolset(await accept(connection), memory, connection, tmp_path)
            context = CallContext(a_turn())
            await tools.call(a_call("memory__create_entities", entities=[entity]), context)
            found = await tools.call(a_call("memory__search_nodes", query="tea"), context)
            assert "green" in found.text
            reading = next(spec for spec in tools.specs() if spec.name == "memory__read_graph")
            assert reading.effects == {Effect.READS_PRIVATE, Effect.READS_UNTRUSTED}


async def test_filesystem_server_sees_only_the_configured_folder(tmp_path: Path) -> None:
    folder, other = tmp_path / "mine", tmp_path / "other"
    for each in (folder, other):
        each.mkdir()
        (each / "a.txt").write_text(f"in {each.name}")
    files = server("filesystem", str(folder), write=[str(folder)])
    async with connected(tmp_path / "home", files, "files") as connection:
        tools = toolset(await accept(connection), files, connection, tmp_path)
        context = CallContext(a_turn())
        assert (
            "in mine" in (await tools.call(a_call("files__read_text_file", path=str(folder / "a.txt")), context)).text
        )
        await tools.call(a_call("files__write_file", path=str(folder / "b.txt"), content="new"), context)
        assert (folder / "b.txt").read_text() == "new"
        refused = await tools.call(a_call("files__read_text_file", path=str(other / "a.txt")), context)
        assert refused.is_error
        assert "in other" not in refused.text
        specs = {spec.name: spec for spec in tools.specs()}
        writing = specs["files__write_file"].roles
        assert writing is not None
        assert (writing.paths, writing.bodies) == (("path",), ("content",))


async def test_everything_server_returns_texts_pictures_resources_and_prompts(tmp_path: Path) -> None:
    everything = server("everything")
    async with connected(tmp_path / "home", everything, "all") as connection:
        tools = toolset(await accept(connection), everything, connection, tmp_path)
        context = CallContext(a_turn())
        assert "hello" in (await tools.call(a_call("all__echo", message="hello"), context)).text
        picture = await tools.call(a_call("all__get-tiny-image"), context)
        assert [image.media_type for image in picture.images] == ["image/png"]
        assert "://" in (await tools.call(a_call("all__resources"), context)).text
        assert "simple" in (await tools.call(a_call("all__prompts"), context)).text
        with pytest.raises(ToolFailed, match="all"):
            await tools.call(a_call("all__prompts", name="no such prompt"), context)


async def test_tool_offered_only_as_a_task_is_awaited(tmp_path: Path) -> None:
    everything = server("everything")
    async with connected(tmp_path / "home", everything, "all") as connection:
        tools = toolset(await accept(connection), everything, connection, tmp_path)
        call = a_call("all__simulate-research-query", topic="tea")
        assert "tea" in (await tools.call(call, CallContext(a_turn()))).text


@pytest.mark.bubblewrap
async def test_http_server_is_reached_without_any_other_network(tmp_path: Path) -> None:
    """The server listens on every interface; the namespace has only one."""
    alone = ("bwrap", "--dev-bind", "/", "/", "--proc", "/proc", "--unshare-net", "--unshare-pid", "--die-with-parent")
    served = ("node", str(PROGRAMS / "mcp-server-everything"), "streamableHttp")
    process = await asyncio.create_subprocess_exec(
        *(*alone, sys.executable, "-m", "tests.tools.mcp.over_http", str(tmp_path), *served),
        cwd=Path(__file__).parents[3],
        stdout=asyncio.subprocess.PIPE,
    )
    assert b"hello" in (await process.communicate())[0]
