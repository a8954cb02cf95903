"""Commands that are running, with a log of their own and snapshots during which something happens."""

from collections.abc import Callable, Iterable
from pathlib import Path

from hob.core.clock import Clock, SystemClock
from hob.core.ids import CallId, SessionKey, TurnId
from hob.core.undo import CommandRun
from hob.tools.exec.command_log import CommandEffects, CommandLog
from hob.tools.undo.snapshots.entries import Snapshot, SnapshotChange
from hob.tools.undo.snapshots.restore import RestoreResult
from hob.tools.undo.snapshots.snapshot_walk import SnapshotLimits
from hob.tools.undo.snapshots.snapshots import Snapshots
from tests.tools.commanding import PROTECTED, Bench


class Disturbed(Snapshots):
    """Snapshots during which something happens: one thing each time, the last of the list first."""

    def __init__(self, folder: Path, clock: Clock, bounds: SnapshotLimits | None = None) -> None:
        super().__init__(folder, clock, bounds)
        self.taken, self.before_restore, self.after_restore = (list[Callable[[], object]]() for _ in range(3))

    def take(self, tree: Path) -> Snapshot:
        snapshot = super().take(tree)
        if self.taken:
            self.taken.pop()()
        return snapshot

    def restore(self, tree: Path, wanted: Iterable[SnapshotChange]) -> tuple[RestoreResult, ...]:
        wanted = tuple(wanted)
        if wanted and self.before_restore:
            self.before_restore.pop()()
        done = super().restore(tree, wanted)
        if done and self.after_restore:
            self.after_restore.pop()()
        return done


class Running:
    """Commands that are running, with a log of their own."""

    def __init__(self, bench: Bench, folder: Path, bounds: SnapshotLimits | None = None) -> None:
        self.snapshots = Disturbed(folder, SystemClock(), bounds)
        self.rows, self.work = bench.store.command_log, bench.work
        self.log = self.new_log()

    def new_log(self) -> CommandLog:
        """Open the log again, as after a restart."""
        return CommandLog(self.rows, self.snapshots, PROTECTED)

    async def begin(self, name: str, *, turn: str = "t", confined: bool = False) -> None:
        run = CommandRun(TurnId(turn), CallId(name), SessionKey("local:main"), "…")
        await self.log.begin(run, [self.work], confined=confined)

    async def end(self, name: str, *, turn: str = "t") -> CommandEffects:
        return await self.log.end(TurnId(turn), CallId(name), "exit status 0")

    async def run(self, name: str, work: Callable[[], object], *, turn: str = "t", confined: bool = False) -> None:
        """Run one that does this."""
        await self.begin(name, turn=turn, confined=confined)
        work()
        await self.end(name, turn=turn)

    def write(self, repository: str = "lib") -> None:
        with (self.work / repository / ".git/config").open("a") as settings:
            settings.write("[core]\n\tfsmonitor = ./x\n")

    def is_harmful(self, repository: str = "lib") -> bool:
        return "fsmonitor" in (self.work / repository / ".git/config").read_text()
