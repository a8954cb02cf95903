"""Tool groups: a few tools are always shown; each other group is one line until a session opens it.

Tools precede everything else in a provider's cached prefix. Therefore the line that announces the groups does not
change, opened tools are appended in the order of opening, and none is closed before the conversation is reset: opening
costs one uncached request and nothing after that.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from hob.core.argument_roles import ArgumentRole
from hob.core.errors import InvalidCall
from hob.core.ids import SessionKey
from hob.core.ports.tools import CallContext, Toolset
from hob.core.spelling import close_names
from hob.core.tools import Restart, Tier, ToolCall, ToolGroup, ToolResult, ToolSpec
from hob.core.trust.labels import HOB_LABEL
from hob.core.values import dataclass
from hob.tools.registry.declaration import Tools, tool

MAX_AT_ONCE = 30
"""Maximum tools of a group that is opened as a whole. Of larger groups, only named tools are opened."""

MAX_FOUND = 5
_ONE = "tool:"  # prefix of a tool that is opened individually
_WORD = re.compile(r"[^\W_]+")
MAX_SHOWN = 12
"""Maximum number of tools that are always shown, including `load_tools`. With more, models choose worse."""

LOAD = "load_tools"


@dataclass(frozen=True, slots=True)
class Group:
    """Tools that are opened together, and their announcement."""

    line: str
    toolset: Toolset


class SelectedTools:
    """Implements `Toolset` over the named tools of another toolset, in the order of the names."""

    def __init__(self, toolsets: Iterable[Toolset], names: Iterable[str]) -> None:
        there = {spec.name: (spec, toolset) for toolset in toolsets for spec in toolset.specs()}
        self._chosen = {name: there[name] for name in names if name in there}
        self._specs = tuple(spec for spec, _ in self._chosen.values())

    def specs(self) -> tuple[ToolSpec, ...]:
        """Return the named specs that exist."""
        return self._specs

    async def call(self, call: ToolCall, context: CallContext) -> ToolResult:
        """Make the call. Raises InvalidCall, ToolRefused."""
        if call.name not in self._chosen:
            raise InvalidCall(f"there is no tool {call.name}")
        return await self._chosen[call.name][1].call(call, context)


def shown_tools(declared: Iterable[ToolGroup], toolsets: Iterable[Toolset]) -> SelectedTools:
    """Return the always-shown tools."""
    return SelectedTools(toolsets, (spec.name for group in declared if group.shown for spec in group.tools))


def closed_groups(declared: Iterable[ToolGroup], toolsets: Sequence[Toolset]) -> Mapping[str, Group]:
    """Return the groups that sessions can open, without empty ones."""
    groups = {
        group.name: Group(group.line, SelectedTools(toolsets, (spec.name for spec in group.tools)))
        for group in declared
        if not group.shown
    }
    return {name: group for name, group in groups.items() if group.toolset.specs()}


class ToolRatings(Protocol):
    """Success ratings of tools."""

    def rating(self, tool: str) -> float:
        """Return the rating: above 0 and at most 1, or 1 if too little is known."""


class OpenGroups(Protocol):
    """The groups that sessions have opened. A tool that was opened individually counts as a group."""

    def opened(self, session: SessionKey) -> tuple[str, ...]:
        """Return the open groups, in the order of opening."""

    async def open(self, session: SessionKey, group: str) -> None:
        """Record an open group; idempotent."""


Permits = Callable[[ToolSpec, SessionKey], bool]
"""Whether a session may call a tool."""


class OpenGroupsInMemory:
    """Implements `OpenGroups` in memory."""

    def __init__(self) -> None:
        self._opened: dict[SessionKey, tuple[str, ...]] = {}

    def opened(self, session: SessionKey) -> tuple[str, ...]:
        return self._opened.get(session, ())

    async def open(self, session: SessionKey, group: str) -> None:
        before = self.opened(session)
        if group not in before:
            self._opened[session] = (*before, group)


class Groups:
    """Implements `Toolset` with the shown tools and `load_tools`. `of(session)` is what a session may call."""

    def __init__(
        self,
        shown: Toolset,
        groups: Mapping[str, Group],
        opened: OpenGroups | None = None,
        ratings: ToolRatings | None = None,
        permits: Permits = lambda _spec, _session: True,
    ) -> None:
        """`ratings` break ties between tools that match a query equally well. Only what `permits` allows is opened."""
        if len(shown.specs()) >= MAX_SHOWN:
            raise ValueError(f"at most {MAX_SHOWN - 1} tools are shown beside {LOAD}; put the others into groups")
        self._shown = shown
        self._groups = groups
        self._opened = opened or OpenGroupsInMemory()
        self._permits = permits
        self._loader = _Loader(groups, self._opened, ratings, permits)
        self._there: Sequence[tuple[str, Sequence[ToolSpec]]] = ()
        self._index: Mapping[str, tuple[str, ToolSpec]] = {}
        names = [spec.name for spec in self.specs()]
        names += [spec.name for group in groups.values() for spec in group.toolset.specs()]
        if len(set(names)) < len(names):
            raise ValueError("two tools share a name")

    def specs(self) -> tuple[ToolSpec, ...]:
        """Return the specs that every session is shown."""
        return (*self._shown.specs(), *self._loader.specs())

    def of(self, session: SessionKey) -> Toolset:
        """Return what this session may call now. Ask again before each request, because calls open groups."""
        return _SessionTools(self, session)

    def specs_of(self, session: SessionKey) -> tuple[ToolSpec, ...]:
        """Return the specs that this session is shown: the common tools, then those it opened."""
        opened = self._opened.opened(session)
        specs = {spec.name: spec for spec in self._under(opened)} if opened else {}
        return (*self.specs(), *specs.values())

    def _under(self, opened: Sequence[str]) -> Iterator[ToolSpec]:
        """Yield the tools of opened groups, and tools opened individually, which may be gone."""
        index = self._indexed()
        for name in opened:
            if not name.startswith(_ONE):
                yield from self._groups[name].toolset.specs() if name in self._groups else ()
            elif (found := index.get(name.removeprefix(_ONE))) is not None:
                yield found[1]

    @property
    def groups(self) -> Mapping[str, Group]:
        """Return all groups by name, open or not."""
        return self._groups

    def named(self) -> Mapping[str, ToolSpec]:
        """Return every tool by name, including those in closed groups."""
        return {**{spec.name: spec for spec in self.specs()}, **self.grouped()}

    def group_of(self, name: str) -> str:
        """Return the group of a tool; empty for always-shown and unknown tools."""
        return self._indexed()[name][0] if name in self._indexed() else ""

    def grouped(self) -> Mapping[str, ToolSpec]:
        """Return the tools of all groups by name, which the guard and the driver need besides `specs`."""
        return {name: spec for name, (_, spec) in self._indexed().items()}

    def _indexed(self) -> Mapping[str, tuple[str, ToolSpec]]:
        """Index the grouped tools by name; rebuilt when a group's tools change."""
        there = [(name, group.toolset.specs()) for name, group in self._groups.items()]
        if there != self._there:
            self._index = {spec.name: (name, spec) for name, specs in there for spec in specs}
            self._there = there
        return self._index

    async def call(self, call: ToolCall, context: CallContext) -> ToolResult:
        """Make the call. Raises InvalidCall with advice if the session has not opened the tool's group."""
        if call.name == LOAD and self._groups:
            return await self._loader.call(call, context)
        name = self.group_of(call.name)
        if not name:
            return await self._shown.call(call, context)
        if way := self.how_to_open(call.name, context.turn.session):
            raise InvalidCall(way)
        return await self._groups[name].toolset.call(call, context)

    def how_to_open(self, name: str, session: SessionKey) -> str:
        """Return how this session can open the group of a tool; empty for any other name."""
        group, spec = self._indexed().get(name, ("", None))
        if spec is None or not {group, f"{_ONE}{name}"}.isdisjoint(self._opened.opened(session)):
            return ""
        if not self._permits(spec, session):
            return ""
        if self._loader.is_large(group):
            return f'{name} is not opened yet: call {LOAD} with names ["{name}"] first'
        return f'{name} is in a group not opened yet: call {LOAD} with names ["{group}"] first'


