"""What an open feature adds to Hob: channels, tools, hooks, jobs, followers, and ports for other features."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from typing import Any, TypeAlias

from hob.agent.ports import PromptSection
from hob.app.running_app import RunningServices
from hob.config.loading import Config
from hob.core.events.hooks import Hook
from hob.core.events.timeline import EventKind, TimelineEvent
from hob.core.ports.channel import Channel
from hob.core.ports.memory import Recall
from hob.core.ports.tools import Toolset
from hob.core.values import dataclass
from hob.store.erasure.erasure import ErasureParticipant
from hob.store.followers import Effect
from hob.tools.registry.groups import Group

Wraps: TypeAlias = Mapping[type, Callable[[Any], Any]]


@dataclass(frozen=True, slots=True)
class Job:
    """Background work that runs as long as Hob, restarted after a failure. It may end early."""

    name: str
    run: Callable[[RunningServices], Awaitable[None]]


class Start(StrEnum):
    """The position at which a new follower begins."""

    NOW = "now"
    BEGINNING = "beginning"


@dataclass(frozen=True, slots=True)
class Effects:
    """The result of a batch of events: rows committed together with the cursor, then a callback."""

    write: Effect | None = None
    then: Callable[[], None] = lambda: None


@dataclass(frozen=True, slots=True)
class Follower:
    """A consumer of timeline events, in order and across restarts; it sleeps while there are none.

    `work` gets events with their positions. After a crash it gets the same events again unless their effects were
    committed. Returning None saves a commit; the next start may deliver those events again.
    """

    name: str
    work: Callable[[Sequence[tuple[int, TimelineEvent]]], Awaitable[Effects | None]]
    kinds: tuple[EventKind, ...] = ()
    """The kinds of events to follow; empty: all."""
    start: Start = Start.NOW
    at_once: int = 200
    pause: float = 0.0
    """Seconds between two runs, so that events are processed in batches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contribution:
    """What an open feature adds to Hob. Every field is optional."""

    provides: Mapping[type, object] = field(default_factory=dict)
    """Ports for other features and for routes, by type; a `Lazy` one is loaded on first use."""
    channels: tuple[Channel, ...] = ()
    toolsets: tuple[Toolset, ...] = ()
    tool_groups: Mapping[str, Group] | None = None
    """Further tool groups, which may change while Hob runs."""
    hooks: tuple[Hook, ...] = ()
    recall: tuple[Recall, ...] = ()
    """Further memories that the tool `recall` searches."""
    prompt_sections: tuple[PromptSection, ...] = ()
    """Parts of prompts: stable ones at the beginning, volatile ones in the newest message."""
    followers: tuple[Follower, ...] = ()
    jobs: tuple[Job, ...] = ()
    status: Callable[[], Mapping[str, Any]] | None = None
    """The feature's part of `hob status`."""
    erase: ErasureParticipant | None = None
    """Erases copies outside the database of what was erased in it; repeated until it succeeds."""
    on_settings: Callable[[Config], None] | None = None
    """Called when settings or secrets may have changed."""
    wraps: Wraps = field(default_factory=dict)
    """Wrappers or replacements of the turn's own parts, by port: `Accept`, `Admission`, `Journal`, `Judge`, `Model`,
    `Toolset`. For tests and for programs that embed Hob; plug-ins cannot use it.
    """
