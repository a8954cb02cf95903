"""Opening of the memory subsystem: its followers, jobs and prompt sections."""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import apsw

from hob.agent.budget.limits import start_of_today
from hob.agent.ports import PromptSection, TurnMemory
from hob.agent.sessions import is_group, zone_of
from hob.agent.settings import AgentSettings
from hob.app.contribution import Contribution, Effects, Follower, Job, Start
from hob.app.kernel import Kernel
from hob.app.memory.documents import DocumentIndexer
from hob.app.memory.embedding import open_models
from hob.app.memory.folder_watch import FolderWatch
from hob.app.memory.owners_files import OwnersFiles
from hob.app.memory.parts import MemoryParts
from hob.app.memory.service import MemoryPolicy, open_service
from hob.app.running_app import RunningServices
from hob.bus.waiting import backoff, wait_for_event
from hob.config.loading import Config
from hob.core.events.timeline import EventKind, TimelineEvent
from hob.core.ids import TurnId
from hob.core.lazy import Lazy
from hob.core.memory import Fact, MemoryItem, Scope
from hob.core.models import TranscriptEntry
from hob.core.states import TurnState
from hob.core.turns import Turn
from hob.gateway.lazy_ports import MemoryControls
from hob.guard.settings import PolicySettings
from hob.memory.background import BackgroundMemory
from hob.memory.background_model import BackgroundBudget, BackgroundModel
from hob.memory.embedding import MemoryEmbedder
from hob.memory.er1.settings import Er1Settings
from hob.memory.expertise import ExpertiseKeeper, ExpertiseSection
from hob.memory.facts.contradictions import Reconciler
from hob.memory.facts.editor import FactEditor
from hob.memory.facts.extractor import FactExtractor
from hob.memory.ingestion.files import FileIndexer
from hob.memory.ingestion.turns import items_of_import, items_of_turn
from hob.memory.observations.consolidation import Consolidator
from hob.memory.observations.observer import Observer
from hob.memory.retrieval.assistance import Assistance, Rater, SearchModel
from hob.memory.sections import GoalsSection, ObservationsSection, PrivateSection, ProfileSection
from hob.memory.service import MemoryService
from hob.memory.settings import MemorySettings
from hob.store.imports import IMPORTED
from hob.store.memory.indexing import index_import, index_turns
from hob.tools.memory.ports import KnownFacts, MemorySearch
from hob.tools.registry.groups import ToolRatings
from hob.workspace.settings import WorkspaceSettings

FOLLOWER = "memory"
_KINDS = (EventKind.TURN, EventKind.SESSION)
GATHER_SECONDS = 0.5
"""Seconds during which events are gathered into one batch."""


@Lazy
def _open_controls() -> Callable[[MemoryParts], MemoryControls]:
    from hob.app.memory.control.opening import open_controls

    return open_controls


@asynccontextmanager
async def open_memory(kernel: Kernel) -> AsyncIterator[Contribution]:
    """Open memory: a follower indexes the timeline, jobs index the owner's files as they change."""
    async with open_models(kernel) as (embedder, rater):
        yield _contribution(kernel, embedder, rater)


def _contribution(kernel: Kernel, embedder: MemoryEmbedder | None, rater: Rater | None) -> Contribution:
    settings = kernel.config[MemorySettings]
    notify = embedder.notify if embedder is not None else _nothing
    zone = zone_of(kernel.config[AgentSettings].timezone)
    files = FileIndexer(kernel.store.items, kernel.config[WorkspaceSettings].path, kernel.files.load, zone)
    documents = DocumentIndexer(kernel.store.items, kernel.store.channel_state, watch := FolderWatch())
    er1_jobs, er1_view = _er1(kernel, notify)
    policy, budget = MemoryPolicy(kernel.config[PolicySettings]), make_budget(kernel)
    asked = SearchModel(budget) if settings.ask_model else None
    assistance = Assistance(rater, asked, kernel.clock) if rater or asked else None
    service = open_service(kernel.config, kernel.store, kernel.clock, policy, embedder, kernel.layers, assistance)
    looks = OwnersFiles(kernel, service, files, documents, watch, notify)
    expertise = ExpertiseKeeper(kernel.store.expertise)
    background = make_background(kernel, service, budget, notify, expertise)

    def notify_all() -> None:
        notify()
        background.notify()

    def reconfigure(config: Config) -> None:
        """Apply settings, from the next step of a running turn on."""
        before = policy(), service.settings.recall
        policy.reconfigure(config)
        service.settings = config[MemorySettings]
        budget.tokens = service.settings.background_tokens
        if (policy(), service.settings.recall) != before:
            profile.renew()

    def status() -> Mapping[str, Any]:
        meaning = {"embedder": embedder.name, "problem": embedder.problem} if embedder else {}
        helped = {"unassisted": assistance.problem} if assistance else {}
        memory = {**background.view(), **meaning, **helped, **service.surplus}
        return {**({"memory": memory} if memory else {}), **({"er1": er1_view()} if er1_view else {})}

    profile = ProfileSection(kernel.store.facts, partial(_is_owners, service), kernel.clock)
    fact_editor = FactEditor(kernel.store.facts, kernel.clock, profile.renew)
    parts = MemoryParts(
        kernel, service, documents, fact_editor, embedder, assistance, budget, expertise, looks.reread, notify_all,
        er1_view,
    )  # fmt: skip
    controls = Lazy(lambda: _open_controls()(parts))
    return Contribution(
        provides={
            MemorySearch: service,
            KnownFacts: fact_editor,
            TurnMemory: service,
            MemoryControls: controls,
            ToolRatings: expertise,
        },
        on_settings=reconfigure,
        followers=(follower_of(settings, notify_all),),
        jobs=(
            Job("memory_files", looks.run),
            Job("memory_background", lambda running: background.run(running.background)),
            *_model_jobs(service, embedder, asked),
            *er1_jobs,
        ),
        prompt_sections=(profile, *_sections(kernel, service, expertise)),
        status=status,
    )


