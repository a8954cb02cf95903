"""The command tools over a sandbox of this machine, with a database of its own."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from hob.core.clock import SystemClock
from hob.core.ports.tools import CallContext
from hob.core.tools import ToolCall
from hob.store.settings import StoreSettings
from hob.store.store import Store, open_store
from hob.tools.exec.command_log import CommandLog
from hob.tools.exec.commands import NO_ACCESS, NO_CALLBACKS, CommandAccess, CommandCallbacks, CommandTools
from hob.tools.filesystem.files import FileTools
from hob.tools.filesystem.paths import Root, Roots
from hob.tools.registry.declaration import Tools
from hob.tools.sandbox.job import Limits
from hob.tools.sandbox.processes import Processes
from hob.tools.undo.snapshots.snapshots import Snapshots
from hob.tools.undo.turn_undo import TurnUndo
from tests.tools.keeping import FolderBlobs
from tests.tools.sandbox.conftest import make_place

PROTECTED = (".git/hooks/", ".git/config")


@dataclass
class Bench:
    """Tools over the folder `work`, and what a program around them has."""

    work: Path
    tools: Tools
    files: FileTools
    log: CommandLog
    undo: TurnUndo
    blobs: FolderBlobs
    commands: CommandTools
    store: Store
    shown: list[str] = field(default_factory=list)


@asynccontextmanager
async def open_bench(
    name: str,
    top: Path,
    protected: tuple[str, ...] = (),
    access: CommandAccess = NO_ACCESS,
    callbacks: CommandCallbacks = NO_CALLBACKS,
    **more: float,
) -> AsyncIterator[Bench]:
    """Skips the test where the machine has not this sandbox."""
    top = top.resolve()
    place = make_place(name, top, protected=protected)
    (top / "lent").mkdir(exist_ok=True)
    roots = Roots([Root("work", place.work), Root("lent", top / "lent", writable=False)], base=place.work, home=top)
    blobs, clock = FolderBlobs(top / "blobs"), SystemClock()
    shown: list[str] = []

    def show(_context: CallContext, _call: ToolCall, text: str) -> None:
        shown.append(text)
        if "first" in text:  # the test's command waits for it
            (place.work / "shown").touch()

    processes = Processes(place.backend, clock, Limits())
    async with open_store(top / "home", StoreSettings(), clock) as store, asyncio.TaskGroup() as tasks:
        changes = store.file_changes
        log = CommandLog(store.command_log, Snapshots(top / "snapshots", clock), PROTECTED)
        files = FileTools(roots, blobs, changes, SystemClock())
        commands = CommandTools(
            roots, processes, blobs, log, clock, tasks, access, replace(callbacks, on_output=show), **more
        )
        undo = TurnUndo(log, files.undo, changes, blobs)
        try:
            yield Bench(place.work, commands.toolset, files, log, undo, blobs, commands, store, shown)
        finally:
            await processes.close()
