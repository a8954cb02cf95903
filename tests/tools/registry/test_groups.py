"""A few tools are always shown; others are opened by name and stay open."""

from collections import ChainMap
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from hob.core.errors import ToolFailed
from hob.core.ids import SessionKey
from hob.core.ports.tools import Toolset
from hob.testing.toolset import FunctionTools, tool
from hob.testing.toolset_check import check_toolset
from hob.tools.registry.groups import Group, Groups, find_tools
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
    await made(here, "load_tools", names=["web"])
    assert names(here) == ["read", "load_tools", "browse"]


async def test_earlier_specs_do_not_change_when_a_group_is_opened() -> None:
    here = groups().of(SessionKey("here"))
    for group in ("web", "mail", "web"):
        before = here.specs()
        await made(here, "load_tools", names=[group])
        assert here.specs()[: len(before)] == before
    assert names(here) == ["read", "load_tools", "browse", "send", "fetch"]


async def test_group_is_opened_for_one_session_only() -> None:
    all_of_it = groups()
    await made(all_of_it, "load_tools", names=["web"])
    assert names(all_of_it.of(SessionKey("there"))) == ["read", "load_tools"]


async def test_call_into_a_closed_group_explains_how_to_open_it() -> None:
    all_of_it = groups()
    with pytest.raises(ToolFailed, match=r'call load_tools with names \["mail"\] first'):
        await made(all_of_it, "send")
    await made(all_of_it, "load_tools", names=["mail"])
    assert (await made(all_of_it, "send")).text == "done"
    with pytest.raises(ToolFailed, match="not opened"):
        await all_of_it.call(a_call("send"), context(session="there"))


async def test_advice_is_given_only_while_a_group_is_closed() -> None:
    all_of_it, here = groups(), SessionKey("here")
    assert 'with names ["mail"] first' in all_of_it.how_to_open("send", here)
    assert [all_of_it.how_to_open(name, here) for name in ("read", "load_tools", "nothing")] == ["", "", ""]
    await all_of_it.call(a_call("load_tools", names=["mail"]), context(session="here"))
    assert all_of_it.how_to_open("send", here) == ""


async def test_unknown_group_opens_nothing() -> None:
    all_of_it = groups()
    with pytest.raises(ToolFailed, match="there are the groups mail, web"):
        await made(all_of_it, "load_tools", names=["wbe"])
    assert names(all_of_it.of(SessionKey("here"))) == ["read", "load_tools"]


def test_tools_and_groups_beyond_twelve_are_not_shown() -> None:
    Groups(some(*"abcdefghijk"), {})
    with pytest.raises(ValueError, match="groups"):
        Groups(some(*"abcdefghijkl"), {})


def test_load_tools_is_hidden_without_groups() -> None:
    assert names(Groups(some("read"), {})) == ["read"]


@asynccontextmanager
async def opened() -> AsyncIterator[Toolset]:
    yield groups()


async def test_groups_keep_the_contract() -> None:
    await check_toolset(opened, {"read": {}, "load_tools": {"names": ["web"]}})


def many(count: int = 200) -> Groups:
    verbs = [f"tracker__{verb}_{what}" for verb in ("list", "get", "create", "close") for what in range(count // 4)]
    return Groups(some("read"), {"tracker": Group("Issues.", some(*verbs, "tracker__merge_pull_request"))})


async def test_large_group_costs_one_line_and_its_named_tools() -> None:
    all_of_it = many()
    here = all_of_it.of(SessionKey("here"))
    before = here.specs()
    with pytest.raises(ToolFailed, match="has 201 tools: name those"):
        await made(here, "load_tools", names=["tracker"])
    with pytest.raises(ToolFailed, match='call load_tools with names \\["tracker__get_1"\\] first'):
        await made(all_of_it, "tracker__get_1")
    await made(here, "load_tools", names=["tracker__get_1", "tracker__close_2"])
    assert here.specs()[: len(before)] == before
    assert names(here) == ["read", "load_tools", "tracker__get_1", "tracker__close_2"]
    assert (await made(all_of_it, "tracker__get_1")).text == "done"


async def test_query_opens_the_best_matches() -> None:
    here = many().of(SessionKey("here"))
    told = (await made(here, "load_tools", query="merge pull requests")).text
    assert told == "tracker__merge_pull_request can be called now"
    assert names(here) == ["read", "load_tools", "tracker__merge_pull_request"]
    with pytest.raises(ToolFailed, match="no tool fits"):
        await made(here, "load_tools", query="weather")


def test_query_drops_weak_matches() -> None:
    found = some("money_send", "sessions_send", "web_fetch").specs()
    assert find_tools(found, "send money") == ["money_send"]


async def test_query_prefers_tools_with_better_ratings() -> None:
    class Ratings:
        def rating(self, tool: str) -> float:
            return 0.1 if tool.startswith("web") else 1.0

    found = some("web_search", "browser_search", "notes_read").specs()
    assert find_tools(found, "search") == ["web_search", "browser_search"]
    assert find_tools(found, "search", Ratings()) == ["browser_search", "web_search"]
    assert find_tools(found, "web search", Ratings()) == ["browser_search", "web_search"]
    assert find_tools(found[:1], "search", Ratings()) == ["web_search"]


async def test_unknown_name_gets_suggestions() -> None:
    with pytest.raises(ToolFailed, match="did you mean tracker__get_1"):
        await made(many(), "load_tools", names=["tracker_get_1"])
    with pytest.raises(ToolFailed, match="give names of groups"):
        await made(many(), "load_tools")


async def test_groups_added_later_are_announced() -> None:
    later: dict[str, Group] = {}
    here = Groups(some("read"), ChainMap(later, dict(groups().groups))).of(SessionKey("here"))
    first = here.specs()
    assert here.specs()[-1] is first[-1]
    later["mcp_files"] = Group("Files.", some("mcp_read"))
    assert here.specs()[-1].description.endswith("mail: Letters.\nweb: Pages.\nmcp_files: Files.")
    await made(here, "load_tools", names=["mcp_files"])
    assert names(here)[-1] == "mcp_read"
