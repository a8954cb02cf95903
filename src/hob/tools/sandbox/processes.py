"""Background commands, which have ids, are polled and written to, and end with Hob."""

import secrets

from hob.core.clock import Clock
from hob.core.errors import NotFound, ToolFailed
from hob.core.ports.processes import ProcessRecords
from hob.core.translation.language import translatable
from hob.core.values import dataclass
from hob.tools.sandbox.job import EndReason, JobFinished, Limits, SandboxJob
from hob.tools.sandbox.launcher.launcher import Backend
from hob.tools.sandbox.running_command import OutputCallbacks, RunningCommand, run, start

MAX_RUNNING = 16
MAX_REMEMBERED = 64


@dataclass(frozen=True, slots=True)
class PollResult:
    """A command's output since the last poll, the bytes lost before it, and how it ended if it has."""

    news: bytes
    missed: int
    finished: JobFinished | None


@dataclass(frozen=True, slots=True)
class ListedProcess:
    """A command in the list. `owner` is the owner's name."""

    id: str
    owner: str
    argv: tuple[str, ...]
    running: bool
    seconds: float


@dataclass(slots=True)
class _Entry:
    owner: str
    job: SandboxJob
    running: RunningCommand
    began: float


class Processes:
    """All commands of Hob. Each belongs to an owner (a session), and only the owner can find it.

    Ids are unique across restarts.
    """

    def __init__(self, backend: Backend, clock: Clock, limits: Limits, records: ProcessRecords | None = None) -> None:
        self.backend = backend
        self._clock = clock
        self._limits = limits
        self._records = records
        self._entries: dict[str, _Entry] = {}
        self._run = secrets.token_hex(3)
        self._count = 0

    def new_id(self) -> str:
        """Return an id for the next command, for callers that record it before the command starts."""
        self._count += 1
        return f"p{self._run}-{self._count}"

    async def run(
        self, job: SandboxJob, *, seconds: float, stdin: bytes = b"", callbacks: OutputCallbacks | None = None
    ) -> JobFinished:
        """Run a command without an id, to its end or for at most `seconds`. Raises NotConfigured and ToolFailed."""
        return await run(
            self.backend, job, self._clock, limits=self._limits, seconds=seconds, stdin=stdin, callbacks=callbacks,
            records=self._records,
        )  # fmt: skip

    async def start(
        self,
        job: SandboxJob,
        owner: str,
        *,
        name: str = "",
        interactive: bool = True,
        callbacks: OutputCallbacks | None = None,
    ) -> tuple[str, RunningCommand]:
        """Start a command; return its id and itself. Raises NotConfigured, and ToolFailed, also if too many run."""
        if self.running >= MAX_RUNNING:
            raise ToolFailed(f"{MAX_RUNNING} commands run already. End one that is no longer needed.")
        began = self._clock.monotonic()
        running = await start(
            self.backend, job, self._clock, limits=self._limits, interactive=interactive, callbacks=callbacks,
            records=self._records,
        )  # fmt: skip
        name = name or self.new_id()
        self._entries[name] = _Entry(owner, job, running, began)
        self._forget()
        return name, running

    @property
    def running(self) -> int:
        """Number of running commands of all owners."""
        return sum(entry.running.running for entry in self._entries.values())

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def find(self, name: str, owner: str) -> RunningCommand:
        """Return the command with this id. Raises NotFound, also if it belongs to another owner."""
        entry = self._entries.get(name)
        if entry is None or entry.owner != owner:
            raise NotFound(translatable("There is no command {name}.", name=name))
        return entry.running

    async def poll(self, name: str, owner: str, seconds: float = 0.0) -> PollResult:
        """Return the new output, waiting up to `seconds` for the command's end. Raises NotFound."""
        running = self.find(name, owner)
        finished = await running.wait(seconds) if seconds > 0 or not running.running else None
        news, missed = running.output.take_news()
        return PollResult(news, missed, finished)

    def write(self, name: str, owner: str, data: bytes, *, end: bool = False) -> None:
        """Write to the command's input. Raises NotFound and ToolFailed."""
        self.find(name, owner).write(data, end=end)

    async def stop(self, name: str, owner: str) -> JobFinished:
        """Stop the command. Raises NotFound."""
        return await self.find(name, owner).stop(EndReason.STOPPED)

    def list(self, owner: str) -> tuple[ListedProcess, ...]:
        """Return the owner's commands, including recently ended ones."""
        now = self._clock.monotonic()
        return tuple(
            ListedProcess(
                name,
                entry.owner,
                entry.job.argv,
                entry.running.running,
                now - entry.began if entry.running.running else entry.running.finished.seconds,
            )
            for name, entry in self._entries.items()
            if entry.owner == owner
        )

    async def close(self) -> None:
        """Kill all commands."""
        for entry in self._entries.values():
            if entry.running.running:
                await entry.running.stop(grace=0)
        self._entries.clear()

    def _forget(self) -> None:
        """Forget the oldest ended commands. Running ones are kept."""
        ended = [name for name, entry in self._entries.items() if not entry.running.running]
        for name in ended[: max(0, len(self._entries) - MAX_REMEMBERED)]:
            del self._entries[name]
