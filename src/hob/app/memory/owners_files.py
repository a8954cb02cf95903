"""Job that indexes the owner's files when they change and after turns, and prunes expired items."""

import asyncio
import math
from collections.abc import Callable, Collection
from pathlib import Path

from hob.app.kernel import Kernel
from hob.app.memory.documents import DocumentIndexer
from hob.app.memory.folder_watch import FolderWatch
from hob.app.running_app import RunningServices
from hob.bus.waiting import unwrap_single_error
from hob.core.events.timeline import EventKind
from hob.memory.ingestion.files import NOTES, FileIndexer
from hob.memory.service import MemoryService
from hob.workspace.settings import WorkspaceSettings

PRUNE_SECONDS = 86_400.0
"""Seconds between two prunings."""
MAX_GAP_SECONDS = 90 * 86_400.0
"""If the last pruning seems longer ago, the clock may be wrong: nothing is deleted for a day."""
LOOK_SECONDS = 30.0
"""Minimum seconds between two looks at the owner's files after turns."""
WALK_SECONDS = 300.0
"""Minimum seconds between two looks at added documents after turns."""
_PRUNED = "pruned"
_REST_FACTOR = 9
"""After a look, changes are ignored for this many times its duration."""


class OwnersFiles:
    """Job that indexes changes in the owner's files and prunes expired items.

    While no events arrive and no file changes, memory is queried once a day.
    """

    def __init__(
        self,
        kernel: Kernel,
        service: MemoryService,
        files: FileIndexer,
        documents: DocumentIndexer,
        watch: FolderWatch,
        notify: Callable[[], None],
    ) -> None:
        """`notify` is called when there may be new items."""
        self._kernel = kernel
        self._service = service
        self._files = files
        self._documents = documents
        self._watch = watch
        self._notify = notify
        self._workspace = kernel.config[WorkspaceSettings].path.expanduser()
        self._looking = asyncio.Lock()

    async def reread(self) -> None:
        """Index all files again. Raises StoreErrors."""
        self._files.reread()
        self._documents.reread()
        await self._look(None)

    async def run(self, _: RunningServices) -> None:
        """Run until cancelled. Raises StoreErrors."""
        with self._watch.opened(), unwrap_single_error():
            async with asyncio.TaskGroup() as group:
                group.create_task(self._after_turns())
                group.create_task(self._as_they_change())
                group.create_task(self._prune_daily())

    async def _after_turns(self) -> None:
        clock = self._kernel.clock
        with self._kernel.store.timeline.news((EventKind.TURN,)) as news:
            walked = -math.inf
            while True:
                news.clear()
                looked = clock.monotonic()  # before the look, so that changes during it lead to another one
                walks = looked - walked > WALK_SECONDS
                await self._look(None if walks else ())
                walked = looked if walks else walked
                await news.wait()
                while clock.monotonic() - looked < LOOK_SECONDS:
                    news.clear()
                    await news.wait()

    async def _prune_daily(self) -> None:
        store, clock = self._kernel.store, self._kernel.clock
        while True:
            now, last = clock.now().timestamp(), await store.memory_work.place(_PRUNED)
            await store.memory_work.move(_PRUNED, int(now))
            if not last or now - last < MAX_GAP_SECONDS:
                await self._service.prune(store.memory_lifecycle, now)  # the clock may jump meanwhile
            await clock.sleep(PRUNE_SECONDS)

    async def _as_they_change(self) -> None:
        clock = self._kernel.clock
        while True:
            changed = await self._watch.changes(clock)
            began = clock.monotonic()
            await self._look(changed)
            await clock.sleep(_REST_FACTOR * (clock.monotonic() - began))

    async def _look(self, documents: Collection[Path] | None) -> None:
        """Look at identity files, daily notes, and these added documents (None: all of them)."""
        async with self._looking:
            await asyncio.to_thread(self._cover)
            await self._files.sync()
            if documents is None or documents:
                await self._documents.sync(documents)
            self._notify()

    def _cover(self) -> None:
        for folder in (self._workspace, self._workspace / NOTES):
            if folder.is_dir():
                self._watch.cover(folder, ".md", below=False)
