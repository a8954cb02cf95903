"""The reference is what the code says."""

import json
import runpy
from collections.abc import Callable
from typing import Any, cast

import pytest

from .pages import ROOT


@pytest.fixture(scope="module")
def generator() -> dict[str, Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "docs")  # as when it is run as a program
        return runpy.run_path(str(ROOT / "docs" / "generate.py"))


@pytest.fixture(scope="module")
def generated(generator: dict[str, Any]) -> dict[str, str]:
    return cast(Callable[[], dict[str, str]], generator["pages"])()


@pytest.fixture(scope="module")
def filled(generator: dict[str, Any]) -> Callable[[str], str]:
    return cast(Callable[[str], str], generator["filled"])


@pytest.mark.parametrize(
    "name",
    [
        "api.md",
        "commands.md",
        "dashboard-api.md",
        "errors.md",
        "hooks.md",
        "modules.md",
        "settings.md",
        "states.md",
        "steps.md",
        "testing.md",
        "timeline.md",
        "tools.md",
        "websocket.md",
    ],
)
def test_page_is_what_the_code_says(generated: dict[str, str], name: str) -> None:
    committed = (ROOT / "docs" / "reference" / name).read_text("utf-8")
    assert committed == generated[name], "run make docs"


def test_openapi_file_is_what_the_table_of_routes_says(generator: dict[str, Any]) -> None:
    committed = (ROOT / "docs" / "openapi.json").read_text("utf-8")
    assert committed == generator["openapi_file"](), "run make docs"


def test_dashboards_openapi_file_is_what_its_table_says(generator: dict[str, Any]) -> None:
    committed = (ROOT / "docs" / "openapi-v1.json").read_text("utf-8")
    assert committed == generator["openapi_v1_file"](), "run make docs"


def test_dashboards_client_is_typed_by_its_openapi_file(generator: dict[str, Any]) -> None:
    committed = (ROOT / "web" / "src" / "api" / "schema.ts").read_text("utf-8")
    assert committed == generator["client_types"](json.loads(generator["openapi_v1_file"]())), "run make docs"


def test_every_page_that_says_it_is_generated_is() -> None:
    files = (ROOT / "docs" / "reference").glob("*.md")
    marked = {file.name for file in files if "Written by `make docs`" in file.read_text("utf-8")}
    assert len(marked) == 15


def test_written_parts_of_other_pages_are_what_the_code_says(filled: Callable[[str], str]) -> None:
    files = list((ROOT / "docs" / "explanation").glob("*.md"))
    marked = [file.name for file in files if "<!-- make docs:" in file.read_text("utf-8")]
    changed = [file.name for file in files if filled(file.read_text("utf-8")) != file.read_text("utf-8")]
    assert "policy.md" in marked
    assert changed == [], "run make docs"
