"""The declaration of a feature (`Subsystem`): its settings, tools, routes and commands, and how it is opened.

`--help`, `config check`, the reference, `hob doctor` and backups read declarations while Hob is down or broken. They
must be cheap to import: everything heavy is behind a `Lazy`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from hob.core.lazy import Lazy
from hob.core.memory import MemoryLayer
from hob.core.tools import ToolGroup
from hob.core.values import dataclass

if TYPE_CHECKING:  # declarations load nothing, so the types of an open Hob are named for type checkers only
    from hob.agent.commands.slash_commands import CommandCall
    from hob.agent.commands.table import SlashCommand
    from hob.app.contribution import Contribution
    from hob.app.diagnostics.check import Check
    from hob.app.kernel import Kernel
    from hob.gateway.http.endpoint import Endpoint

Open: TypeAlias = "Callable[[Kernel], AbstractAsyncContextManager[Contribution]]"
Endpoints: TypeAlias = "Sequence[Endpoint[Any]]"
Checks: TypeAlias = "Sequence[Check]"


class KeptFiles(NamedTuple):
    """A file, folder or pattern (`tea/*.json`) in the home that a feature keeps outside the database.

    `in_backups`: backups include it.
    """

    name: str
    what: str
    in_backups: bool = False


class StaticFiles(NamedTuple):
    """The files in a folder of a package, served below `path`; unknown paths get its `index.html`."""

    path: str
    package: str
    folder: str = "static"


class DashboardView(NamedTuple):
    """A dashboard page: files of a package, shown in a sandboxed frame.

    `name` is part of its address, `title` is shown in the navigation. The frame gets its data through the surrounding
    page: `asks` are the paths below `/api/v1/` it may request.
    """

    name: str
    title: str
    package: str
    folder: str = "view"
    asks: tuple[str, ...] = ()


class FeatureCommand(NamedTuple):
    """A slash command and its handler, which gets the feature's kernel."""

    row: SlashCommand
    run: Lazy[Callable[[Kernel, CommandCall], Awaitable[str]]]


class CliCommand(NamedTuple):
    """`hob NAME`: a function whose parameters are read from the command line, as with Hob's own commands."""

    name: str
    help: str
    run: Lazy[Callable[..., object]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Subsystem:
    """The declaration of one feature."""

    name: str
    settings: Mapping[str, type] = field(default_factory=dict)
    """Its configuration sections: classes that import `hob.core` only."""
    needs: tuple[type, ...] = ()
    """The ports it needs, each provided by exactly one other feature."""
    after: tuple[str, ...] = ()
    """Features that are opened before it, if they are present."""
    one_shot: bool = False
    """Whether a Hob without a daemon opens it too."""
    tools: tuple[ToolGroup, ...] = ()
    """The specs of its tools, and whether they are always shown or opened as a group."""
    slash_commands: tuple[FeatureCommand, ...] = ()
    endpoints: Lazy[Endpoints] | None = None
    api_v1: Lazy[Endpoints] | None = None
    """Endpoints of the dashboard's listener, loaded with its first request; all below `/api/v1/` except `/ws`."""
    static_files: tuple[StaticFiles, ...] = ()
    """Package files that the dashboard's listener serves to everyone."""
    views: tuple[DashboardView, ...] = ()
    """Its pages in the dashboard."""
    checks: Lazy[Checks] | None = None
    files: tuple[KeptFiles, ...] = ()
    layers: tuple[MemoryLayer, ...] = ()
    """The memory layers it adds to Hob's own."""
    cli: tuple[CliCommand, ...] = ()
    """Commands of `hob`. Hob's own features list theirs in `hob.cli.table`."""
    plugin: bool = False
    """Whether it is third-party: its failures disable only itself."""
    open: Lazy[Open] | None = None
    """Opens the feature; None if it is only a declaration."""


def endpoints_of(subsystems: Iterable[Subsystem]) -> Endpoints:
    """Return the API routes that these features add to Hob's own."""
    return tuple(row for each in subsystems if each.endpoints is not None for row in each.endpoints())


def api_v1_of(subsystems: Iterable[Subsystem]) -> Endpoints:
    """Return the routes of the dashboard's listener."""
    return tuple(row for each in subsystems if each.api_v1 is not None for row in each.api_v1())


def carried_files(subsystems: Iterable[Subsystem]) -> Iterator[str]:
    """Return the names of the home's files and folders that backups include for these features."""
    return (kept.name for each in subsystems for kept in each.files if kept.in_backups)
