"""The guard knows every argument of Hob's own tools."""

from pathlib import Path

import pytest

from hob.core.clock import SystemClock
from hob.core.tools import Effect, ToolSpec
from hob.tools.filesystem.files import FileTools
from hob.tools.filesystem.paths import Root, Roots
from tests.tools.keeping import ChangesInMemory, FolderBlobs


def file_tools() -> tuple[ToolSpec, ...]:
    roots = Roots([Root("work", Path("/tmp"))], base=Path("/tmp"))
    return FileTools(roots, FolderBlobs(Path("/tmp")), ChangesInMemory(), SystemClock()).toolset.specs()


@pytest.mark.parametrize("spec", file_tools(), ids=lambda spec: spec.name)
def test_every_file_tool_argument_has_a_role(spec: ToolSpec) -> None:
    reading = spec.roles
    assert reading is not None
    assert set(spec.schema["properties"]) <= reading.known()
    assert reading.paths or reading.patches
    if spec.effects & {Effect.WRITES, Effect.WRITES_FINALLY}:
        assert not {"path", "patch"} & set(reading.plain)