def _model_jobs(service: MemoryService, embedder: MemoryEmbedder | None, asked: SearchModel | None) -> Iterator[Job]:
    """Return the jobs of the configured models."""
    if embedder is not None:
        yield Job("memory_embedding", partial(_embed, service, embedder))
    if asked is not None:
        yield Job("memory_searches", lambda running: asked.run(running.background))


def _sections(kernel: Kernel, service: MemoryService, expertise: ExpertiseKeeper) -> Sequence[PromptSection]:
    """Return the prompt sections that are rendered again for each prompt."""
    owners = partial(_is_owners, service)
    return (
        PrivateSection(),
        ObservationsSection(kernel.store.memory_work, owners, service.overflow.add),
        GoalsSection(kernel.store.goals, owners, kernel.clock),
        ExpertiseSection(expertise, owners),
    )


async def _embed(service: MemoryService, embedder: MemoryEmbedder, _: RunningServices) -> None:
    await service.prepare()
    await embedder.run()


def _is_owners(service: MemoryService, turn: Turn) -> bool:
    """Return whether a prompt is the owner's alone. A preview's turn has no message."""
    if turn.inbounds:
        return service.allowed(turn, "")
    return service.settings.recall and service.permitted(turn, "") and not is_group(turn.session)


def _er1(kernel: Kernel, notify: Callable[[], None]) -> tuple[tuple[Job, ...], Callable[[], Mapping[str, Any]] | None]:
    """Return the ER1 job and status, if its address is configured."""
    settings = kernel.config[Er1Settings]
    if not settings.url:
        return (), None
    # its client loads an HTTP library
    from hob.app.memory.er1 import Er1Sync

    er1 = Er1Sync(settings, kernel.store, kernel.clock, notify)
    return (Job("er1", er1.run),), er1.view


def _nothing() -> None:
    """Do nothing: no embedder is configured."""


def follower_of(settings: MemorySettings, notify: Callable[[], None] = _nothing) -> Follower:
    """Return the follower that indexes the timeline from the beginning; `notify` is called when there may be more."""
    work = TurnIndexer(settings, notify).work
    return Follower(FOLLOWER, work, _KINDS, Start.BEGINNING, at_once=50, pause=GATHER_SECONDS)


class TurnIndexer:
    """Indexes finished turns and imported conversations.

    Reading and storing share a transaction with the cursor.
    """

    def __init__(self, settings: MemorySettings, notify: Callable[[], None] = _nothing) -> None:
        self._settings = settings
        self._notify = notify

    async def work(self, events: Sequence[tuple[int, TimelineEvent]]) -> Effects | None:
        """Return the effects for finished turns and imports among these events; None if there are none."""
        turns = [event.turn for _, event in events if event.turn and event.classification == TurnState.DONE]
        imports = [event for _, event in events if event.kind is EventKind.SESSION and event.name == IMPORTED]
        return Effects(partial(self._index, turns, imports), self._notify) if turns or imports else None

    def _index(self, turns: Sequence[TurnId], imports: Sequence[TimelineEvent], connection: apsw.Connection) -> None:
        index_turns(connection, turns, self._items)
        for event in imports:
            if event.session is not None:
                begun = float(event.classification.split()[0])
                index_import(connection, event.session, begun, items_of_import)

    def _items(self, turn: Turn, entries: Sequence[TranscriptEntry]) -> list[MemoryItem]:
        return list(items_of_turn(turn, entries, self._settings))


def make_budget(kernel: Kernel) -> BackgroundBudget:
    """Return the shared token budget of all background work."""
    zone = zone_of(kernel.config[AgentSettings].timezone)
    tokens = kernel.config[MemorySettings].background_tokens
    return BackgroundBudget(tokens, kernel.store.ledger, kernel.clock, partial(start_of_today, timezone=zone))


def make_background(
    kernel: Kernel,
    service: MemoryService,
    budget: BackgroundBudget,
    made: Callable[[], None],
    expertise: ExpertiseKeeper,
) -> BackgroundMemory:
    """Return the background work; `made` is called when there are new items."""

    def remembered(scope: Scope, facts: Sequence[Fact]) -> None:
        service.remembered(scope, facts)
        made()

    store, clock = kernel.store, kernel.clock
    extractor = FactExtractor(store.facts, store.goals, store.memory_work, budget, clock, remembered)
    observer = Observer(store.memory_work, budget, kernel.config[MemorySettings], clock, made)
    consolidator = Consolidator(store.memory_work, budget, kernel.config[MemorySettings], clock, made)

    async def count(_: BackgroundModel) -> None:
        await expertise.count()

    steps = (extractor.step, Reconciler(store.facts).step, observer.step, consolidator.step, count)
    return BackgroundMemory(steps, budget, clock, wait_for_event, backoff)
