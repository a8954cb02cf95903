"""A few tools are always shown; the others are opened by name and stay."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from hob.core.errors import ToolFailed
from hob.core.ids import SessionKey
from hob.core.ports.tools import Toolset
from hob.testing.toolset import FunctionTools, tool
from hob.testing.toolset_check import check_toolset
from hob.tools.registry.groups import Group, Groups
from tests.tools.calling import a_call, context, made


async def done(_arguments: object) -> str:
    return "done"


def some(*names: str) -> FunctionTools:
    return FunctionTools(*(tool(name, done) for name in names))


def groups() -> Groups:
    return Groups(
        some("read"),
        {"mail": Group("Letters.", some("send", "fetch")), "web": Group("Pages.", some("browse"))},
    )


def names(toolset: Toolset) -> list[str]:
    return [spec.name for spec in toolset.specs()]


async def test_group_is_one_line_until_it_is_opened() -> None:
    all_of_it = groups()
    here = all_of_it.of(SessionKey("here"))
    assert names(here) == ["read", "load_tools"]
    assert "mail: Letters.\nweb: Pages." in here.specs()[-1].description
    await made(here, "load_tools", group="web")
    assert names(here) == ["read", "load_tools", "browse"]


async def test_earlier_specs_do_not_change_when_a_group_is_opened() -> None:
    here = groups().of(SessionKey("here"))
    for group in ("web", "mail", "web"):
        before = here.specs()
        await made(here, "load_tools", group=group)
        assert here.specs()[: len(before)] == before
    assert names(here) == ["read", "load_tools", "browse", "send", "fetch"]


async def test_session_opens_for_itself() -> None:
    all_of_it = groups()
    await made(all_of_it, "load_tools", group="web")
    assert names(all_of_it.of(SessionKey("there"))) == ["read", "load_tools"]


async def test_call_into_a_closed_group_tells_the_way() -> None:
    all_of_it = groups()
    with pytest.raises(ToolFailed, match='call load_tools with group "mail" first'):
        await made(all_of_it, "send")
    await made(all_of_it, "load_tools", group="mail")
    assert (await made(all_of_it, "send")).text == "done"
    with pytest.raises(ToolFailed, match="not opened"):
        await all_of_it.call(a_call("send"), context(session="there"))


async def test_way_to_a_tool_is_told_until_its_group_is_open() -> None:
    all_of_it, here = groups(), SessionKey("here")
    assert 'with group "mail" first' in all_of_it.way_to("send", here)
    assert [all_of_it.way_to(name, here) for name in ("read", "load_tools", "nothing")] == ["", "", ""]
    await all_of_it.call(a_call("load_tools", group="mail"), context(session="here"))
    assert all_of_it.way_to("send", here) == ""


async def test_unknown_group_opens_none() -> None:
    all_of_it = groups()
    with pytest.raises(ToolFailed, match="there are mail, web"):
        await made(all_of_it, "load_tools", group="wbe")
    assert names(all_of_it.of(SessionKey("here"))) == ["read", "load_tools"]


def test_more_than_twelve_are_not_shown() -> None:
    Groups(some(*"abcdefghijk"), {})
    with pytest.raises(ValueError, match="groups"):
        Groups(some(*"abcdefghijkl"), {})


def test_without_groups_there_is_nothing_to_open() -> None:
    assert names(Groups(some("read"), {})) == ["read"]


@asynccontextmanager
async def opened() -> AsyncIterator[Toolset]:
    yield groups()


async def test_groups_keep_the_contract() -> None:
    await check_toolset(opened, {"read": {}, "load_tools": {"group": "web"}})