def grouped(declared: Sequence[ToolGroup], toolsets: Sequence[Toolset]) -> Groups:
    """Arrange toolsets into shown tools and groups as declared. Undeclared tools are left out."""
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
    """The tool `load_tools`, whose description announces the groups."""

    def __init__(
        self, groups: Mapping[str, Group], opened: OpenGroups, ratings: ToolRatings | None, permits: Permits
    ) -> None:
        self._groups = groups
        self._permits = permits
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

    def is_large(self, group: str) -> bool:
        """Return whether tools of this group can only be opened by name."""
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
        there = [spec for group in self._groups.values() for spec in group.toolset.specs()]
        specs = {spec.name: spec for spec in there if self._permits(spec, context.turn.session)}
        wanted = list(names) or find_tools(specs.values(), query, self._ratings)[:MAX_FOUND]
        if not wanted:
            raise InvalidCall(f"no tool fits {query[:100]!r}" if query else "give names of groups or tools, or a query")
        opened: list[str] = []
        for name in wanted:
            if name in self._groups:
                within = [spec.name for spec in self._groups[name].toolset.specs() if spec.name in specs]
                if not within:
                    raise InvalidCall(f"no tool of {name} may be called here")
                if len(within) > MAX_AT_ONCE:
                    listed = ", ".join(within)
                    raise InvalidCall(f"{name} has {len(within)} tools: name those you need, or give a query. {listed}")
                opened += within
            elif name in specs:
                opened.append(name)
            else:
                close = close_names(name, [*self._groups, *specs])
                hint = f"; did you mean {', '.join(close)}?" if close else ""
                raise InvalidCall(f"there is no tool {name!r}; there are the groups {', '.join(self._groups)}{hint}")
        for name in wanted:
            await self._opened.open(context.turn.session, name if name in self._groups else f"{_ONE}{name}")
        return f"{', '.join(opened)} can be called now"


def find_tools(specs: Iterable[ToolSpec], query: str, ratings: ToolRatings | None = None) -> list[str]:
    """Return the names of tools that match a query, best first.

    Rare words weigh more, and words in names count twice. Tools that mostly failed weigh less. Matches less than half
    as good as the best one are dropped.
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
    """Split into words without plural endings."""
    return {found[0].lower().removesuffix("s") for found in _WORD.finditer(text)}
