"""The tool runtime of a home: the tools, the folders where they may act, and undo.

Slow to import: loaded on first use.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import field, replace
from functools import partial
from pathlib import Path

from hob.app.memory.service import open_service
from hob.app.subagents.sessions import AGENT, depth_of
from hob.app.tools.accepted_writes import AcceptedWrites
from hob.app.tools.executable_config import changed_executable_config, places_of
from hob.app.tools.gateway_tools import check_change
from hob.app.tools.turn_undo import TurnUndoService
from hob.bus.canvas import CanvasViewers
from hob.config.loading import Config
from hob.core.clock import Clock
from hob.core.errors import NotConfigured, StoreError, ToolFailed, ToolRefused
from hob.core.events.notices import Progress
from hob.core.lazy import Lazy
from hob.core.ports.notices import Notices
from hob.core.ports.processes import ProcessRecords
from hob.core.ports.tools import Blobs, CallContext, Toolset
from hob.core.tools import ToolCall, ToolResult, ToolSpec
from hob.core.trust.labels import least_trusted
from hob.core.turns import Turn
from hob.core.values import dataclass
from hob.guard.audit.entries import of_action
from hob.guard.policy.commands import command_reader
from hob.guard.policy.places import EXECUTABLE_CONFIG_FOLDERS, SECRET_NAME, Places, is_hidden_file
from hob.guard.screening.masking.known_secrets import KnownSecrets
from hob.guard.screening.masking.masked_ports import MaskedBlobs
from hob.memory.facts.editor import FactEditor
from hob.store.store import Store
from hob.tools.canvas.canvas import Canvas, CanvasBrowsers, CanvasPictures
from hob.tools.documents.documents import DocumentReader
from hob.tools.exec.command_log import CommandLog
from hob.tools.exec.commands import CommandAccess, CommandCallbacks, CommandTools, Warn, ignore
from hob.tools.filesystem.files import FileTools
from hob.tools.filesystem.grep import find_ripgrep
from hob.tools.filesystem.paths import Root, Roots
from hob.tools.media.media_tools import MediaModels, MediaTools, NoMedia
from hob.tools.memory.knowledge import KnowledgeTools
from hob.tools.memory.ports import MemoryPorts
from hob.tools.memory.remember import MemoryTools
from hob.tools.messages.conversation import ConversationTools
from hob.tools.messages.message import Messages, MessageTool, NoMessages
from hob.tools.sandbox.backends.detection import FoundBackend, find_backend
from hob.tools.sandbox.job import SandboxJob
from hob.tools.sandbox.launcher.launcher import Launch
from hob.tools.sandbox.network.credentials import CredentialStore, JobCredential
from hob.tools.sandbox.network.hosts import HostDecision, HostDecisionCallback
from hob.tools.sandbox.processes import Processes
from hob.tools.sandbox.sandbox_environment import SandboxEnvironment, limits_of, sandbox_environment_of
from hob.tools.sandbox.secret_files import KeyFiles
from hob.tools.sandbox.settings import SandboxSettings
from hob.tools.undo.snapshots.snapshot_walk import MIB, SnapshotLimits
from hob.tools.undo.snapshots.snapshots import Snapshots
from hob.tools.undo.turn_undo import TurnUndo
from hob.tools.web.addresses import check_address
from hob.tools.web.fetcher import WebFetcher
from hob.tools.web.search.opening import open_search
from hob.tools.web.settings import WebSettings
from hob.tools.web.web_tools import WebTools
from hob.workspace.acceptance import FILE, AcceptedFiles
from hob.workspace.bootstrap import NAMES
from hob.workspace.seeding import make_work_repository
from hob.workspace.settings import WorkspaceSettings

log = logging.getLogger(__name__)

_READER_LINGERS = 60.0  # seconds; documents are often read one after another


@dataclass(frozen=True, slots=True)
class ToolRuntime:
    """The tools and their state."""

    toolset: "WorkspaceTools"
    files: FileTools
    messages: MessageTool
    turn_undo: TurnUndoService
    backend: "LazyBackend"
    log: CommandLog
    processes: Processes
    documents: DocumentReader
    unrecoverable: Callable[[], Awaitable[frozenset[str]]]
    """Returns the paths that commands could destroy irrecoverably."""
    outside: "ExternalServices"

    async def close(self) -> None:
        """Stop background work."""
        await self.processes.close()
        await self.documents.close()
        await self.outside.close()

    async def tidy(self) -> None:
        """Finish what a crash interrupted, and delete snapshots that are too old for undo."""
        await self.turn_undo.finish()
        await self.files.undo.remove_parts()
        await self.log.prune()

    async def diff_of(self, call: ToolCall) -> str:
        """Return a call's file changes as a unified diff; empty if there are none or the call would fail."""
        with suppress(ToolFailed, ToolRefused, OSError):
            return await self.files.diff_of(call)
        return ""

    async def refusal_of(self, call: ToolCall, turn: Turn) -> str:
        """Return why a tool would refuse the call whatever the approvals; empty if it would not."""
        try:
            self.messages.check(call, turn)
            check_address(call)
            check_change(call, turn)
            await self.files.check(call)
        except ToolRefused as why:
            return str(why)
        except (ToolFailed, OSError):
            pass  # the call itself reports the failure
        return ""

    def places_of(self, call: ToolCall) -> Sequence[str]:
        """Return the real paths that a call of the file tools would reach."""
        with suppress(ToolFailed, ToolRefused, OSError):
            return [place.path for place in self.files.places(call)]
        return ()


