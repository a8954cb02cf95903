"""Opening the tools: what the model is given to act with, where it may act, and how what it did is undone."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from hob.agent.reading_back import GROUP as EARLIER
from hob.agent.reading_back import LINE as EARLIER_LINE
from hob.agent.reading_back import ReadingBack
from hob.config import Config
from hob.core.clock import Clock
from hob.core.errors import NotConfigured, ToolFailed, ToolRefused
from hob.core.ids import BlobId, SessionKey, TurnId
from hob.core.notices import Progress
from hob.core.ports.notices import Notices
from hob.core.ports.tools import CallContext, Toolset
from hob.core.tools import ToolCall, ToolResult, ToolSpec
from hob.guard.masking.edges import MaskedBlobs
from hob.guard.masking.known import KnownSecrets
from hob.guard.places import OBEYED_IN_WORKSPACE, SECRET_NAME
from hob.store import Store
from hob.tools.changes import FileChanges
from hob.tools.command_log import CommandLog
from hob.tools.commands import open_commands
from hob.tools.default_set import default_tools
from hob.tools.files import FileTools
from hob.tools.grepping import find_ripgrep
from hob.tools.groups import FileOpenGroups, Group, Groups
from hob.tools.memories import FileMemories
from hob.tools.paths import Root, Roots
from hob.tools.remembering import Remembering
from hob.tools.sandbox.finding import Found, find_backend
from hob.tools.sandbox.hosts import Decided
from hob.tools.sandbox.job import Job
from hob.tools.sandbox.launching import Launch
from hob.tools.sandbox.processes import Processes
from hob.tools.sandbox.settings import SandboxSettings
from hob.tools.sandbox.surroundings import Surroundings, limits_of, surroundings_of
from hob.tools.sandbox.undo.snapshots import Snapshots
from hob.tools.talking import Talking
from hob.tools.turn_undo import TurnUndo
from hob.tools.undo import undo_of
from hob.tools.undo_log import UndoLog
from hob.tools.working_memory import FileWorkingMemory
from hob.workspace import WorkspaceSettings, make_work_repository
from hob.workspace.bootstrap import NAMES

FOLDER = "tools"
"""The folder in the home for what the tools keep: changes, commands, memories, snapshots."""

_TURNS_KEPT = 100  # with commands that changed something; older ones cannot be undone

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Hands:
    """The tools, open. `groups` are all of them, `toolset` is what turns call."""

    groups: Groups
    toolset: "Working"
    files: FileTools
    undo: TurnUndo
    undone: UndoLog
    notes: FileWorkingMemory
    memories: FileMemories
    changes: FileChanges
    backend: "Backends"
    log: CommandLog

    async def blobs_of(self, turns: Collection[TurnId]) -> Collection[BlobId]:
        """The bytes that only undoing these turns needs."""
        return await self.changes.blobs_of(_with_undoing(turns))

    async def forget(self, turns: Collection[TurnId], session: SessionKey | None) -> None:
        """Forget what these turns remembered, noted, ran and changed; and what a whole session remembered and noted."""
        await self.memories.forget(turns, session)
        await self.notes.forget(turns, session)
        everything = _with_undoing(turns)
        await self.changes.forget(everything)
        await self.log.forget(everything)
        await self.undone.forget(everything)

    async def tidy(self) -> None:
        """After a start: take away what a crash left half-written, and forget how files were many turns ago."""
        await self.files.undo.tidy()
        await self.log.prune(turns=_TURNS_KEPT)

    async def diff_of(self, call: ToolCall) -> str:
        """What a call would change in files, as a unified diff; empty where it changes none, or would fail."""
        with suppress(ToolFailed, ToolRefused, OSError):
            return await self.files.diff_of(call)
        return ""

    def places_of(self, call: ToolCall) -> Sequence[str]:
        """The real paths that a call of the file tools would reach."""
        with suppress(ToolFailed, ToolRefused, OSError):
            return [place.path for place in self.files.places(call)]
        return ()

    def specs(self) -> Mapping[str, ToolSpec]:
        """Every tool by name, those of closed groups too."""
        return {**{spec.name: spec for spec in self.groups.specs()}, **self.groups.grouped()}


class Backends:
    """Implements the sandbox's `Backend` by the one that works here, found when the first command runs."""

    def __init__(self, settings: SandboxSettings, make: Callable[[], Surroundings], path: str) -> None:
        self._settings = settings
        self._make = make
        self._path = path

    @cached_property
    def surroundings(self) -> Surroundings:
        """What commands see of the machine. Raises NotConfigured."""
        return self._make()

    @cached_property
    def found(self) -> Found:
        """The backend, after some tenths of a second at first. Raises NotConfigured where nothing confines."""
        return find_backend(self._settings.backend, self.surroundings, self._path)

    async def find(self) -> Found:
        """The same without keeping others waiting."""
        return await asyncio.to_thread(lambda: self.found)

    @property
    def name(self) -> str:
        return self.found.backend.name

    @property
    def confines(self) -> bool:
        return self.found.backend.confines

    @property
    def networks(self) -> bool:
        return self.found.backend.networks

    def prepare(self, job: Job, decided: Decided, before: ExitStack, after: ExitStack) -> Launch:
        return self.found.backend.prepare(job, decided, before, after)


