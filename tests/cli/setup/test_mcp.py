"""`hob mcp`: what a program that did not start was not shown."""

from pathlib import Path

import pytest

from hob.cli.setup.mcp import _unseen
from hob.tools.mcp.settings import McpServer


@pytest.mark.parametrize(("read", "unseen"), [([], True), (["{here}"], False), (["/usr"], True)])
def test_script_in_a_folder_that_was_not_named_is_told(tmp_path: Path, read: list[str], unseen: bool) -> None:
    script = tmp_path / "server.js"
    script.touch()
    server = McpServer(
        command=["node", str(script), "/usr/bin", str(tmp_path / "gone"), "--port"],
        read=[each.format(here=tmp_path) for each in read],
    )
    assert [*_unseen(server)] == ([str(script)] if unseen else [])
