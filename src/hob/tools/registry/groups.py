"""Tools in named groups: a few are always shown, the rest are one line each until a session opens their group.

What a model may call stands before everything else in a provider's cached prefix. So the line that announces the groups
never changes, opened groups come after all that stood there, in the order in which they were opened, and none is closed
before the conversation begins afresh: opening costs one uncached request, and nothing after that.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from hob.core.argument_roles import ArgumentRole
from hob.core.errors import WrongCall
from hob.core.ids import SessionKey
from hob.core.ports.tools import CallContext, Toolset
from hob.core.spelling import close_names
from hob.core.tools import Restart, Tier, ToolCall, ToolGroup, ToolResult, ToolSpec
from hob.core.trust.labels import HOB_LABEL
from hob.core.values import dataclass
from hob.tools.registry.declaration import Tools, tool

MAX_AT_ONCE = 30
"""How many tools a group may have to be opened as a whole; of a larger one those are opened that are named."""

MAX_FOUND = 5
_ONE = "tool:"  # before the name of a tool that was opened by itself
_WORD = re.compile(r"[^\W_]+")
MAX_SHOWN = 12
"""How many tools are always shown, `load_tools` among them: with more, models choose worse."""

LOAD = "load_tools"


@dataclass(frozen=True, slots=True)
class Group:
    """Tools that are opened together, and the few words that announce them."""

    line: str
    toolset: Toolset


class SelectedTools:
    """Implements `Toolset`: those tools of others that are named, in the order of the names."""

    def __init__(self, toolsets: Iterable[Toolset], names: Iterable[str]) -> None:
        there = {spec.name: (spec, toolset) for toolset in toolsets for spec in toolset.specs()}
        self._chosen = {name: there[name] for name in names if name in there}
        self._specs = tuple(spec for spec, _ in self._chosen.values())

    def specs(self) -> tuple[ToolSpec, ...]:
        """The named tools that there are."""
        return self._specs

    async def call(self, call: ToolCall, context: CallContext) -> ToolResult:
        """Make the call. Raises WrongCall, ToolRefused."""
        if call.name not in self._chosen:
            raise WrongCall(f"there is no tool {call.name}")
        return await self._chosen[call.name][1].call(call, context)


def shown_tools(declared: Iterable[ToolGroup], toolsets: Iterable[Toolset]) -> SelectedTools:
    """What every session is shown of these toolsets."""
    return SelectedTools(toolsets, (spec.name for group in declared if group.shown for spec in group.tools))


def closed_groups(declared: Iterable[ToolGroup], toolsets: Sequence[Toolset]) -> Mapping[str, Group]:
    """The groups that sessions can open, without those of which there is no tool."""
    groups = {
        group.name: Group(group.line, SelectedTools(toolsets, (spec.name for spec in group.tools)))
        for group in declared
        if not group.shown
    }
    return {name: group for name, group in groups.items() if group.toolset.specs()}


class ToolRatings(Protocol):
    """Knows how well tools have worked."""

    def rating(self, tool: str) -> float:
        """More than 0, at most 1; 1 where too little is known."""


class OpenGroups(Protocol):
    """Which groups a session has opened; a tool that was opened by itself counts as one."""

    def opened(self, session: SessionKey) -> tuple[str, ...]:
        """Their names, in the order in which they were opened."""

    async def open(self, session: SessionKey, group: str) -> None:
        """Keep that it is open; to open it twice changes nothing."""


class OpenGroupsInMemory:
    """Implements `OpenGroups` for as long as the process lives."""

    def __init__(self) -> None:
        self._opened: dict[SessionKey, tuple[str, ...]] = {}

    def opened(self, session: SessionKey) -> tuple[str, ...]:
        return self._opened.get(session, ())

    async def open(self, session: SessionKey, group: str) -> None:
        before = self.opened(session)
        if group not in before:
            self._opened[session] = (*before, group)


class Groups:
    """Implements `Toolset`: the shown tools and `load_tools`. What one session may call is `of(session)`."""

    def __init__(
        self,
        shown: Toolset,
        groups: Mapping[str, Group],
        opened: OpenGroups | None = None,
        ratings: ToolRatings | None = None,
    ) -> None:
        """Of tools that fit a query equally well those with the better `ratings` are opened."""
        if len(shown.specs()) >= MAX_SHOWN:
            raise ValueError(f"at most {MAX_SHOWN - 1} tools are shown beside {LOAD}; put the others into groups")
        self._shown = shown
        self._groups = groups
        self._opened = opened or OpenGroupsInMemory()
        self._loader = _Loader(groups, self._opened, ratings)
        self._there: Sequence[tuple[str, Sequence[ToolSpec]]] = ()
        self._index: Mapping[str, tuple[str, ToolSpec]] = {}
        names = [spec.name for spec in self.specs()]
        names += [spec.name for group in groups.values() for spec in group.toolset.specs()]
        if len(set(names)) < len(names):
            raise ValueError("two tools share a name")

    def specs(self) -> tuple[ToolSpec, ...]:
        """What every session is shown."""
        return (*self._shown.specs(), *self._loader.specs())

    def of(self, session: SessionKey) -> Toolset:
        """What this session may call now: look again before each request, a call may have opened a group."""
        return _SessionTools(self, session)

    def specs_of(self, session: SessionKey) -> tuple[ToolSpec, ...]:
        """What this session is shown: everything as before, then what it opened."""
        specs = {spec.name: spec for name in self._opened.opened(session) for spec in self._loader.under(name)}
        return (*self.specs(), *specs.values())

    @property
    def groups(self) -> Mapping[str, Group]:
        """All groups by name, open or not."""
        return self._groups

    def named(self) -> Mapping[str, ToolSpec]:
        """Every tool by name, those of closed groups too."""
        return {**{spec.name: spec for spec in self.specs()}, **self.grouped()}

    def group_of(self, name: str) -> str:
        """The group that a tool is in; empty for those that are always shown, and for every other name."""
        return self._indexed()[name][0] if name in self._indexed() else ""

    def grouped(self) -> Mapping[str, ToolSpec]:
        """The tools of all groups, open or not, by name: what a guard and a driver have to know beside `specs`."""
        return {name: spec for name, (_, spec) in self._indexed().items()}

    def _indexed(self) -> Mapping[str, tuple[str, ToolSpec]]:
        """Every tool of a group by name, with the group; made anew when one of them has other tools."""
        there = [(name, group.toolset.specs()) for name, group in self._groups.items()]
        if there != self._there:
            self._index = {spec.name: (name, spec) for name, specs in there for spec in specs}
            self._there = there
        return self._index

    async def call(self, call: ToolCall, context: CallContext) -> ToolResult:
        """Make the call. Raises WrongCall with the way to open the tool's group where the session has not."""
        if call.name == LOAD and self._groups:
            return await self._loader.call(call, context)
        name = self.group_of(call.name)
        if not name:
            return await self._shown.call(call, context)
        if way := self.how_to_open(call.name, context.turn.session):
            raise WrongCall(way)
        return await self._groups[name].toolset.call(call, context)

    def how_to_open(self, name: str, session: SessionKey) -> str:
        """How this session comes to a tool of a group that it has not opened; empty for every other name."""
        group = self.group_of(name)
        if not group or not {group, f"{_ONE}{name}"}.isdisjoint(self._opened.opened(session)):
            return ""
        if self._loader.is_large(group):
            return f'{name} is not opened yet: call {LOAD} with names ["{name}"] first'
        return f'{name} is in a group not opened yet: call {LOAD} with names ["{group}"] first'


