"""`hob mcp`: what a program that did not start was not shown, and servers taken over from other programs."""

import json
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

from hob.app.settings.sections import SECTIONS
from hob.cli.setup.mcp import _unseen
from hob.cli.table import run
from hob.config.loading import load_config
from hob.tools.mcp.settings import McpServer, McpSettings


@pytest.mark.parametrize(("read", "unseen"), [([], True), (["{here}"], False), (["/usr"], True)])
def test_script_in_a_folder_that_was_not_named_is_told(tmp_path: Path, read: list[str], unseen: bool) -> None:
    script = tmp_path / "server.js"
    script.touch()
    server = McpServer(
        command=["node", str(script), "/usr/bin", str(tmp_path / "gone"), "--port"],
        read=[each.format(here=tmp_path) for each in read],
    )
    assert [*_unseen(server)] == ([str(script)] if unseen else [])


@pytest.mark.slow
@pytest.mark.skipif(find_spec("mcp") is None or shutil.which("bwrap") is None, reason="needs the library and a sandbox")
def test_imported_programs_read_the_folders_that_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from tests.tools.mcp.reaching import ours

    home, server = tmp_path / "home", ours()
    monkeypatch.setenv("HOB_HOME", str(home))
    file = tmp_path / ".mcp.json"
    program, *arguments = server.command
    kept = {"Notes": {"command": program, "args": arguments}, "far": {"url": "http://127.0.0.1:9/mcp"}}
    file.write_text(json.dumps({"mcpServers": kept}))
    named = [word for each in server.read for word in ("--read", each)]
    assert run(["mcp", "import", str(file), "--yes", *named]) == 1  # nobody answers at the address
    assert "notes: 7 tools are offered to the model" in capsys.readouterr().out
    servers = load_config(SECTIONS, home=home, environ={})[McpSettings]
    assert {name: each.read for name, each in servers.items()} == {"notes": server.read}
