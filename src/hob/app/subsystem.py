"""Declaring a feature (`Subsystem`): its settings, tools, routes, commands, jobs, and how it is opened.

The declaration is what `--help`, `config check`, the reference, `hob doctor` and a backup need while Hob is down or
broken. It must be light: what it leads to is held by a `Lazy`.
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

if TYPE_CHECKING:  # declarations load nothing: the one place where they name what they are opened over
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
    """What a feature keeps outside of the database: a file or folder of the home, or a pattern of them (`tea/*.json`).

    `in_backups`: it is carried along.
    """

    name: str
    what: str
    in_backups: bool = False


class StaticFiles(NamedTuple):
    """The files in a folder of a package. Below `path` whatever is no file there is answered with its `index.html`."""

    path: str
    package: str
    folder: str = "static"


class DashboardView(NamedTuple):
    """A page in the dashboard: files of a package, shown in a frame that can do nothing by itself.

    `name` is in its address, `title` in the rail. What it wants to know it asks the page around it for: `asks` are the
    paths below `/api/v1/` that it may get.
    """

    name: str
    title: str
    package: str
    folder: str = "view"
    asks: tuple[str, ...] = ()


class FeatureCommand(NamedTuple):
    """A slash command, and what answers it over the kernel that its feature is opened over."""

    row: SlashCommand
    run: Lazy[Callable[[Kernel, CommandCall], Awaitable[str]]]


class CliCommand(NamedTuple):
    """`hob NAME`: a function whose parameters are read from the command line, as in Hob's own commands."""

    name: str
    help: str
    run: Lazy[Callable[..., object]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Subsystem:
    """One feature, as a value."""

    name: str
    settings: Mapping[str, type] = field(default_factory=dict)
    """Its sections of the configuration: classes that import the core only."""
    needs: tuple[type, ...] = ()
    """Ports that it is opened over, each provided by exactly one other."""
    after: tuple[str, ...] = ()
    """Those it is opened after, where they are there."""
    one_shot: bool = False
    """Whether a Hob without a daemon opens it too."""
    tools: tuple[ToolGroup, ...] = ()
    """What models and the guard are told of its toolsets' tools, and how sessions come to them."""
    slash_commands: tuple[FeatureCommand, ...] = ()
    endpoints: Lazy[Endpoints] | None = None
    api_v1: Lazy[Endpoints] | None = None
    """Endpoints of the dashboard's listener, loaded with its first request; below `/api/v1/`, but for `/ws`."""
    static_files: tuple[StaticFiles, ...] = ()
    """What the dashboard's listener serves to anybody: files of a package, nothing of the owner's."""
    views: tuple[DashboardView, ...] = ()
    """Its pages in the dashboard."""
    checks: Lazy[Checks] | None = None
    files: tuple[KeptFiles, ...] = ()
    layers: tuple[MemoryLayer, ...] = ()
    """Kinds of memory that it keeps, beside Hob's own."""
    cli: tuple[CliCommand, ...] = ()
    """Commands of `hob`; those of Hob's own features stand in its table."""
    plugin: bool = False
    """Whether it is a third party's: what goes wrong in it costs only itself."""
    open: Lazy[Open] | None = None
    """None: the declaration is all there is."""


def endpoints_of(subsystems: Iterable[Subsystem]) -> Endpoints:
    """The API's routes that these features add to its own."""
    return tuple(row for each in subsystems if each.endpoints is not None for row in each.endpoints())


def api_v1_of(subsystems: Iterable[Subsystem]) -> Endpoints:
    """The routes below `/api/v1`, which the dashboard's listener has."""
    return tuple(row for each in subsystems if each.api_v1 is not None for row in each.api_v1())


def carried_files(subsystems: Iterable[Subsystem]) -> Iterator[str]:
    """The files and folders of the home that backups take along for these features."""
    return (kept.name for each in subsystems for kept in each.files if kept.in_backups)