class LazyBackend:
    """Implements the sandbox's `Backend` by the one that works here, detected when the first command runs."""

    def __init__(self, settings: SandboxSettings, make: Callable[[], SandboxEnvironment], path: str) -> None:
        self._environment = Lazy(make)
        self._found = Lazy(lambda: find_backend(settings.backend, self.sandbox_environment, path))

    @property
    def sandbox_environment(self) -> SandboxEnvironment:
        """Return the environment that commands run in. Raises NotConfigured."""
        return self._environment()

    async def find(self) -> FoundBackend:
        """Detect the backend; the first call takes some tenths of a second. Raises NotConfigured if there is none."""
        return await asyncio.to_thread(self._found)

    @property
    def name(self) -> str:
        return self._found().backend.name

    @property
    def is_sandbox(self) -> bool:
        return self._found().backend.is_sandbox

    @property
    def filters_network(self) -> bool:
        return self._found().backend.filters_network

    @property
    def protects_files(self) -> bool:
        return self._found().backend.protects_files

    @property
    def hides_files(self) -> bool:
        return self._found().backend.hides_files

    def prepare(self, job: SandboxJob, decided: HostDecisionCallback, before: ExitStack, after: ExitStack) -> Launch:
        return self._found().backend.prepare(job, decided, before, after)


async def _nothing() -> None:
    pass


@dataclass(frozen=True, slots=True)
class ExternalServices:
    """Services beyond this machine: chats, browsers, and vision and speech models."""

    messages: Messages = field(default_factory=NoMessages)
    media: MediaModels = field(default_factory=NoMedia)
    browsers: CanvasBrowsers = field(default_factory=CanvasViewers)
    close: Callable[[], Awaitable[None]] = _nothing
    """Closes the connections to models."""
    pictures: CanvasPictures | None = None


class WorkspaceTools:
    """Implements `Toolset` with all tools. Workspace and work repository are created on first use."""

    def __init__(self, toolsets: Sequence[Toolset], backend: LazyBackend, workspace: WorkspaceSettings) -> None:
        self._toolsets = {spec.name: toolset for toolset in toolsets for spec in toolset.specs()}
        self._specs = tuple(spec for toolset in toolsets for spec in toolset.specs())
        self._backend = backend
        self._workspace = workspace
        self._ready = False

    def specs(self) -> tuple[ToolSpec, ...]:
        return self._specs

    async def call(self, call: ToolCall, context: CallContext) -> ToolResult:
        if not self._ready:
            await asyncio.to_thread(_make_folders, self._workspace)
            self._ready = True
        if call.name in ("exec", "process"):
            try:
                await self._backend.find()
            except NotConfigured as error:
                raise ToolFailed(str(error)) from error
        return await self._toolsets[call.name].call(call, context)