class Working:
    """Implements `Toolset`: the groups' tools, in a work repository that is made when it is first needed."""

    def __init__(self, groups: Groups, backend: Backends, work: Path) -> None:
        self._groups = groups
        self._backend = backend
        self._work = work
        self._ready = False

    def specs(self) -> tuple[ToolSpec, ...]:
        return self._groups.specs()

    def of(self, session: SessionKey) -> Toolset:
        """What this session may call now: the groups that it opened too."""
        return _SessionTools(self, self._groups.of(session))

    async def call(self, call: ToolCall, context: CallContext) -> ToolResult:
        if not self._ready:
            try:
                await asyncio.to_thread(make_work_repository, self._work)
            except OSError as error:
                why = f"the work folder {self._work} cannot be made: {error.strerror}; see workspace.work_repo"
                raise ToolFailed(why) from error
            self._ready = True
        if call.name in ("exec", "process"):
            try:
                await self._backend.find()
            except NotConfigured as error:
                raise ToolFailed(str(error)) from error
        return await self._groups.call(call, context)


class _SessionTools:
    """Implements `Toolset` for one session."""

    def __init__(self, working: Working, shown: Toolset) -> None:
        self._working = working
        self._shown = shown

    def specs(self) -> tuple[ToolSpec, ...]:
        return self._shown.specs()

    async def call(self, call: ToolCall, context: CallContext) -> ToolResult:
        return await self._working.call(call, context)


def _roots(
    workspace: WorkspaceSettings, settings: SandboxSettings, owner: Path, forbidden: tuple[Path, ...]
) -> tuple[Roots, Roots]:
    """Where the file tools may act, and where commands may."""
    work = Root("work", workspace.work)
    further = [Root(str(name), Path(name).expanduser(), writable=False) for name in settings.read]
    further += [Root(str(name), Path(name).expanduser()) for name in settings.write]

    def over(own: Root) -> Roots:
        return Roots((work, own, *further), base=workspace.work, home=owner, forbidden=forbidden, secret=SECRET_NAME)

    # Commands only read the workspace: what Hob obeys lies there, and nothing tells how a command means its words.
    return over(Root("workspace", workspace.path)), over(Root("workspace", workspace.path, writable=False))


def _obeyed(workspace: WorkspaceSettings) -> Sequence[str]:
    """What Hob obeys, below the folder where commands work; nothing where it lies above, as it usually does."""
    work, path = workspace.work.expanduser().resolve(), workspace.path.expanduser().resolve()
    if not path.is_relative_to(work):
        return ()
    names = (*NAMES, *(f"{name}/" for name in OBEYED_IN_WORKSPACE))
    above = "" if path == work else f"{path.relative_to(work)}/"
    return [above + name for name in names]


def _with_undoing(turns: Collection[TurnId]) -> frozenset[TurnId]:
    """The turns, their undoing and the undoing of that."""
    undone = [undo_of(turn) for turn in turns]
    return frozenset((*turns, *undone, *(undo_of(turn) for turn in undone)))


@asynccontextmanager
async def open_hands(
    config: Config,
    store: Store,
    notices: Notices,
    clock: Clock,
    environ: Mapping[str, str],
    known: KnownSecrets | None = None,
) -> AsyncIterator[Hands]:
    """The tools over this home; `known` secrets are in nothing they keep. Raises OSError where it is read-only."""
    known = known if known is not None else KnownSecrets()
    workspace, settings = config[WorkspaceSettings], config[SandboxSettings]
    kept, owner, path = config.home / FOLDER, Path.home(), environ.get("PATH", "")
    forbidden = (config.home,)

    def make() -> Surroundings:
        folder = kept / "sandbox"
        around = surroundings_of(
            settings, environ, home=folder / "home", state=folder / "state", owner=owner, forbidden=forbidden
        )
        return replace(around, protected=(*around.protected, *_obeyed(workspace)))

    roots, for_commands = _roots(workspace, settings, owner, forbidden)
    kept.mkdir(mode=0o700, parents=True, exist_ok=True)
    blobs = MaskedBlobs(store.blobs, known)
    backend = Backends(settings, make, path)
    changes = FileChanges(kept / "changes.jsonl")
    commands = CommandLog(kept / "commands.jsonl", Snapshots(kept / "snapshots", clock))
    files = FileTools(roots, blobs, changes, ripgrep=find_ripgrep())
    memories = FileMemories(kept / "memories.jsonl", clock)
    notes = FileWorkingMemory(kept / "notes", clock)
    remembering = Remembering(memories, memories, notes)

    def shown(context: CallContext, call: ToolCall, text: str) -> None:
        notices.publish(Progress(context.turn.trace, context.turn.session, "output", call.name, text))

    processes = Processes(backend, clock, limits_of(settings))
    async with open_commands(
        for_commands, processes, blobs, commands, clock, hosts=tuple(settings.hosts), shown=shown, sieve=known.stream
    ) as running:
        groups = default_tools(
            (files.toolset, running, remembering.toolset, Talking(notices).toolset),
            {EARLIER: Group(EARLIER_LINE, ReadingBack(store.transcript))},
            FileOpenGroups(kept / "groups.jsonl"),
        )
        undo = TurnUndo(commands, files.undo, changes, store.blobs)
        undone = UndoLog(kept / "undone.jsonl")
        yield Hands(
            groups,
            Working(groups, backend, workspace.work),
            files,
            undo,
            undone,
            notes,
            memories,
            changes,
            backend,
            commands,
        )