def grouped(declared: Sequence[ToolGroup], toolsets: Sequence[Toolset]) -> Groups:
    """The tools of these toolsets, shown and grouped as declared; what is in none of them is not missed."""
    return Groups(shown_tools(declared, toolsets), closed_groups(declared, toolsets))


class _SessionTools:
    def __init__(self, groups: Groups, session: SessionKey) -> None:
        self._groups = groups
        self._session = session

    def specs(self) -> tuple[ToolSpec, ...]:
        return self._groups.specs_of(self._session)

    def how_to_open(self, name: str) -> str:
        return self._groups.how_to_open(name, self._session)

    async def call(self, call: ToolCall, context: CallContext) -> ToolResult:
        return await self._groups.call(call, context)


class _Loader:
    """`load_tools`, whose description announces the groups."""

    def __init__(self, groups: Mapping[str, Group], opened: OpenGroups, ratings: ToolRatings | None) -> None:
        self._groups = groups
        self._ratings = ratings
        self._opened = opened
        self._tools = Tools(self.load_tools)
        self._told: tuple[ToolSpec, ...] = ()
        self._lines = ""
        self._seen: Sequence[tuple[str, Group]] = ()

    def specs(self) -> tuple[ToolSpec, ...]:
        if not self._groups:
            return ()
        there = list(self._groups.items())
        if there == self._seen:
            return self._told
        self._seen, lines = there, "".join(f"\n{name}: {group.line}" for name, group in there)
        if lines != self._lines:
            (plain,) = self._tools.specs()
            self._told, self._lines = (replace(plain, description=plain.description + lines),), lines
        return self._told

    def under(self, opened: str) -> Sequence[ToolSpec]:
        """The tools of a group, or the one that was opened by itself; none where it is gone."""
        if opened.startswith(_ONE):
            name = opened.removeprefix(_ONE)
            return [spec for group in self._groups.values() for spec in group.toolset.specs() if spec.name == name]
        return self._groups[opened].toolset.specs() if opened in self._groups else ()

    def is_large(self, group: str) -> bool:
        """Whether tools of this group are opened by name."""
        return len(self._groups[group].toolset.specs()) > MAX_AT_ONCE

    async def call(self, call: ToolCall, context: CallContext) -> ToolResult:
        return await self._tools.call(call, context)

    @tool(
        name=LOAD,
        tier=Tier.READ,
        effects=frozenset(),
        restart=Restart.AGAIN,
        label=HOB_LABEL,
        roles=ArgumentRole(plain=("names", "query")),
    )
    async def load_tools(self, context: CallContext, names: Sequence[str] = (), query: str = "") -> str:
        """Show more tools. Groups:"""
        specs = {spec.name: spec for group in self._groups.values() for spec in group.toolset.specs()}
        wanted = list(names) or find_tools(specs.values(), query, self._ratings)[:MAX_FOUND]
        if not wanted:
            raise WrongCall(f"no tool fits {query[:100]!r}" if query else "give names of groups or tools, or a query")
        opened: list[str] = []
        for name in wanted:
            if name in self._groups:
                within = [spec.name for spec in self._groups[name].toolset.specs()]
                if len(within) > MAX_AT_ONCE:
                    listed = ", ".join(within)
                    raise WrongCall(f"{name} has {len(within)} tools: name those you need, or give a query. {listed}")
                opened += within
            elif name in specs:
                opened.append(name)
            else:
                close = close_names(name, [*self._groups, *specs])
                hint = f"; did you mean {', '.join(close)}?" if close else ""
                raise WrongCall(f"there is no tool {name!r}; there are the groups {', '.join(self._groups)}{hint}")
        for name in wanted:
            await self._opened.open(context.turn.session, name if name in self._groups else f"{_ONE}{name}")
        return f"{', '.join(opened)} can be called now"


def find_tools(specs: Iterable[ToolSpec], query: str, ratings: ToolRatings | None = None) -> list[str]:
    """The names of the tools that share words with this, the best first: rare words count more, names twice.

    What mostly failed so far counts for less. What fits no better than half as well as the best is left out.
    """
    words = {
        spec.name: (_words(spec.name), _words(f"{spec.description} {' '.join(spec.schema.get('properties', ()))}"))
        for spec in specs
    }
    wanted = _words(query)
    common = {word: sum(word in name | text for name, text in words.values()) for word in wanted}
    marks = {
        tool: sum(((word in name) * 2 + (word in text)) / common[word] for word in wanted if common[word])
        for tool, (name, text) in words.items()
    }
    rated = marks if ratings is None else {tool: mark and mark * ratings.rating(tool) for tool, mark in marks.items()}
    fit = {tool for each in (marks, rated) for tool, mark in each.items() if mark > max(each.values()) / 2}
    return sorted(fit, key=lambda tool: (-rated[tool], list(words).index(tool)))


def _words(text: str) -> set[str]:
    """The words, without their plural's end."""
    return {found[0].lower().removesuffix("s") for found in _WORD.finditer(text)}
