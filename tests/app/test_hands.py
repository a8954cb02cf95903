"""The tools as an open Hob has them."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hob.app.hands_when_needed import HandsWhenNeeded, open_hands
from hob.app.sections import SECTIONS
from hob.bus import Hub
from hob.config import load_config
from hob.core.clock import SystemClock
from hob.core.ids import SessionKey
from hob.store import StoreSettings, open_store
from hob.tools.groups import LOAD
from hob.tools.known import FILE, dump_specs
from tests.tools.calling import made, text_of


@pytest.fixture
async def hands(tmp_path: Path) -> AsyncIterator[HandsWhenNeeded]:
    home, clock = tmp_path / "home", SystemClock()
    config = load_config(SECTIONS, home=home, environ={"HOB_WORKSPACE_PATH": str(tmp_path / "workspace")})
    async with (
        open_store(home, config[StoreSettings], clock) as store,
        open_hands(config, store, Hub(), clock, {}) as opened,
    ):
        yield opened


def test_what_is_known_of_the_tools_is_what_they_are(hands: HandsWhenNeeded) -> None:
    assert FILE.read_text("utf-8") == dump_specs(hands.made.toolset.specs()), "run make docs"


async def test_a_call_is_made_by_the_tool_of_that_name(hands: HandsWhenNeeded, tmp_path: Path) -> None:
    await made(hands, "write", path="a.md", content="one\n")
    assert (tmp_path / "workspace" / "work" / "a.md").read_text() == "one\n"


async def test_a_group_is_opened_without_making_the_tools(hands: HandsWhenNeeded) -> None:
    assert "list_dir" in await text_of(hands, LOAD, group="files")
    assert "list_dir" in {spec.name for spec in hands.of(SessionKey("here")).specs()}
    assert "made" not in vars(hands)