def _make_folders(workspace: WorkspaceSettings) -> None:
    try:
        workspace.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        make_work_repository(workspace.work)
    except OSError as error:
        why = f"{error.filename} cannot be made: {error.strerror}; see workspace.path and workspace.work_repo"
        raise ToolFailed(why) from error


def _roots(
    workspace: WorkspaceSettings, settings: SandboxSettings, owner: Path, forbidden: tuple[Path, ...]
) -> tuple[Roots, Roots]:
    """Return the folders where the file tools may act, and those where commands may."""
    work = Root("work", workspace.work)
    further = [Root(str(name), Path(name).expanduser(), writable=False) for name in settings.read]
    further += [Root(str(name), Path(name).expanduser()) for name in settings.write]

    def over(own: Root) -> Roots:
        return Roots((work, own, *further), base=workspace.work, home=owner, forbidden=forbidden, secret=SECRET_NAME)

    # commands only read the workspace: it holds Hob's instructions, and a command's effects are unknown
    return over(Root("workspace", workspace.path)), over(Root("workspace", workspace.path, writable=False))


def file_roots(config: Config) -> Roots:
    """Return the folders where the file tools may act, creating the work folder if needed. Raises ToolFailed."""
    workspace = config[WorkspaceSettings]
    _make_folders(workspace)
    return _roots(workspace, config[SandboxSettings], Path.home(), (config.home,))[0]


def executable_config_below(workspace: WorkspaceSettings, settings: SandboxSettings) -> Sequence[str]:
    """Return Hob's instruction files below the folders that commands may change; usually there are none."""
    path = workspace.path.expanduser().resolve()
    roots = (each.expanduser().resolve() for each in (workspace.work, *map(Path, settings.write)))
    ways = dict.fromkeys(path.relative_to(root) for root in roots if path.is_relative_to(root))
    names = (*NAMES, *(f"{name}/" for name in EXECUTABLE_CONFIG_FOLDERS))
    return [name if way == Path() else f"{way}/{name}" for way in ways for name in names]


def _opens(places: Places, command: str, directory: str) -> bool:
    """Return whether the guard asked about this command because it names files that hold keys."""
    findings = command_reader(places)(command, directory).findings
    return any(finding.rule == "secret-reading" for finding in findings)


async def _note_host(store: Store, context: CallContext, decision: HostDecision) -> None:
    """Audit a command's connection to a host, allowed or refused."""
    turn = context.turn
    who = least_trusted(each.sender.cls for each in (*turn.inbounds, *turn.joined))
    done, name, target = "reached", "network", f"{decision.host}:{decision.port}"
    if decision.credential:
        done, name, target = "used", "credential", f"{decision.credential} {target}"
    outcome = done if decision.allowed else "refused"
    try:
        await store.audit.add(of_action(name, outcome, who, turn=turn.id, target=target))
    except StoreError as error:
        log.warning("that a command was let reach a host is not noted: %s %s: %s", target, outcome, error)


def _credentials(credentials: CredentialStore, context: CallContext, hosts: Sequence[str]) -> tuple[JobCredential, ...]:
    return credentials.of("subagents" if depth_of(context.turn.session) else AGENT, hosts)


def _publish_output(notices: Notices, context: CallContext, call: ToolCall, text: str) -> None:
    notices.publish(Progress(context.turn.trace, context.turn.session, "output", call.name, text))


def _access(settings: SandboxSettings, places: Places, clock: Clock) -> CommandAccess:
    return CommandAccess(
        tuple(settings.hosts),
        outgoing=tuple(map(Path, places.outgoing)),
        key_files=KeyFiles(is_hidden_file, partial(_opens, places)),
        credentials=partial(_credentials, CredentialStore(settings.credentials, clock)),
    )


