"""Tools in named groups: a few are always shown, the rest are one line each until a session opens their group.

What a model may call stands before everything else in a provider's cached prefix. So the line that announces the groups
never changes, opened groups come after all that stood there, in the order in which they were opened, and none is closed
again: opening costs one uncached request, and nothing after that.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from hob.core.argument_roles import ArgumentRole
from hob.core.errors import ToolFailed
from hob.core.ids import SessionKey
from hob.core.ports.tools import CallContext, Toolset
from hob.core.tools import Restart, Tier, ToolCall, ToolResult, ToolSpec
from hob.core.trust.labels import HOB_LABEL
from hob.tools.registry.declaration import Tools, tool

MOST_SHOWN = 12
"""How many tools are always shown, `load_tools` among them: with more, models choose worse."""

LOAD = "load_tools"


@dataclass(frozen=True, slots=True)
class Group:
    """Tools that are opened together, and the few words that announce them."""

    line: str
    toolset: Toolset


class OpenGroups(Protocol):
    """Which groups a session has opened."""

    def opened(self, session: SessionKey) -> tuple[str, ...]:
        """Their names, in the order in which they were opened."""
        ...

    async def open(self, session: SessionKey, group: str) -> None:
        """Keep that it is open; to open it twice changes nothing."""
        ...


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

    def __init__(self, shown: Toolset, groups: Mapping[str, Group], opened: OpenGroups | None = None) -> None:
        if len(shown.specs()) >= MOST_SHOWN:
            raise ValueError(f"at most {MOST_SHOWN - 1} tools are shown beside {LOAD}; put the others into groups")
        self._shown = shown
        self._groups = groups
        self._opened = opened or OpenGroupsInMemory()
        self._loader = _Loader(groups, self._opened)
        self._specs = (*shown.specs(), *self._loader.specs())
        names = [spec.name for spec in self._specs]
        names += [spec.name for group in groups.values() for spec in group.toolset.specs()]
        if len(set(names)) < len(names):
            raise ValueError("two tools share a name")

    def specs(self) -> tuple[ToolSpec, ...]:
        """What every session is shown."""
        return self._specs

    def of(self, session: SessionKey) -> Toolset:
        """What this session may call now: look again before each request, a call may have opened a group."""
        return _SessionTools(self, session)

    def specs_of(self, session: SessionKey) -> tuple[ToolSpec, ...]:
        """What this session is shown: everything as before, then what it opened."""
        opened = (self._groups[name] for name in self._opened.opened(session) if name in self._groups)
        return (*self._specs, *(spec for group in opened for spec in group.toolset.specs()))

    @property
    def groups(self) -> Mapping[str, Group]:
        """All groups by name, open or not."""
        return self._groups

    def extended(self, groups: Mapping[str, Group], wrap: Callable[[Toolset], Toolset] | None = None) -> "Groups":
        """The same with more groups, and `wrap` around what is shown.

        Raises ValueError where two tools or two groups share a name.
        """
        if both := self._groups.keys() & groups.keys():
            raise ValueError(f"two groups of tools are called {', '.join(sorted(both))}")
        shown = self._shown if wrap is None else wrap(self._shown)
        return Groups(shown, {**self._groups, **groups}, self._opened)

    def named(self) -> Mapping[str, ToolSpec]:
        """Every tool by name, those of closed groups too."""
        return {**{spec.name: spec for spec in self.specs()}, **self.grouped()}

    def grouped(self) -> Mapping[str, ToolSpec]:
        """The tools of all groups, open or not, by name: what a guard and a driver have to know beside `specs`."""
        return {spec.name: spec for group in self._groups.values() for spec in group.toolset.specs()}

    async def call(self, call: ToolCall, context: CallContext) -> ToolResult:
        """Make the call. Raises ToolFailed with the way to open the tool's group where the session has not."""
        if call.name == LOAD and self._groups:
            return await self._loader.call(call, context)
        name = self._group_of(call.name)
        if not name:
            return await self._shown.call(call, context)
        if way := self.way_to(call.name, context.turn.session):
            raise ToolFailed(way)
        return await self._groups[name].toolset.call(call, context)

    def way_to(self, name: str, session: SessionKey) -> str:
        """How this session comes to a tool of a group that it has not opened; empty for every other name."""
        group = self._group_of(name)
        if not group or group in self._opened.opened(session):
            return ""
        return f'{name} is in a group not opened yet: call {LOAD} with group "{group}" first'

    def _group_of(self, name: str) -> str:
        groups = self._groups.items()
        return next((key for key, group in groups if any(name == spec.name for spec in group.toolset.specs())), "")


class _SessionTools:
    def __init__(self, groups: Groups, session: SessionKey) -> None:
        self._groups = groups
        self._session = session

    def specs(self) -> tuple[ToolSpec, ...]:
        return self._groups.specs_of(self._session)

    def way_to(self, name: str) -> str:
        return self._groups.way_to(name, self._session)

    async def call(self, call: ToolCall, context: CallContext) -> ToolResult:
        return await self._groups.call(call, context)


class _Loader:
    """`load_tools`, whose description announces the groups."""

    def __init__(self, groups: Mapping[str, Group], opened: OpenGroups) -> None:
        self._groups = groups
        self._opened = opened
        self._tools = Tools(self.load_tools)
        lines = "".join(f"\n{name}: {group.line}" for name, group in groups.items())
        (plain,) = self._tools.specs()
        self._spec = replace(plain, description=plain.description + lines)

    def specs(self) -> tuple[ToolSpec, ...]:
        return (self._spec,) if self._groups else ()

    async def call(self, call: ToolCall, context: CallContext) -> ToolResult:
        return await self._tools.call(call, context)

    @tool(
        name=LOAD,
        tier=Tier.READ,
        effects=frozenset(),
        restart=Restart.AGAIN,
        label=HOB_LABEL,
        roles=ArgumentRole(plain=("group",)),
    )
    async def load_tools(
        self,
        group: str,
        context: CallContext,
    ) -> str:
        """Show more tools from now on. Groups:"""
        if group not in self._groups:
            raise ToolFailed(f"there is no group {group!r}; there are {', '.join(self._groups)}")
        await self._opened.open(context.turn.session, group)
        return f"{_names(self._groups[group].toolset.specs())} can be called now"


def _names(specs: Sequence[ToolSpec]) -> str:
    return ", ".join(spec.name for spec in specs)
