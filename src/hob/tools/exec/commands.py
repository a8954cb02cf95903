"""The tools `exec` and `process`: foreground and background commands, logged so that they can be undone.

The guard decides whether a command may run at all.
"""

import asyncio
import logging
import re
import tempfile
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from hob.core.clock import Clock
from hob.core.errors import NotConfigured, NotFound, StoreError, ToolFailed
from hob.core.ids import BlobId
from hob.core.ports.tools import Blobs, CallContext
from hob.core.tools import ToolCall
from hob.core.translation.remarks import Remark
from hob.core.trust.labels import SenderClass, Trust
from hob.core.undo import CommandRun
from hob.core.values import dataclass
from hob.tools.exec.command_log import LOST, CommandEffects, CommandLog
from hob.tools.exec.command_text import CommandOutputStream, StreamFilter, to_readable
from hob.tools.exec.specs import EXEC, PROCESS
from hob.tools.exec.typed_input import check_typed
from hob.tools.filesystem.paths import Roots
from hob.tools.registry.declaration import ToolOutput, Tools, implements
from hob.tools.sandbox.job import EndReason, JobFinished, JobRoot, SandboxJob, Window
from hob.tools.sandbox.network.credentials import JobCredential
from hob.tools.sandbox.network.hosts import HostDecision, HostRules, host_name
from hob.tools.sandbox.processes import PollResult, Processes
from hob.tools.sandbox.roots import effective_roots
from hob.tools.sandbox.running_command import OutputCallback, OutputCallbacks, RunningCommand, discard
from hob.tools.sandbox.secret_files import NO_KEY_FILES, KeyFiles, find_secret_files
from hob.tools.undo.snapshots.entries import Difference

log = logging.getLogger(__name__)

OnOutput = Callable[[CallContext, ToolCall, str], None]
"""Receives live output of a command."""

_LONGEST_WAIT = 50  # seconds of one poll; the call itself may take 60
_EARLY = 0.3  # seconds to wait for an early failure or the first output of a background command
_MAX_NAMES = 10
_MAX_NAMED = 4
_MEMORY = 1 << 20  # bytes of output held in memory before a file is used
_GIT_CONFIG = re.compile(rb"config file \S*\.git/config\S*: (?:Device or resource busy|Read-only file system)")
_GIT_CONFIG_WHY = (
    "[.git/config is closed to commands, since git runs what it says: ask the owner to set it. For one commit give "
    "`git -c user.name=NAME -c user.email=ADDRESS commit`.]"
)
_BASH, _SH = "/bin/bash", "/bin/sh"
_WORDS: Mapping[EndReason, str] = {
    EndReason.STOPPED: "stopped",
    EndReason.TOO_MUCH_OUTPUT: "stopped, for it wrote too much",
    EndReason.TOO_MUCH_WRITTEN: "stopped, for it wrote too much to disk (sandbox.written_mib)",
    EndReason.NOT_STARTED: "not started: the sandbox failed",
}


FindExecutableConfig = Callable[[Mapping[str, Difference]], Sequence[str]]
"""Returns which of the changed files, by path, are executable configuration outside the sandbox."""
GiveCredentials = Callable[[CallContext, Sequence[str]], tuple[JobCredential, ...]]
"""Returns the credentials that a call may use at these hosts. Raises NotConfigured."""
Warn = Callable[[Remark], Awaitable[None]]
"""Notifies the owner at once."""
OnHostDecision = Callable[[CallContext, HostDecision], Coroutine[Any, Any, None]]
"""Receives decisions about hosts that a command asked to reach."""


def find_nothing(*_: object) -> tuple[()]:
    """Return an empty tuple."""
    return ()


async def ignore(*_: object) -> None:
    """Discard the report."""


@dataclass(frozen=True, slots=True)
class CommandAccess:
    """The network, folders and secrets that commands may reach.

    `hosts` are the rules of the owner's settings. Content of `outgoing` folders leaves the machine, so only commands
    with network access may write there. Key files appear empty to commands, except those that a command opens by
    `key_files`.
    """

    hosts: tuple[str, ...] = ()
    outgoing: tuple[Path, ...] = ()
    key_files: KeyFiles = NO_KEY_FILES
    credentials: GiveCredentials = find_nothing


NO_ACCESS = CommandAccess()


@dataclass(frozen=True, slots=True)
class CommandCallbacks:
    """Callbacks for the events of commands.

    `on_output` receives only text that `stream_filter` lets through. The owner is told about changed files that
    `find_executable_config` returns, in the answer or, if there is none, by `warn`.
    """

    on_output: OnOutput = discard
    stream_filter: Callable[[], StreamFilter | None] = lambda: None
    on_host_decision: OnHostDecision = ignore
    find_executable_config: FindExecutableConfig = find_nothing
    warn: Warn = ignore