def _callbacks(places: Places, known: KnownSecrets, notices: Notices, store: Store, warn: Warn) -> CommandCallbacks:
    on_output, on_host_decision = partial(_publish_output, notices), partial(_note_host, store)
    return CommandCallbacks(on_output, known.stream, on_host_decision, partial(changed_executable_config, places), warn)


def _remembering(memory: MemoryPorts, store: Store) -> tuple[Toolset, ...]:
    return (
        MemoryTools(store.memories, memory.search, store.working_notes).toolset,
        KnowledgeTools(memory.facts, memory.goals).toolset,
    )


def _talking(
    notices: Notices, outside: ExternalServices, documents: DocumentReader, roots: Roots, blobs: Blobs, store: Store
) -> tuple[Toolset, ...]:
    return (
        ConversationTools(notices).toolset,
        MediaTools(outside.media, documents, roots, blobs).toolset,
        Canvas(store.canvas, outside.browsers, roots, blobs, outside.pictures).toolset,
    )


def make_tool_runtime(
    config: Config,
    store: Store,
    notices: Notices,
    clock: Clock,
    environ: Mapping[str, str],
    *,
    state_folder: Path,
    known: KnownSecrets,
    tasks: asyncio.TaskGroup,
    warn: Warn | None = None,
    records: ProcessRecords | None = None,
    memory: MemoryPorts | None = None,
    outside: ExternalServices | None = None,
) -> ToolRuntime:
    """Make the tool runtime. It keeps its state in `state_folder` and masks `known` secrets.

    Watchers of background commands run as `tasks`; `processes.close` ends the commands. `warn` notifies the owner of
    events that no answer mentions.
    """
    workspace, settings = config[WorkspaceSettings], config[SandboxSettings]
    owner, path = Path.home(), environ.get("PATH", "")
    forbidden = (config.home,)

    def make() -> SandboxEnvironment:
        folder = state_folder / "sandbox"
        environment = sandbox_environment_of(
            settings, environ, caches=folder / "caches", state=folder / "state", owner=owner, forbidden=forbidden
        )
        return replace(environment, protected=(*environment.protected, *executable_config_below(workspace, settings)))

    roots, for_commands = _roots(workspace, settings, owner, forbidden)
    blobs = MaskedBlobs(store.blobs, known)
    backend = LazyBackend(settings, make, path)
    changes = store.file_changes
    bounds = SnapshotLimits(settings.undo_file_mib * MIB, settings.undo_mib * MIB)
    log = CommandLog(store.command_log, Snapshots(state_folder / "snapshots", clock, bounds), settings.protected)
    documents = DocumentReader(_READER_LINGERS)
    files = FileTools(roots, blobs, changes, clock, ripgrep=find_ripgrep(), documents=documents)
    memory = memory or MemoryPorts(open_service(config, store, clock), FactEditor(store.facts, clock), store.goals)

    processes, places = Processes(backend, clock, limits_of(settings), records), places_of(config)
    access = _access(settings, places, clock)
    callbacks = _callbacks(places, known, notices, store, warn or ignore)
    commands = CommandTools(for_commands, processes, blobs, log, clock, tasks, access, callbacks)
    writing = AcceptedWrites(files, workspace.path, AcceptedFiles(config.home / FILE), store)
    web = WebTools(WebFetcher(clock), partial(open_search, config[WebSettings]), documents, blobs, clock)
    own: tuple[Toolset, ...] = (writing, commands.toolset, *_remembering(memory, store), web.toolset)
    undoing = TurnUndoService(TurnUndo(log, files.undo, changes, store.blobs), store, clock)
    outside = outside or ExternalServices()
    messages = MessageTool(outside.messages, roots, blobs, notices)
    talking = (messages.toolset, *_talking(notices, outside, documents, roots, blobs, store))
    toolset = WorkspaceTools((*own, *talking), backend, workspace)
    return ToolRuntime(
        toolset, files, messages, undoing, backend, log, processes, documents, commands.unrecoverable, outside
    )
