"""What the tests of the file tools work in."""

from pathlib import Path

import pytest

from hob.tools.filesystem.files import FileTools
from tests.tools.keeping import file_tools


@pytest.fixture
def files(tmp_path: Path) -> FileTools:
    return file_tools(tmp_path)


@pytest.fixture
def ws(tmp_path: Path) -> Path:
    return tmp_path / "ws"
