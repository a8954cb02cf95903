"""What an open feature has: channels, tools, hooks, jobs, followers, and ports for other features."""

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
    """Work that goes on as long as Hob runs; started again after a defect. It may end by itself."""

    name: str
    run: Callable[[RunningServices], Awaitable[None]]


class Start(StrEnum):
    """Where a follower begins that was not there before."""

    NOW = "now"
    BEGINNING = "beginning"


@dataclass(frozen=True, slots=True)
class Effects:
    """What a batch of events comes to: rows, written in one transaction with the cursor, and what is done then."""

    write: Effect | None = None
    then: Callable[[], None] = lambda: None


@dataclass(frozen=True, slots=True)
class Follower:
    """Work on what happens, in the order in which it happened, over restarts. It sleeps while nothing does.

    `work` is given events with their places; after a crash it is given the same again, unless its effects are written.
    None: nothing came of them, and the next start may give them again, which saves a commit.
    """

    name: str
    work: Callable[[Sequence[tuple[int, TimelineEvent]]], Awaitable[Effects | None]]
    kinds: tuple[EventKind, ...] = ()
    """None: all."""
    start: Start = Start.NOW
    at_once: int = 200
    pause: float = 0.0
    """Seconds between the end of its work and the next: what happens meanwhile is worked on together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contribution:
    """What an open feature has. Every field is optional."""

    provides: Mapping[type, object] = field(default_factory=dict)
    """Ports for other features, each by its type."""
    channels: tuple[Channel, ...] = ()
    toolsets: tuple[Toolset, ...] = ()
    tool_groups: Mapping[str, Group] | None = None
    """Further groups of tools, which may change while Hob runs."""
    hooks: tuple[Hook, ...] = ()
    recall: tuple[Recall, ...] = ()
    """Further memories, which the tool `recall` asks too."""
    prompt_sections: tuple[PromptSection, ...] = ()
    """Parts of prompts: a stable one at the beginning, or one of the newest message."""
    followers: tuple[Follower, ...] = ()
    jobs: tuple[Job, ...] = ()
    status: Callable[[], Mapping[str, Any]] | None = None
    """Part of what `hob status` tells."""
    erase: ErasureParticipant | None = None
    """Forgets, outside of the database, what is erased in it; asked again until it succeeds."""
    on_settings: Callable[[Config], None] | None = None
    """Told when settings or secrets may be others than before."""
    wraps: Wraps = field(default_factory=dict)
    """What stands around or in place of what turns are made of, by its port: `Accept`, `Admission`, `Journal`, `Judge`,
    `Model`, `Toolset`. For tests and programs that Hob is a part of; a plug-in has none."""
