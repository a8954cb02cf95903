"""How a feature comes in: a declaration that is read while nothing is open, and what an open Hob has of it.

The declaration is what `--help`, `config check`, the reference, `hob doctor` and a backup need while Hob is down or
broken. It must be light: what it leads to is held by a `Lazy`.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeAlias

from hob.core.hooks import Hook
from hob.core.lazy import Lazy
from hob.core.ports.channel import Channel
from hob.core.ports.tools import Toolset
from hob.core.timeline import EventKind, TimelineEvent

if TYPE_CHECKING:  # the one place where declarations, which load nothing, name what they are opened over
    from hob.app.diagnostics.check import DoctorCheck
    from hob.app.kernel import Kernel
    from hob.app.running import Running
    from hob.config.loading import Config
    from hob.gateway.http.endpoint import Endpoint
    from hob.store.followers import Effect

Open: TypeAlias = "Callable[[Kernel], AbstractAsyncContextManager[Contribution]]"
Endpoints: TypeAlias = "Sequence[Endpoint[Any]]"
Checks: TypeAlias = "Sequence[DoctorCheck]"


@dataclass(frozen=True, slots=True)
class KeptFiles:
    """What a feature keeps outside of the database: a file or folder of the home. `in_backups`: it is carried along."""

    name: str
    what: str
    in_backups: bool = False


@dataclass(frozen=True, slots=True)
class ToolGroup:
    """Tools that a session opens together: the few words that announce them, and their names."""

    name: str
    line: str
    tools: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Job:
    """Work that goes on as long as Hob runs; started anew after a defect. It may end by itself."""

    name: str
    run: "Callable[[Running], Awaitable[None]]"


class Start(StrEnum):
    """Where a follower begins that was not there before."""

    NOW = "now"
    BEGINNING = "beginning"


@dataclass(frozen=True, slots=True)
class Effects:
    """What a batch of events comes to: rows, written in one transaction with the cursor, and what is done then."""

    write: "Effect | None" = None
    then: Callable[[], None] = lambda: None


@dataclass(frozen=True, slots=True)
class Follower:
    """Work on what happens, in the order in which it happened, over restarts. It sleeps while nothing does.

    `work` is given events with their places; after a crash it is given the same again, unless its effects are written.
    """

    name: str
    work: Callable[[Sequence[tuple[int, TimelineEvent]]], Awaitable[Effects]]
    kinds: tuple[EventKind, ...] = ()
    """None: all."""
    start: Start = Start.NOW
    at_once: int = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Contribution:
    """What an open feature has. Every field is optional."""

    provides: Mapping[type, object] = field(default_factory=dict)
    """Ports for other features, each by its type."""
    channels: tuple[Channel, ...] = ()
    toolsets: tuple[Toolset, ...] = ()
    hooks: tuple[Hook, ...] = ()
    followers: tuple[Follower, ...] = ()
    jobs: tuple[Job, ...] = ()
    status: Callable[[], Mapping[str, Any]] | None = None
    """Part of what `hob status` tells."""
    on_settings: "Callable[[Config], None] | None" = None
    """Told when settings or secrets may be others than before."""


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
    endpoints: Lazy[Endpoints] | None = None
    checks: Lazy[Checks] | None = None
    files: tuple[KeptFiles, ...] = ()
    open: Lazy[Open] | None = None
    """None: the declaration is all there is."""