NO_CALLBACKS = CommandCallbacks()


class CommandTools:
    """The tools `exec` and `process`.

    `tasks` runs the watchers of background commands. If a background command fails or prints something within
    `early_seconds`, the answer includes that.
    """

    def __init__(
        self,
        roots: Roots,
        processes: Processes,
        blobs: Blobs,
        log: CommandLog,
        clock: Clock,
        tasks: asyncio.TaskGroup,
        access: CommandAccess = NO_ACCESS,
        callbacks: CommandCallbacks = NO_CALLBACKS,
        early_seconds: float = _EARLY,
    ) -> None:
        self._roots = roots
        self._processes = processes
        self._blobs = blobs
        self._log = log
        self._clock = clock
        self._tasks = tasks
        self._access = access
        self._callbacks = callbacks
        self._stream_filters: dict[str, StreamFilter | None] = {}  # by id of the background command
        self._early_seconds = early_seconds
        self._key_inodes: set[int] = set()
        self.toolset = Tools(self.exec, self.process)

    @implements(EXEC)
    async def exec(
        self,
        command: str,
        call: ToolCall,
        context: CallContext,
        cwd: str = ".",
        stdin: str = "",
        timeout: int = 60,
        background: bool = False,
        pty: bool = False,
        network: bool = False,
        hosts: tuple[str, ...] = (),
    ) -> ToolOutput:
        if background:
            check_typed(stdin, end=False)
        trusted = context.trust is Trust.TRUSTED
        job = await self._job(command, cwd, pty=pty, network=network, only=hosts, keeps_downloads=trusted)
        try:
            given = await asyncio.to_thread(self._access.credentials, context, job.hosts) if job.hosts else ()
        except NotConfigured as error:
            raise ToolFailed(f"the command was not run: {error}") from error
        job = replace(job, credentials=given)
        process = self._processes.new_id() if background else ""
        trees = [root.path for root in effective_roots(job) if root.writable]
        begun = CommandRun(context.turn.id, call.id, context.turn.session, command, process)
        try:
            await self._log.begin(begun, trees, confined=self._processes.backend.protects_files)
        except (OSError, StoreError) as error:
            raise ToolFailed(f"not run, since it could not be undone: {error}") from error
        try:
            if background:
                return await self._begin(begun, job, stdin, call, context)
            return await self._run(begun, job, stdin, timeout, call, context)
        except NotConfigured as error:
            raise ToolFailed(f"the command was not run: {error}") from error

    @implements(PROCESS)
    async def process(
        self,
        action: Literal["list", "poll", "write", "kill"],
        context: CallContext,
        id: str = "",
        data: str = "",
        eof: bool = False,
        timeout: int = 0,
    ) -> ToolOutput:
        owner = context.turn.session
        if action == "list":
            return ToolOutput(self._format_list(owner))
        try:
            if action == "write":
                check_typed(data, end=eof)
                self._processes.write(id, owner, data.encode("utf-8", "replace"), end=eof)
            if action == "kill":
                await self._processes.stop(id, owner)
            polled = await self._processes.poll(
                id, owner, min(max(timeout, 0), _LONGEST_WAIT) if action == "poll" else self._early_seconds
            )
        except NotFound:
            return await self._describe_gone(id, context)
        return ToolOutput(self._format_poll(id, polled))

    async def unrecoverable(self) -> frozenset[str]:
        """Return what commands could destroy irrecoverably, by path. If there is more by then, the next command does
        not start.
        """
        return await self._log.unrecoverable([root.path.resolve() for root in self._roots.roots if root.writable])

    async def _job(
        self, command: str, cwd: str, *, pty: bool, network: bool, only: Sequence[str], keeps_downloads: bool
    ) -> SandboxJob:
        self._check_network(network or bool(only), only)
        if not command.strip():
            raise ToolFailed("command is empty")
        place = await asyncio.to_thread(self._roots.find, cwd)
        if not await asyncio.to_thread(Path(place.path).is_dir):
            raise ToolFailed(f"there is no folder {place.path}")
        everything = network and not only
        roots = tuple(
            JobRoot(real, root.writable and (everything or not any(map(real.is_relative_to, self._access.outgoing))))
            for real, root in ((root.path.resolve(), root) for root in self._roots.roots)
        )
        contained = self._processes.backend.name in ("docker", "podman")
        shell = _BASH if not contained and Path(_BASH).exists() else _SH
        hosts = self._access.hosts if everything else tuple(only)
        window = Window() if pty else None
        hidden = await asyncio.to_thread(self._hidden, command, place.path, roots)
        return SandboxJob(
            (shell, "-c", command),
            Path(place.path),
            roots,
            hosts,
            window=window,
            keeps_downloads=keeps_downloads,
            hidden=hidden,
        )

    def _check_network(self, network: bool, only: Sequence[str]) -> None:
        """Raise ToolFailed if the command cannot have network access, or not these hosts."""
        if network and not (self._access.hosts or self._access.outgoing):
            raise ToolFailed("commands have no network here: the owner has allowed no hosts (sandbox.hosts).")
        if network and self._access.hosts and not self._processes.backend.filters_network:
            raise ToolFailed(f"commands have no network here: {self._processes.backend.name} cannot filter it.")
        rules = HostRules(self._access.hosts)
        for host in only:
            if not rules.allow(host_name(host)):
                raise ToolFailed(f"the owner has not allowed commands to reach {host} (sandbox.hosts).")

    def _hidden(self, command: str, directory: str, roots: Sequence[JobRoot]) -> tuple[Path, ...]:
        """Return the key files to hide, except those that the settings grant or the command opens."""
        if not self._processes.backend.hides_files:
            return ()
        given = {root.path for root in roots}
        known = frozenset(self._key_inodes)
        key_files = self._access.key_files
        found = {path for root in given for path in find_secret_files(root, key_files.is_key_file, known)} - given
        if self._processes.backend.name == "landlock":  # where commands can rename them
            self._key_inodes |= {path.stat(follow_symlinks=False).st_ino for path in found if path.exists()}
        opens = bool(found) and key_files.opens(command, directory)
        return tuple(sorted(path for path in found if not (opens and path.name in command)))

    async def _run(
        self, begun: CommandRun, job: SandboxJob, stdin: str, seconds: float, call: ToolCall, context: CallContext
    ) -> ToolOutput:
        live = self._output_stream(call, context)
        how = "not started"
        with tempfile.SpooledTemporaryFile(_MEMORY) as whole:

            def feed(piece: bytes) -> None:
                whole.write(piece)
                live.feed(piece)

            try:
                given = stdin.encode("utf-8", "replace")
                callbacks = self._output_callbacks(feed, context)
                finished = await self._processes.run(job, seconds=seconds, stdin=given, callbacks=callbacks)
                how = _describe_end(finished, seconds)
            except asyncio.CancelledError:
                how = "interrupted"
                raise
            finally:
                effects = await self._record_end(begun, how)
                remarks = self._remarks(effects)
                if how == "interrupted" or not _is_owners(context):
                    await self._notify(remarks)
                live.end()
            text, rest = await self._text(finished, whole)
            if _GIT_CONFIG.search(finished.output):
                text = f"{text}\n{_GIT_CONFIG_WHY}"
        failed = finished.reason is not EndReason.EXITED or finished.status != 0
        said = f"({how}, {finished.seconds:.1f} s{_describe_effects(effects)}{_describe_hidden(job.hidden)})\n{text}"
        return ToolOutput(said, is_error=failed, rest=rest, remarks=remarks)

    def _output_stream(self, call: ToolCall, context: CallContext) -> CommandOutputStream:
        callbacks = self._callbacks
        return CommandOutputStream(
            lambda text: callbacks.on_output(context, call, text), self._clock, callbacks.stream_filter()
        )

    def _output_callbacks(self, output: OutputCallback, context: CallContext) -> OutputCallbacks:
        return OutputCallbacks(output, lambda decision: self._note(context, decision))

    def _note(self, context: CallContext, decision: HostDecision) -> None:
        self._tasks.create_task(self._callbacks.on_host_decision(context, decision))

    async def _text(
        self, finished: JobFinished, whole: "tempfile.SpooledTemporaryFile[bytes]"
    ) -> tuple[str, BlobId | None]:
        """Return the output and, if it was long, the id of a blob with all of it."""
        if not finished.left_out:
            return to_readable(finished.output) or "(no output)", None
        whole.seek(0)
        try:
            rest: BlobId | None = await self._blobs.put(to_readable(whole.read()).encode(), "text/plain; charset=utf-8")
        except StoreError as error:
            log.warning("the whole output of a command is not kept: %s", error)
            rest = None
        where = f"; all of it: read blob:{rest}" if rest else ""
        head, tail = finished.output[: finished.gap], finished.output[finished.gap :]
        return f"{to_readable(head)}\n[… {finished.left_out:,} bytes left out{where} …]\n{to_readable(tail)}", rest

    async def _begin(
        self, begun: CommandRun, job: SandboxJob, stdin: str, call: ToolCall, context: CallContext
    ) -> ToolOutput:
        live = self._output_stream(call, context)
        try:
            callbacks = self._output_callbacks(live.feed, context)
            _, running = await self._processes.start(job, begun.session, name=begun.process, callbacks=callbacks)
        except BaseException:
            await self._record_end(begun, "not started")
            raise
        self._tasks.create_task(self._watch(begun, running, live))
        if stdin:
            running.write(stdin.encode("utf-8", "replace"))
        polled = await self._processes.poll(begun.process, begun.session, self._early_seconds)
        return ToolOutput(self._format_poll(begun.process, polled))

    async def _watch(self, begun: CommandRun, running: RunningCommand, live: CommandOutputStream) -> None:
        await running.wait()
        live.end()
        await self._notify(self._remarks(await self._record_end(begun, _describe_end(running.finished))))

    def _remarks(self, effects: CommandEffects) -> tuple[Remark, ...]:
        found = (
            ("OBEYED_CHANGED", self._callbacks.find_executable_config(effects.changed)),
            ("TAKEN_BACK", effects.taken_back),
            ("UNCHECKED", effects.unchecked),
        )
        return tuple(Remark(kind, (("paths", _join_first(paths, _MAX_NAMED)),)) for kind, paths in found if paths)

    async def _notify(self, remarks: tuple[Remark, ...]) -> None:
        try:
            for remark in remarks:
                await self._callbacks.warn(remark)
        except StoreError as error:  # the command has run, and the log at least has it
            log.warning("the owner is not told: %s: %s", remarks, error)

    async def _record_end(self, begun: CommandRun, how: str) -> CommandEffects:
        try:
            return await self._log.end(begun.turn, begun.call, how)
        except (OSError, StoreError) as error:  # the command has run; failing to record its changes is secondary
            log.warning("what the command of %s changed is not noted: %s", begun.call, error)
            return CommandEffects()

    def _format_poll(self, process: str, polled: PollResult) -> str:
        state = "running" if polled.finished is None else _describe_end(polled.finished)
        missed = f"[… {polled.missed:,} bytes before this are not kept …]\n" if polled.missed else ""
        news = to_readable(polled.news)
        if polled.missed:  # continue at a complete line, so that no partial secret is shown
            news = news.partition("\n")[2]
        if process not in self._stream_filters:
            kept = {
                name: stream_filter for name, stream_filter in self._stream_filters.items() if name in self._processes
            }
            self._stream_filters = {**kept, process: self._callbacks.stream_filter()}
        if (stream_filter := self._stream_filters[process]) is not None:
            news = stream_filter.feed(news) + (stream_filter.finish() if polled.finished else "")
        if polled.finished:
            del self._stream_filters[process]
        return f"({process}: {state})\n{missed}{news or '(no new output)'}"

    def _format_list(self, owner: str) -> str:
        lines = [
            f"{each.id}: {'running' if each.running else 'ended'}, {each.seconds:.0f} s: {each.argv[-1][:200]}"
            for each in self._processes.list(owner)
        ]
        return "\n".join(lines) or "No commands run in the background."

    async def _describe_gone(self, process: str, context: CallContext) -> ToolOutput:
        begun = await self._log.find(process, context.turn.session)
        if begun is None:
            known = ", ".join(each.id for each in self._processes.list(context.turn.session)) or "none"
            raise ToolFailed(f"there is no command {process!r} in the background of this session; there are: {known}")
        if begun.end == LOST:
            text = "it ended when Hob was stopped, and what it wrote is lost. Start it again where it is needed"
        else:
            text = f"it has ended ({begun.end}), and what it wrote is not kept any more"
        return ToolOutput(f"({process}: {text}: {begun.command[:200]})", is_error=True)


