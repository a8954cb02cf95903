"""The reference is what the code says."""

import runpy
from collections.abc import Callable
from typing import cast

import pytest

from .pages import ROOT


@pytest.fixture(scope="module")
def generated() -> dict[str, str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "docs")  # as when it is run as a program
        write = cast(Callable[[], dict[str, str]], runpy.run_path(str(ROOT / "docs" / "generate.py"))["pages"])
        return write()


@pytest.mark.parametrize(
    "name",
    [
        "api.md",
        "commands.md",
        "errors.md",
        "hooks.md",
        "settings.md",
        "states.md",
        "steps.md",
        "testing.md",
        "timeline.md",
    ],
)
def test_a_page_is_what_the_code_says(generated: dict[str, str], name: str) -> None:
    committed = (ROOT / "docs" / "reference" / name).read_text("utf-8")
    assert committed == generated[name], "run make docs"


def test_every_page_that_says_it_is_generated_is() -> None:
    files = (ROOT / "docs" / "reference").glob("*.md")
    marked = {file.name for file in files if "Written by `make docs`" in file.read_text("utf-8")}
    assert len(marked) == 10