def _is_owners(context: CallContext) -> bool:
    """Return whether the owner speaks in the turn, and therefore receives remarks with the answer."""
    turn = context.turn
    return any(
        each.sender.cls is SenderClass.OWNER and not each.group and not each.background
        for each in (*turn.inbounds, *turn.joined)
    )


def _describe_end(finished: JobFinished, seconds: float = 0.0) -> str:
    match finished.reason:
        case EndReason.EXITED if finished.signal:
            return f"ended by signal {finished.signal}"
        case EndReason.EXITED:
            return f"exit status {finished.status}"
        case EndReason.TIMED_OUT:
            return f"stopped at its timeout of {seconds:g} s; give it a longer one, or let it run in the background"
    return _WORDS[finished.reason]


def _describe_effects(effects: CommandEffects) -> str:
    """Describe the first files that the command changed. Created folders stand for the files in them."""
    changed = [f"{path} ({what})" if what is not Difference.CHANGED else path for path, what in effects.changed.items()]
    said = f"; changed: {_join_first(changed, _MAX_NAMES)}" if changed else ""
    taken = _join_first(effects.taken_back, _MAX_NAMES)
    return f"{said}; taken back, since git would run something by it: {taken}" if taken else said


def _describe_hidden(hidden: Sequence[Path]) -> str:
    if not hidden:
        return ""
    return (
        f"; not shown, since they hold keys: {_join_first([path.name for path in hidden], 2)}; name one to ask for it"
    )


def _join_first(paths: Sequence[str], maximum: int) -> str:
    more = f" + {len(paths) - maximum}" if len(paths) > maximum else ""
    return ", ".join(paths[:maximum]) + more
